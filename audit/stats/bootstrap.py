"""The two-way cluster bootstrap of pairs, for any statistic of resampled counts.

Two pairs that share a question, or a handbook, carry partly the same information, so thousands of pairs carry less than
their number suggests, and a binomial interval over pairs is several times too narrow. The bootstrap draws questions with
replacement and, independently, handbooks with replacement. A pair of handbooks a and b on question q then counts
w_q * w_a * w_b times, w being how often each was drawn. `resample` and its siblings count pairs in REPLICATES such draws,
seeded, so that the same run always shows the same interval; `ratio_interval` and `statistic_interval` read intervals off
these counts.

It errs on the wide side. What questions or handbooks have in common is counted once, as it should be; what is particular to
one handbook on one question is counted three times, so where nothing else varies an interval is 1.7 (root of 3) times too
wide. Measured on simulated samples of 60 questions and 20 handbooks it covered the true rate in 95 to 100 %, with
330 questions and 9 handbooks in 90 to 100 %.

A replicate that keeps less than MIN_KEPT of the denominator is left out. No interval is known (NaN) where fewer than two
questions or three handbooks are in the denominator. Where the event, or its opposite, occurs on fewer than MIN_QUESTIONS
questions, a ratio gets Wilson's interval with the questions in the denominator as trials; any other statistic gets none.

Source: Owen (2007), The pigeonhole bootstrap, Ann. Appl. Stat. 1(2). Fewer trials than observations where these come in
clusters: Korn and Graubard (1998), Survey Methodology 24(2); here with the largest design effect that questions can have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csr_array

from audit.stats.intervals import Floats, Interval, Ints, percentiles, wilson

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
Statistic = Callable[[Floats], Floats]
"""From counts (groups, outcomes, replicates) to values (groups, replicates)."""


class Resampled(Enum):
    """What was drawn with replacement."""

    BOTH = "questions and handbooks"
    QUESTIONS = "questions, and the handbooks of other groups if there are any"
    HANDBOOKS = "handbooks; each question is a group of its own"


@dataclass(frozen=True)
class ResampledCounts:
    """Counts of pairs as observed and in each replicate, with leading axes such as groups and outcomes.

    replicates   (..., replicates), weighted
    by_question  (..., questions), observed
    by_handbook  (..., handbooks), observed: pairs of each resampled handbook
    resampled    what was drawn

    Indexing and `sum` act on the leading axes, and counts of the same draws can be added.
    """

    replicates: Floats
    by_question: Floats
    by_handbook: Floats
    resampled: Resampled

    @classmethod
    def zeros(cls, shape: tuple[int, ...], questions: int, handbooks: int, resampled: Resampled) -> ResampledCounts:
        """Counts before any pair was added."""
        # float32 holds whole numbers exactly up to 16.7 million, at half the memory.
        replicates, by_question, by_handbook = (
            np.zeros((*shape, width), dtype=np.float32) for width in (REPLICATES, questions, handbooks)
        )
        return cls(replicates, by_question, by_handbook, resampled)

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
            self.resampled,
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
    counts = ResampledCounts.zeros((groups,), len(questions), len(handbooks), Resampled.BOTH)
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


def resample_questions(counts: Floats) -> ResampledCounts:
    """Anything counted per question (..., questions), where only questions are drawn, each with all its pairs."""
    no_handbooks = np.zeros((*counts.shape[:-1], 0), dtype=np.float32)
    return ResampledCounts(counts @ draws(counts.shape[-1], stream=0), counts, no_handbooks, Resampled.QUESTIONS)


def ratio_interval(numerator: ResampledCounts, denominator: ResampledCounts) -> Interval:
    """The interval of numerator / denominator per group: percentiles; Wilson's where the event is rare; NaN where unknown."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share = numerator.observed / denominator.observed
        ratios = numerator.replicates / denominator.replicates
    known, units, trials = _support(denominator)
    rare = _is_rare(numerator, denominator)
    # Each question is one trial, however many pairs it has: the largest design effect that questions can have.
    fallback = wilson(share * trials, trials)
    ends = zip(fallback, percentiles(_well_kept(ratios, denominator), units), strict=True)
    low, high = (np.where(known, np.where(rare, instead, resampled), np.nan) for instead, resampled in ends)
    return low, high


def clustered_ratio_interval(numerator: Floats, denominator: Floats) -> Interval:
    """The interval of numerator / denominator, both counted per group and question, where only questions are drawn."""
    return ratio_interval(resample_questions(numerator), resample_questions(denominator))


def statistic_interval(statistic: Statistic, counts: ResampledCounts) -> Interval:
    """The interval of any statistic of counts (groups, outcomes), such as an entropy, a median or a difference of shares.

    NaN where `ratio_interval` would not resample the share of the commonest outcome, because almost every draw is alike.
    """
    total = counts.sum(axis=1)
    known, units, _ = _support(total)
    commonest = counts[np.arange(len(counts.observed)), counts.observed.argmax(axis=1)]
    with np.errstate(invalid="ignore", divide="ignore"):
        values = statistic(counts.replicates)
    known = known & ~_is_rare(commonest, total)
    low, high = (np.where(known, end, np.nan) for end in percentiles(_well_kept(values, total), units))
    return low, high


def _support(denominator: ResampledCounts) -> tuple[Bools, Ints, Ints]:
    """Per group: whether enough was repeated to know a spread, the fewest units that were drawn, and Wilson's trials.

    A fixed question has as many independent trials as couples that share no handbook: half the handbooks.
    """
    questions, handbooks = (np.count_nonzero(counts, axis=-1) for counts in (denominator.by_question, denominator.by_handbook))
    if denominator.resampled is Resampled.HANDBOOKS:
        # Three handbooks are two couples. With less nothing was repeated, so the spread is unknown, which is not the same as
        # zero.
        return handbooks >= 3, handbooks, handbooks // 2
    # The scarcer of the two decides how alike the draws are.
    fewest = np.minimum(questions, handbooks)
    if denominator.resampled is Resampled.BOTH:
        return (questions >= 2) & (handbooks >= 3), fewest, questions
    # No handbooks means that only questions are drawn; a single one that is drawn shows no spread.
    return (questions >= 2) & (handbooks != 1), np.where(handbooks > 0, fewest, questions), questions


def _is_rare(numerator: ResampledCounts, denominator: ResampledCounts) -> Bools:
    """Whether the event or its opposite is on too few questions; on a single question, whether it is on no pair or on all."""
    if denominator.resampled is Resampled.HANDBOOKS:
        return np.asarray((numerator.observed == 0) | (numerator.observed == denominator.observed))
    with_event = np.count_nonzero(numerator.by_question, axis=-1)
    with_opposite = np.count_nonzero(denominator.by_question - numerator.by_question, axis=-1)
    return np.asarray(np.minimum(with_event, with_opposite) < MIN_QUESTIONS)


def _well_kept(values: Floats, denominator: ResampledCounts) -> Floats:
    """Replicates that keep enough of the denominator; NaN elsewhere."""
    return np.where(denominator.replicates >= MIN_KEPT * denominator.observed[..., None], values, np.nan)


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
