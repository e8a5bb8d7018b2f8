"""Where handbooks are silent and where they disagree, by the topic or subtopic of the question."""

from __future__ import annotations

import pandas as pd

from audit.metrics.intervals import with_wilson
from audit.metrics.steps import BY_QUESTION, COUNTS, RATES, SUMMED
from audit.store.connection import Connection, frame

SQL = f"""
with {BY_QUESTION},
memberships as (
    select question, topic from topics where $level = 'topic'
    union
    select question, subtopic from subtopics where $level = 'subtopic'
),
summed as (
    select coalesce(topic, '(none)')              as topic,
           topic is null                          as is_rest,
           count(*)                               as questions,
           count(*) filter (scored > 0)           as questions_scored,
           count(*) filter (disagreeing > 0)      as questions_any,
{SUMMED}
    from questions left join memberships using (question) left join tallies using (question)
    group by topic
)
select topic, questions, {", ".join(COUNTS)},
       {RATES},
       questions_scored, questions_any,
       questions_any / nullif(questions_scored, 0) as pct_any_div
from summed
order by is_rest, topic
"""


def topics(con: Connection, level: str = "topic") -> pd.DataFrame:
    """Absence, disagreement and agreement per topic (or subtopic)."""
    table = frame(con, SQL, {"level": level})
    for share, k, n in (("r_abs", "absent", "scored"), ("r_div", "disagreeing", "present"), ("r_con", "consistent", "present")):
        table = with_wilson(table, share, k, n)
    return with_wilson(table, "pct_any_div", "questions_any", "questions_scored")
