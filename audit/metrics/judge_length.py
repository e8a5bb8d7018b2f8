"""Whether the judge's label depends on how much two answers differ in length."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import BOOTSTRAP, BY_QUESTION, INTERVAL_METHOD, NO_INTERVAL, share_columns
from audit.stats.bootstrap import draws
from audit.stats.intervals import Floats, percentiles
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec
from audit.vocabulary import Label

FIFTHS = 5
# With fewer questions, resampling does not show the spread of rho.
MIN_QUESTIONS = 5
# Ties share the mean of their ranks. Rho needs only sums of ranks by question, so a draw of questions weights
# these sums instead of ranking all pairs again.
SQL = f"""
with lengths as (
    select question, handbook, length(answer) as letters from answers where not absent and length(answer) > 0
),
compared as (
    select p.question, p.handbook_a, p.handbook_b, p.disagrees,
           p.label = '{Label.CONSISTENT}' as agrees,
           1 - least(a.letters, b.letters) / greatest(a.letters, b.letters) as difference
    from judged_pairs p
    join lengths a on a.question = p.question and a.handbook = p.handbook_a
    join lengths b on b.question = p.question and b.handbook = p.handbook_b
    where p.present
),
ranked as (
    select *, ntile(5) over (order by difference, question, handbook_a, handbook_b)                  as fifth,
           rank() over (order by difference) + (count(*) over (partition by difference) - 1) / 2      as mid_rank
    from compared
)
select question, fifth, count(*) as pairs,
       count(*) filter (disagrees)      as disagreeing,
       count(*) filter (agrees)         as consistent,
       min(difference)                  as least,
       max(difference)                  as most,
       sum(mid_rank)                       as rank_sum,
       sum(mid_rank * mid_rank)            as rank_squares,
       sum(mid_rank) filter (disagrees)    as rank_sum_disagreeing
from ranked
group by all
order by all
"""
FIFTH_WORDS = {
    "1": "fifth 1, most alike", "2": "fifth 2", "3": "fifth 3", "4": "fifth 4", "5": "fifth 5, most unlike",
    "(rho)": "Rank correlation within {questions}",
}  # fmt: skip
TABLE = TableSpec(
    "Disagreement by the difference in length of two answers",
    (
        Column.text("fifth", "Pairs", words=FIFTH_WORDS), Column.decimal("least", "From", "difference"),
        Column.decimal("most", "To", "difference"), Column.count("count", "Disagreeing", "pairs"),
        Column.count("of", "Both answer", "pairs"), Column.decimal("value", "Value"), INTERVAL_METHOD,
    ),
    (
        "Difference: 1 minus the shorter answer's length over the longer's. Value: the share of disagreeing pairs in that fifth; "
        "in the last row, the correlation of the rank of the difference with disagreement among pairs of one {question}. Longer "
        "answers say more: a slope is a reason to look, not a proof.",
        BY_QUESTION,
    ),
)  # fmt: skip
GLOSSARY = {"length effect": "How much more often answers that differ in length are labelled as disagreeing."}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def judge_length(con: Connection) -> pd.DataFrame:
    """Whether disagreements are found more often the more two answers differ in length.

    The difference of a pair is 1 minus the shorter answer's length over the longer's, in characters: 0 where both are equally
    long, 0.5 where one is twice as long. All pairs in which both handbooks answer are cut into fifths by it. If neither the judge
    nor the content depended on length, every fifth would have the same share of disagreements. Longer
    answers do say more, so a slope is a reason to look, not a proof.

    Five rows from the most alike to the most unlike, then '(rho)', the correlation of the rank of the difference (as Spearman's)
    with disagreement within questions: some questions have both longer answers and more disagreement, which is not due to the
    judge, so each question's pairs are compared with its own mean:
        fifth                  str, '1' to '5', '(rho)'
        least, most            float in [0, 1], the differences in this fifth
        count, of              int, disagreeing pairs, and pairs
        consistent             int, pairs
        value                  float, count / of in [0, 1]; rho in [-1, 1]; NaN where nothing was measured
        value_low, value_high  95 % interval: questions resampled, each with all its pairs (ranks as in the whole run); for a
                               rare share Wilson's with questions as trials; NaN where it cannot be known
        interval               str, which of the two

    A run without answers has no row but '(rho)', unknown. Source: verbosity bias: Zheng et al. (2023), arXiv:2306.05685.
    """
    counts = frame(con, SQL)
    fifths = [_fifth(counts[counts["fifth"] == number], number) for number in range(1, FIFTHS + 1)]
    return pd.DataFrame([fifth for fifth in fifths if fifth["of"]] + [_rho(counts)])


def _fifth(counts: pd.DataFrame, number: int) -> dict[str, object]:
    split = pd.concat(
        [
            counts[["question"]].assign(pairs=counts["disagreeing"], disagrees=True),
            counts[["question"]].assign(pairs=counts["pairs"] - counts["disagreeing"], disagrees=False),
        ]
    )
    ends = {"least": counts["least"].min(), "most": counts["most"].max()}
    share = share_columns(split, split["disagrees"], split["pairs"] >= 0)
    return {"fifth": str(number), **ends, "consistent": int(counts["consistent"].sum()), **share}


def _rho(counts: pd.DataFrame) -> dict[str, object]:
    names = ["pairs", "disagreeing", "rank_sum", "rank_squares", "rank_sum_disagreeing"]
    sums = counts.fillna(0).groupby("question")[names].sum().to_numpy(dtype=float)
    products = _products_within(sums.T)
    rho = float(_correlation(products.sum(axis=1)[:, None])[0])
    low = high = np.nan
    if len(sums) >= MIN_QUESTIONS and not np.isnan(rho):
        lows, highs = percentiles(_correlation(products @ draws(len(sums), stream=0))[None, :], [len(sums)])
        low, high = float(lows[0]), float(highs[0])
    return {
        "fifth": "(rho)", "least": counts["least"].min(), "most": counts["most"].max(),
        "consistent": int(counts["consistent"].sum()), "count": int(counts["disagreeing"].sum()),
        "of": int(counts["pairs"].sum()), "value": rho, "value_low": low, "value_high": high,
        "interval": NO_INTERVAL if np.isnan(low) else BOOTSTRAP,
    }  # fmt: skip


def _products_within(sums: Floats) -> Floats:
    """Per question, around its own means: squares of ranks, squares of disagreement, their product; 3 x questions."""
    n, events, rank_sum, rank_squares, joint = sums
    # Disagreement is 0 or 1, so it equals its square.
    return np.stack([rank_squares - rank_sum**2 / n, events - events**2 / n, joint - rank_sum * events / n])


def _correlation(products: Floats) -> Floats:
    """Pearson's correlation of rank and disagreement from sums of `_products_within`, 3 x replicates."""
    ranks, events, joint = products
    spread = ranks * events
    correlation: Floats = joint / np.sqrt(np.where(spread > 1e-9, spread, np.nan))
    return correlation
