"""A population mean measured by a cheap judge on every unit and by people on a sample: the judge's mean corrected by people's.

corrected = people's mean on the sample + lambda (judge's mean on everything - judge's mean on the sample), with the lambda that
makes the variance smallest: 1 where people and judge differ by chance and a constant only, 0 where the judge's values do not
predict people's. Its interval equals that of people alone if the judge is uninformative, and is narrower the more the two agree.
Sources: Angelopoulos et al. (2023), Science 382, prediction-powered inference; lambda: arXiv:2311.01453 (PPI++). Like PPI++ it
needs a random sample of the population, which the people chose without looking at the judge.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from audit.stats.intervals import TAIL, Floats

MIN_RATED = 5
"""With fewer rated units the difference between people and judge is unknown."""


class CorrectedMean(NamedTuple):
    """A corrected mean with its 95 % interval, and the means it is computed from.

    units, rated   units that the judge measured; of these, units that people measured too
    judge, people  the judge's mean on all units, people's on the rated ones, the latter with its 95 % interval
    trust          lambda, in [0, 1]: the weight of the judge's values on the units that people did not measure
    """

    units: int
    rated: int
    judge: float
    people: float
    people_low: float
    people_high: float
    trust: float
    value: float
    low: float
    high: float


def corrected_mean(judge: Floats, people: Floats) -> CorrectedMean:
    """The mean of people's values over all units; `judge` has a value for each unit; `people` is NaN where nobody measured.

    The units are themselves a sample, such as of the questions that could have been asked; the interval allows for that and for
    the choice of units that people measured. Student's t with two degrees of freedom fewer than rated units, one for the mean and
    one for lambda. NaN with fewer than MIN_RATED rated units.
    """
    units, is_rated = len(judge), ~np.isnan(people)
    rated = int(is_rated.sum())
    judge_mean = float(judge.mean()) if units else np.nan
    if rated < MIN_RATED:
        alone = float(people[is_rated].mean()) if rated else np.nan
        return CorrectedMean(units, rated, judge_mean, alone, *[np.nan] * 6)
    y, f = people[is_rated], judge[is_rated]
    trust = _trust(y, f, judge)
    value = y.mean() + trust * (judge_mean - f.mean())
    # The contribution of each unit to the estimate, as judged and, if people measured it, as rated.
    influence = trust * (judge - judge_mean) / units
    influence[is_rated] += ((y - y.mean()) - trust * (f - f.mean())) / rated
    half = float(np.sqrt((influence**2).sum() * rated / (rated - 2))) * float(stdtrit(rated - 2, 1 - TAIL))
    alone_half = float(y.std(ddof=1) / np.sqrt(rated)) * float(stdtrit(rated - 1, 1 - TAIL))
    mean = float(y.mean())
    return CorrectedMean(
        units, rated, judge_mean, mean, mean - alone_half, mean + alone_half, trust, value, value - half, value + half
    )


def _trust(y: Floats, f: Floats, judge: Floats) -> float:
    """The lambda of PPI++ for a sample that is part of the population, between 0 and 1."""
    variance = float(judge.var())
    covariance = float(np.cov(y, f, ddof=0)[0, 1])
    return min(1.0, max(0.0, covariance / variance)) if variance > 0 else 0.0
