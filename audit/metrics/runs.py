"""How the four rates of two runs differ, by the organ of the question."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import DIRECTION, ORGAN, TWO_RUNS, UNSCORED
from audit.queries.paired_runs import SQL as PAIRED_SQL
from audit.queries.paired_runs import PairedRuns, group_totals, paired_runs
from audit.stats.paired import PairedShare, change_columns, marked_change_columns
from audit.store.connection import Connection
from audit.tables import Column, TableSpec
from audit.terms import RATE_MEANINGS, RATE_TITLES
from audit.vocabulary import Label

ANY = "pct_any_div"
RATES = ("r_abs", "r_div", "r_con", ANY)
TABLE = TableSpec(
    "The four rates in two runs, by {organ}, on the pairs that both have",
    (
        ORGAN,
        Column.text("rate", "Rate", words=RATE_TITLES),
        Column.count("count_first", "Count", "first run"),
        Column.count("of_first", "Of", "first run"),
        Column.share("first", "First run"),
        Column.count("count_second", "Count", "second run"),
        Column.count("of_second", "Of", "second run"),
        Column.share("second", "Second run"),
        Column.share("change", "Change"),
        DIRECTION,
    ),
    (
        *(f"{RATE_TITLES[name]}: {RATE_MEANINGS[name]}" for name in RATES),
        UNSCORED,
        "Change: the second run minus the first; in brackets its 95 % interval, {questions} resampled, one draw for both runs "
        "(for shares of {questions} Newcombe's, for trials made twice).",
        TWO_RUNS,
    ),
)
GLOSSARY = {
    "paired interval": "The 95 % interval of a change. Both runs have the same {questions}, so what makes these unlike each "
    "other drops out.",
}


@metric(sql=PAIRED_SQL, table=TABLE, glossary=GLOSSARY, compares=True)
def runs(con: Connection) -> pd.DataFrame:
    """How much more, or less, often handbooks leave a question out, disagree and agree in a second run than in a first.

    Only pairs are compared that both runs have and to which both gave a verdict: the same question and the same two handbooks,
    by their ids. So the rates of a run here may differ from its own, which are of all its pairs; `shared` and `left_out` say what
    is compared and what is not. Of these pairs, in each run: r_abs, the share that is absent; r_div and r_con, of those that are
    present in that run, the share that disagrees (divergent or contradictory), the share that is consistent; pct_any_div, of the
    questions, the share with at least one disagreeing pair. change is the second run minus the first.

    Intervals of a change are paired: questions are resampled, each with all its pairs, and one draw serves both runs. So what
    makes questions unlike each other, being the same in both, does not widen them. The handbooks are taken as they are. For
    pct_any_div, which counts questions, Wilson's interval for trials that were made twice is used.

    One row per organ of the question (by name, 'general' after the others, '(all)' last) and rate:
        organ, rate                 str; r_abs, r_div, r_con, pct_any_div
        count_first, of_first       int, pairs (pct_any_div: questions); count_second, of_second the same in the second run
        first, second               float in [0, 1]; NaN where `of` is 0
        change                      float in [-1, 1]; NaN where either is. change_low, change_high: its 95 % interval; NaN where
                                    fewer than five questions contribute to the change (never so for pct_any_div)
        questions                   int, that contribute: their counts differ between the runs
        moves                       str, 'rises', 'falls', 'not clear' (0 lies within), 'the same' (no count differs) or
                                    'too few questions'

    Takes a connection to both runs (audit.store.connection.open_two). Source: rates as in arXiv:2605.29084, section 4; intervals:
    Davison and Hinkley (1997), clusters resampled; Newcombe (1998), Stat. Med. 17, 2635, method 10.
    """
    both = paired_runs(con)
    parts = [_compared(both, rate, _rate(both, rate, "first"), _rate(both, rate, "second")) for rate in RATES]
    order = pd.MultiIndex.from_product([both.organs, RATES], names=["organ", "rate"])
    return pd.concat(parts).set_index(["organ", "rate"]).reindex(order).reset_index()


def _rate(both: PairedRuns, rate: str, side: str) -> PairedShare:
    """One rate in one of the runs."""
    scored, absent = both.counts(both.cells["pairs"] > 0), both.counts(both.absent(side))
    disagreeing = both.counts(both.disagreeing(side))
    return {
        "r_abs": PairedShare(absent, scored),
        "r_div": PairedShare(disagreeing, scored - absent),
        "r_con": PairedShare(both.counts(both.labelled(side, Label.CONSISTENT)), scored - absent),
        ANY: PairedShare(np.sign(disagreeing), np.sign(scored)),
    }[rate]


def _compared(both: PairedRuns, rate: str, first: PairedShare, second: PairedShare) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "organ": both.organs,
            "rate": rate,
            "count_first": group_totals(first.numerator),
            "of_first": group_totals(first.denominator),
            "first": first.value,
            "count_second": group_totals(second.numerator),
            "of_second": group_totals(second.denominator),
            "second": second.value,
            **(
                marked_change_columns("change", first, second)
                if rate == ANY
                else change_columns("change", first, second, both.draws)
            ),
        }
    )
