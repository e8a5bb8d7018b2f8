"""Intervals of shares of pairs that allow for similarity between pairs that share a question or a handbook.

Two pairs that share a question or a handbook carry partly the same information, so thousands of pairs tell less than their number
suggests, and a binomial interval over pairs is several times too narrow. Two pairs are called related when they share a question
or a handbook. For the share R = N / D each pair in the denominator has the residual e = event - R, and the variance of R is
estimated in closed form:

    variance = (sum of e e' over related pairs, each pair with itself included) / (D^2 - number of related pairs)

All residuals add up to 0, so this is minus the mean product of the residuals of two *unrelated* pairs. These have
in common only that R was estimated with them, which is exactly what the variance of R is: where every handbook was asked every
question the variance of a mean is estimated without bias, however few questions and handbooks there are. The sum over related
pairs is the variance that is robust to clusters in two ways, with pairs of handbooks as dyads; the usual one divides by D^2 and
is too small by a third with nine handbooks.

The interval is symmetrical on the scale of logits, so its ends are never 0 or 1 once the event, and its opposite, were seen.
Student's t has one degree of freedom less than there are effective questions or handbooks, whichever are fewer: the number of
equally large ones as would be as informative, (sum d)^2 / sum d^2. The variance is never less than if pairs were independent.
Where no pair, or every pair, has the event, the data do not show how events cluster: the interval is Wilson's with the questions
in the denominator as trials. With fewer than five questions, which may happen to be alike, it is the wider of both. Nothing is
resampled, so nothing depends on a seed. An interval is unknown (NaN) where no two pairs of the denominator are unrelated: with a
single question, or with fewer than four handbooks.

Measured on simulated samples (`python -m benchmarks.coverage`; tests/stats/test_coverage.py has a small version).

Sources: Aronow, Samii and Assenova (2015), Polit. Anal. 23 (dyads); Cameron, Gelbach and Miller (2011), J. Bus. Econ. Stat. 29
(clusters in two ways); effective clusters: Carter, Schnepel and Steigerwald (2017), Rev. Econ. Stat. 99; the design effect of
clusters for no events: Korn and Graubard (1998), Survey Methodology 24(2). The division by unrelated pairs is ours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csr_array
from scipy.special import expit, logit, stdtrit

from audit.stats.intervals import ROUNDING_ERROR, TAIL, TELLING, Floats, Interval, Ints, wilson

Bools = npt.NDArray[np.bool_]
# Three questions of one kind look alike: with 40 handbooks the interval then held the true rate in three of four samples.
FEW_QUESTIONS = 5


@dataclass(frozen=True)
class RelatedCounts:
    """Counts of pairs by group and outcome, and of couples of related pairs by both outcomes.

    pairs    (groups, outcomes)
    related  (groups, outcomes, outcomes), couples of related pairs, each pair with itself included
    units    (groups, outcomes), the effective number of questions or handbooks, whichever are fewer
    trials   (groups, outcomes), independent trials where no pair has the event: questions with such pairs
    """

    pairs: Floats
    related: Floats
    units: Floats
    trials: Floats


def effective_number(totals: Floats, squares: Floats) -> Floats:
    """The number of equally large clusters that would be as informative: (sum d)^2 / sum d^2; 0 without clusters."""
    return np.divide(totals**2, squares, out=np.zeros_like(totals), where=squares > 0)


def ratio_interval(counts: RelatedCounts, numerator: int, denominator: int, floor: bool = True) -> Interval:
    """The 95 % interval of the share of one outcome in another that includes it, per group; NaN where it is unknown, also
    where it would leave out hardly any share.

    `floor`: the variance is at least that of independent events; False for sums of values between 0 and 1, which vary less.
    """
    n, d = (np.asarray(counts.pairs[:, outcome], dtype=float) for outcome in (numerator, denominator))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = n / d
        variance = share_variance(counts, numerator, denominator, floor)
        half = -stdtrit(np.maximum(counts.units[:, denominator] - 1, 1), TAIL) * np.sqrt(variance) / (share * (1 - share))
        # Equal values in a sample do not prove that the population has no spread; rounding may leave a little of a variance of 0.
        half = np.where(half > np.sqrt(ROUNDING_ERROR), half, np.nan)
        ends = expit(logit(share) - half), expit(logit(share) + half)
    trials = np.where(np.isnan(variance), np.nan, counts.trials[:, denominator])
    bounds, one_sided, few = wilson(share * trials, trials), (n == 0) | (n == d), trials < FEW_QUESTIONS
    with np.errstate(invalid="ignore"):
        wider = np.minimum(bounds[0], ends[0]), np.maximum(bounds[1], ends[1])
    low, high = (
        np.where(one_sided, bound, np.where(few, wide, end)) for bound, wide, end in zip(bounds, wider, ends, strict=True)
    )
    known = high - low < 1 - TELLING
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def share_variance(counts: RelatedCounts, numerator: int, denominator: int, floor: bool = True) -> Floats:
    """The variance of a share (see `ratio_interval`); NaN without unrelated pairs in the denominator."""
    n, d = (np.asarray(counts.pairs[:, outcome], dtype=float) for outcome in (numerator, denominator))
    i, j = numerator, denominator
    nn, nd, dd = counts.related[:, i, i], counts.related[:, i, j], counts.related[:, j, j]
    share, unrelated = n / d, d**2 - dd
    # Rounding can leave a remainder of either sign where no pairs are unrelated.
    variance = (nn - 2 * share * nd + share**2 * dd) / np.where(unrelated > ROUNDING_ERROR * d**2, unrelated, np.nan)
    return np.asarray(np.maximum(variance, share * (1 - share) / d if floor else 0))


def clustered_ratio_interval(numerator: Floats, denominator: Floats, events: bool = True) -> Interval:
    """The interval of numerator / denominator, both summed per group and question (groups, questions): counted items are
    related when they share a question. `events`: the numerator counts events; False for a sum of values between 0 and 1.
    """
    by_question = np.stack([numerator, denominator], axis=1).astype(float)
    return ratio_interval(by_question_counts(by_question), 0, 1, floor=events)


def share_by_question(
    question: pd.Series, counted: Floats, of: Floats | None = None, *, events: bool = True
) -> tuple[float, float, float]:
    """A share of items and its interval, items of one question being related; NaN without any.

    counted, of  (items,), in the numerator and the denominator of each item; by default each item counts once in the latter
    events       as in `clustered_ratio_interval`
    """
    number, names = pd.factorize(question)
    weights = (counted, np.ones(len(number)) if of is None else of)
    numerator, denominator = (np.bincount(number, weight, len(names)).astype(float) for weight in weights)
    (low,), (high,) = clustered_ratio_interval(numerator[None], denominator[None], events)
    total = denominator.sum()
    return float(numerator.sum() / total) if total else np.nan, float(low), float(high)


def by_question_counts(counts: Floats) -> RelatedCounts:
    """Related counts where only questions make pairs related; `counts` is (groups, outcomes, questions)."""
    related = counts @ counts.swapaxes(1, 2)
    pairs, squares = counts.sum(axis=-1), np.einsum("gii->gi", related)
    return RelatedCounts(pairs, related, effective_number(pairs, squares), np.count_nonzero(counts, axis=-1).astype(float))


def group_counts(pairs: pd.DataFrame, group: Ints, groups: int, event: Bools, of_all: bool = False) -> RelatedCounts:
    """Counts of two outcomes, the event (0) and the denominator (1), in groups of pairs of any kind, such as themes.

    pairs   question, handbook_a, handbook_b: one row per pair, of one run or of several with the same numbering
    group   int, the group of each pair, from 0
    event   whether a pair has the event
    of_all  the denominator: False for all pairs of the group, True for the pairs of all groups that have the event
    """
    products = [_cluster_products(code, group, groups, event, of_all) for code in pair_codes(pairs)[:4]]
    (by_question, trials), (by_handbook, _), (by_couple, _), (by_answer, _) = products
    counted, _ = _cluster_products(np.arange(len(pairs)), group, groups, event, of_all)
    # Inclusion-exclusion: pairs related by both a question and a handbook were counted twice.
    related = by_question + by_handbook - by_couple - by_answer + counted
    diagonals = (np.einsum("gii->gi", squares) for squares in (by_question, by_handbook))
    size = np.einsum("gii->gi", counted)
    units = [effective_number(size * times, squares) for times, squares in zip((1, 2), diagonals, strict=True)]
    return RelatedCounts(size, related, np.minimum(*units), trials)


def _cluster_products(code: Ints, group: Ints, groups: int, event: Bools, of_all: bool) -> tuple[Floats, Floats]:
    """Per group: products of event and denominator counts summed over clusters, and the clusters in which each occurs."""
    # A code twice as long as the pairs has both sides of each pair.
    times = len(code) // max(len(group), 1)
    group, event = np.tile(group, times), np.tile(event, times)
    cluster, clusters = pd.factorize(code)
    shape = (len(clusters), groups)
    events = csr_array((np.ones(np.count_nonzero(event)), (cluster[event], group[event])), shape)
    everything = csr_array((np.ones(len(group)), (cluster, group)), shape)
    couples = ((events, events), (events, everything), (everything, everything))
    crossed = [one.multiply(other).sum(axis=0) for one, other in couples]
    seen = [np.diff(matrix.tocsc().indptr) for matrix in (events, everything)]
    if of_all:
        total = events.sum(axis=1)
        crossed[1:] = events.T @ total, np.full(groups, total @ total)
        seen[1] = np.full(groups, np.count_nonzero(total))
    both, across, totals = crossed
    table = np.moveaxis(np.array([[both, across], [across, totals]], dtype=float), -1, 0)
    return table, np.column_stack(seen).astype(float)


# -- Changes of shares of all pairs between two runs ---------------------------------------------------------
# The same share in two runs on the same questions and handbooks is correlated, because the peculiarities of a question or a
# handbook are in both. So the change is linearised, each pair contributing to it as it does to the share of its run, and its
# variance is the sum of products over related rows, as above: rows of either run that share a question
# or a handbook. What both runs share cancels before squaring. Resampling questions and handbooks instead counts what is
# particular to one pair three times: in simulated runs its intervals were 2.6 times as wide; they flagged 0 % of themes
# without a change, where these flag 1 %, and found 15 % of themes that had grown by a quarter, where these find 78 %
# (tests/stats/test_share_changes.py).


def share_changes(pairs: pd.DataFrame, group: Ints, groups: int) -> tuple[Interval, Bools]:
    """The 95 % interval of the change of each group's share from a first run to a second, and whether no pair changes it.

    pairs  run (1 or 2), question, handbook_a, handbook_b: one row per pair and run, with the same numbering in both
    group  int, the group of each row, from 0

    Bounded by -1 and 1; NaN where no two pairs are unrelated.
    """
    second = pairs["run"].to_numpy() == 2
    sizes = np.array([np.count_nonzero(~second), np.count_nonzero(second)], dtype=float)
    shares = np.stack(
        [np.bincount(group[own], minlength=groups) / max(size, 1) for own, size in zip((~second, second), sizes, strict=True)]
    )
    adds = np.where(second, 1 / max(sizes[1], 1), -1 / max(sizes[0], 1))
    codes = pair_codes(pairs)
    sums = [_squared_changes(code, adds, second, group, shares) for code in codes]
    by_question, by_handbook, by_couple, by_answer, by_pair = sums
    once = ~pairs.duplicated(["question", "handbook_a", "handbook_b"]).to_numpy()
    one = [squared_sums(code, np.tile(once, len(code) // len(once))) for code in codes]
    related, size = one[0] + one[1] - one[2] - one[3] + one[4], one[4] ** 2
    inflation = size / (size - related) if related < size else np.nan
    # Lower bound: each pair is related at least to itself
    variance = np.maximum((by_question + by_handbook - by_couple - by_answer + by_pair) * inflation, by_pair)
    units = np.minimum(*(_effective_clusters(code, group, groups) for code in codes[:2]))
    half = -stdtrit(np.maximum(units - 1, 1), TAIL) * np.sqrt(np.maximum(variance, 0))
    change = shares[1] - shares[0]
    # Terms that cancel leave a rounding error
    same = by_pair <= ROUNDING_ERROR / max(len(pairs), 1)
    half = np.where(same, 0, half)
    return (np.maximum(change - half, -1), np.minimum(change + half, 1)), same


def pair_codes(pairs: pd.DataFrame) -> tuple[Ints, ...]:
    """Clusters of pairs: question, handbook (both sides), couple of handbooks, answer (both sides), the pair itself.

    pairs  question, handbook_a, handbook_b; a code of both sides has all first sides, then all second ones
    """
    question, _ = pd.factorize(pairs["question"])
    # Both sides are numbered together: a handbook is the same, whichever side of a pair it is on.
    sides, handbooks = pd.factorize(pd.concat([pairs["handbook_a"], pairs["handbook_b"]]))
    a, b = sides[: len(pairs)].astype(np.int64), sides[len(pairs) :].astype(np.int64)
    base = max(len(handbooks), 1)
    couple = np.minimum(a, b) * base + np.maximum(a, b)
    answers = np.concatenate([question * base + a, question * base + b])
    return question, np.concatenate([a, b]), couple, answers, question * base**2 + couple


def _squared_changes(code: Ints, adds: Floats, second: Bools, group: Ints, shares: Floats) -> Floats:
    """Per group: the contribution of each cluster to the change, squared and summed over clusters."""
    times = len(code) // max(len(group), 1)
    cluster, clusters = pd.factorize(code)
    adds, second, group = np.tile(adds, times), np.tile(second, times), np.tile(group, times)
    own = csr_array((adds, (cluster, group)), (len(clusters), shares.shape[1]))
    # Pairs of the whole run contribute through the denominator
    totals = np.stack([np.bincount(cluster, np.where(second == of, adds, 0), len(clusters)) for of in (False, True)])
    crossed = np.stack([own.T @ one for one in totals])
    squares = np.asarray(own.multiply(own).sum(axis=0)).ravel()
    return np.asarray(squares - 2 * (shares * crossed).sum(axis=0) + np.einsum("rg,rs,sg->g", shares, totals @ totals.T, shares))


def squared_sums(code: Ints, values: Floats | Bools) -> float:
    """The sum of `values` in each cluster, squared and summed over clusters."""
    return float((np.bincount(pd.factorize(code)[0], values) ** 2).sum())


def _effective_clusters(code: Ints, group: Ints, groups: int) -> Floats:
    cluster, clusters = pd.factorize(code)
    counts = csr_array((np.ones(len(code)), (cluster, np.tile(group, len(code) // max(len(group), 1)))), (len(clusters), groups))
    totals = np.asarray(counts.sum(axis=0)).ravel()
    return effective_number(totals, np.asarray(counts.multiply(counts).sum(axis=0)).ravel())
