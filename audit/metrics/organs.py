"""How often handbooks leave questions out and disagree, by the organ of the question."""

from __future__ import annotations

import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import ORGAN, PAIRS, PRESENT, QUESTIONS, rate_columns, rate_notes
from audit.queries.pair_counts import BY_QUESTION, GROUP_COLUMNS, GROUP_COUNTS, with_rate_intervals
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec
from audit.terms import RATE_MEANINGS

MEMBERSHIPS = """memberships as (
    select question, organ, false as is_total from questions
    union all
    select question, '(all)', true from questions
)"""

SQL = f"""
with {BY_QUESTION},
{MEMBERSHIPS},
counted as (
    select organ, is_total,
{GROUP_COUNTS}
    from memberships left join tallies using (question)
    group by organ, is_total
)
select organ, {GROUP_COLUMNS}
from counted
order by is_total, organ = 'general', organ
"""
TABLE = TableSpec(
    "The four rates by {organ} of the {question}",
    (
        ORGAN, QUESTIONS, PAIRS, PRESENT, *rate_columns(), Column.count("disagreeing", "Disagreeing", "pairs"),
        Column.count("unscored", "Unscored", "pairs"),
    ),
    rate_notes(),
)  # fmt: skip
GLOSSARY = {
    "not addressed (r_abs)": RATE_MEANINGS["r_abs"],
    "disagreement (R_div)": RATE_MEANINGS["r_div"],
    "same advice (R_con)": RATE_MEANINGS["r_con"],
    "disputed {questions} (pct_any_div)": RATE_MEANINGS["pct_any_div"],
}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def organs(con: Connection) -> pd.DataFrame:
    """How often handbooks do not address a question, disagree and agree, by the organ that the question is about.

    r_abs: of the pairs with a verdict, the share in which at least one handbook does not address the question. r_div: of
    the pairs in which both do (present pairs), the share that the judge found divergent or contradictory. r_con: of the
    present pairs, the share found consistent. pct_any_div: of the questions with a verdict on any pair, the share with at
    least one disagreeing pair. Unscored pairs (no readable verdict) enter no rate: a missing verdict is not agreement.

    One row per question organ, by name, 'general' after the others, then a row '(all)':
        organ                            str
        questions                        int, questions of the organ
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
    in the denominator. Source: rates as in arXiv:2605.29084, section 4; intervals: Owen (2007), Wilson (1927).
    """
    memberships = frame(con, f"with {MEMBERSHIPS} select question, organ from memberships")
    return with_rate_intervals(con, frame(con, SQL), "organ", memberships)
