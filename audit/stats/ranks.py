"""Rank correlation, with whole-number weights so that a bootstrap can repeat units."""

from __future__ import annotations

import numpy as np

from audit.stats.bootstrap import draws
from audit.stats.intervals import Floats, percentiles

MIN_UNITS = 4
"""With fewer ranked units nearly every draw repeats one or two, and rho jumps between -1 and 1."""
STREAM = 2
"""The stream of draws, apart from those of questions and handbooks."""


def spearman(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Spearman's rho of `x` and `y`, one value per column of `weights`; NaN where one of the two does not vary.

    `weights` are whole numbers, units x replicates: how often a unit counts. Source: Spearman (1904), Am. J. Psychol. 15.
    """
    total = weights.sum(axis=0)
    rank_x, rank_y = (_mid_ranks(values, weights) - (total + 1) / 2 for values in (x, y))
    variance = (weights * rank_x**2).sum(axis=0) * (weights * rank_y**2).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        rho: Floats = (weights * rank_x * rank_y).sum(axis=0) / np.sqrt(np.where(variance > 0, variance, np.nan))
    return rho


def spearman_interval(x: Floats, y: Floats) -> tuple[float, float, float]:
    """Spearman's rho with its 95 % percentile interval, the units resampled; NaN ends with fewer than MIN_UNITS units."""
    rho = float(spearman(x, y, np.ones((len(x), 1)))[0])
    if len(x) < MIN_UNITS:
        return rho, np.nan, np.nan
    low, high = percentiles(spearman(x, y, draws(len(x), STREAM))[None, :], [len(x)])
    return rho, float(low[0]), float(high[0])


def _mid_ranks(values: Floats, weights: Floats) -> Floats:
    # Equal values share the mean of the ranks they occupy: those before them, plus half their own number.
    tied, group = np.unique(values, return_inverse=True)
    own = np.zeros((len(tied), weights.shape[1]))
    np.add.at(own, group, weights)
    ranks: Floats = (np.cumsum(own, axis=0) - own + (own + 1) / 2)[group]
    return ranks
