"""The disagreement rate of a run (R_div), corrected for the judge's errors: the headline figure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from annotation.prevalence.estimates import DISAGREES, ROWS, append_disagreement, events_by_stratum, human_labels, require_design
from annotation.ratings.design import Floats, SampleDesign
from annotation.ratings.table import GOLD, JUDGE, Ratings
from audit.stats.intervals import quotient_interval, stratified_share
from audit.vocabulary import Label


@dataclass(frozen=True)
class CorrectedRate:
    """R_div among the pairs that a sample was drawn from: DIVERGENT or CONTRADICTORY, of the pairs that are not ABSENT.

    judge             the judge's own rate, [0, 1]; without an interval, because its error is not sampling error
    value, low, high  by raters' labels, weighted by stratum, with its 95 % interval; NaN where undefined
    n                 rated items
    pairs             pairs in the strata, those that are ABSENT included
    """

    judge: float
    value: float
    low: float
    high: float
    n: int
    pairs: int


def corrected_disagreement(ratings: Ratings, human: str = GOLD) -> CorrectedRate:
    """The disagreement rate by the judge and corrected; `human` as in `annotation.prevalence.estimates.prevalence`.

    Both shares, disagreeing pairs and pairs that are not ABSENT, are estimated from the same stratified sample; the interval is
    that of their quotient (`audit.stats.intervals.quotient_interval`). In 1,000 simulated studies of the published shape it
    covers the true rate in 96 to 99 % (tests/annotation/prevalence/test_headline.py).

    Raises AuditError when the table does not say how the sample was drawn, and for an unknown `human`.
    """
    design, labels = require_design(ratings), human_labels(ratings, human)
    rated = ~np.isnan(labels[:, 0])
    judge = append_disagreement(design.judge_shares(ratings.labels[JUDGE])[None])[0]
    events = events_by_stratum(design, labels)
    estimate = disagreement_rate(events[ROWS.index(DISAGREES)], events[Label.ABSENT.code], design.count(rated), design)
    own = judge[ROWS.index(DISAGREES)] / (1 - judge[Label.ABSENT.code]) if judge[Label.ABSENT.code] < 1 else math.nan
    return CorrectedRate(float(own), *estimate, int(rated.sum()), round(design.pairs.sum()))


def disagreement_rate(disagreeing: Floats, absent: Floats, rated: Floats, design: SampleDesign) -> tuple[float, float, float]:
    """Value and interval of R_div from rated items per stratum (each argument: (strata,)); NaN where nothing is present."""
    numerator = stratified_share(*design.by_verdict(disagreeing, rated))
    denominator = stratified_share(*design.by_verdict(rated - absent, rated))
    if not float(denominator.value) > 0:
        return math.nan, math.nan, math.nan
    low, high = quotient_interval(numerator, denominator)
    return float(numerator.value) / float(denominator.value), low, min(high, 1.0)
