"""A share as it would be without the errors of the test that counted it, with the uncertainty of both error rates.

A search that says "not found" is a test for silence: it calls some handbooks silent that do answer, and finds something in some
that do not. With t the observed share of "not found", m the share of answers that are missed and f the share of silences in which
something is found, t = s (1 - f) + (1 - s) m, so the true share of silence is s = (t - m) / (1 - f - m).

Sources: Rogan and Gladen (1978), Am. J. Epidemiol. 107 (the estimate, with sensitivity 1 - f and specificity 1 - m); Lang and
Reiczigel (2014), Prev. Vet. Med. 113 (its interval, which adds z^2 trials to the observed share and two to each error rate).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import logit

from audit.stats.intervals import TELLING, Floats, Interval, ShareEstimate, Z, wilson


class ErrorCounts(NamedTuple):
    """How often a test for silence erred where the truth was known.

    Of `answered` questions with an answer it missed `missed`; of `unanswered` ones it found something in `found`.
    """

    missed: int
    answered: int
    found: int
    unanswered: int

    @property
    def miss_rate(self) -> tuple[float, float, float]:
        """The share of answers that it misses, with Wilson's 95 % interval."""
        low, high = wilson(self.missed, self.answered)
        return self.missed / self.answered, float(low), float(high)


def true_share(share: npt.ArrayLike, trials: npt.ArrayLike, errors: ErrorCounts) -> ShareEstimate:
    """The share without the test's errors, within [0, 1], with its 95 % interval.

    share   observed, in [0, 1]
    trials  behind it, an effective number where trials are related; of the same shape

    NaN where the share or the number of trials is unknown, where the test errs too often to tell anything (1 - f - m <= 0), and
    where no share in [0, 1] fits both the observed share and the error rates: these then do not hold here.
    """
    observed, n = np.asarray(share, dtype=float), np.asarray(trials, dtype=float)
    misses, finds = errors.missed / errors.answered, errors.found / errors.unanswered
    if misses + finds >= 1:
        unknown = np.full(observed.shape, np.nan)
        return ShareEstimate(unknown, unknown, unknown)
    value = np.clip((observed - misses) / (1 - finds - misses), 0, 1)
    low, high = _interval(observed, n, errors)
    fits = (low <= 1) & (high >= 0)
    ends = (np.minimum(np.clip(low, 0, 1), value), np.maximum(np.clip(high, 0, 1), value))
    # From 0 to 1 is not known
    telling = fits & (ends[1] - ends[0] < 1 - TELLING)
    return ShareEstimate(np.where(fits, value, np.nan), *(np.where(telling, end, np.nan) for end in ends))


def _interval(observed: Floats, n: Floats, errors: ErrorCounts) -> Interval:
    test_n, answered_n, unanswered_n = n + Z**2, errors.answered + 2, errors.unanswered + 2
    t, m, f = (n * observed + Z**2 / 2) / test_n, (errors.missed + 1) / answered_n, (errors.found + 1) / unanswered_n
    usable = 1 - f - m
    if usable <= 0:
        return np.zeros_like(t), np.where(np.isnan(t), np.nan, 1.0)
    share = (t - m) / usable
    of_finds, of_misses = f * (1 - f) / unanswered_n, m * (1 - m) / answered_n
    centre = share + 2 * Z**2 * (share * of_finds - (1 - share) * of_misses)
    half = Z / usable * np.sqrt(t * (1 - t) / test_n + share**2 * of_finds + (1 - share) ** 2 * of_misses)
    return centre - half, centre + half


def effective_trials(share: npt.ArrayLike, interval: Interval, trials: npt.ArrayLike) -> Floats:
    """The number of independent trials that would give a share the width of this interval on the scale of logits.

    trials  the number where none, or all, have the event: such an interval was made from it
    """
    value, independent = np.asarray(share, dtype=float), np.asarray(trials, dtype=float)
    low, high = (np.asarray(end, dtype=float) for end in interval)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = (logit(high) - logit(low)) / (2 * Z)
        known = 1 / (spread**2 * value * (1 - value))
    return np.where((value > 0) & (value < 1), known, np.where(np.isnan(low), np.nan, independent))
