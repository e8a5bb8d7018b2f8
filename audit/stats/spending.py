"""How much of an error of 5 % each look at a running study may spend, so that all looks together stay below it.

Source: Lan and DeMets (1983), Biometrika 70; the function that spends as O'Brien and Fleming (1979), Biometrics 35, do. A look
has what was spent since the look before as its own error: the sum bounds the chance that any look misses, whatever the figures of
the looks have in common (their joint distribution, which would give slightly narrower intervals, is not needed).
"""

from __future__ import annotations

import math

from scipy.special import ndtr, ndtri

from audit.stats.intervals import TAIL, Z

ERROR = 2 * TAIL


def spent(share: float) -> float:
    """The error that may be spent with `share` of the registered number, in (0, 1]: hardly any early, ERROR at the end."""
    return float(2 * ndtr(-Z / math.sqrt(share)))


def width_at(error: float) -> float:
    """How many times as wide as a 95 % interval one is that misses with this probability."""
    return float(-ndtri(error / 2) / Z)
