"""Chance-corrected agreement of n raters, in one implementation: two raters are n = 2, gaps are allowed.

`RatedItems` records the label each rater gave to an item, as the distinct patterns of labels and the number of
items with each. Only the counts vary between replicates, between tables weighted to a population, and between the nudged
tables of a derivative, so every function takes counts with any leading axes, fractional and complex ones too.

A chance-corrected coefficient is (observed - expected) / (1 - expected); coefficients differ in the agreement they expect of
raters who label blindly. It is undefined (NaN) where the expected agreement is 1. The general formulas, also for items
that some raters left out, are those of Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., chapters 2 to 5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[Any]
"""Float or complex."""
Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]
"""Label codes; negative where a rater gave none."""
# The complex step subtracts no two values, so it can be small enough for its error to vanish in rounding.
COMPLEX_STEP = 1e-30
# Each nudge is a copy of all counts: a limit on memory.
NUDGES_PER_CHUNK = 256


@dataclass(frozen=True)
class RatedItems:
    """Items by the labels that their raters gave.

    indicators  float, (patterns, raters, K): 1 where a rater gave a label; each pattern has a rating
    counts      (..., patterns): items, weighted items, or shares of items
    """

    indicators: Floats
    counts: Values

    @classmethod
    def from_table(cls, table: Values) -> RatedItems:
        """Two raters, from tables of how often each two labels met: (..., K, K), the first rater's labels in the rows."""
        table = np.asarray(table)
        size = table.shape[-1]
        return cls(_two_rater_patterns(size), table.reshape(*table.shape[:-2], size * size))

    @classmethod
    def from_codes(cls, codes: Sequence[Codes], size: int) -> RatedItems:
        """From one array of label codes per rater; items without any rating are left out."""
        stacked = np.stack(codes, axis=1)
        rated = stacked[(stacked >= 0).any(axis=1)]
        # Any negative code is a missing label; one code for all of them makes equal patterns equal.
        patterns, counts = np.unique(np.maximum(rated, -1), axis=0, return_counts=True)
        return cls((patterns[:, :, None] == np.arange(size)).astype(float), counts.astype(float))

    @cached_property
    def uses(self) -> Floats:
        """Times each label was given in each pattern: (patterns, K)."""
        return np.asarray(self.indicators.sum(axis=1))

    @cached_property
    def raters(self) -> Floats:
        """Raters of each pattern."""
        return np.asarray(self.uses.sum(axis=1))

    @cached_property
    def shared(self) -> Floats:
        """1 for patterns with two ratings or more, 0 elsewhere."""
        return (self.raters >= 2).astype(float)

    @property
    def n(self) -> int:
        """Items."""
        return round(float(np.real(self.counts).sum()))

    @property
    def n_shared(self) -> int:
        """Items with two ratings or more."""
        return round(float(np.real(self.counts @ self.shared)))

    @property
    def never_matched(self) -> bool:
        """Whether labels were given, but never by two raters to the same item."""
        max_uses = self.uses[np.real(self.counts) > 0].max(axis=0, initial=0)
        return bool(((max_uses > 0) & (max_uses < 2)).any())

    @property
    def label_shares(self) -> Values:
        """Share of each label, every item counting equally: (..., K)."""
        return np.asarray(_ratio(self.counts @ (self.uses / self.raters[:, None]), self.counts.sum(axis=-1)[..., None]))

    @property
    def rater_shares(self) -> Values:
        """Share of each label among the items of each rater: (..., raters, K)."""
        patterns, raters, size = self.indicators.shape
        uses = (self.counts @ self.indicators.reshape(patterns, raters * size)).reshape(*self.counts.shape[:-1], raters, size)
        return np.asarray(_ratio(uses, uses.sum(axis=-1, keepdims=True)))


@lru_cache
def _two_rater_patterns(size: int) -> Floats:
    first, second = np.divmod(np.arange(size * size), size)
    return np.asarray(np.stack([first, second], axis=1)[:, :, None] == np.arange(size), dtype=float)


def _ratio(numerator: Values, denominator: Values) -> Values:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(numerator / denominator)


def identity(size: int) -> Floats:
    """Agreement weights for which only the same label agrees."""
    return np.eye(size)


def linear(size: int) -> Floats:
    """Agreement weights that fall with the number of steps between two labels: 1 - |i - j| / (K - 1)."""
    return 1 - steps(size)


def quadratic(size: int) -> Floats:
    """Agreement weights that fall with the square of the steps: 1 - ((i - j) / (K - 1)) ** 2."""
    return 1 - steps(size) ** 2


