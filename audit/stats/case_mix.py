"""Groups compared although they answered different questions: observed over expected, shrunken, with a funnel and ranks.

A handbook that answers the disputed questions disagrees more often than one that is silent on them, whatever it says. So the
observed count is divided by the count expected for its questions: indirect standardisation, as in comparisons of hospitals.

Whether a group stands out is tested by permutation within questions: if no group differs, the group that has an excess of
disagreements on a question could have been any that answered it. Each question is its own stratum, so that neither which
questions a group answers nor how pairs of one question cluster matters, and no variance has to be estimated.

Sources: Breslow and Day (1987), Statistical Methods in Cancer Research II, 2.3 (exact interval of a ratio); Gelman (2006),
Bayesian Anal. 1 (a prior for the spread between groups, half normal); Spiegelhalter (2005), Stat. Med. 24 (funnel with
overdispersion); Goldstein and Spiegelhalter (1996), J. R. Stat. Soc. A 159 (intervals of ranks); Phipson and Smyth (2010), Stat.
Appl. Genet. Mol. Biol. 9 (p-values of permutations); Benjamini and Hochberg (1995), J. R. Stat. Soc. B 57 (flags).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import gammaincinv, gammaln, ndtri

from audit.stats.intervals import Floats, Interval

RANK_DRAWS, SEED = 4_000, 20_260_000
MIN_PERMUTATIONS = 4_999
PRIOR_TRIALS = 1.0
LEVEL = 0.95
FALSE_DISCOVERIES = 0.05
# Standard deviations between the groups' true ratios that are thought of; half normal, so that large ones are unlikely
SPREADS, SPREAD_SCALE = np.linspace(0.01, 2.0, 200), 0.5


@dataclass(frozen=True)
class CaseMix:
    """Groups compared with the expectation for their questions; arrays have one value per group, NaN where nothing is expected.

    observed, expected  events
    alone               share of a group's trials on questions where no other group has one: nothing is compared there
    ratio, interval     observed / expected, and its 95 % interval, for other questions put to the same groups
    shrunken, ...       the ratio's posterior mean, shrunk towards 1, more strongly the fewer events are expected and the less the
                        groups differ; and its 95 % credible interval
    rank, rank_interval ranks by `shrunken`, 1 the highest, and the 95 % credible interval of the rank
    p, flagged          two-sided p-value by permutation within questions; an outlier at a false discovery rate of 5 %
    dispersion          variance relative to that of independent events; at least 1
    """

    observed: Floats
    expected: Floats
    alone: Floats
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
        ends = _gamma_ends(effective, exposure)
        alone = (trials * (all_trials <= trials)).sum(axis=1) / trials.sum(axis=1)
    shrunken, shrunken_ends, rank, ranks = _shrunken(effective, exposure)
    p = permutation_p(events - by_question, trials > 0)
    flagged = _flagged(p)
    return CaseMix(observed, expected, alone, ratio, ends, shrunken, shrunken_ends, rank, ranks, p, flagged, dispersion)


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


def _gamma_ends(effective: Floats, exposure: Floats) -> Interval:
    """Ends of a ratio by the gamma distribution, which for counts is the exact Poisson interval."""
    tail = (1 - LEVEL) / 2
    low = np.where(effective > 0, gammaincinv(np.maximum(effective, 1e-12), tail) / exposure, 0.0)
    return np.where(np.isnan(exposure), np.nan, low), gammaincinv(effective + 1, 1 - tail) / exposure


def _shrunken(effective: Floats, exposure: Floats) -> tuple[Floats, Interval, Floats, Interval]:
    """The posterior mean of each ratio with its interval, and its rank with that of the rank.

    Ratios are gamma distributed with mean 1 and an unknown spread, over which the posterior is summed: a spread that is estimated
    and then taken as known makes intervals too narrow, and of no width where the estimate is 0.
    """
    mean, low, high, rank, first, last = np.full((6, len(exposure)), np.nan)
    known = np.flatnonzero(~np.isnan(exposure))
    if not len(known):
        return mean, (low, high), rank, (first, last)
    counts, exposed = effective[known], exposure[known]
    shapes = 1 / SPREADS**2
    weights = _spread_weights(counts, exposed, shapes)
    mean[known] = ((counts + shapes[:, None]) / (exposed + shapes[:, None]) * weights[:, None]).sum(axis=0)
    rng = np.random.default_rng(SEED)
    shape = rng.choice(shapes, size=RANK_DRAWS, p=weights)[:, None]
    drawn = rng.gamma(counts + shape) / (exposed + shape)
    tail = 100 * (1 - LEVEL) / 2
    low[known], high[known] = np.percentile(drawn, [tail, 100 - tail], axis=0)
    rank[known] = pd.Series(-mean[known]).rank()
    ranks = pd.DataFrame(-drawn).rank(axis=1).to_numpy()
    first[known], last[known] = np.percentile(ranks, [tail, 100 - tail], axis=0, method="nearest")
    return mean, (low, high), rank, (first, last)


def _spread_weights(counts: Floats, exposure: Floats, shapes: Floats) -> Floats:
    """The posterior of the spread on its grid: prior times the negative binomial likelihood of all counts."""
    shape = shapes[:, None]
    likelihood = gammaln(counts + shape) - gammaln(shape) + shape * np.log(shape / (shape + exposure))
    likelihood += counts * np.log(exposure / (shape + exposure))
    logarithm = likelihood.sum(axis=1) - (SPREADS / SPREAD_SCALE) ** 2 / 2
    weights = np.exp(logarithm - logarithm.max())
    return np.asarray(weights / weights.sum())


def permutation_p(excess: Floats, answered: np.ndarray) -> Floats:
    """The two-sided p-value of each group's summed excess if, on each question, it could be any group's that answered.

    excess, answered  (groups, questions), observed minus expected events; whether the group has trials on the question

    NaN for a group without a question that another answers too. There are enough draws for a single flag among all groups.
    """
    draws = max(MIN_PERMUTATIONS, int(np.ceil(2 * len(excess) / FALSE_DISCOVERIES)))
    shared = np.flatnonzero(answered.sum(axis=0) > 1)
    permuted, own = np.zeros((draws, len(excess)), dtype=np.float32), np.zeros(len(excess))
    rng = np.random.default_rng(SEED)
    for question in shared:
        groups = np.flatnonzero(answered[:, question])
        values = excess[groups, question]
        own[groups] += values
        permuted[:, groups] += rng.permuted(np.broadcast_to(values.astype(np.float32), (draws, len(groups))), axis=1)
    # Sums of the same values in another order differ by rounding, and count as equal
    slack = 1e-4 * (1 + np.abs(own))
    lower, upper = (permuted <= own + slack).sum(axis=0) + 1, (permuted >= own - slack).sum(axis=0) + 1
    p = np.minimum(1.0, 2 * np.minimum(lower, upper) / (draws + 1))
    return np.where(answered[:, shared].any(axis=1), p, np.nan)


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
