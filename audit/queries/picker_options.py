"""What a page offers to choose from in a run: questions, handbooks, and the values of filters."""

from __future__ import annotations

import pandas as pd

from audit.store.connection import Connection, frame, rows

VALUES = {
    "organ": "select distinct organ from questions order by 1",
    "topic": "select distinct topic from topics order by 1",
    "subtopic": "select distinct subtopic from subtopics order by 1",
    "center": "select distinct center from handbooks order by 1",
    "phase": "select distinct phase from handbooks order by 1",
}
QUESTIONS = """
with disputes as (
    select question, count(*) as disagreeing from pairs where label in ('DIVERGENT', 'CONTRADICTORY') group by question
)
select question_id, text, organ, coalesce(disagreeing, 0) as disagreeing
from questions left join disputes using (question)
order by disagreeing desc, question
"""


def filter_values(con: Connection) -> dict[str, list[str]]:
    """The values of organ (of questions), topic, subtopic, center and phase that the run has, in alphabetical order."""
    return {name: [value for (value,) in rows(con, sql)] for name, sql in VALUES.items()}


def question_list(con: Connection) -> pd.DataFrame:
    """Every question, the most disputed first: question_id, text, organ (str), disagreeing (int, pairs)."""
    return frame(con, QUESTIONS)


def handbook_list(con: Connection) -> pd.DataFrame:
    """Every handbook in release order: handbook_id, organ, center, phase (str)."""
    return frame(con, "select handbook_id, organ, center, phase from handbooks order by handbook")
