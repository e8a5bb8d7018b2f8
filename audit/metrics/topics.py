"""How often handbooks leave questions out and disagree, by the topic or subtopic of the question."""

from __future__ import annotations

import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import PAIRS, PRESENT, QUESTIONS, rate_columns, rate_notes
from audit.queries.lookup import require_one_of
from audit.queries.pair_counts import BY_QUESTION, GROUP_COLUMNS, GROUP_COUNTS, with_rate_intervals
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec

LEVELS = ("topic", "subtopic")

MEMBERSHIPS = """named as (
    select question, topic from topics where $level = 'topic'
    union
    select question, subtopic from subtopics where $level = 'subtopic'
),
memberships as (
    select question, coalesce(topic, '(none)') as topic, topic is null as is_rest
    from questions left join named using (question)
)"""

SQL = f"""
with {BY_QUESTION},
{MEMBERSHIPS},
counted as (
    select topic, is_rest,
{GROUP_COUNTS}
    from memberships left join tallies using (question)
    group by topic, is_rest
)
select topic, {GROUP_COLUMNS}
from counted
order by is_rest, topic
"""
TABLE = TableSpec(
    "The rates by {topic}",
    (
        Column.named("topic", "{Topic}"), QUESTIONS, PAIRS, PRESENT, *rate_columns(),
        Column.count("disagreeing", "Disagreeing", "pairs"), Column.count("unscored", "Unscored", "pairs"),
    ),
    ("{A_question} on two {topics} counts in both, so that rows add up to more than the run.", *rate_notes()),
)  # fmt: skip
GLOSSARY = {"topic": "What {a_question} is about, such as diet; {a_question} on two {topics} counts under both."}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def topics(con: Connection, level: str = "topic") -> pd.DataFrame:
    """How often handbooks do not address a question, disagree and agree, by its topic (or subtopic).

    A question with two topics counts in both, so the rows add up to more than the run. r_abs: of the pairs with a verdict,
    the share in which at least one handbook does not address the question. r_div: of the pairs in which both do (present
    pairs), the share that the judge found divergent or contradictory. r_con: of the present pairs, the share found
    consistent. pct_any_div: of the questions with a verdict on any pair, the share with at least one disagreeing pair.
    Unscored pairs (no readable verdict) enter no rate: a missing verdict is not agreement.

    `level` is 'topic' or 'subtopic'. One row per topic, by name, and a last row '(none)' when a question has none:
        topic                            str, topic or subtopic
        questions                        int, questions on the topic
        pairs, scored, unscored          int, pairs; pairs = scored + unscored
        prescreened, absent_judged       int, pairs; absent = prescreened + absent_judged
        present                          int, pairs; consistent + complementary + divergent + contradictory
        disagreeing                      int, pairs; divergent + contradictory
        r_abs                            float in [0, 1], absent / scored
        r_div, r_con                     float in [0, 1], disagreeing / present, consistent / present
        questions_scored, questions_any  int, questions with a scored pair, with a disagreeing pair
        pct_any_div                      float in [0, 1], questions_any / questions_scored
        ..._low, ..._high                95 % intervals: of r_abs, r_div, r_con with questions and handbooks resampled
                                         (two-way cluster bootstrap); Wilson's over questions for pct_any_div, and where
                                         an outcome or its opposite is on fewer than five questions

    A rate is NaN where its denominator is 0; an interval is NaN too where fewer than two questions or three handbooks are
    in the denominator. Raises AuditError for another level. Source: as audit.metrics.organs.
    """
    require_one_of(level, LEVELS, "Level")
    memberships = frame(con, f"with {MEMBERSHIPS} select question, topic from memberships", {"level": level})
    return with_rate_intervals(con, frame(con, SQL, {"level": level}), "topic", memberships)
