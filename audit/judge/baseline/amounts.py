"""Amounts of the same dimension, about the same thing, that do not agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import inf

from audit.judge.baseline.question import GENERIC, Asked
from audit.judge.baseline.statements import Answer, Statement
from audit.wording import COUNT, Quantity

ROUNDING = 0.15
"""Two figures closer than this share of the larger one are the same figure, rounded (protocol, section 4)."""
SHARED = 2
"""So many words must two statements share, beyond those that only measure, for their amounts to be held against each other."""


@dataclass(frozen=True)
class Conflict:
    """Two statements that cannot both be followed, one of each answer, and the spans in which they differ."""

    first: Statement
    second: Statement
    one: str
    other: str
    shared: frozenset[str]


def amounts_apart(asked: Asked, first: Answer, second: Answer) -> Conflict | None:
    """The two amounts that differ most plainly: those whose statements share most; None where none differ."""
    return max(_conflicts(asked, first, second), key=lambda found: len(found.shared), default=None)


def _conflicts(asked: Asked, first: Answer, second: Answer) -> Iterator[Conflict]:
    for mine, theirs in product(_giving(first), _giving(second)):
        shared = mine.stems & theirs.stems
        if not _same_matter(asked, shared):
            continue
        for one, other in product(mine.amounts, theirs.amounts):
            if one.comparable(other) and not (_said(one, second) or _said(other, first)) and apart(one, other):
                yield Conflict(mine, theirs, one.text, other.text, shared)


def _giving(answer: Answer) -> list[Statement]:
    return [statement for statement in answer.statements if statement.amounts]


def _same_matter(asked: Asked, shared: frozenset[str]) -> bool:
    return len(shared) >= SHARED or not asked.stems.isdisjoint(shared - GENERIC)


def _said(amount: Quantity, answer: Answer) -> bool:
    """Whether the other answer gives this amount too, wherever it does."""
    return any(amount.comparable(other) and not apart(amount, other) for s in answer.statements for other in s.amounts)


def apart(one: Quantity, other: Quantity) -> bool:
    """Whether two comparable amounts differ: neither range holds the other's figure, and it is more than rounding."""
    if one.vague or other.vague:
        return False
    (low, high), (least, most) = _reach(one), _reach(other)
    if one.bound and one.bound == other.bound:
        low, high, least, most = one.low, one.high, other.low, other.high
    if (low <= least and most <= high) or (least <= low and high <= most):
        return False
    return not (_near(one.low, other.low, one) and _near(one.high, other.high, one))


def _reach(amount: Quantity) -> tuple[float, float]:
    low = -inf if amount.bound == "at most" else amount.low
    return low, inf if amount.bound == "at least" else amount.high


def _near(one: float, other: float, amount: Quantity) -> bool:
    rounding = 0.0 if amount.dimension == COUNT else ROUNDING
    return abs(one - other) <= rounding * max(abs(one), abs(other))
