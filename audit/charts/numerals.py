"""Coefficients as pages and figures write them, and numbers that a browser will round."""

from __future__ import annotations

import pandas as pd

from audit.charts.style import NO_VALUE
from audit.number_format import fixed


def coefficient(value: float | None, digits: int = 2) -> str:
    """A kappa, a rho or the like, `0.47`; a dash where it is not known."""
    return NO_VALUE if value is None or pd.isna(value) else fixed(value, digits)


def coefficient_interval(low: float | None, high: float | None, digits: int = 2) -> str:
    """`0.32 to 0.60`; `unknown` where there is no interval."""
    if low is None or high is None or pd.isna(low) or pd.isna(high):
        return "unknown"
    return f"{fixed(low, digits)} to {fixed(high, digits)}"


def unsigned_zeros(values: pd.Series, digits: int) -> pd.Series:
    """Numbers for a table that a browser rounds: one that it would write as `-0.00` is 0."""
    return values.mask((values < 0) & (values.round(digits) == 0), 0.0)