def steps(size: int) -> Floats:
    """Steps between two labels in the declared order, as a share of the greatest distance."""
    indices = np.arange(size)
    return np.asarray(np.abs(indices[:, None] - indices) / max(size - 1, 1))


def observed_agreement(items: RatedItems, weights: Floats) -> Values:
    """Mean share of agreeing pairs of ratings, over items with two or more; with two raters, the weighted agreement."""
    return _ratio(items.counts @ _agreeing(items, weights), items.counts @ items.shared)


def _agreeing(items: RatedItems, weights: Floats) -> Floats:
    """Share of agreeing pairs of ratings of each pattern; 0 where there is no pair."""
    rating_pairs = items.raters * (items.raters - 1)
    # Minus 1, because a rating is not compared with itself.
    agreeing = (items.uses * (items.uses @ weights - 1)).sum(axis=1)
    return np.asarray(np.divide(agreeing, rating_pairs, out=np.zeros(len(rating_pairs)), where=rating_pairs > 0))


Chance = Callable[[RatedItems, Floats], Values]
"""The agreement expected by chance, from items and agreement weights."""


def conger(items: RatedItems, weights: Floats) -> Values:
    """Each rater keeps their own label shares, averaged over pairs of raters; with two raters, Cohen's kappa.

    Source: Cohen (1960), Educ. Psychol. Meas. 20; weighted, Cohen (1968); more raters, Conger (1980), Psychol. Bull. 88.
    """
    own = items.rater_shares
    others = own.sum(axis=-2, keepdims=True) - own
    raters = own.shape[-2]
    return np.asarray(np.einsum("...gk,kl,...gl->...", others, weights, own) / (raters * (raters - 1)))


def fleiss(items: RatedItems, weights: Floats) -> Values:
    """All raters share one distribution of labels; with two raters, Scott's pi.

    Source: Scott (1955), Public Opin. Q. 19; Fleiss (1971), Psychol. Bull. 76.
    """
    mean = items.label_shares
    return np.asarray(np.einsum("...k,kl,...l->...", mean, weights, mean))


def gwet(items: RatedItems, weights: Floats) -> Values:
    """Only hard items are labelled blindly. Source: Gwet (2008), Br. J. Math. Stat. Psychol. 61: AC1; AC2 with weights."""
    size, mean = len(weights), items.label_shares
    return np.asarray(weights.sum() * (mean * (1 - mean)).sum(axis=-1) / (size * (size - 1)))


def brennan_prediger(items: RatedItems, weights: Floats) -> Values:
    """Every declared label is equally likely. Source: Brennan and Prediger (1981); for two labels PABAK, Byrt et al. (1993)."""
    return np.full(items.counts.shape[:-1], weights.mean())


def chance_corrected(items: RatedItems, weights: Floats, chance: Chance) -> Values:
    """Observed agreement beyond that expected by `chance`, as a share of the largest possible excess; NaN where that is zero."""
    # Where chance alone gives full agreement, the coefficient is undefined.
    expected = chance(items, weights)
    return _ratio(observed_agreement(items, weights) - expected, np.where(expected == 1, np.nan, 1 - expected))


Distance = Callable[[Values], Values]
"""Distances between labels, (..., K, K), from how often each label was used, or its share, (..., K)."""


def nominal_distance(uses: Values) -> Values:
    """Two different labels are at distance 1, whatever they are."""
    return 1 - np.eye(uses.shape[-1])


def ordinal_distance(uses: Values) -> Values:
    """Krippendorff's ordinal distance: the square of the uses of all labels from one to the other, each end counted half."""
    up_to = np.cumsum(uses, axis=-1) - uses / 2
    return np.asarray((up_to[..., :, None] - up_to[..., None, :]) ** 2)


def disagreement_ratio(items: RatedItems, distance: Distance) -> Values:
    """Observed disagreement over that expected if labels were drawn at random with replacement; NaN if only one label was used.

    Counts items with two ratings or more. With two raters and a nominal distance, 1 minus this is Scott's pi.
    """
    uses = items.counts @ (items.uses * items.shared[:, None])
    ratings = uses.sum(axis=-1)
    mean = _ratio(uses, ratings[..., None])
    distances = distance(mean)
    # Pairs of ratings within an item, each rating against the others of its item: no rating is at a distance from itself.
    scale = np.divide(items.shared, items.raters - 1, out=np.zeros(len(items.raters)), where=items.raters > 1)
    met = np.einsum("...p,pk,pl->...kl", items.counts * scale, items.uses, items.uses, optimize=True)
    observed = _ratio((met * distances).sum(axis=(-2, -1)), ratings)
    expected = np.einsum("...k,...l,...kl->...", mean, mean, distances)
    return _ratio(observed, np.where(expected == 0, np.nan, expected))


