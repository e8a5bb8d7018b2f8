"""The one way in which exported tables write numbers.

A share or a coefficient has three decimals, one below 0.001 two significant digits, one from 10 on a single decimal; an
interval has as many decimals as its value: `0.163 [0.151, 0.176]`. Counts have a comma at each thousand. What is not known is a
dash, never a zero.
"""

from __future__ import annotations

import math

import pandas as pd

from audit.charts.style import NO_VALUE
from audit.formatting import fixed

SMALLEST = 0.001
"""A positive value below this would round to 0.000 or nearly so."""
RESIDUE = 1e-12
"""Below this, a value is 0 but for the rounding of floats: a kappa of 9e-16 is written 0.000."""


def known(value: object) -> bool:
    """Whether there is a value at all."""
    return not (value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)))


def count(value: object) -> str:
    """`5,743,365`; a dash where it is not known."""
    return fixed(round(float(str(value))), 0) if known(value) else NO_VALUE


def counts(value: object, low: float | None, high: float | None) -> str:
    """`12 [3, 20]`; without brackets where there is no interval."""
    ends = f" [{count(low)}, {count(high)}]" if known(value) and known(low) and known(high) else ""
    return count(value) + ends


def decimal(value: float | None) -> str:
    """`0.163`, `0.00044`, `12.5`; a dash where it is not known."""
    return fixed(value, decimals(value)) if value is not None and known(value) else NO_VALUE


def estimate(value: float | None, low: float | None, high: float | None) -> str:
    """`0.163 [0.151, 0.176]`; without brackets where there is no interval."""
    if value is None or low is None or high is None or not (known(value) and known(low) and known(high)):
        return decimal(value)
    digits = decimals(value)
    return f"{fixed(value, digits)} [{fixed(low, digits)}, {fixed(high, digits)}]"


def decimals(value: float | None) -> int:
    """How many decimals a value is written with."""
    if value is None or not known(value) or abs(value) < RESIDUE or math.isinf(value):
        return 3
    size = abs(value)
    if size < SMALLEST:
        return 1 - math.floor(math.log10(size))
    return 3 if size < 10 else 1
