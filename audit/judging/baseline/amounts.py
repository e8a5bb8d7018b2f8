"""Amounts of the same dimension, about the same thing, that do not agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from audit.judging.baseline.conflict import Conflict
from audit.judging.baseline.question import GENERIC, Asked
from audit.judging.baseline.statements import Answer, Statement
from audit.text.quantity import Quantity
from audit.text.units import CLOCK, COUNT

ROUNDING = 0.15
"""Two figures closer than this share of the larger one are the same figure, rounded (protocol, section 4)."""
EXACT = (COUNT, CLOCK)
"""Nobody rounds these: three types are not four, and 10 pm is not 11 pm."""
SHARED = 3
"""So many words must two statements share for their amounts to be held against each other; one less where things are counted."""
Placed = Sequence[tuple[Statement, Quantity]]
"""Amounts, each with the statement it stands in."""


def amounts_apart(asked: Asked, first: Answer, second: Answer) -> Conflict | None:
    """The two amounts that differ most plainly: those asked for, else those whose statements share most; None where none do.

    An amount that the other answer gives too, wherever it does, differs from nothing there.
    """
    nearest = _between(_asked_for(asked, first), _asked_for(asked, second), first, second)
    return next(nearest, None) or max(_aligned(asked, first, second), key=lambda found: len(found.shared), default=None)


def _asked_for(asked: Asked, answer: Answer) -> Placed:
    """The amounts that answer "how long", "how much" ...: those in the statement that shares most with the question."""
    giving = [(s, [q for q in s.amounts if asked.measured_by(q)]) for s in answer.guidance]
    near = max((found for found in giving if found[1]), key=lambda found: len(found[0].stems & asked.stems), default=None)
    return [(near[0], amount) for amount in near[1]] if near else []


def _aligned(asked: Asked, first: Answer, second: Answer) -> Iterator[Conflict]:
    """Amounts in statements about the same matter; what is counted ("two types", "three types") is part of the matter."""
    for mine, theirs in product(_giving(first), _giving(second)):
        shared = (mine.stems & theirs.stems) - GENERIC
        counted = len(shared) == SHARED - 1 and not asked.stems.isdisjoint(shared)
        if counted or len(shared) >= SHARED:
            yield from _between(_of(mine, counted), _of(theirs, counted), first, second)


def _of(statement: Statement, counted: bool) -> Placed:
    return [(statement, amount) for amount in statement.amounts if not counted or amount.dimension == COUNT]


def _giving(answer: Answer) -> list[Statement]:
    return [statement for statement in answer.statements if statement.amounts]


def _between(mine: Placed, theirs: Placed, first: Answer, second: Answer) -> Iterator[Conflict]:
    for (here, one), (there, other) in product(mine, theirs):
        if apart(one, other) and not (_said(one, second) or _said(other, first)):
            yield Conflict(here, there, one.text, other.text)


def _said(amount: Quantity, answer: Answer) -> bool:
    return any(amount.comparable(q) and not apart(amount, q) for s in answer.statements for q in s.amounts)


def apart(one: Quantity, other: Quantity) -> bool:
    """Whether two comparable amounts differ: neither range holds the other's figure, and it is more than rounding.

    A bound is read as its figure: who waits "at least 3 months" acts otherwise than who waits "6 months".
    """
    if one.vague or other.vague or not one.comparable(other):
        return False
    if (one.low <= other.low and other.high <= one.high) or (other.low <= one.low and one.high <= other.high):
        return False
    rounding = 0.0 if one.dimension in EXACT else ROUNDING
    return not (_near(one.low, other.low, rounding) and _near(one.high, other.high, rounding))


def _near(one: float, other: float, rounding: float) -> bool:
    return abs(one - other) <= rounding * max(abs(one), abs(other))
