"""The pairs of a run as numbers, in blocks of questions by couples of handbooks that fit in memory, and their resampling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from audit.stats.bootstrap import Resampled, ResampledCounts, draws, ratio_interval
from audit.stats.intervals import Floats, Interval, Ints
from audit.vocabulary import LABELS, Label

Outcomes = frozenset[int]
"""A set of outcomes of a pair: label codes 0 to 4, UNSCORED, PRESCREENED."""

UNSCORED, PRESCREENED, NOT_ASKED = 5, 6, 255
"""Outcomes that are not verdicts, beside the label codes 0 to 4. A block contains NOT_ASKED where there is no pair."""

ALL = frozenset((*range(len(LABELS)), UNSCORED, PRESCREENED))
JUDGED = frozenset(range(len(LABELS)))
ABSENT = frozenset((Label.ABSENT.code, PRESCREENED))
SCORED = JUDGED | ABSENT
PRESENT = SCORED - ABSENT
CONSISTENT = frozenset((Label.CONSISTENT.code,))
DISAGREEING = frozenset((Label.DIVERGENT.code, Label.CONTRADICTORY.code))

Rate = tuple[Outcomes, Outcomes]
"""The outcomes in the numerator, and those in the denominator."""
RATES: Mapping[str, Rate] = {"r_abs": (ABSENT, SCORED), "r_div": (DISAGREEING, PRESENT), "r_con": (CONSISTENT, PRESENT)}

# A couple of handbooks is one number: the first handbook's times this, plus the second's.
COUPLE_BASE = 32768
# Cells in one block: 32 MB as float32.
MAX_CELLS = 8_000_000
# Couples in one block: their weights in 1,000 replicates are 32 MB.
MAX_COUPLES = 8192
# A sparser block than this is cut in two, because its questions share few couples.
MAX_CELLS_PER_PAIR = 16


@dataclass(frozen=True)
class PairBlock:
    """Some questions (rows) by the couples of handbooks (columns) that were asked any of them.

    questions  int, index of each row into Pairs.questions
    a, b       int, index of each column's two handbooks into Pairs.handbooks
    outcomes   uint8, rows x columns: a label code, UNSCORED, PRESCREENED or NOT_ASKED
    """

    questions: Ints
    a: Ints
    b: Ints
    outcomes: npt.NDArray[np.uint8]

    def indicator(self, wanted: Outcomes) -> Floats:
        """1 where a pair has one of the wanted outcomes, 0 elsewhere: float32, rows x columns."""
        # One look-up per pair, instead of one comparison per pair and outcome.
        table = np.zeros(256, dtype=np.float32)
        table[list(wanted)] = 1
        return table[self.outcomes]

    def involved(self, handbooks: int) -> Floats:
        """1 where a couple involves a handbook, 0 elsewhere: float32, columns x handbooks."""
        involved = np.zeros((len(self.a), handbooks), dtype=np.float32)
        columns = np.arange(len(self.a))
        involved[columns, self.a] = involved[columns, self.b] = 1
        return involved


@dataclass(frozen=True)
class Pairs:
    """Pairs of a run, sorted by question, about 9 bytes each.

    question   int, the number of its question
    couple     int, the numbers of its two handbooks as one: first * COUPLE_BASE + second
    outcome    uint8, a label code, UNSCORED or PRESCREENED
    drawn_from int, the numbers of the handbooks that are resampled, ascending, where they are not just those of these pairs:
               for some questions of a run, all its handbooks with pairs, so that the draws are those of the whole run
    """

    question: Ints
    couple: Ints
    outcome: npt.NDArray[np.uint8]
    drawn_from: Ints | None = None

    @cached_property
    def starts(self) -> Ints:
        """The first pair of every question, and at the end the number of pairs."""
        if not len(self.question):
            return np.zeros(1, dtype=int)
        changes = np.flatnonzero(np.diff(self.question)) + 1
        return np.concatenate([[0], changes, [len(self.question)]])

    @cached_property
    def questions(self) -> Ints:
        """The numbers of the questions that have pairs, ascending."""
        return self.question[self.starts[:-1]]

    @cached_property
    def _columns(self) -> tuple[Ints, Ints]:
        # pandas numbers millions of couples by hashing, several times as fast as numpy, which sorts them.
        column, couples = pd.factorize(self.couple)
        return column, np.asarray(couples)

    @cached_property
    def handbooks(self) -> Ints:
        """The numbers of the handbooks that are resampled, ascending: those that have pairs."""
        if self.drawn_from is not None:
            return self.drawn_from
        couples = self._columns[1]
        return np.unique(np.concatenate([couples // COUPLE_BASE, couples % COUPLE_BASE]))

    def blocks(self) -> Iterator[PairBlock]:
        """All pairs, each in exactly one block; whatever is counted over blocks adds up."""
        waiting = [(0, len(self.questions))] if len(self.question) else []
        while waiting:
            first, last = waiting.pop()
            pairs = slice(self.starts[first], self.starts[last])
            used = np.flatnonzero(np.bincount(self._columns[0][pairs], minlength=len(self._columns[1])))
            cells = (last - first) * len(used)
            if last - first > 1 and (cells > MAX_CELLS or cells > MAX_CELLS_PER_PAIR * (pairs.stop - pairs.start)):
                middle = (first + last) // 2
                # The first half is taken next, so that blocks keep the order of the questions.
                waiting += [(middle, last), (first, middle)]
            else:
                yield from self._cut(self._block(first, last, pairs, used))

    def _cut(self, block: PairBlock) -> Iterator[PairBlock]:
        for start in range(0, len(block.a), MAX_COUPLES):
            columns = slice(start, start + MAX_COUPLES)
            yield PairBlock(block.questions, block.a[columns], block.b[columns], block.outcomes[:, columns])

    def _block(self, first: int, last: int, pairs: slice, used: Ints) -> PairBlock:
        column, couples = self._columns
        position = np.empty(len(couples), dtype=np.int32)
        position[used] = np.arange(len(used))
        row = np.repeat(np.arange(last - first), np.diff(self.starts[first : last + 1]))
        outcomes = np.full((last - first, len(used)), NOT_ASKED, dtype=np.uint8)
        outcomes[row, position[column[pairs]]] = self.outcome[pairs]
        a, b = couples[used] // COUPLE_BASE, couples[used] % COUPLE_BASE
        handbooks = self.handbooks
        return PairBlock(np.arange(first, last), np.searchsorted(handbooks, a), np.searchsorted(handbooks, b), outcomes)


def question_draws(pairs: Pairs) -> Floats:
    """The draws of pairs.questions."""
    return draws(len(pairs.questions), stream=0)


def handbook_draws(pairs: Pairs) -> Floats:
    """The draws of pairs.handbooks, independent of those of the questions."""
    return draws(len(pairs.handbooks), stream=1)


def resample(pairs: Pairs, outcomes: Sequence[Outcomes], groups: Floats | None = None) -> ResampledCounts:
    """Counts (groups, outcomes) of pairs in groups of questions.

    `groups` is float32, groups x pairs.questions: 1 where a question belongs to a group; it may belong to several. Questions
    and handbooks are both drawn. Without `groups` each of pairs.questions is a group of its own: the question is fixed, and
    only its handbooks are drawn.
    """
    # A single question cannot be resampled: only its handbooks are drawn.
    if groups is None:
        return _resample_each_question(pairs, outcomes)
    w_question = question_draws(pairs)
    shape = (len(groups), len(outcomes))
    counts = ResampledCounts.zeros(shape, len(pairs.questions), len(pairs.handbooks), Resampled.BOTH)
    for questions, outcome, weights, observed, by_handbook in _by_question(pairs, outcomes):
        members = groups[:, questions]
        counts.replicates[:, outcome] += members @ (weights * w_question[questions])
        counts.by_question[:, outcome, questions] += members * observed
        counts.by_handbook[:, outcome] += members @ by_handbook
    return counts


def _resample_each_question(pairs: Pairs, outcomes: Sequence[Outcomes]) -> ResampledCounts:
    shape = (len(pairs.questions), len(outcomes))
    counts = ResampledCounts.zeros(shape, 1, len(pairs.handbooks), Resampled.HANDBOOKS)
    for questions, outcome, weights, observed, by_handbook in _by_question(pairs, outcomes):
        counts.replicates[questions, outcome] += weights
        counts.by_question[questions, outcome, 0] += observed
        counts.by_handbook[questions, outcome] += by_handbook
    return counts


def _by_question(pairs: Pairs, outcomes: Sequence[Outcomes]) -> Iterator[tuple[Ints, int, Floats, Floats, Floats]]:
    """Per block and outcome: questions, the outcome's place, then per question weights in each draw of handbooks, pairs
    observed, and pairs of each handbook.
    """
    w_handbook = handbook_draws(pairs)
    for block in pairs.blocks():
        w_couple, involved = w_handbook[block.a] * w_handbook[block.b], block.involved(len(pairs.handbooks))
        for outcome, wanted in enumerate(outcomes):
            indicator = block.indicator(wanted)
            yield block.questions, outcome, indicator @ w_couple, indicator.sum(axis=1), indicator @ involved


def resample_sides(pairs: Pairs, outcomes: Sequence[Outcomes], group: Ints, groups: int) -> dict[str, ResampledCounts]:
    """Counts (groups, outcomes) of pairs that involve a group of handbooks: a center's, or a single one.

    `group` is the group, from 0, of each of pairs.handbooks. A group's own handbooks are fixed. Questions are drawn, and so are
    the handbooks of other groups: a pair counts w_q * w_other times, and w_q times where both its handbooks are the group's own.

    Returns the scopes 'within' (both handbooks are the group's own), 'between' (one is) and 'all'.
    """
    w_question, w_handbook = question_draws(pairs), handbook_draws(pairs)
    size = (groups, len(outcomes)), len(pairs.questions), len(pairs.handbooks)
    within, between = (ResampledCounts.zeros(*size, Resampled.QUESTIONS) for _ in range(2))
    for block in pairs.blocks():
        # A group's own handbooks are all it has: drawing a single handbook zero times would leave nothing.
        own = group[block.a] == group[block.b]
        for outcome, wanted in enumerate(outcomes):
            indicator = block.indicator(wanted)
            weights = indicator.T @ w_question[block.questions]
            _add_couples(within, outcome, block, indicator, weights, own * _one_hot(group[block.a], groups))
            for side, opposite in ((block.a, block.b), (block.b, block.a)):
                members = ~own * _one_hot(group[side], groups)
                _add_couples(between, outcome, block, indicator, weights * w_handbook[opposite], members)
                others = _one_hot(opposite, len(pairs.handbooks)).T
                between.by_handbook[:, outcome] += (members * indicator.sum(axis=0)) @ others
    return {"within": within, "between": between, "all": within + between}


def _add_couples(
    counts: ResampledCounts, outcome: int, block: PairBlock, indicator: Floats, weights: Floats, members: Floats
) -> None:
    counts.replicates[:, outcome] += members @ weights
    counts.by_question[:, outcome, block.questions] += members @ indicator.T


def _one_hot(group: Ints, groups: int) -> Floats:
    members: Floats = (np.arange(groups)[:, None] == group).astype(np.float32)
    return members


def rate_intervals(pairs: Pairs, groups: Floats | None = None, rates: Mapping[str, Rate] = RATES) -> dict[str, Interval]:
    """The interval of each rate in groups of questions (see `resample`): name to (low, high), one value per group."""
    outcomes = distinct_outcomes(rates)
    return _rates_of(resample(pairs, outcomes, groups), outcomes, rates)


def side_rate_intervals(
    pairs: Pairs, group: Ints, groups: int, rates: Mapping[str, Rate] = RATES
) -> dict[str, dict[str, Interval]]:
    """The interval of each rate over pairs that involve a group of handbooks (see `resample_sides`): scope to name to ends."""
    outcomes = distinct_outcomes(rates)
    scopes = resample_sides(pairs, outcomes, group, groups)
    return {scope: _rates_of(counts, outcomes, rates) for scope, counts in scopes.items()}


def distinct_outcomes(rates: Mapping[str, Rate]) -> list[Outcomes]:
    """Every set of outcomes that the rates ask for, once."""
    # Counting a set of outcomes in every draw is the costly part, and rates share denominators.
    return list(dict.fromkeys(outcomes for rate in rates.values() for outcomes in rate))


def _rates_of(counts: ResampledCounts, outcomes: Sequence[Outcomes], rates: Mapping[str, Rate]) -> dict[str, Interval]:
    position = {wanted: number for number, wanted in enumerate(outcomes)}
    return {
        name: ratio_interval(counts[:, position[numerator]], counts[:, position[denominator]])
        for name, (numerator, denominator) in rates.items()
    }
