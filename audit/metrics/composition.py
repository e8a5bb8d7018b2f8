"""Composition of a run: handbooks by organ and part of the journey, their centers, questions and pairs."""

from __future__ import annotations

import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import HANDBOOKS, ORGAN, PAIRS, QUESTIONS, rate_notes
from audit.metrics.questions import GROUP_RATES, RATES_BY_GROUP
from audit.queries.pair_counts import BY_QUESTION, with_rate_intervals
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec
from audit.terms import ALL
from audit.vocabulary import PHASES

PHASE_COUNTS = ", ".join(f"count(*) filter (phase = '{phase.value}') as {phase.value}" for phase in PHASES)
SQL = f"""
with own as (
    select coalesce(organ, '{ALL}') as organ, count(*) as handbooks, count(distinct center) as centers, {PHASE_COUNTS}
    from handbooks
    group by grouping sets ((organ), ())
),
asked as (
    select coalesce(organ, '{ALL}') as organ, count(*) as questions from questions group by grouping sets ((organ), ())
),
paired as (
    select coalesce(organ, '{ALL}') as organ, count(*) as pairs
    from pairs join questions using (question)
    group by grouping sets ((organ), ())
)
select organ, coalesce(handbooks, 0) as handbooks, coalesce(centers, 0) as centers,
       {", ".join(f"coalesce({phase.value}, 0) as {phase.value}" for phase in PHASES)},
       coalesce(questions, 0) as questions, coalesce(pairs, 0) as pairs
from own full join asked using (organ) full join paired using (organ)
order by organ = '{ALL}', organ = 'general', organ
"""
TABLE = TableSpec(
    "{Handbooks} and {questions} by {organ}",
    (
        ORGAN,
        HANDBOOKS,
        Column.count("centers", "{Centers}"),
        *(Column.count(phase.value, phase.value.capitalize(), "{handbooks}") for phase in PHASES),
        QUESTIONS,
        PAIRS,
    ),
    (
        "{Handbooks} are counted by their own {organ}, {questions} and pairs by that of the {question}.",
        "A pair is one {question} and two of its {handbooks}: N {handbooks} give N(N-1)/2 pairs.",
    ),
)
GLOSSARY = {"phase": "The part of {a_patient}'s journey that {a_handbook} is about: before, after, or both (combined)."}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def composition(con: Connection) -> pd.DataFrame:
    """How many handbooks, centers, questions and pairs there are of each organ.

    One row per organ that a handbook or a question has, by name, 'general' after the others, then a row '(all)':
        organ                str
        handbooks, centers   int, handbooks of this organ, and the centers that wrote them
        pre, post, combined  int, handbooks by the part of the journey they cover
        questions, pairs     int, questions about this organ, and their pairs
    """
    return frame(con, SQL)


def used_columns(table: pd.DataFrame, columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns without those of phases that no handbook has, which would be columns of zeros."""
    unused = {phase.value for phase in PHASES if not table[phase.value].any()}
    return tuple(column for column in columns if column.name not in unused)


# -- Where the questions come from, and the four rates of the questions of each source -----------------------


NOT_STATED = "(not stated)"
MEMBERSHIPS = f"""memberships as (
    select question, coalesce(source, '{NOT_STATED}') as source, source is null as is_last from questions
)"""
QUESTION_SOURCES_SQL = RATES_BY_GROUP.format(tallies=BY_QUESTION, memberships=MEMBERSHIPS, name="source", order="is_last, source")
QUESTION_SOURCES_TABLE = TableSpec(
    "Where the {questions} come from",
    (Column.named("source", "Question source"), QUESTIONS, Column.share("share", "Share", "of all {questions}"), *GROUP_RATES),
    rate_notes(),
)
QUESTION_SOURCES_GLOSSARY = {"question source": "Where {a_question} was taken from, such as a survey, a forum or a clinic."}


@metric(sql=QUESTION_SOURCES_SQL, table=QUESTION_SOURCES_TABLE, glossary=QUESTION_SOURCES_GLOSSARY)
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
    table = frame(con, QUESTION_SOURCES_SQL)
    table.insert(2, "share", table["questions"] / table["questions"].sum())
    return with_rate_intervals(con, table, "source", memberships)
