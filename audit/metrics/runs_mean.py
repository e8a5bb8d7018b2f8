"""How two runs differ on average over organs, each organ counting once: the headline figure of the source paper."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import DIRECTION, TWO_RUNS
from audit.metrics.runs import RATES, rate_in, scope_of_first
from audit.queries.aligned_runs import PAIRED_SQL, paired_runs
from audit.stats.intervals import Floats
from audit.stats.paired import PairedShare, change_interval, direction
from audit.store.connection import Connection
from audit.tables import Column, IntervalNote, Population, TableSpec
from audit.terms import RATE_TITLES

MEAN_TABLE = TableSpec(
    "The four rates in two runs, averaged over {organs}",
    (
        Column.text("rate", "Rate", words=RATE_TITLES),
        Column.count("organs", "{Organs}"),
        Column.share("first", "First run"),
        Column.share("second", "Second run"),
        Column.share("change", "Change"),
        DIRECTION,
    ),
    (
        "Each {organ} of the {questions} counts once, general questions among them, however many pairs it has.",
        "Change: the second run minus the first, on these {organs}.",
        IntervalNote(Population.QUESTIONS_TO_THESE, "they are resampled, one draw for both runs"),
        TWO_RUNS,
    ),
)
MEAN_GLOSSARY = {"unweighted mean": "The average of the {organs}' own figures: a small {organ} counts as much as a large one."}


@metric(sql=PAIRED_SQL, table=MEAN_TABLE, glossary=MEAN_GLOSSARY, compares=True)
def runs_mean(con: Connection, scope: str | None = None) -> pd.DataFrame:
    """The four rates of two runs averaged over organs, each organ counting once, and how much the average changes.

    The rates are those of `runs`, in the same scope and on the same pairs. An organ without a rate in one of the runs is left out
    of that rate's average in both.

    One row per rate:
        rate                            str; r_abs, r_div, r_con, pct_any_div
        organs                          int, that have the rate in both runs
        first, second                   float in [0, 1], means over these organs; NaN without one
        change                          float in [-1, 1]; change_low, change_high: its 95 % interval, questions resampled, each
                                        with all its pairs, one draw for both runs; NaN where fewer than five questions differ
        questions                       int, whose counts differ between the runs
        moves                           str, as in `runs`

    Raises AuditError for another scope. Takes a connection to both runs (audit.store.connection.open_two). Source:
    arXiv:2605.29084, section 6.4; intervals: Davison and Hinkley (1997), section 3.8.
    """
    both = paired_runs(con, scope_of_first(con, scope))
    # The last row is the whole run
    shares = {rate: [_without_last(rate_in(both, rate, side)) for side in ("first", "second")] for rate in RATES}
    return pd.DataFrame([{"rate": rate, **_mean_change(first, second, both.draws)} for rate, (first, second) in shares.items()])


def _without_last(share: PairedShare) -> PairedShare:
    return PairedShare(share.numerator[:-1], share.denominator[:-1])


def _mean_change(first: PairedShare, second: PairedShare, weights: Floats) -> dict[str, object]:
    known = ~np.isnan(first.value) & ~np.isnan(second.value)
    if not known.any():
        nothing = dict.fromkeys(("first", "second", "change", "change_low", "change_high"), np.nan)
        return {"organs": 0, **nothing, "questions": 0, "moves": direction(np.nan, np.nan, False)}
    first, second = (PairedShare(share.numerator[known], share.denominator[known]) for share in (first, second))
    differing = int(np.any((first.numerator != second.numerator) | (first.denominator != second.denominator), axis=0).sum())
    # A draw in which an organ keeps too few pairs has no mean
    replicates = (second.replicates(weights) - first.replicates(weights)).mean(axis=0, keepdims=True)
    (low,), (high,) = change_interval(replicates, np.array([differing]))
    change = float((second.value - first.value).mean())
    return {
        "organs": int(known.sum()), "first": float(first.value.mean()), "second": float(second.value.mean()),
        "change": change, "change_low": low, "change_high": high, "questions": differing,
        "moves": direction(low, high, differing == 0),
    }  # fmt: skip
