"""Which handbooks share a position on a question, given a judge's labels that are sometimes wrong.

Handbooks that share a position agree, others disagree; the judge calls an agreeing pair a disagreement with probability `false`
and misses a disagreeing one with probability `missed`. So each labelled pair is evidence, log P(label | same position)
- log P(label | two positions), and the evidence of all pairs within positions adds up. Beforehand handbooks fall into positions
as guests sit down at tables (Ewens; concentration CONCENTRATION), except that the probability of a single position is a parameter
of its own, which the questions of a run share (`share_disputed`).

A judge errs more often on some questions than on others, and then its labels alone cannot tell errors from positions. Where it
cites amounts for a disagreement, the answers can: `amounts_told` learns from the run how far they do.

Up to MAX_ENUMERATED handbooks all partitions are summed. For more, PARTICLES partitions grow by one handbook at a time, weighted
by their evidence, and each handbook is then moved again several times (a particle filter with Gibbs moves; seeded). All
distinct partitions that were seen, and those in which one handbook or two stand apart, are weighed exactly; their sum stands for
that of all. (The filter's own estimate of it was off by up to 50 on the log scale where a few handbooks stand apart.)

Sources: Ewens (1972), Theor. Popul. Biol. 3; MacEachern, Clyde and Liu (1999), Can. J. Stat. 27 (particles for partitions);
Efron et al. (2001), J. Am. Stat. Assoc. 96 (local false discovery rates).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from audit.stats.intervals import TAIL, Floats, Ints

CONCENTRATION = 1.0
MAX_ENUMERATED, MAX_POSITIONS = 8, 10
PARTICLES, SWEEPS, SEED = 64, 4, 20_261_127
START_SHARE = 0.3
"""Of disputed questions, before any is seen."""


@dataclass(frozen=True)
class JudgeErrors:
    """How often the judge errs on a pair in which both answer.

    false   probability that it calls an agreement a disagreement
    missed  probability that it calls a disagreement an agreement
    """

    false: float
    missed: float

    def evidence(self, disagrees: Floats) -> Floats:
        """The evidence of each pair for one position; `disagrees` is 1, 0, or NaN where the pair has no label."""
        called = np.log(self.false / (1 - self.missed))
        not_called = np.log((1 - self.false) / self.missed)
        return np.where(np.isnan(disagrees), 0.0, np.where(disagrees > 0.5, called, not_called))


IMAGINED_AMOUNTS, DIFFER_BEFOREHAND = 10.0, (0.2, 0.8)
"""Beforehand, as if so many cited pairs of one position and of two had been seen, with differing amounts in these shares."""


@dataclass(frozen=True)
class AmountsTold:
    """How often the amounts that a judge cites for a disagreement are told apart by the answers, and not stated by both.

    same   probability of this where two handbooks share a position; apart  where they do not
    """

    same: float
    apart: float

    def evidence(self, differing: Floats) -> Floats:
        """The evidence of each pair; `differing` is 1 where the cited amounts differ, 0 where both state one, NaN where unknown.

        One handbook's amount is in all its pairs: all of a question count as at most as many facts as it has further handbooks.
        """
        told = np.where(differing > 0.5, np.log(self.same / self.apart), np.log((1 - self.same) / (1 - self.apart)))
        return np.where(np.isnan(differing), 0.0, told) * _facts_each(differing)


def _facts_each(differing: Floats) -> float:
    known = float((~np.isnan(differing)).sum()) / 2
    return min(1.0, (len(differing) - 1) / known) if known else 0.0


@dataclass(frozen=True)
class Partitions:
    """What the labels of one question say of its positions, for a prior without the run's share of disputed questions.

    drawn     (draws, handbooks), the position of each handbook in partitions of several positions; all that exist, or a sample
    weight    (draws,), adding up to 1
    log_odds  log of the evidence for several positions over that for one
    """

    drawn: Ints
    weight: Floats
    log_odds: float

    def disputed(self, share: float) -> float:
        """The probability of several positions, `share` being that of disputed questions in the run."""
        if not len(self.drawn):
            return 0.0
        return float(1 / (1 + np.exp(-np.clip(self.log_odds + np.log(share / (1 - share)), -700, 700))))

    def same(self, share: float) -> Floats:
        """(handbooks, handbooks): the probability that two share a position."""
        apart, places = self.disputed(share), range(self.drawn.shape[1])
        together = [self.weight @ (self.drawn == self.drawn[:, [place]]) for place in places] if len(self.drawn) else 1.0
        return np.asarray(1 - apart + apart * np.asarray(together)) * np.ones((len(places), len(places)))

    def at_least(self, share: float, members: Ints, tail: float = TAIL) -> int:
        """The lower end of the 95 % credible interval for how many of these handbooks share one position."""
        if not len(self.drawn):
            return len(members)
        own = self.drawn[:, members]
        largest = (own[:, :, None] == own[:, None, :]).sum(axis=2).max(axis=1, initial=0)
        mass = np.bincount(largest, weights=self.weight * self.disputed(share), minlength=len(members) + 1)
        return int(np.searchsorted(np.cumsum(mass), tail, side="right").clip(max=len(members)))

    def log_odds_with(self, change: Floats) -> float:
        """The log odds with so much more evidence of each pair, by reweighting the partitions: for small changes.

        change  (handbooks, handbooks), symmetrical, 0 on its diagonal
        """
        if not len(self.drawn):
            return self.log_odds
        with np.errstate(divide="ignore"):
            moved = _log_sum(np.log(self.weight) + _within(self.drawn, change))
        return self.log_odds + float(moved) - float(change.sum() / 2)

    def together(self, share: float) -> Floats:
        """(handbooks, handbooks), the probability that two share a position."""
        same = np.einsum("d,dij->ij", self.weight, self.drawn[:, :, None] == self.drawn[:, None, :])
        apart = self.disputed(share)
        return np.asarray(1 - apart + apart * same)

    def numbers(self, share: float) -> dict[int, float]:
        """The probability of each number of positions."""
        apart = self.disputed(share)
        counts = np.array([len(np.unique(row)) for row in self.drawn], dtype=int)
        several = {int(count): apart * float(self.weight[counts == count].sum()) for count in np.unique(counts)}
        return {1: 1 - apart, **several}


def partitions(evidence: Floats) -> Partitions:
    """What is known of the positions of handbooks; `evidence` is (handbooks, handbooks), symmetrical, 0 on its diagonal."""
    count = len(evidence)
    if count < 2:
        return Partitions(np.zeros((0, count), dtype=int), np.zeros(0), -np.inf)
    one = float(evidence.sum() / 2)
    prior_one = _log_prior_of_one(count)
    if count <= MAX_ENUMERATED:
        drawn, log_prior = _all_partitions(count)
        log_weight = log_prior + _within(drawn, evidence)
        several = float(_log_sum(log_weight))
    else:
        drawn, seen = _explored(evidence)
        # What the seen partitions weigh together: never more than all, and nearly all where evidence decides
        several = float(_log_sum(seen))
        drawn, times = np.unique(_numbered(drawn), axis=0, return_counts=True)
        log_weight = np.log(times)
    weight = np.exp(log_weight - _log_sum(log_weight))
    return Partitions(drawn, weight, several - np.log1p(-np.exp(prior_one)) - one)


def best_partition(found: Partitions, evidence: Floats, share: float, doubt: float = 0.5) -> Ints:
    """The most probable partition: (handbooks,), the position of each, from 0.

    doubt  all share one position only where the probability of several is at most this
    """
    if found.disputed(share) <= doubt:
        return np.zeros(len(evidence), dtype=int)
    distinct = np.unique(found.drawn, axis=0)
    value = _within(distinct, evidence) + np.array([_log_prior(row) for row in distinct])
    return np.unique(distinct[np.argmax(value)], return_inverse=True)[1]


def share_disputed(log_odds: Floats, rounds: int = 200) -> float:
    """The share of disputed questions in a run: the maximum of its likelihood, by EM; NaN without questions."""
    if not len(log_odds):
        return float("nan")
    share = START_SHARE
    for _ in range(rounds):
        probability = 1 / (1 + np.exp(-np.clip(log_odds + np.log(share / (1 - share)), -700, 700)))
        # Half an imagined question of each kind keeps the share within its bounds
        share = float((probability.sum() + 0.5) / (len(log_odds) + 1))
    return share


def amounts_told(found: Sequence[Partitions], share: float, differing: Sequence[Floats]) -> AmountsTold:
    """How often cited amounts differ within positions and across, over the questions of a run: one step of EM.

    found      what the labels alone say of each question; differing  as in `AmountsTold.evidence`, one matrix a question
    """
    counts = IMAGINED_AMOUNTS * np.array([[part, 1 - part] for part in DIFFER_BEFOREHAND])
    for one, cited in zip(found, differing, strict=True):
        a, b = np.nonzero(np.triu(~np.isnan(cited), 1))
        if len(a):
            differ, same = cited[a, b], one.same(share)[a, b]
            counts += _facts_each(cited) * np.array([same, 1 - same]) @ np.array([differ, 1 - differ]).T
    return AmountsTold(*(counts[:, 0] / counts.sum(axis=1)).tolist())


def listed(probability: Floats, false_discoveries: float) -> npt.NDArray[np.bool_]:
    """The longest list of most probable questions of which on average at most this share is not disputed."""
    order = np.argsort(-probability, kind="stable")
    wrong = np.cumsum(1 - probability[order]) / np.arange(1, len(order) + 1)
    chosen = np.zeros(len(order), dtype=bool)
    chosen[order[: int(np.max(np.flatnonzero(wrong <= false_discoveries), initial=-1)) + 1]] = True
    return chosen


def _log_sum(values: Floats) -> Floats:
    """The log of the sum of exponentials along the last axis."""
    # scipy's takes longer for these small arrays than all else
    highest = values.max(axis=-1, keepdims=True)
    return np.asarray(np.log(np.exp(values - highest).sum(axis=-1)) + highest[..., 0])


def _within(rows: Ints, evidence: Floats) -> Floats:
    a, b = np.triu_indices(len(evidence), 1)
    return np.asarray((rows[:, a] == rows[:, b]) @ evidence[a, b])


def _log_prior(row: Ints) -> float:
    """The log probability of a partition by Ewens' formula."""
    sizes, count = np.bincount(np.unique(row, return_inverse=True)[1]), len(row)
    tables = float(np.log(CONCENTRATION) * len(sizes) + _log_factorials(count)[sizes - 1].sum())
    return tables - float(np.log(CONCENTRATION + np.arange(count)).sum())


