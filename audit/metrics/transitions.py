"""What one run says of each pair, and another run of the same pair: what stayed, what moved, and where to."""

from __future__ import annotations

import pandas as pd

from audit.store.connection import Connection, frame
from audit.vocabulary import LABELS

COMPARES = True
PRESCREENED, UNSCORED, NOT_THERE = "PRE-SCREENED", "UNSCORED", "NOT IN THE RUN"
STATES = (PRESCREENED, *(label.value for label in LABELS), UNSCORED, NOT_THERE)
"""What a run may say of a pair, in the order of the matrix."""

IN_BOTH = """
books as (
    select mine.handbook as own, theirs.handbook as their
    from this.handbooks mine join other.handbooks theirs using (handbook_id)
),
asked as (
    select mine.question as own, theirs.question as their
    from this.questions mine join other.questions theirs using (question_id)
)"""
"""The handbooks and questions that both runs have, by their number in each."""

ALIGNED = f"""
{IN_BOTH},
before as (
    select question, handbook_a, handbook_b, significance::varchar as significance,
           case when prescreened then 'PRE-SCREENED' else coalesce(label::varchar, 'UNSCORED') end as state
    from this.pairs
    where question in (select own from asked)
      and handbook_a in (select own from books) and handbook_b in (select own from books)
),
after as (
    select asked.own as question, least(a.own, b.own) as handbook_a, greatest(a.own, b.own) as handbook_b,
           significance::varchar as significance,
           case when prescreened then 'PRE-SCREENED' else coalesce(label::varchar, 'UNSCORED') end as state
    from other.pairs p
    join asked on asked.their = p.question
    join books a on a.their = p.handbook_a
    join books b on b.their = p.handbook_b
),
both_runs as (
    select question, handbook_a, handbook_b,
           coalesce(before.state, 'NOT IN THE RUN') as first, coalesce(after.state, 'NOT IN THE RUN') as second,
           before.significance as significance_first, after.significance as significance_second
    from before full join after using (question, handbook_a, handbook_b)
)"""
"""The steps that bring both runs' pairs together, by the ids of questions and handbooks, whatever their order in each run."""

SQL = f"""
with {ALIGNED}
select first, second, count(*) as pairs
from both_runs
group by all
"""


def transitions(con: Connection) -> pd.DataFrame:
    """What the first run says of each pair against what the second run says of the same pair.

    The same pair is the same question and the same two handbooks, by their ids, in whatever order each run lists them. Only
    questions and handbooks that both runs have are compared; what is not shared is counted by `shared`. A run may say of a
    pair one of the five labels as judged; that it was pre-screened (ABSENT without asking the judge); that it is unscored
    (the judge gave no readable verdict); or nothing, because the pair is not in that run. The last three are no labels.

    One row per combination, also of those that do not occur, in label order:
        first, second  str, PRE-SCREENED, a label, UNSCORED or NOT IN THE RUN; not both NOT IN THE RUN
        pairs          int
        share          float in [0, 1], of the pairs of this `first`; NaN where there are none

    Takes a connection to both runs (audit.store.connection.open_two). Source: the confusion of two judges of the same pairs,
    as in the ablation of arXiv:2605.29084.
    """
    counted = frame(con, SQL).set_index(["first", "second"])["pairs"]
    every = pd.MultiIndex.from_product([STATES, STATES], names=["first", "second"]).drop((NOT_THERE, NOT_THERE))
    table = counted.reindex(every, fill_value=0).astype(int).reset_index()
    whole = table.groupby("first")["pairs"].transform("sum")
    return table.assign(share=table["pairs"] / whole.where(whole > 0))
