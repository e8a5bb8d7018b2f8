"""Where the questions come from, and the four rates of the questions of each source."""

from __future__ import annotations

import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import QUESTIONS, rate_notes
from audit.metrics.questions import GROUP_RATES, RATES_BY_GROUP
from audit.queries.pair_counts import BY_QUESTION, with_rate_intervals
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec

NOT_STATED = "(not stated)"
MEMBERSHIPS = f"""memberships as (
    select question, coalesce(source, '{NOT_STATED}') as source, source is null as is_last from questions
)"""
SQL = RATES_BY_GROUP.format(tallies=BY_QUESTION, memberships=MEMBERSHIPS, name="source", order="is_last, source")
TABLE = TableSpec(
    "Where the {questions} come from",
    (Column.named("source", "Question source"), QUESTIONS, Column.share("share", "Share", "of all {questions}"), *GROUP_RATES),
    rate_notes(),
)
GLOSSARY = {"question source": "Where {a_question} was taken from, such as a survey, a forum or a clinic."}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def question_sources(con: Connection) -> pd.DataFrame:
    """How many questions come from each source, and how often handbooks do not address them, disagree and agree.

    The counts, rates and intervals are those of `organs`. Sources are the field `source` of the release's questions, as written.

    One row per source, by name, and a last row '(not stated)' where some questions have none; no row without questions:
        source     str
        questions  int; the other columns as in `organs`
        share      float in [0, 1], of all questions

    Source: rates as in arXiv:2605.29084, section 6.2.
    """
    memberships = frame(con, f"with {MEMBERSHIPS} select question, source from memberships")
    table = frame(con, SQL)
    table.insert(2, "share", table["questions"] / table["questions"].sum())
    return with_rate_intervals(con, table, "source", memberships)