def _log_prior_of_one(count: int) -> float:
    return _log_prior(np.zeros(count, dtype=int))


@lru_cache(16)
def _log_factorials(count: int) -> Floats:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, count + 1)))])


@lru_cache(MAX_ENUMERATED)
def _all_partitions(count: int) -> tuple[Ints, Floats]:
    """All partitions of several positions, and the log prior of each."""
    grown = [[0]]
    for _ in range(count - 1):
        grown = [[*row, label] for row in grown for label in range(max(row) + 2)]
    rows = np.array([row for row in grown if max(row)], dtype=int)
    return rows, np.array([_log_prior(row) for row in rows])


def _nearly_one(evidence: Floats) -> tuple[Ints, Floats]:
    """The partitions in which one handbook, or two together, stand apart, and the log weight of each."""
    count, each = len(evidence), evidence.sum(axis=1)
    a, b = np.triu_indices(count)  # a handbook with itself: it alone
    rows = np.zeros((len(a), count), dtype=int)
    rows[np.arange(len(a)), a] = rows[np.arange(len(a)), b] = 1
    alone, two = (_log_prior((np.arange(count) < apart).astype(int)) for apart in (1, 2))
    lost = np.where(a == b, each[a], each[a] + each[b] - 2 * evidence[a, b])
    return rows, np.where(a == b, alone, two) + each.sum() / 2 - lost


