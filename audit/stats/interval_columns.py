"""Intervals as columns of a frame: that of a share `x` is in `x_low` and `x_high`, right after `x`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from audit.stats.intervals import wilson


def with_interval(table: pd.DataFrame, share: str, low: npt.ArrayLike, high: npt.ArrayLike) -> pd.DataFrame:
    """`table` with columns `<share>_low` and `<share>_high` right after `share`."""
    after = list(table.columns).index(share) + 1
    table = table.copy(deep=False)
    table.insert(after, f"{share}_low", np.asarray(low, dtype=float))
    table.insert(after + 1, f"{share}_high", np.asarray(high, dtype=float))
    return table


def with_wilson(table: pd.DataFrame, share: str, successes: str, trials: str) -> pd.DataFrame:
    """`table` with Wilson's interval of `share`, which is `successes` over `trials`, three of its columns."""
    return with_interval(table, share, *wilson(table[successes], table[trials]))
