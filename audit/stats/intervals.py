"""95 % intervals: of shares, of paired shares, of bootstrap replicates, and of figures that are shares in disguise.

An interval that cannot be known is NaN, never zero wide: a share without a denominator has none.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import betaincinv, gammaln, ndtr, stdtrit

Floats = npt.NDArray[np.floating]
Ints = npt.NDArray[np.integer]
Interval = tuple[Floats, Floats]
"""Lower ends and upper ends, one of each per group."""
Z = 1.959963984540054
"""The 97.5 % point of the normal distribution."""
TAIL = 0.025
SEQUENCE_ITEMS = 100
# An interval that leaves out less than this of all shares tells nothing, and would be printed as 0 to 1.
TELLING = 0.001
# Six times a sixth is not quite one.
ROUNDING_ERROR = 1e-9
# Lower bound of agreement coefficients, even where chance agreement is high.
MIN_COEFFICIENT = -1.0


class ShareEstimate(NamedTuple):
    """Shares with the ends of their 95 % intervals, all of one shape."""

    value: Floats
    low: Floats
    high: Floats


def sequence_width(n: npt.ArrayLike) -> Floats:
    """How many times as wide an interval of `n` items has to be that is right however often it is looked at, (n,); 1 at 0.

    An asymptotic confidence sequence: at a true value, some look misses it in 5 % of all studies, whenever and however often
    somebody looks. It is narrowest, beside the interval for one look, at `SEQUENCE_ITEMS` items.
    Source: Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2021), arXiv:2103.06476; the tuning is that of its appendix B.2.
    """
    items, alpha = np.asarray(n, dtype=float), 2 * TAIL
    tuned = (-2 * math.log(alpha) + math.log(1 - 2 * math.log(alpha))) / SEQUENCE_ITEMS
    grown = np.where(items > 0, items, 1.0) * tuned
    return np.where(items > 0, np.sqrt((grown + 1) / grown * np.log((grown + 1) / alpha**2)) / Z, 1.0)


def wilson(successes: npt.ArrayLike, trials: npt.ArrayLike, width: npt.ArrayLike = 1.0) -> Interval:
    """Lower and upper ends of Wilson's 95 % score interval, without continuity correction; NaN where `trials` is 0.

    The first two are counts of the same shape (`trials` may be an effective, fractional count); `width` as in
    `sequence_width`: both are divided by its square.
    Source: Wilson (1927), J. Am. Stat. Assoc. 22; tested on Newcombe (1998), Stat. Med. 17, Table I, method 3.
    """
    k, n = (np.asarray(count, dtype=float) / np.square(width) for count in (successes, trials))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = k / np.where(n > 0, n, np.nan)
        centre = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
        half = Z / (1 + Z**2 / n) * np.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    # At k = 0 and k = n the ends are exactly 0 and 1; rounding must not move them.
    return np.where(k == 0, share, centre - half), np.where(k == n, share, centre + half)


def wilson_paired(both: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike, neither: npt.ArrayLike) -> Interval:
    """Ends of the 95 % interval of the second share minus the first, for trials that were each made twice; NaN without a trial.

    The arguments are counts of trials that succeeded both times, only the first, only the second, neither time. The interval
    combines Wilson's intervals of the two shares with their correlation.
    Source: Newcombe (1998), Stat. Med. 17, 2635, method 10; tested on Fagerland, Lydersen and Laake (2014), Stat. Med. 33.
    """
    a, b, c, d = (np.asarray(count, dtype=float) for count in (both, first, second, neither))
    n = a + b + c + d
    (low_1, high_1), (low_2, high_2) = wilson(a + b, n), wilson(a + c, n)
    with np.errstate(invalid="ignore", divide="ignore"):
        share_1, share_2 = (a + b) / np.where(n > 0, n, np.nan), (a + c) / np.where(n > 0, n, np.nan)
        product = a * d - b * c
        scale = np.sqrt((a + b) * (c + d) * (a + c) * (b + d))
        # Newcombe's continuity correction of phi applies to a positive correlation only.
        phi = np.where(scale > 0, np.where(product > 0, np.maximum(product - n / 2, 0), product) / scale, 0)
    down = _correlated_distance(share_2 - low_2, high_1 - share_1, phi)
    up = _correlated_distance(high_2 - share_2, share_1 - low_1, phi)
    return share_2 - share_1 - down, share_2 - share_1 + up


def _correlated_distance(one: Floats, other: Floats, phi: Floats) -> Floats:
    return np.sqrt(one**2 - 2 * phi * one * other + other**2)


def jeffreys(share: Floats, trials: Floats) -> Interval:
    """The ends of Jeffreys' 95 % interval: 0 where the share is 0, 1 where it is 1, zero width for infinitely many trials.

    Source: Brown, Cai and DasGupta (2001), Stat. Sci. 16.
    """
    # `betaincinv` takes no infinite parameters; the ends of those strata are replaced below.
    n = np.where(np.isfinite(trials), trials, 1)
    yes, no = share * n + 0.5, (1 - share) * n + 0.5
    low, high = (np.where(np.isfinite(trials), betaincinv(yes, no, tail), share) for tail in (TAIL, 1 - TAIL))
    return np.where(share == 0, 0, low), np.where(share == 1, 1, high)


def finite_share_interval(successes: int, trials: int, population: int) -> tuple[float, float]:
    """The ends of the 95 % interval of a share of `population` units of which `trials` were drawn at random, mid-p exact.

    Both ends are shares that the population can have; they are equal where every unit was drawn. NaN where none was.
    Source: hypergeometric tails (Buonaccorsi 1987, Am. Stat. 41) with mid-p (Lancaster 1961, J. Am. Stat. Assoc. 56).
    """
    if not trials:
        return math.nan, math.nan
    least, most = successes, population - (trials - successes)

    def upper_tail(total: int) -> float:
        return _tail_beyond(successes, trials, total, population)

    # A larger total makes at least as many successes likelier, so both ends are found by halving.
    low = bisect_left(range(least, most), True, key=lambda total: upper_tail(total) > TAIL) + least
    high = bisect_left(range(least, most), True, key=lambda total: upper_tail(total + 1) >= 1 - TAIL) + least
    return low / population, high / population


def _tail_beyond(successes: int, trials: int, total: int, population: int) -> float:
    """P(more than `successes`) + P(as many) / 2, of `trials` draws from a population with `total` successes."""
    counts = np.arange(max(0, trials - population + total), min(trials, total) + 1)
    chance = hypergeometric(counts, trials, total, population)
    return float(chance[counts > successes].sum() + chance[counts == successes].sum() / 2)


def hypergeometric(counts: Ints, trials: int, total: int, population: int) -> Floats:
    """The probability of each of these counts of successes in `trials` draws without replacement.

    total  successes in the population, of which no count may have more
    """
    # scipy.stats has it too, and takes half a second to import
    return np.asarray(
        np.exp(_log_choose(total, counts) + _log_choose(population - total, trials - counts) - _log_choose(population, trials))
    )


def _log_choose(size: int, chosen: npt.ArrayLike) -> Floats:
    k = np.asarray(chosen, dtype=float)
    return np.asarray(gammaln(size + 1) - gammaln(k + 1) - gammaln(size - k + 1))


def percentiles(values: Floats, units: npt.ArrayLike) -> Interval:
    """The expanded percentile interval of each row of replicates; NaN replicates are left out.

    `units` is the number of units that were resampled, one per row. Few units make replicates too alike, so the tail that is
    cut off shrinks from 2.5 % to the one that Student's t with units - 1 degrees of freedom asks for (2.0 % at 30 units,
    0.7 % at 9). Interpolates linearly between neighbours.

    Source: Hesterberg (2015), What teachers should know about the bootstrap, Am. Stat. 69(4), section 4.
    """
    # Student's t needs a degree of freedom; with one unit the caller shows no interval.
    n = np.maximum(np.asarray(units, dtype=float), 2)
    tail = ndtr(-np.sqrt(n / (n - 1)) * stdtrit(n - 1, 1 - TAIL))
    ordered = np.sort(values, axis=1)
    # `sort` puts NaN last, so the usable replicates are the first of each row.
    last = np.maximum(np.count_nonzero(~np.isnan(ordered), axis=1) - 1, 0)
    return _interpolated(ordered, tail * last), _interpolated(ordered, (1 - tail) * last)


def _interpolated(ordered: Floats, position: Floats) -> Floats:
    below, rows = np.floor(position).astype(int), np.arange(len(ordered))
    left, right = ordered[rows, below], ordered[rows, np.ceil(position).astype(int)]
    interpolated: Floats = left + (right - left) * (position - below)
    return interpolated


def stratified_share(
    events: npt.ArrayLike, rated: npt.ArrayLike, population: npt.ArrayLike, possible: npt.ArrayLike = True, width: float = 1.0
) -> ShareEstimate:
    """The share of a population that has a label, estimated from a stratified sample, with its 95 % interval.

    events      (..., strata): rated items with the label; a fraction where an item is split between labels
    rated       (strata,): items rated
    population  (strata,): items in the population
    possible    bool, (strata,): False where a stratum is known to contain no such item
    width       as in `sequence_width`: the trials are divided by its square

    The value is NaN where nothing is rated; a stratum without ratings widens the interval and does not affect the value.
    The interval is that of Zou, Huang and Zhang (2009), Comput. Stat. Data Anal. 53 (MOVER), over Jeffreys' intervals.
    """
    x, n, size = (np.asarray(values, dtype=float) for values in (events, rated, population))
    can_occur = np.asarray(possible, dtype=bool)
    weight = size / size.sum()
    known = n > 0
    share = np.divide(x, n, out=np.zeros(np.broadcast_shapes(x.shape, n.shape)), where=known)
    low, high = jeffreys(share, np.where(known & can_occur, _infinite_population_n(n, size) / width**2, np.inf))
    value = (weight * share * known).sum(axis=-1)
    below = np.sqrt((known * (weight * (share - low)) ** 2).sum(axis=-1))
    # Every item of a stratum without ratings may have the label: its full weight is added to the upper end.
    above = np.sqrt((known * (weight * (high - share)) ** 2).sum(axis=-1)) + weight[~known & can_occur].sum()
    covered = weight[known].sum()
    return ShareEstimate(value / covered if covered else np.full(value.shape, np.nan), value - below, value + above)


def _infinite_population_n(rated: Floats, population: Floats) -> Floats:
    """The sample size from an infinite stratum that would be as informative; infinite where the whole stratum is rated."""
    with np.errstate(divide="ignore", invalid="ignore"):  # a stratum of one item gives 0 / 0
        expanded = rated * (population - 1) / np.maximum(population - rated, 0)
        return np.asarray(np.where(rated < population, expanded, np.inf))


@dataclass(frozen=True)
class Scale:
    """Maps a figure to the share behind it and back, so Wilson's interval can be taken where it is valid.

    For a chance-corrected figure the share is the observed agreement at the present chance agreement; for F1 it is
    the Jaccard index of the label.

    to_share    the share behind a figure; below 0 if raters agree far less than by chance
    from_share  the figure that belongs to a share
    slope       the derivative of `from_share`, at a share
    """

    to_share: Callable[[float], float]
    from_share: Callable[[float], float]
    slope: Callable[[float], float]


SHARE_SCALE = Scale(to_share=lambda value: value, from_share=lambda share: share, slope=lambda _: 1.0)
F1_SCALE = Scale(
    to_share=lambda value: value / (2 - value),
    from_share=lambda share: 2 * share / (1 + share),
    slope=lambda share: 2 / (1 + share) ** 2,
)


def chance_scale(expected_disagreement: float) -> Scale:
    """The scale of a chance-corrected figure, given the disagreement on labels that chance expects."""
    room = expected_disagreement
    return Scale(lambda value: 1 - (1 - value) * room, lambda share: 1 - (1 - share) / room, lambda _: 1 / room)


def effective_n(value: float, se: float, n: float, scale: Scale) -> float:
    """The number of independent items that would give the underlying share the same spread; n if the sample shows no spread.

    Source: an effective sample size as in Korn and Graubard (1998), Survey Methodology 24(2).
    """
    share = scale.to_share(value)
    if not (ROUNDING_ERROR < share < 1 - ROUNDING_ERROR and se > ROUNDING_ERROR):
        return n
    return share * (1 - share) / (se / scale.slope(share)) ** 2


def scaled_wilson(value: float, se: float, trials: float, scale: Scale, width: float = 1.0) -> tuple[float, float]:
    """Wilson's interval of a figure, taken on its scale with an effective number of trials and mapped back.

    It stays within the range of the figure and has no zero width. Measured on simulated samples of 20, 40 and 148 items
    (tests/annotation/agreement/test_interval_coverage.py) it covers kappas, AC1, alphas and raw agreement in 91 to 96 %,
    where value +- 1.96 standard errors covers 57 to 96 %; with a label on few items in 90 to 100 %. `width`: how many times the
    standard error counts.
    """
    se, trials = se * width, trials / width**2
    share = min(scale.to_share(value), 1.0)
    low, high = (scale.from_share(float(end)) for end in wilson(max(share, 0.0) * trials, trials))
    if share < 0:  # far below chance no share of items corresponds; without a spread the width is that at zero agreement
        plain = (value - Z * se, value + Z * se)
        low, high = plain if se > ROUNDING_ERROR else (value, value + high - scale.from_share(0.0))
    return max(low, min(value, MIN_COEFFICIENT)), min(high, scale.from_share(1.0))


def quotient_interval(numerator: ShareEstimate, denominator: ShareEstimate) -> tuple[float, float]:
    """Both ends of the interval of a quotient, from the intervals of its parts; infinite where the denominator may be 0.

    Source: Donner and Zou (2012), Stat. Methods Med. Res. 21 (MOVER-R), taking the two as uncorrelated.
    """
    b, b_low, b_high = (float(end) for end in numerator)
    a, a_low, a_high = (float(end) for end in denominator)
    low = _quadratic_root(a * b, -1, a_high * (2 * a - a_high), b_low * (2 * b - b_low))
    high = _quadratic_root(a * b, 1, a_low * (2 * a - a_low), b_high * (2 * b - b_high))
    return max(low, 0.0), high


def _quadratic_root(product: float, sign: int, squared: float, constant: float) -> float:
    """The root of squared x^2 - 2 product x + constant = 0 on the side of `sign`."""
    if squared == 0:
        return math.inf if sign > 0 else constant / (2 * product) if product else 0.0
    return (product + sign * math.sqrt(max(product**2 - squared * constant, 0.0))) / squared


def with_interval(table: pd.DataFrame, share: str, low: npt.ArrayLike, high: npt.ArrayLike) -> pd.DataFrame:
    """`table` with columns `<share>_low` and `<share>_high` right after `share`."""
    after = list(table.columns).index(share) + 1
    # A shallow copy: the caller's frame keeps its columns, and no data is copied.
    table = table.copy(deep=False)
    table.insert(after, f"{share}_low", np.asarray(low, dtype=float))
    table.insert(after + 1, f"{share}_high", np.asarray(high, dtype=float))
    return table


def with_wilson(
    table: pd.DataFrame, share: str, successes: str, trials: str, width: Callable[[npt.ArrayLike], npt.ArrayLike] = np.ones_like
) -> pd.DataFrame:
    """`table` with Wilson's interval of `share`, which is `successes` over `trials`, three of its columns; `width` of trials."""
    return with_interval(table, share, *wilson(table[successes], table[trials], width(table[trials].to_numpy(dtype=float))))
