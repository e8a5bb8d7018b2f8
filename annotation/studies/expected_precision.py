"""How precise a study of this size will be, before anything is rated: for the planner next to the sample size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.prevalence.planning import expected_half_width
from annotation.studies.sample_plan import StratumPlan
from audit.formatting import fixed
from audit.stats.intervals import wilson
from audit.vocabulary import DISAGREEING, Label

CONFIRMED_ABSENT = 0.98
"""Assumed: people confirm ABSENT almost always, because most of these pairs have an answer that says nothing."""
AGREEMENT = 0.8


@dataclass(frozen=True)
class ExpectedPrecision:
    """The expected precision of a sample.

    items       study items
    agreement   ends of the 95 % Wilson interval of an agreement of 80 % on these items
    half_width  of the 95 % interval of the corrected share of disagreeing pairs in the run; NaN where a stratum has no item
    """

    items: int
    agreement: tuple[float, float]
    half_width: float

    def sentence(self, confirmed: float) -> str:
        """The expectation and what it assumes, in words."""
        if not self.items:
            return "No items are requested."
        low, high = (fixed(100 * end, 0) for end in self.agreement)
        agreement = (
            f"{self.items:,} items: an agreement of {_percent(AGREEMENT)} would have a 95 % interval of {low} to {high} %."
        )
        if np.isnan(self.half_width):
            return (
                f"{agreement} A label of the judge has no item, so the share of disagreement in the whole run would stay unknown."
            )
        return (
            f"{agreement} The corrected share of disagreement in the whole run is expected within "
            f"±{fixed(100 * self.half_width, 1)} points, if annotators confirm {_percent(confirmed)} of the judge's labels "
            f"({_percent(CONFIRMED_ABSENT)} of its ABSENT ones) and choose the other labels equally often."
        )


def expected_precision(strata: Sequence[StratumPlan], confirmed: float) -> ExpectedPrecision:
    """The precision that a sample is expected to have.

    strata     of pairs, as `allocate_items` gives them; those without a pair are left out
    confirmed  assumed share of the judge's labels that people confirm, in [0, 1]; the rest is spread evenly over the other labels
    """
    own = [stratum for stratum in strata if stratum.population]
    items = sum(stratum.study for stratum in own)
    n = max(items, 1)
    low, high = (float(end) for end in wilson(AGREEMENT * n, n))
    if not items or any(stratum.study == 0 for stratum in own):
        return ExpectedPrecision(items, (low, high), float("nan"))
    # By label alone, as the corrected shares are estimated where a second criterion divides the labels
    labels = list(dict.fromkeys(stratum.label for stratum in own))
    share = np.array([_disagreeing(label, confirmed) for label in labels])
    rated, pairs = (
        np.array([sum(getattr(s, name) for s in own if s.label == label) for label in labels], dtype=float)
        for name in ("study", "population")
    )
    return ExpectedPrecision(items, (low, high), float(expected_half_width(share, rated, pairs)))


def with_earlier(strata: Sequence[StratumPlan], earlier: Mapping[str, int]) -> list[StratumPlan]:
    """The strata with the items that earlier studies have of each label, in the first stratum of the label."""
    left = dict(earlier)
    return [replace(stratum, study=stratum.study + left.pop(stratum.label, 0)) for stratum in strata]


def _percent(share: float) -> str:
    return f"{fixed(100 * share, 0)} %"


def _disagreeing(judged: str, confirmed: float) -> float:
    """The share of the pairs with this label by the judge that people are assumed to call divergent or contradictory."""
    confirmed = max(confirmed, CONFIRMED_ABSENT) if judged == Label.ABSENT else confirmed
    other = (1 - confirmed) / (len(Label) - 1)
    disagreeing = sum(label != judged for label in DISAGREEING)
    return (confirmed if judged in DISAGREEING else 0.0) + disagreeing * other
