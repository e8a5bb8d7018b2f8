"""How a number of chunks is divided among sources. This module needs no index, so it is quick to import."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

import numpy as np
from numpy.typing import NDArray


def softmax(values: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    """Shares that add up to 1; the largest value gets most."""
    # Subtract the largest so no exponential overflows
    powers = np.exp((values - values.max()) / temperature)
    shares: NDArray[np.float64] = powers / powers.sum()
    return shares


def budgets(shares: Sequence[float], total: int, minimum: int) -> list[int]:
    """Chunks per source: at least `minimum` each, `total` in all.

    minimum + round((total - sources x minimum) x share); then 1 is taken from the largest budget above the minimum, or given to
    the source of the largest share, until the sum is right. Where the minimum is too much for all, it is the equal part of the
    total that each can have, rounded down. Source: S1, Algorithm 1.
    """
    if not shares:
        return []
    minimum = min(minimum, total // len(shares))
    free = total - len(shares) * minimum
    # Halves upwards: Python's own rounding goes to the even number
    numbers = [minimum + floor(free * share + 0.5) for share in shares]
    while sum(numbers) > total:
        numbers[numbers.index(max(numbers))] -= 1
    numbers[max(range(len(shares)), key=shares.__getitem__)] += total - sum(numbers)
    return numbers
