"""Groups compared although they answered different questions: observed over expected, shrunken, with a funnel and ranks.

A handbook that answers the disputed questions disagrees more often than one that is silent on them, whatever it says. So the
observed count is divided by the count expected for its questions: indirect standardisation, as in comparisons of hospitals.

Sources: Breslow and Day (1987), Statistical Methods in Cancer Research II, 2.3 (exact interval of a ratio); Marshall (1991),
J. R. Stat. Soc. C 40 (empirical Bayes); Spiegelhalter (2005), Stat. Med. 24 (funnel with overdispersion); Goldstein and
Spiegelhalter (1996), J. R. Stat. Soc. A 159 (intervals of ranks); Benjamini and Hochberg (1995), J. R. Stat. Soc. B 57 (flags).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import gammaincinv, ndtr, ndtri

from audit.stats.intervals import Floats, Interval

RANK_DRAWS, SEED = 4_000, 20_260_000
PRIOR_TRIALS = 1.0
LEVEL = 0.95
FALSE_DISCOVERIES = 0.05


@dataclass(frozen=True)
class CaseMix:
    """Groups compared with the expectation for their questions; arrays have one value per group, NaN where nothing is expected.

    observed, expected  events
    ratio, interval     observed / expected, and its 95 % interval, for other questions put to the same groups
    shrunken, ...       empirical Bayes: the ratio shrunk towards 1, more strongly the fewer events are expected
    rank, rank_interval ranks by `shrunken`, 1 the highest, and the 95 % interval of the rank
    p, flagged          two-sided p-value of a ratio of 1; whether it is an outlier at a false discovery rate of 5 %
    dispersion          variance relative to that of independent events; at least 1
    """

    observed: Floats
    expected: Floats
    ratio: Floats
    interval: Interval
    shrunken: Floats
    shrunken_interval: Interval
    rank: Floats
    rank_interval: Interval
    p: Floats
    flagged: np.ndarray
    dispersion: float


def case_mix(events: Floats, trials: Floats, all_events: Floats, all_trials: Floats) -> CaseMix:
    """Compare groups whose trials are on different questions.

    events, trials          (groups, questions), a group's own
    all_events, all_trials  (questions,), of all groups together; each event of two groups counts once
    """
    by_question = expected_events(events, trials, all_events, all_trials)
    observed, expected = events.sum(axis=1), by_question.sum(axis=1)
    dispersion = _dispersion(events, by_question)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(expected > 0, observed / expected, np.nan)
        # The number of independent events that would vary as much
        effective, exposure = observed / dispersion, np.where(expected > 0, expected / dispersion, np.nan)
        ends = _gamma_ends(effective, effective + 1, exposure)
        shape = _prior_shape(observed, expected, dispersion)
        z = (observed - expected) / np.sqrt(dispersion * expected)
    shrunken = (effective + shape) / (exposure + shape) if np.isfinite(shape) else np.where(np.isnan(exposure), np.nan, 1.0)
    shrunken_ends = _gamma_ends(effective + shape, effective + shape, exposure + shape)
    rank, ranks = _ranks(shrunken, effective + shape, exposure + shape)
    p = 2 * ndtr(-np.abs(z))
    return CaseMix(observed, expected, ratio, ends, shrunken, shrunken_ends, rank, ranks, p, _flagged(p), dispersion)


def expected_events(events: Floats, trials: Floats, all_events: Floats, all_trials: Floats) -> Floats:
    """Expected events (groups, questions): a group's trials on a question times the rate of the others on it.

    The run's rate counts as one more trial of the others, and alone where nobody else has a trial. In simulated runs (20
    handbooks, 200 questions of 8 topics) with 3, 14 and 29 pairs a question, the ratio's rank correlation with the truth was .51,
    .81 and .91 (raw rate .46, .60, .69); with a weight by beta-binomial moments .50, .77 and .89.
    """
    overall = all_events.sum() / max(all_trials.sum(), 1)
    others, others_trials = all_events - events, all_trials - trials
    return np.asarray(trials * (others + PRIOR_TRIALS * overall) / (others_trials + PRIOR_TRIALS))


def _dispersion(events: Floats, expected: Floats) -> float:
    """The variance of events over that of independent events, pooled over groups: a group's events on one question cluster."""
    total = expected.sum()
    return max(1.0, float(((events - expected) ** 2).sum() / total)) if total > 0 else 1.0


def _prior_shape(observed: Floats, expected: Floats, dispersion: float) -> float:
    """The shape of the gamma prior of mean 1 that the ratios' spread beyond chance implies; infinite if there is none."""
    known = expected > 0
    if known.sum() < 2:
        return np.inf
    weight = expected[known] / expected[known].sum()
    spread = float((weight * (observed[known] / expected[known] - 1) ** 2).sum())
    chance = dispersion * known.sum() / expected[known].sum()
    # Estimating the mean from the same ratios costs one degree of freedom
    between = spread - chance * (known.sum() - 1) / known.sum()
    return 1 / between if between > 0 else np.inf


def _gamma_ends(lower: Floats, upper: Floats, exposure: Floats) -> Interval:
    """Ends of a ratio by the gamma distribution, which for counts is the exact Poisson interval."""
    tail = (1 - LEVEL) / 2
    if not np.isfinite(np.asarray(lower)).all():  # no spread beyond chance: every ratio is 1
        same = np.where(np.isnan(exposure), np.nan, 1.0)
        return same, same.copy()
    low = np.where(np.asarray(lower) > 0, gammaincinv(np.maximum(lower, 1e-12), tail) / exposure, 0.0)
    return np.where(np.isnan(exposure), np.nan, low), gammaincinv(upper, 1 - tail) / exposure


def _ranks(shrunken: Floats, shape: Floats, exposure: Floats) -> tuple[Floats, Interval]:
    known = ~np.isnan(shrunken)
    rank, low, high = np.full((3, len(shrunken)), np.nan)
    if not known.any():
        return rank, (low, high)
    rank[known] = pd.Series(-shrunken[known]).rank()
    if not np.isfinite(shape[known]).all():  # no evidence distinguishes the groups
        low[known], high[known] = 1, known.sum()
        return rank, (low, high)
    drawn = np.random.default_rng(SEED).gamma(shape[known], size=(RANK_DRAWS, int(known.sum()))) / exposure[known]
    ranks = pd.DataFrame(-drawn).rank(axis=1).to_numpy()
    tail = 100 * (1 - LEVEL) / 2
    low[known], high[known] = np.percentile(ranks, [tail, 100 - tail], axis=0, method="nearest")
    return rank, (low, high)


def _flagged(p: Floats) -> np.ndarray:
    """Flags outliers so that on average at most 5 % of the flags are false (Benjamini-Hochberg)."""
    known = ~np.isnan(p)
    flagged = np.zeros(len(p), dtype=bool)
    if known.any():
        # As scipy.stats.false_discovery_control, which takes half a second to import
        allowed = FALSE_DISCOVERIES * np.arange(1, known.sum() + 1) / known.sum()
        ascending = np.sort(p[known])
        flagged[known] = p[known] <= np.max(ascending[ascending <= allowed], initial=-1)
    return flagged


def funnel_limits(expected: Floats, dispersion: float, level: float) -> Interval:
    """The ratios between which a share `level` of groups with this many expected events lies if all are alike (normal, at least
    0).
    """
    half = ndtri(0.5 + level / 2) * np.sqrt(dispersion / np.asarray(expected))
    return np.maximum(1 - half, 0.0), 1 + half
