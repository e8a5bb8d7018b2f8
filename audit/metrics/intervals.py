"""95 % intervals: Wilson's where the units are independent, percentiles where something was resampled.

A frame carries the interval of a share `x` as `x_low` and `x_high`. An interval that cannot be known is NaN, never
zero wide: a share without a denominator has none.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtr, stdtrit

Floats = npt.NDArray[np.floating]
Ints = npt.NDArray[np.integer]
Interval = tuple[Floats, Floats]
"""Lower ends and upper ends, one of each per group."""
Z = 1.959963984540054
"""The 97.5 % point of the normal distribution."""


def wilson(successes: npt.ArrayLike, trials: npt.ArrayLike) -> Interval:
    """Lower and upper ends of Wilson's 95 % score interval, without continuity correction; NaN where `trials` is 0.

    Both arguments are counts of the same shape (`trials` may be an effective, fractional count).
    Source: Wilson (1927), J. Am. Stat. Assoc. 22; tested on Newcombe (1998), Stat. Med. 17, Table I, method 3.
    """
    k, n = np.asarray(successes, dtype=float), np.asarray(trials, dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = k / np.where(n > 0, n, np.nan)
        centre = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
        half = Z / (1 + Z**2 / n) * np.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    # At k = 0 and k = n the ends are exactly 0 and 1; rounding must not move them.
    return np.where(k == 0, share, centre - half), np.where(k == n, share, centre + half)


def wilson_paired(both: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike, neither: npt.ArrayLike) -> Interval:
    """Ends of the 95 % interval of the second share less the first, of trials that were each made twice; NaN without a trial.

    The arguments are counts of trials that succeeded both times, only the first, only the second, neither time. The ends are put
    together from Wilson's of the two shares and from how far both go together.
    Source: Newcombe (1998), Stat. Med. 17, 2635, method 10; tested on Fagerland, Lydersen and Laake (2014), Stat. Med. 33.
    """
    a, b, c, d = (np.asarray(count, dtype=float) for count in (both, first, second, neither))
    n = a + b + c + d
    (low_1, high_1), (low_2, high_2) = wilson(a + b, n), wilson(a + c, n)
    with np.errstate(invalid="ignore", divide="ignore"):
        share_1, share_2 = (a + b) / np.where(n > 0, n, np.nan), (a + c) / np.where(n > 0, n, np.nan)
        together = a * d - b * c
        spread = np.sqrt((a + b) * (c + d) * (a + c) * (b + d))
        phi = np.where(spread > 0, np.where(together > 0, np.maximum(together - n / 2, 0), together) / spread, 0)
    down = _apart(share_2 - low_2, high_1 - share_1, phi)
    up = _apart(high_2 - share_2, share_1 - low_1, phi)
    return share_2 - share_1 - down, share_2 - share_1 + up


def _apart(one: Floats, other: Floats, phi: Floats) -> Floats:
    return np.sqrt(one**2 - 2 * phi * one * other + other**2)


def percentiles(values: Floats, units: npt.ArrayLike) -> Interval:
    """The expanded percentile interval of each row of replicates, NaN left out (a draw without a denominator says nothing).

    `units` is the number that was resampled, one per row: few units make replicates too alike, so the tail that is cut
    off shrinks from 2.5 % to what Student's t with units - 1 degrees asks for (2.0 % at 30 units, 0.7 % at 9). Linear
    between neighbours.

    Source: Hesterberg (2015), What teachers should know about the bootstrap, Am. Stat. 69(4), section 4.
    """
    n = np.maximum(np.asarray(units, dtype=float), 2)
    tail = ndtr(-np.sqrt(n / (n - 1)) * stdtrit(n - 1, 0.975))
    ordered = np.sort(values, axis=1)
    last = np.maximum(np.count_nonzero(~np.isnan(ordered), axis=1) - 1, 0)
    return _at(ordered, tail * last), _at(ordered, (1 - tail) * last)


def _at(ordered: Floats, place: Floats) -> Floats:
    below, rows = np.floor(place).astype(int), np.arange(len(ordered))
    left, right = ordered[rows, below], ordered[rows, np.ceil(place).astype(int)]
    between: Floats = left + (right - left) * (place - below)
    return between


def with_interval(table: pd.DataFrame, share: str, low: npt.ArrayLike, high: npt.ArrayLike) -> pd.DataFrame:
    """`table` with columns `<share>_low` and `<share>_high` right after `share`."""
    at = list(table.columns).index(share) + 1
    table = table.copy(deep=False)
    table.insert(at, f"{share}_low", np.asarray(low, dtype=float))
    table.insert(at + 1, f"{share}_high", np.asarray(high, dtype=float))
    return table


def with_wilson(table: pd.DataFrame, share: str, successes: str, trials: str) -> pd.DataFrame:
    """`table` with Wilson's interval of `share`, which is `successes` over `trials`, three of its columns."""
    return with_interval(table, share, *wilson(table[successes], table[trials]))
