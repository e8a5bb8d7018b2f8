"""Event rates of groups, each drawn towards all of them the more, the fewer trials it has and the less groups differ.

Rates of groups scatter as a beta distribution with mean m and intraclass correlation u, both uniform on (0, 1) beforehand; trials
of a group are independent. The posterior is summed on a grid of m and u (Gelman et al., Bayesian Data Analysis, 5.3). A group
without trials has no rate.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import betainc, betaln

from audit.stats.intervals import TAIL, Floats, ShareEstimate

MEANS, CORRELATIONS = 50, 15
POINTS = 81
"""Of the scale of a rate, at which its distribution is known."""


def pooled_rates(events: npt.ArrayLike, trials: npt.ArrayLike) -> ShareEstimate:
    """The rate of each group with its 95 % credible interval; NaN for a group without trials.

    events, trials  (groups,); events may be fractions
    """
    e, n = np.asarray(events, dtype=float), np.asarray(trials, dtype=float)
    rated = n > 0
    known = [_rates(e[rated], n[rated])] if rated.any() else []
    parts = [np.full(len(n), np.nan) for _ in range(3)]
    for part, values in zip(parts, *known, strict=True) if known else ():
        part[rated] = values
    return ShareEstimate(*parts)


def _rates(events: Floats, trials: Floats) -> tuple[Floats, Floats, Floats]:
    m, u = np.meshgrid((np.arange(MEANS) + 0.5) / MEANS, (np.arange(CORRELATIONS) + 0.5) / CORRELATIONS)
    size = ((1 - u) / u).ravel()
    a, b = m.ravel() * size, (1 - m.ravel()) * size
    own_a, own_b = a + events[:, None], b + (trials - events)[:, None]
    log_weight = (betaln(own_a, own_b) - betaln(a, b)).sum(axis=0)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    value = (own_a / (own_a + own_b)) @ weight
    # Points of the grid that hold next to nothing are left out of the distribution
    held = weight > 1e-3
    # Close to each other at both ends, where rates of rare events are
    points = np.sin(np.linspace(0, np.pi / 2, POINTS)) ** 2
    ends = []
    for group_a, group_b in zip(own_a[:, held], own_b[:, held], strict=True):
        below = betainc(group_a, group_b, points[:, None]) @ weight[held] / weight[held].sum()
        ends.append(np.interp([TAIL, 1 - TAIL], below, points))
    low, high = np.array(ends).T
    # Where no trial, or every one, has the event, the interval begins or ends there (Brown et al. 2001, Stat. Sci. 16)
    low, high = np.where(events > 0, low, 0.0), np.where(events < trials, high, 1.0)
    return value, np.minimum(low, value), np.maximum(high, value)
