"""The pairs of a run as arrays, in blocks of questions x couples of handbooks that fit in memory; intervals of rates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from audit import vocabulary
from audit.stats.clustered import RelatedCounts, by_question_counts, effective_number, ratio_interval
from audit.stats.intervals import Floats, Interval, Ints
from audit.vocabulary import LABELS, Label

Outcomes = frozenset[int]
"""A set of outcomes of a pair: label codes 0 to 4, UNSCORED, PRESCREENED."""

UNSCORED, PRESCREENED, NOT_ASKED = 5, 6, 255
"""Outcomes that are not verdicts, next to the label codes 0 to 4. A block contains NOT_ASKED where there is no pair."""

ALL = frozenset((*range(len(LABELS)), UNSCORED, PRESCREENED))
JUDGED = frozenset(range(len(LABELS)))
ABSENT = frozenset((Label.ABSENT.code, PRESCREENED))
SCORED = JUDGED | ABSENT
PRESENT = SCORED - ABSENT
CONSISTENT = frozenset((Label.CONSISTENT.code,))
DISAGREEING = frozenset(label.code for label in vocabulary.DISAGREEING)

Rate = tuple[Outcomes, Outcomes]
"""The outcomes in the numerator, and those in the denominator."""
RATES: Mapping[str, Rate] = {"r_abs": (ABSENT, SCORED), "r_div": (DISAGREEING, PRESENT), "r_con": (CONSISTENT, PRESENT)}


class EachQuestion(Enum):
    """Said in place of groups of questions: each question is a group of its own."""

    FIXED = "each question"


EACH_QUESTION = EachQuestion.FIXED

# A couple of handbooks is one number: the first handbook's times this, plus the second's.
COUPLE_BASE = 32768
# Cells in one block: 32 MB as float32.
MAX_CELLS = 8_000_000
# A sparser block is split in two, because its questions share few couples.
MAX_CELLS_PER_PAIR = 16


@dataclass(frozen=True)
class PairBlock:
    """A block of questions (rows) by the couples of handbooks (columns) that were asked any of them.

    questions  int, index of each row into Pairs.questions
    couples    int, the number of each column's couple, from 0 to Pairs.couples - 1
    a, b       int, index of each column's two handbooks into Pairs.handbooks
    outcomes   uint8, rows x columns: a label code, UNSCORED, PRESCREENED or NOT_ASKED

    A question is in exactly one block, with all its pairs.
    """

    questions: Ints
    couples: Ints
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

    def matrices(self, wanted: Outcomes, handbooks: Ints) -> Floats:
        """One symmetrical matrix per question: 1 where a pair has one of the wanted outcomes; rows and columns are `handbooks`
        (ascending, all of this block's among them).
        """
        a, b = (np.searchsorted(handbooks, side) for side in (self.a, self.b))
        matrices = np.zeros((len(self.questions), len(handbooks), len(handbooks)), dtype=np.float32)
        matrices[:, a, b] = matrices[:, b, a] = self.indicator(wanted)
        return matrices


@dataclass(frozen=True)
class Pairs:
    """Pairs of a run, sorted by question, about 9 bytes each.

    question   int, the number of its question
    couple     int, the numbers of its two handbooks as one: first * COUPLE_BASE + second
    outcome    uint8, a label code, UNSCORED or PRESCREENED
    """

    question: Ints
    couple: Ints
    outcome: npt.NDArray[np.uint8]

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
        """The numbers of the handbooks that have pairs, ascending."""
        couples = self._columns[1]
        return np.unique(np.concatenate([couples // COUPLE_BASE, couples % COUPLE_BASE]))

    @property
    def couples(self) -> int:
        """How many couples of handbooks have pairs."""
        return len(self._columns[1])

    def blocks(self) -> Iterator[PairBlock]:
        """All pairs, each in exactly one block, so counts can be summed over blocks."""
        waiting = [(0, len(self.questions))] if len(self.question) else []
        while waiting:
            first, last = waiting.pop()
            pairs = slice(self.starts[first], self.starts[last])
            used = np.flatnonzero(np.bincount(self._columns[0][pairs], minlength=len(self._columns[1])))
            cells = (last - first) * len(used)
            if last - first > 1 and (cells > MAX_CELLS or cells > MAX_CELLS_PER_PAIR * (pairs.stop - pairs.start)):
                middle = (first + last) // 2
                # The first half is taken next, so blocks keep the order of the questions.
                waiting += [(middle, last), (first, middle)]
            else:
                yield self._block(first, last, pairs, used)

    def _block(self, first: int, last: int, pairs: slice, used: Ints) -> PairBlock:
        column, couples = self._columns
        position = np.empty(len(couples), dtype=np.int32)
        position[used] = np.arange(len(used))
        row = np.repeat(np.arange(last - first), np.diff(self.starts[first : last + 1]))
        outcomes = np.full((last - first, len(used)), NOT_ASKED, dtype=np.uint8)
        outcomes[row, position[column[pairs]]] = self.outcome[pairs]
        a, b = couples[used] // COUPLE_BASE, couples[used] % COUPLE_BASE
        handbooks = self.handbooks
        return PairBlock(np.arange(first, last), used, np.searchsorted(handbooks, a), np.searchsorted(handbooks, b), outcomes)


@dataclass(frozen=True)
class _Tally:
    """Counts of pairs by outcome and by each unit that makes pairs related.

    by_answer  (questions, outcomes, handbooks), pairs of a handbook on a question
    overlaps   (questions, outcomes, outcomes), pairs that have both outcomes
    by_couple  (groups, outcomes, couples of handbooks), pairs of two handbooks on the questions of a group
    """

    by_answer: Floats
    overlaps: Floats
    by_couple: Floats

    @property
    def by_question(self) -> Floats:
        """Pairs on a question: (questions, outcomes); each is counted for both its handbooks."""
        return np.asarray(self.by_answer.sum(axis=-1) / 2)


def _tally(pairs: Pairs, outcomes: Sequence[Outcomes], groups: Floats) -> _Tally:
    questions, kinds = len(pairs.questions), len(outcomes)
    # float32 holds whole numbers exactly up to 16.7 million, at half the memory.
    by_answer = np.zeros((questions, kinds, len(pairs.handbooks)), dtype=np.float32)
    by_couple = np.zeros((len(groups), kinds, pairs.couples), dtype=np.float32)
    by_code = np.zeros((questions, len(ALL)))
    for block in pairs.blocks():
        involved = block.involved(len(pairs.handbooks))
        for kind, wanted in enumerate(outcomes):
            indicator = block.indicator(wanted)
            by_answer[block.questions, kind] = indicator @ involved
            by_couple[:, kind, block.couples] += groups[:, block.questions] @ indicator
        by_code[block.questions] = np.stack([(block.outcomes == code).sum(axis=1) for code in sorted(ALL)], axis=1)
    both = np.array([[[code in one & other for other in outcomes] for one in outcomes] for code in sorted(ALL)], dtype=float)
    return _Tally(by_answer, np.einsum("qc,cij->qij", by_code, both), by_couple)


def related_counts(pairs: Pairs, outcomes: Sequence[Outcomes], groups: Floats | EachQuestion) -> RelatedCounts:
    """Counts (groups, outcomes) of pairs in groups of questions, with their related pairs (audit.stats.clustered).

    `groups` is float32, groups x pairs.questions: 1 where a question belongs to a group; it may belong to several. Pairs are
    related by a question or a handbook. With EACH_QUESTION each of pairs.questions is a group of its own: the question is fixed,
    and pairs are related by their handbooks alone.
    """
    # On one question two pairs of the same handbooks are one pair, so couples need not be counted.
    no_groups = np.zeros((0, len(pairs.questions)), dtype=np.float32)
    tally = _tally(pairs, outcomes, no_groups if isinstance(groups, EachQuestion) else groups)
    answers = tally.by_answer.astype(float)
    on_one_question = answers @ answers.swapaxes(1, 2)
    if isinstance(groups, EachQuestion):
        related, handbooks = on_one_question - tally.overlaps, np.count_nonzero(answers, axis=-1)
        # With the question fixed, independent trials are couples that share no handbook: half the number of handbooks.
        return RelatedCounts(tally.by_question, related, _dyads(tally.by_question, on_one_question), handbooks // 2)
    counts = tally.by_question
    by_handbook, by_couple = np.einsum("gq,qkh->gkh", groups, answers, optimize=True), tally.by_couple.astype(float)
    questions = np.einsum("gq,qi,qj->gij", groups, counts, counts, optimize=True)
    handbooks = by_handbook @ by_handbook.swapaxes(1, 2)
    # Inclusion-exclusion: pairs of the same two handbooks, and pairs that share a question and a handbook, were counted twice.
    same_answer = np.einsum("gq,qij->gij", groups, on_one_question - tally.overlaps, optimize=True)
    twice = by_couple @ by_couple.swapaxes(1, 2) + same_answer
    pairs_of = groups @ counts
    units = np.minimum(effective_number(pairs_of, _diagonal(questions)), _dyads(pairs_of, handbooks))
    return RelatedCounts(pairs_of, questions + handbooks - twice, units, groups @ (counts > 0).astype(float))


def one_group(pairs: Pairs) -> Floats:
    """All questions as one group (see `related_counts`)."""
    return np.ones((1, len(pairs.questions)), dtype=np.float32)


def _diagonal(products: Floats) -> Floats:
    return np.asarray(np.einsum("gii->gi", products))


def _dyads(pairs: Floats, by_handbook: Floats) -> Floats:
    """The effective number of handbooks; each pair is counted for two of them."""
    return effective_number(2 * pairs, _diagonal(by_handbook))


def related_side_counts(pairs: Pairs, outcomes: Sequence[Outcomes], group: Ints, groups: int) -> dict[str, RelatedCounts]:
    """Counts (groups, outcomes) of pairs that involve a group of handbooks: a center's, or a single one.

    `group` is the group, from 0, of each of pairs.handbooks. A group's own handbooks are fixed: pairs are related by a question,
    or by a handbook of another group.

    Returns the scopes 'within' (both handbooks are the group's own), 'between' (one is) and 'all'.
    """
    # A group's own handbooks are fixed, so a pair of two of them can only be related by its question.
    shape = (groups, len(outcomes))
    within, between = np.zeros((2, *shape, len(pairs.questions)))
    by_other, answers = np.zeros((*shape, len(pairs.handbooks))), np.zeros((*shape, len(outcomes)))
    for block in pairs.blocks():
        used = np.unique(np.concatenate([block.a, block.b]))
        own = _one_hot(group[used], groups).T
        facing = []
        for kind, wanted in enumerate(outcomes):
            # One product for all questions: one per question would start the linear algebra threads each time, which took seconds
            counted = (block.matrices(wanted, used).reshape(-1, len(used)) @ own).reshape(-1, len(used), groups)
            within[:, kind, block.questions] = (counted * own).sum(axis=1).T / 2
            facing.append(counted * (1 - own))
            between[:, kind, block.questions] = facing[-1].sum(axis=1).T
            by_other[:, kind, used] += facing[-1].sum(axis=0).T
        answers += np.array([[np.einsum("qhg,qhg->g", one, other) for other in facing] for one in facing]).transpose(2, 0, 1)
    return {
        "within": by_question_counts(within),
        "between": _with_others(by_question_counts(between), by_other, answers),
        "all": _with_others(by_question_counts(within + between), by_other, answers),
    }


def _with_others(counts: RelatedCounts, by_other: Floats, answers: Floats) -> RelatedCounts:
    """Counts of pairs related by their question, with those related by another group's handbook as well."""
    others = by_other @ by_other.swapaxes(1, 2)
    effective = effective_number(by_other.sum(axis=-1), _diagonal(others))
    # Groups without pairs with others do not depend on others.
    units = np.where(effective > 0, np.minimum(counts.units, effective), counts.units)
    return replace(counts, related=counts.related + others - answers, units=units)


def _one_hot(group: Ints, groups: int) -> Floats:
    members: Floats = (np.arange(groups)[:, None] == group).astype(np.float32)
    return members


def rate_intervals(pairs: Pairs, groups: Floats | EachQuestion, rates: Mapping[str, Rate] = RATES) -> dict[str, Interval]:
    """The interval of each rate in groups of questions (see `related_counts`): name to (low, high), one value per group."""
    outcomes = distinct_outcomes(rates)
    return _rates_of(related_counts(pairs, outcomes, groups), outcomes, rates)


def side_rate_intervals(
    pairs: Pairs, group: Ints, groups: int, rates: Mapping[str, Rate] = RATES
) -> dict[str, dict[str, Interval]]:
    """The interval of each rate over pairs of a group of handbooks (see `related_side_counts`): scope to name to ends."""
    outcomes = distinct_outcomes(rates)
    scopes = related_side_counts(pairs, outcomes, group, groups)
    return {scope: _rates_of(counts, outcomes, rates) for scope, counts in scopes.items()}


def distinct_outcomes(rates: Mapping[str, Rate]) -> list[Outcomes]:
    """The distinct sets of outcomes that the rates use."""
    # Counting a set of outcomes by answer is the costly part, and rates share denominators.
    return list(dict.fromkeys(outcomes for rate in rates.values() for outcomes in rate))


def _rates_of(counts: RelatedCounts, outcomes: Sequence[Outcomes], rates: Mapping[str, Rate]) -> dict[str, Interval]:
    position = {wanted: number for number, wanted in enumerate(outcomes)}
    return {
        name: ratio_interval(counts, position[numerator], position[denominator])
        for name, (numerator, denominator) in rates.items()
    }
