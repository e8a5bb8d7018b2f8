"""What two runs disagree about because a handbook is heard or silent, and what because it is judged otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from audit.metrics.paired_runs import ALL, PairedRuns, group_totals, paired_runs
from audit.metrics.paired_runs import SQL as PAIRED_SQL
from audit.stats.bootstrap import clustered_ratio_interval
from audit.stats.intervals import Floats
from audit.stats.paired import FALLS, RISES, PairedShare, change_columns, change_interval
from audit.store.connection import Connection

COMPARES = True
SQL = PAIRED_SQL
REVEALED, LOST, BOTH, NEITHER, IN_ALL = "revealed", "lost", "present in both", "absent in both", "in all"
JUDGES, REVEALS, HIDES, NOTHING = "judges", "reveals", "hides", "nothing"
PARTS = (REVEALED, LOST, BOTH, NEITHER, IN_ALL)


def runs_change(con: Connection) -> pd.DataFrame:
    """What changed in absence and what changed in judgement: does a second run reveal disagreement, or make it?

    A run that finds more in the handbooks has more pairs in which both answer, and so more that disagree. That reveals
    disagreement. A run may also judge otherwise what both had before it. Every pair that both runs have and to which both gave a
    verdict is therefore one of four: revealed, absent in the first run and present in the second; lost, present in the first and
    absent in the second; present in both; absent in both. The disagreeing pairs of the parts add up to those of the runs.

    r_div, the share of present pairs that disagree, changes by the sum of three effects. Of the pairs present in both: r_div
    among them in the second run less in the first, so judgement alone. Of what is revealed: r_div of the second run less that of
    its pairs present in both; above 0 where revealed pairs disagree more often than those. Of what is lost: r_div of the first
    run's pairs present in both less that of the first run. If retrieval reveals disagreement and does not make it, the
    effect of the pairs present in both is about 0.

    One row per organ of the question ('general' after the others, '(all)' last) and part (the four, then 'in all'):
        organ, part                            str
        pairs                                  int; the four add up to 'in all'
        relabelled                             int, pairs with another label in the second run; absent is a label
        disagreeing_first, disagreeing_second  int, pairs divergent or contradictory in that run
        change                                 int, the second less the first; the four add up to 'in all'
        change_low, change_high                its 95 % interval, in pairs
        r_div_first, r_div_second              float in [0, 1], of the pairs of this part that are present in that run; NaN
                                               where there are none; ..._low, ..._high: 95 % interval
        effect                                 float in [-1, 1], on r_div; the four add up to 'in all', the change of r_div;
                                               NaN where no pair is present in both; ..._low, ..._high: 95 % interval
        questions                              int, that bear the effect
        moves                                  str, what the effect does: 'rises', 'falls', 'not clear' (0 lies within),
                                               'the same' (nothing differs) or 'too few questions'

    Intervals: questions resampled, each with all its pairs, one draw for both runs; NaN where fewer than five questions bear the
    change. r_div_first and r_div_second stand alone: Wilson's over questions where rare, NaN with fewer than two. Takes a
    connection to both runs (audit.store.connection.open_two). Source: the three effects are those of survivors, entrants and
    leavers in Melitz and Polanec (2015), RAND J. Econ. 46(2).
    """
    both = paired_runs(con)
    table = pd.concat([_part(both, part) for part in PARTS])
    order = pd.MultiIndex.from_product([both.organs, PARTS], names=["organ", "part"])
    return table.set_index(["organ", "part"]).reindex(order).reset_index()


def verdict(table: pd.DataFrame, organ: str = ALL) -> str:
    """What the changes of one organ amount to, for a reader who wants one word.

    JUDGES where the effect of the pairs present in both has an interval on one side of 0. Else REVEALS where more disagreeing
    pairs came to light than were lost, even by the low ends of both intervals; HIDES the other way round. Else NOTHING: what
    changed is no more than chance could do, or too little to tell.
    """
    rows: dict[Any, dict[Any, Any]] = table[table["organ"] == organ].set_index("part").to_dict("index")
    if rows[BOTH]["moves"] in (RISES, FALLS):
        return JUDGES
    (up_low, up_high), (down_low, down_high) = (_ends(rows[part]) for part in (REVEALED, LOST))
    known_up, known_down = (not np.isnan(rows[part]["change_low"]) for part in (REVEALED, LOST))
    if known_up and up_low > 0 and up_low + down_low > 0:
        return REVEALS
    return HIDES if known_down and down_high < 0 and up_high + down_high < 0 else NOTHING


def _ends(row: Mapping[Any, Any]) -> tuple[float, float]:
    """The interval of a part's change; the change itself, twice, where none is known."""
    low, high, change = (float(row[name]) for name in ("change_low", "change_high", "change"))
    return (change, change) if np.isnan(low) else (low, high)


def _holds(both: PairedRuns, part: str) -> pd.Series:
    """Which cells belong to a part."""
    was, now = both.absent("first"), both.absent("second")
    return {REVEALED: was & ~now, LOST: ~was & now, BOTH: ~was & ~now, NEITHER: was & now, IN_ALL: was | True}[part]


def _r_div(both: PairedRuns, part: str, side: str) -> PairedShare:
    held = _holds(both, part)
    return PairedShare(both.counts(held & both.disagreeing(side)), both.counts(held & ~both.absent(side)))


def _part(both: PairedRuns, part: str) -> pd.DataFrame:
    held = _holds(both, part)
    first, second = (_r_div(both, part, side) for side in ("first", "second"))
    change = second.numerator - first.numerator
    ends = change_interval(change @ both.draws, np.count_nonzero(change, axis=1))
    return pd.DataFrame(
        {
            "organ": both.organs, "part": part, "pairs": group_totals(both.counts(held)),
            "relabelled": group_totals(both.counts(held & (both.cells["first"] != both.cells["second"]))),
            "disagreeing_first": group_totals(first.numerator), "disagreeing_second": group_totals(second.numerator),
            "change": group_totals(change), "change_low": ends[0], "change_high": ends[1],
            **_with_ends("r_div_first", first), **_with_ends("r_div_second", second), **_effect(both, part),
        }
    )  # fmt: skip


def _with_ends(name: str, share: PairedShare) -> dict[str, Floats]:
    low, high = clustered_ratio_interval(share.numerator.astype(np.float32), share.denominator.astype(np.float32))
    return {name: share.value, f"{name}_low": low, f"{name}_high": high}


def _effect(both: PairedRuns, part: str) -> dict[str, object]:
    """What a part does to r_div, with its interval: always the second of two shares less the first."""
    wanted = {
        REVEALED: ((BOTH, "second"), (IN_ALL, "second")), LOST: ((IN_ALL, "first"), (BOTH, "first")),
        BOTH: ((BOTH, "first"), (BOTH, "second")), NEITHER: ((BOTH, "first"), (BOTH, "first")),
        IN_ALL: ((IN_ALL, "first"), (IN_ALL, "second")),
    }  # fmt: skip
    first, second = (_r_div(both, *which) for which in wanted[part])
    return change_columns("effect", first, second, both.draws)
