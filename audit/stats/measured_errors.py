"""How often a judge errs, from rated pairs or assumed: drawn towards what is assumed, as a few ratings do not prove much.

Ratings measure how often the judge calls an agreement a disagreement. They do not measure how often two handbooks of different
positions are not called a disagreement: raters see two answers, and these may leave open what is disputed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from audit.stats.intervals import Floats
from audit.stats.latent_positions import JudgeErrors

RATED, ASSUMED = "ratings of this run", "assumed"
ASSUMED_ERRORS = JudgeErrors(false=0.05, missed=0.15)
# The assumed rates count as much as this many rated pairs
ASSUMED_ITEMS = 20.0


class MeasuredErrors(NamedTuple):
    """The errors with their standard errors, and where that of false alarms is from; that of missed ones is assumed.

    rated  pairs that both the judge and raters read; 0 where both rates are assumed
    """

    errors: JudgeErrors
    se_false: float
    se_missed: float
    rated: int

    @property
    def source(self) -> str:
        """RATED or ASSUMED."""
        return RATED if self.rated else ASSUMED


def measured_errors(weight: Floats, disagreeing: Floats, called: Floats) -> MeasuredErrors:
    """The error rates by rated pairs in which both answer, each argument (pairs,).

    weight  pairs of the run that each stands for; disagreeing  share of its raters who say so; called  1 where the judge does
    """
    agreeing = weight * (1 - disagreeing)
    effective = agreeing.sum() ** 2 / (agreeing**2).sum() if agreeing.any() else 0.0
    measured = float((agreeing * called).sum() / agreeing.sum()) if effective else 0.0
    rates = (
        (effective * measured + ASSUMED_ITEMS * ASSUMED_ERRORS.false) / (effective + ASSUMED_ITEMS), effective + ASSUMED_ITEMS,
    ), (ASSUMED_ERRORS.missed, ASSUMED_ITEMS)  # fmt: skip
    (false, missed), (se_false, se_missed) = zip(*((rate, _se(rate, items)) for rate, items in rates), strict=True)
    return MeasuredErrors(JudgeErrors(float(false), missed), se_false, se_missed, len(called))


def _se(rate: float, items: float) -> float:
    return float(np.sqrt(rate * (1 - rate) / (items + 1)))