def krippendorff_alpha(items: RatedItems, distance: Distance) -> Values:
    """Krippendorff's alpha, over the items with two ratings or more; the counts are taken as numbers of items.

    Labels are drawn without replacement, hence the factor (N - 1) / N over N ratings.
    Source: Krippendorff (2011), Computing Krippendorff's alpha-reliability.
    """
    ratings = np.real(items.counts) @ (items.raters * items.shared)
    with np.errstate(divide="ignore"):
        return np.asarray(1 - (1 - 1 / ratings) * disagreement_ratio(items, distance))


@dataclass(frozen=True)
class CoefficientEstimate:
    """A coefficient: its value, its standard error, the observed and the expected agreement, the items it is based on."""

    value: float
    se: float
    observed: float
    expected: float
    n: int


def estimate(items: RatedItems, weights: Floats, chance: Chance) -> CoefficientEstimate:
    """A chance-corrected coefficient of n raters with the standard error of Gwet (2014), as irrCAC prints it.

    It treats the items as a sample, so it is sqrt(n / (n - 1)) times the standard error by the delta method alone.
    """
    observed, expected = float(observed_agreement(items, weights)), float(chance(items, weights))
    if expected == 1 or not items.n_shared:
        return CoefficientEstimate(np.nan, np.nan, observed, expected, items.n)
    value = (observed - expected) / (1 - expected)
    influence = items.n * derivatives(
        lambda counts: chance_corrected(replace(items, counts=counts), weights, chance), items.counts
    )
    # Gwet divides by the items with two ratings but sums over all items; the extra terms vanish without missing ratings.
    influence += value * (items.n / items.n_shared * items.shared - 1)
    return CoefficientEstimate(value, _standard_error(items.counts, influence), observed, expected, items.n)


def estimate_alpha(items: RatedItems, distance: Distance) -> CoefficientEstimate:
    """Krippendorff's alpha with the standard error of irrCAC, which keeps the distances and the factor of alpha fixed."""
    items = replace(items, counts=items.counts * items.shared)
    uses = items.counts @ items.uses
    if np.count_nonzero(uses) < 2:
        return CoefficientEstimate(np.nan, np.nan, float(observed_agreement(items, np.eye(len(uses)))), 1.0, items.n)
    distances, ratings = np.asarray(distance(uses), dtype=float), float(uses.sum())
    weights, mean = 1 - distances / distances.max(), uses / ratings
    expected, ratio = float(mean @ weights @ mean), float(disagreement_ratio(items, lambda _: distances))
    value = 1 - (1 - 1 / ratings) * ratio

    def uncorrected(counts: Values) -> Values:
        return 1 - disagreement_ratio(replace(items, counts=counts), lambda _: distances)

    influence = items.n * derivatives(uncorrected, items.counts)
    # irrCAC weights an item by its surplus of ratings times alpha's factor; this vanishes where all items have equally many.
    influence -= ratio / ratings * (items.raters * items.n / ratings - 1)
    return CoefficientEstimate(
        value, _standard_error(items.counts, influence), 1 - (1 - value) * (1 - expected), expected, items.n
    )


def _standard_error(counts: Values, influence: Floats) -> float:
    n = float(counts.sum())
    return float(np.sqrt((counts * influence**2).sum() / (n * (n - 1)))) if n > 1 else np.nan


def derivatives(statistic: Callable[[Values], Values], counts: Floats) -> Floats:
    """The derivative of `statistic` by each of the counts, whatever their shape, by complex step: exact to rounding.

    Source: Squire and Trapp (1998), Using complex variables to estimate derivatives of real functions, SIAM Rev. 40.
    """
    size, slopes = counts.size, np.empty(counts.size)
    for start in range(0, size, NUDGES_PER_CHUNK):
        indices = np.arange(start, min(start + NUDGES_PER_CHUNK, size))
        nudges = np.zeros((len(indices), size), dtype=complex)
        nudges[np.arange(len(indices)), indices] = 1j * COMPLEX_STEP
        slopes[indices] = np.imag(statistic(counts + nudges.reshape(-1, *counts.shape))) / COMPLEX_STEP
    return slopes.reshape(counts.shape)
