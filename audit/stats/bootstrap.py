"""Resampling, for figures that have no interval in closed form: kappas, rank correlations, means, changes between two runs.

Questions, and where a figure speaks of other handbooks too, independently of them handbooks, are drawn with replacement. A pair
of handbooks a and b on question q then counts w_q * w_a * w_b times, w being how often each was drawn. There are REPLICATES
draws, seeded, so that the same run always shows the same interval. Shares of pairs have intervals in closed form
(audit.stats.clustered).

A replicate that keeps less than MIN_KEPT of the denominator is left out. Drawing handbooks as well counts what is particular to
one handbook on one question three times, so where nothing else varies an interval is up to 1.7 (root of 3) times too wide.

Source: Owen (2007), The pigeonhole bootstrap, Ann. Appl. Stat. 1(2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csr_array

from audit.stats.intervals import Floats, Ints

REPLICATES = 1000
# Fixed, so that the same run always shows the same interval.
SEED = 2007
# Most draws miss an event, or its opposite, on fewer questions; with no event at all every draw gives zero, and an interval
# without width.
MIN_QUESTIONS = 5
# The share of the denominator that a replicate must keep. Where a few handbooks have most present pairs, a draw can miss them
# all; the handful of pairs that remain carry hardly any information about the share.
MIN_KEPT = 1 / 3
# Pairs weighted at a time in `resample_groups`: their weights in 1,000 replicates are 32 MB.
PAIRS_PER_CHUNK = 8192

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class ResampledCounts:
    """Counts of pairs as observed and in each replicate, with leading axes such as groups and outcomes.

    replicates   (..., replicates), weighted
    by_question  (..., questions), observed
    by_handbook  (..., handbooks), observed: pairs of each resampled handbook

    Indexing and `sum` act on the leading axes, and counts of the same draws can be added.
    """

    replicates: Floats
    by_question: Floats
    by_handbook: Floats

    @classmethod
    def zeros(cls, shape: tuple[int, ...], questions: int, handbooks: int) -> ResampledCounts:
        """Counts before any pair was added."""
        # float32 holds whole numbers exactly up to 16.7 million, at half the memory.
        replicates, by_question, by_handbook = (
            np.zeros((*shape, width), dtype=np.float32) for width in (REPLICATES, questions, handbooks)
        )
        return cls(replicates, by_question, by_handbook)

    def _apply(self, change: Callable[[Floats], Any]) -> ResampledCounts:
        arrays = {name: change(getattr(self, name)) for name in ("replicates", "by_question", "by_handbook")}
        return replace(self, **arrays)

    def __getitem__(self, index: Any) -> ResampledCounts:
        return self._apply(lambda array: array[index])

    def __add__(self, other: ResampledCounts) -> ResampledCounts:
        return ResampledCounts(
            self.replicates + other.replicates,
            self.by_question + other.by_question,
            self.by_handbook + other.by_handbook,
        )

    def sum(self, axis: int) -> ResampledCounts:
        """Counts added up along one of the leading axes."""
        return self._apply(lambda array: array.sum(axis=axis))

    def total(self) -> ResampledCounts:
        """All groups (the first axis) as one, repeated for each group: the denominator of a group's share of everything."""
        return self._apply(lambda array: np.broadcast_to(array.sum(axis=0, keepdims=True), array.shape))

    @property
    def observed(self) -> Floats:
        """Pairs as observed."""
        pairs: Floats = self.by_question.sum(axis=-1, dtype=float)
        return pairs


# A metric of thirty shares would draw the same thousand replicates sixty times; one draw of 1,115 questions takes 4.5 MB.
@lru_cache(8)
def draws(units: int, stream: int) -> Floats:
    """How often each unit is drawn in each replicate: float32, read-only, units x REPLICATES; a replicate draws `units` in all.

    Streams are independent: 0 draws questions, 1 handbooks, 2 whatever else is ranked.
    """
    if not units:
        return np.zeros((0, REPLICATES), dtype=np.float32)
    # A multinomial draw is how often each unit is drawn when `units` are drawn with replacement.
    rng = np.random.default_rng([SEED, stream])
    drawn: Floats = rng.multinomial(units, np.full(units, 1 / units), size=REPLICATES).T.astype(np.float32)
    drawn.setflags(write=False)
    return drawn


def resample_groups(pairs: pd.DataFrame, group: Ints, groups: int) -> ResampledCounts:
    """Counts (groups,) of pairs in groups of any kind, such as those that disagree about one theme.

    pairs  question, handbook_a, handbook_b: one row per pair, of one run or of several with the same numbering
    group  int, the group of each pair, from 0

    Questions and handbooks are drawn over all of `pairs`, so the groups share their draws.
    """
    question, questions = pd.factorize(pairs["question"])
    # Both sides are numbered together: a handbook is drawn once, whichever side of a pair it is on.
    sides, handbooks = pd.factorize(pd.concat([pairs["handbook_a"], pairs["handbook_b"]]))
    a, b = sides[: len(pairs)], sides[len(pairs) :]
    w_question, w_handbook = draws(len(questions), stream=0), draws(len(handbooks), stream=1)
    counts = ResampledCounts.zeros((groups,), len(questions), len(handbooks))
    for start in range(0, len(group), PAIRS_PER_CHUNK):
        chunk = slice(start, start + PAIRS_PER_CHUNK)
        weights = w_question[question[chunk]] * w_handbook[a[chunk]] * w_handbook[b[chunk]]
        rows = group[chunk], np.arange(len(weights))
        # A sparse product adds pairs up by group without a dense matrix of groups by pairs.
        counts.replicates[:] += csr_array((np.ones(len(weights), dtype=np.float32), rows), (groups, len(weights))) @ weights
    # `+=` would count a group and question once, however many pairs they have.
    np.add.at(counts.by_question, (group, question), 1)
    for side in (a, b):
        np.add.at(counts.by_handbook, (group, side), 1)
    return counts


def stratified_draws(times: Ints, stratum: Ints, fixed: Bools, seed: int, replicates: int) -> Floats:
    """How often each kind of item is drawn when items are drawn with replacement within strata: float (replicates, kinds).

    `times` is how often a kind occurs, `stratum` the stratum it belongs to, `fixed` (per stratum) where nothing is drawn
    because all of the stratum was rated.
    """
    rng, counts = np.random.default_rng(seed), np.tile(np.asarray(times, dtype=float), (replicates, 1))
    for member in np.unique(stratum[~fixed[stratum]]):
        (kinds,) = np.nonzero(stratum == member)
        # As many items are drawn from a stratum as were rated in it, so its weight stays what it was.
        n = int(times[kinds].sum())
        counts[:, kinds] = rng.multinomial(n, times[kinds] / n, size=replicates)
    return counts