def _explored(evidence: Floats) -> tuple[Ints, Floats]:
    """Partitions of several positions drawn by their probability, and the log weight of all distinct ones that were seen."""
    simple, log_simple = _nearly_one(evidence)
    if not (evidence < 0).any():  # nothing speaks against one position
        return simple[np.argsort(-log_simple)[:PARTICLES]], log_simple
    particles = _Particles(evidence)
    for handbook in range(len(evidence)):
        particles.add(handbook)
    rows, log_weight = _weighed(np.concatenate([particles.sweep() for _ in range(SWEEPS // 2)]), evidence)
    # A filter can lose the best partition among others that fit well at first, and moves one by one do not lead back: so they go
    # on from what was seen and from the simple ones, by weight
    every = np.concatenate([log_simple, log_weight])
    chosen = particles.rng.choice(len(every), PARTICLES, p=np.exp(every - _log_sum(every)))
    particles.start_from(np.concatenate([simple, rows])[chosen])
    drawn = np.concatenate([particles.sweep() for _ in range(SWEEPS - SWEEPS // 2)])
    log_weight = _weighed(np.concatenate([rows, drawn]), evidence)[1]
    drawn = drawn[(drawn != drawn[:, :1]).any(axis=1)]
    return (drawn if len(drawn) else simple[[np.argmax(log_simple)]]), np.concatenate([log_simple, log_weight])


def _numbered(rows: Ints) -> Ints:
    """The same partitions with their positions numbered from 0 in the order of handbooks, so that equal ones are equal rows."""
    member = rows[:, None, :] == np.arange(rows.max(initial=0) + 1)[:, None]
    first = np.where(member.any(axis=2), member.argmax(axis=2), rows.shape[1])
    return np.take_along_axis(first.argsort(axis=1).argsort(axis=1), rows, axis=1)


def _weighed(rows: Ints, evidence: Floats) -> tuple[Ints, Floats]:
    """The distinct partitions among these that are of several positions and not in `_nearly_one`, with the log weight of each."""
    distinct = np.unique(_numbered(rows), axis=0)
    sizes = (distinct[:, :, None] == np.arange(distinct.max() + 1)).sum(axis=1)
    own = ((sizes > 0).sum(axis=1) > 2) | (sizes.max(axis=1) < len(evidence) - 2)
    distinct, sizes = distinct[own], sizes[own]
    tables = np.log(CONCENTRATION) * (sizes > 0).sum(axis=1)
    prior = tables + _log_factorials(len(evidence))[np.maximum(sizes - 1, 0)].sum(axis=1)
    return distinct, prior - np.log(CONCENTRATION + np.arange(len(evidence))).sum() + _within(distinct, evidence)


class _Particles:
    """Partitions that grow together: arrays are (particles, positions, ...)."""

    def __init__(self, evidence: Floats) -> None:
        self.rng = np.random.default_rng(SEED)
        self.evidence, count = evidence, len(evidence)
        self.position = np.zeros((PARTICLES, count), dtype=int)
        self.size = np.zeros((PARTICLES, MAX_POSITIONS), dtype=int)
        self.log_size = np.concatenate([[-np.inf], np.log(np.arange(1, count + 1))])
        # The evidence of each handbook for each position
        self.reach = np.zeros((PARTICLES, MAX_POSITIONS, count))
        self.log_weight = np.zeros(PARTICLES)
        self.each = np.arange(PARTICLES)

    def add(self, handbook: int) -> None:
        """Place one more handbook, and let partitions that fit badly give way."""
        scores = self._scores(handbook)
        fit = _log_sum(scores) - np.log(CONCENTRATION + handbook)
        self._place(handbook, np.argmax(scores + self._noise(*scores.shape), axis=1))
        self.log_weight = self.log_weight + fit
        share = np.exp(self.log_weight - _log_sum(self.log_weight))
        if 1 / (share**2).sum() < PARTICLES / 2 or handbook == len(self.evidence) - 1:
            self._resample(share)

    def start_from(self, rows: Ints) -> None:
        """The partitions become these; places of positions that they lack are empty."""
        member = (rows[:, None, :] == np.arange(MAX_POSITIONS)[:, None]).astype(float)
        self.position[:], self.size[:], self.reach[:] = rows, member.sum(axis=2).astype(int), member @ self.evidence

    def sweep(self) -> Ints:
        """Move every handbook once; (particles, handbooks), the partitions then."""
        noise = self._noise(len(self.evidence), PARTICLES, MAX_POSITIONS)
        for handbook, own in enumerate(noise):
            self.move(handbook, own)
        return self.position.copy()

    def move(self, handbook: int, noise: Floats) -> None:
        """Take a handbook out and place it again, given all others."""
        held = self.position[:, handbook].copy()
        self.size[self.each, held] -= 1
        # A handbook adds nothing to its own reach, so only what moves has to be taken out of it
        position = np.argmax(self._scores(handbook) + noise, axis=1)
        moved = np.flatnonzero(position != held)
        self.reach[moved, held[moved]] -= self.evidence[handbook]
        self.reach[moved, position[moved]] += self.evidence[handbook]
        self.position[:, handbook] = position
        self.size[self.each, position] += 1

    def _scores(self, handbook: int) -> Floats:
        scores = self.log_size[self.size] + self.reach[:, :, handbook]
        free = np.argmin(self.size, axis=1)
        # One empty place stands for a new position; where none is left, there is no new one
        some = self.each[self.size[self.each, free] == 0]
        scores[some, free[some]] = np.log(CONCENTRATION)
        return scores

    def _noise(self, *shape: int) -> Floats:
        # The largest of the scores with Gumbel noise is a draw by their probabilities
        return np.asarray(-np.log(-np.log(self.rng.random(shape))))

    def _place(self, handbook: int, position: Ints) -> None:
        self.position[:, handbook] = position
        self.size[self.each, position] += 1
        self.reach[self.each, position] += self.evidence[handbook]

    def _resample(self, share: Floats) -> None:
        places = (self.rng.random() + np.arange(PARTICLES)) / PARTICLES
        kept = np.minimum(np.searchsorted(np.cumsum(share), places), PARTICLES - 1)
        self.position, self.size, self.reach = self.position[kept], self.size[kept], self.reach[kept]
        self.log_weight = np.zeros(PARTICLES)
