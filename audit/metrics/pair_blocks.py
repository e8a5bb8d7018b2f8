"""The pairs of a run as numbers: blocks of questions by couples of handbooks, small enough to hold and multiply."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from audit.metrics.intervals import Floats, Ints
from audit.store.connection import Connection, arrays
from audit.vocabulary import LABELS, Label

Outcomes = frozenset[int]

UNSCORED, PRESCREENED, NOT_ASKED = 5, 6, 255
"""Outcomes that are no verdict, beside the label codes 0 to 4. A block holds NOT_ASKED where there is no pair."""

SQL = f"""
select question,
       handbook_a::integer * 32768 + handbook_b                       as couple,
       case when prescreened then {PRESCREENED} when label is null then {UNSCORED}
            else enum_code(label) end::utinyint                       as outcome
from pairs
order by question, handbook_a, handbook_b
"""

ALL = frozenset((*range(len(LABELS)), UNSCORED, PRESCREENED))
JUDGED = frozenset(range(len(LABELS)))
ABSENT = frozenset((Label.ABSENT.code, PRESCREENED))
SCORED = JUDGED | ABSENT
PRESENT = SCORED - ABSENT
CONSISTENT = frozenset((Label.CONSISTENT.code,))
DISAGREEING = frozenset((Label.DIVERGENT.code, Label.CONTRADICTORY.code))

MOST_CELLS = 8_000_000
"""Cells in one block: 32 MB as float32."""
MOST_COLUMNS = 8192
"""Couples in one block: their weights in 1,000 replicates are 32 MB."""
MOST_EMPTY = 16
"""A block with more cells per pair than this is cut in two: there the questions share few couples."""


@dataclass(frozen=True)
class Block:
    """Some questions (rows) by the couples of handbooks (columns) that were asked any of them.

    questions  int, index of each row into Pairs.questions
    a, b       int, index of each column's two handbooks into Pairs.handbooks
    outcomes   uint8, rows x columns: a label code, UNSCORED, PRESCREENED or NOT_ASKED
    """

    questions: Ints
    a: Ints
    b: Ints
    outcomes: npt.NDArray[np.uint8]

    def holds(self, wanted: Outcomes) -> Floats:
        """1 where a pair has one of the wanted outcomes, 0 elsewhere: float32, rows x columns."""
        table = np.zeros(256, dtype=np.float32)
        table[list(wanted)] = 1
        return table[self.outcomes]

    def sides(self, handbooks: int) -> Floats:
        """1 where a couple involves a handbook, 0 elsewhere: float32, columns x handbooks."""
        involved = np.zeros((len(self.a), handbooks), dtype=np.float32)
        columns = np.arange(len(self.a))
        involved[columns, self.a] = involved[columns, self.b] = 1
        return involved


@dataclass(frozen=True)
class Pairs:
    """Every pair of a run, sorted by question: where its question stands, its couple of handbooks, its outcome."""

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
        column, couples = pd.factorize(self.couple)
        return column, np.asarray(couples)

    @cached_property
    def handbooks(self) -> Ints:
        """The numbers of the handbooks that have pairs, ascending."""
        couples = self._columns[1]
        return np.unique(np.concatenate([couples >> 15, couples & 0x7FFF]))

    def blocks(self) -> Iterator[Block]:
        """All pairs, each in one block; whatever is counted over blocks adds up."""
        waiting = [(0, len(self.questions))] if len(self.question) else []
        while waiting:
            first, last = waiting.pop()
            pairs = slice(self.starts[first], self.starts[last])
            used = np.flatnonzero(np.bincount(self._columns[0][pairs], minlength=len(self._columns[1])))
            cells = (last - first) * len(used)
            if last - first > 1 and (cells > MOST_CELLS or cells > MOST_EMPTY * (pairs.stop - pairs.start)):
                middle = (first + last) // 2
                waiting += [(middle, last), (first, middle)]
            else:
                yield from self._cut(self._block(first, last, pairs, used))

    def _cut(self, block: Block) -> Iterator[Block]:
        for start in range(0, len(block.a), MOST_COLUMNS):
            part = slice(start, start + MOST_COLUMNS)
            yield Block(block.questions, block.a[part], block.b[part], block.outcomes[:, part])

    def _block(self, first: int, last: int, pairs: slice, used: Ints) -> Block:
        column, couples = self._columns
        place = np.empty(len(couples), dtype=np.int32)
        place[used] = np.arange(len(used))
        row = np.repeat(np.arange(last - first), np.diff(self.starts[first : last + 1]))
        outcomes = np.full((last - first, len(used)), NOT_ASKED, dtype=np.uint8)
        outcomes[row, place[column[pairs]]] = self.outcome[pairs]
        a, b = couples[used] >> 15, couples[used] & 0x7FFF
        return Block(np.arange(first, last), np.searchsorted(self.handbooks, a), np.searchsorted(self.handbooks, b), outcomes)


def members(pairs: Pairs, questions: pd.Series, groups: pd.Series, names: pd.Series) -> Floats:
    """Which question belongs to which group: float32, names x pairs.questions, from one row per question and group.

    Questions without pairs are left out: there is nothing of theirs to weigh.
    """
    found = np.zeros((len(names), len(pairs.questions)), dtype=np.float32)
    row, column = pd.Index(names).get_indexer(pd.Index(groups)), pd.Index(pairs.questions).get_indexer(pd.Index(questions))
    found[row[column >= 0], column[column >= 0]] = 1
    return found


def read_pairs(con: Connection) -> Pairs:
    """The pairs of a run (about 9 bytes each)."""
    columns = arrays(con, SQL)
    return Pairs(columns["question"], columns["couple"], columns["outcome"])
