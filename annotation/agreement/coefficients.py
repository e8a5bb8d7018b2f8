"""Agreement of two seats, from the table of how often each two labels met.

A table is float (..., K, K): rows are the first seat's labels, columns the second's, in the declared order. It may hold
counts, weighted counts or shares; only proportions matter. Leading axes are many tables at once. Every function also takes
complex tables, which is how annotation.agreement.spread differentiates it.

A chance-corrected coefficient is (observed - expected) / (1 - expected), and differs from the others in what it expects
of raters who label blindly. Undefined (NaN) where the expected agreement is 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Table = npt.NDArray[Any]
"""Float or complex, (..., K, K)."""
Values = npt.NDArray[Any]
"""The leading axes of a table."""
Matrix = npt.NDArray[np.float64]
Chance = Callable[[Table, Matrix], Values]
"""Expected weighted agreement, from shares and agreement weights."""


def identity(size: int) -> Matrix:
    """Agreement weights for which only the same label agrees."""
    return np.eye(size)


def linear(size: int) -> Matrix:
    """Agreement weights that fall with the number of steps between two labels: 1 - |i - j| / (K - 1)."""
    return 1 - steps(size)


def quadratic(size: int) -> Matrix:
    """Agreement weights that fall with the square of the steps: 1 - ((i - j) / (K - 1)) ** 2."""
    return 1 - steps(size) ** 2


def steps(size: int) -> Matrix:
    """Steps between two labels in the declared order, as a share of the longest way."""
    places = np.arange(size)
    apart: Matrix = np.abs(places[:, None] - places) / max(size - 1, 1)
    return apart


def shares(table: Table) -> Table:
    """The table as proportions of its sum; NaN where it is empty."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(table / table.sum(axis=(-2, -1), keepdims=True))


def observed(table: Table, weights: Matrix) -> Values:
    """Weighted observed agreement; with `identity`, the share of items with the same label."""
    return np.asarray((shares(table) * weights).sum(axis=(-2, -1)))


def cohen(p: Table, weights: Matrix) -> Values:
    """Each seat keeps its own label shares. Source: Cohen (1960); weighted, Cohen (1968)."""
    return np.asarray(np.einsum("...i,...j,ij->...", p.sum(axis=-1), p.sum(axis=-2), weights))


def scott(p: Table, weights: Matrix) -> Values:
    """Both seats share the mean of their label shares. Source: Scott (1955), Public Opin. Q. 19."""
    mean = (p.sum(axis=-1) + p.sum(axis=-2)) / 2
    return np.asarray(np.einsum("...i,...j,ij->...", mean, mean, weights))


def gwet(p: Table, weights: Matrix) -> Values:
    """Only hard items are labelled blindly. Source: Gwet (2008), Br. J. Math. Stat. Psychol. 61, for AC1; AC2 with weights."""
    size = weights.shape[0]
    mean = (p.sum(axis=-1) + p.sum(axis=-2)) / 2
    return np.asarray(weights.sum() * (mean * (1 - mean)).sum(axis=-1) / (size * (size - 1)))


def uniform(p: Table, weights: Matrix) -> Values:
    """Every declared label is equally likely. Source: Brennan and Prediger (1981); for two labels PABAK, Byrt et al. (1993)."""
    return np.full(p.shape[:-2], weights.mean())


def corrected(table: Table, weights: Matrix, chance: Chance) -> Values:
    """Observed agreement beyond what `chance` expects, as a share of what was left to gain; NaN where nothing was."""
    expected = chance(shares(table), weights)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((observed(table, weights) - expected) / np.where(expected == 1, np.nan, 1 - expected))


def nominal_distance(margin: Values) -> Table:
    """Two different labels are one apart, whatever they are."""
    return 1 - np.eye(margin.shape[-1])


def ordinal_distance(margin: Values) -> Table:
    """Krippendorff's ordinal distance: the square of the uses of all labels from one to the other, each end counted half.

    `margin` is (..., K): how often each label was used, or its share.
    """
    up_to = np.cumsum(margin, axis=-1) - margin / 2
    return np.asarray((up_to[..., :, None] - up_to[..., None, :]) ** 2)


Distance = Callable[[Values], Table]


def disagreement(table: Table, distance: Distance) -> Values:
    """Observed disagreement over the disagreement expected of labels dealt out at random (with replacement).

    1 - this is Scott's pi when `distance` is nominal. NaN where a single label was used.
    """
    p = shares(table)
    mean = (p.sum(axis=-1) + p.sum(axis=-2)) / 2
    apart = distance(mean)
    expected = np.einsum("...i,...j,...ij->...", mean, mean, apart)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((p * apart).sum(axis=(-2, -1)) / np.where(expected == 0, np.nan, expected))


def alpha(table: Table, distance: Distance) -> Values:
    """Krippendorff's alpha of two seats; the table's sum is taken as the number of items.

    Labels are dealt out without replacement, which is the factor (2 n - 1) / 2 n.
    Source: Krippendorff (2011), Computing Krippendorff's alpha-reliability.
    """
    labels_given = 2 * np.real(table).sum(axis=(-2, -1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(1 - (1 - 1 / labels_given) * disagreement(table, distance))
