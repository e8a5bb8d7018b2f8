"""Sensitivity of a run's disagreement rate to unscored pairs and to questions with many pairs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import UNSEEN
from audit.queries.pair_counts import BY_QUESTION, read_pairs
from audit.stats.clustered import clustered_ratio_interval
from audit.stats.pair_table import RATES, rate_intervals
from audit.store.connection import Connection, frame
from audit.tables import Column, Population, TableSpec

POOLED, ALL_AGREE, ALL_DISAGREE, BY_MEAN = "pooled", "unscored agree", "unscored disagree", "mean over questions"
FIGURES = {
    POOLED: "pairs pooled (R_div)",
    ALL_AGREE: "if every unscored pair agreed",
    ALL_DISAGREE: "if every unscored pair disagreed",
    BY_MEAN: "mean over {questions}",
}
OTHERS, THESE, OTHER_QUESTIONS = "others", "these", "other questions"
POPULATIONS = {
    OTHERS: str(Population.QUESTIONS_AND_HANDBOOKS),
    THESE: "these pairs; no interval",
    OTHER_QUESTIONS: str(Population.QUESTIONS_TO_THESE),
}
SQL = f"""
with {BY_QUESTION}
select question, present, disagreeing, unscored from tallies order by question
"""
TABLE = TableSpec(
    "How the disagreement rate depends on the way it is counted",
    (
        Column.text("figure", "Counted", words=FIGURES),
        Column.count("of", "Of", "pairs or {questions}"),
        Column.share("value", "Disagreement"),
        Column.text("population", "Interval speaks of", words=POPULATIONS),
    ),
    (
        "Unscored pairs have no readable verdict and are in no rate. The two bounds count them as pairs in which both answer: "
        "with a verdict on every pair, and the others unchanged, the rate would lie between them.",
        "Pooled, {a_question} with many pairs has more weight; in the mean, every {question} with a pair in which both answer "
        "counts "
        f"the same. {UNSEEN}",
    ),
)
GLOSSARY = {"bounds for unscored pairs": "The disagreement rate if all unscored pairs agreed, or if all disagreed."}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def disagreement_bounds(con: Connection) -> pd.DataFrame:
    """R_div of the run, its bounds for unscored pairs, and the mean of the questions' own rates.

    Four rows:
        figure                  str: pooled (disagreeing / present); unscored agree: disagreeing / (present + unscored); unscored
                                disagree: (disagreeing + unscored) / (present + unscored); mean over questions: of disagreeing /
                                present of each question with a present pair
        of                      int, pairs in the denominator; questions in the last row
        value                   float in [0, 1]; NaN where the denominator is 0
        value_low, value_high   95 % interval; NaN for the bounds, which describe these pairs exactly
        population              str, 'others', 'these' or 'other questions': the population of the interval

    Sources: Manski (1989), J. Hum. Resour. 24 (bounds); R_div as in arXiv:2605.29084, section 6.2; intervals:
    audit.stats.clustered.
    """
    counts = frame(con, SQL)
    present, disagreeing, unscored = (counts[name].to_numpy(dtype=float) for name in ("present", "disagreeing", "unscored"))
    everything = present.sum() + unscored.sum()
    low, high = rate_intervals(read_pairs(con), np.ones((1, len(counts)), dtype=np.float32), {"r_div": RATES["r_div"]})["r_div"]
    answered = present > 0
    rates = disagreeing[answered] / present[answered]
    mean_low, mean_high = clustered_ratio_interval(rates[None], np.ones((1, len(rates))), events=False)
    rows = [
        (POOLED, present.sum(), disagreeing.sum(), low[0], high[0], OTHERS),
        (ALL_AGREE, everything, disagreeing.sum(), np.nan, np.nan, THESE),
        (ALL_DISAGREE, everything, disagreeing.sum() + unscored.sum(), np.nan, np.nan, THESE),
        (BY_MEAN, len(rates), rates.sum(), mean_low[0], mean_high[0], OTHER_QUESTIONS),
    ]
    table = pd.DataFrame(rows, columns=["figure", "of", "events", "value_low", "value_high", "population"])
    table["value"] = table["events"] / table["of"].replace(0, np.nan)
    return table.astype({"of": int})[["figure", "of", "value", "value_low", "value_high", "population"]]
