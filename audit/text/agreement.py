"""Which amounts of one text no amount of another agrees with, also where a text has thousands of them.

    without_counterpart(find_quantities("3 months, 5 mg"), find_quantities("90 days"))   # the 5 mg

Each amount is compared with those of its kind whose value is near, so two long texts cost little more than reading them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isfinite

from audit.text.quantity import Quantity
from audit.text.tokens import stems
from audit.text.units import COUNT, TEMPERATURE_TOLERANCE_C, TOLERANCE

LARGEST = max(TOLERANCE.values())
SURPLUS = 1.001
"""For the rounding of the sums."""
FEW = 16
"""Where an index costs more than it saves."""


def without_counterpart(amounts: Sequence[Quantity], others: Sequence[Quantity]) -> list[Quantity]:
    """Those of `amounts` with which none of `others` agrees, in their order."""
    if len(others) <= FEW:
        return [amount for amount in amounts if not any(map(amount.agrees, others))]
    index: defaultdict[tuple[str, ...], list[Quantity]] = defaultdict(list)
    for other in {replace(other, start=0, end=0, text=""): None for other in others}:
        for name in _names(other):
            index[name].append(other)
    for listed in index.values():
        listed.sort(key=_low)
    return [amount for amount in amounts if not any(map(amount.agrees, _near(amount, index)))]


def _near(amount: Quantity, index: dict[tuple[str, ...], list[Quantity]]) -> Iterator[Quantity]:
    reach = SURPLUS * (abs(amount.low) * LARGEST / (1 - LARGEST) + TEMPERATURE_TOLERANCE_C) if isfinite(amount.low) else 0.0
    for name in _names(amount):
        listed = index.get(name, [])
        for place in range(bisect_left(listed, amount.low - reach, key=_low), len(listed)):
            if listed[place].low > amount.low + reach:
                break
            yield listed[place]


def _low(amount: Quantity) -> float:
    return amount.low


def _names(amount: Quantity) -> Iterator[tuple[str, ...]]:
    """What two amounts have in common if they can agree: their dimension, and for a count its noun or a word of it."""
    what = (amount.dimension, amount.vague)
    if amount.dimension != COUNT:
        yield what
        return
    yield (*what, "noun", amount.noun)
    yield from ((*what, "word", stem) for stem in set(stems(amount.noun)))
