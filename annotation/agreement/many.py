"""Agreement of two or more annotators at once, where some may have left items out.

Formulas and standard errors are those of Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., chapters 2 to 5: each
item gets a value whose mean is the coefficient, and the spread of these values gives the standard error.
With two annotators and no gaps the coefficients are those of `annotation.agreement.coefficients`, and Conger's kappa is
Cohen's; the standard errors differ by the factor n / (n - 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from annotation.agreement.coefficients import Distance, Matrix
from annotation.agreement.spread import Floats

Codes = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Estimate:
    """A coefficient: its value, its standard error, the observed and the expected agreement, the items it rests on."""

    value: float
    se: float
    observed: float
    expected: float
    n: int


@dataclass(frozen=True)
class Panel:
    """Who gave which label: float (items, annotators, K), 1 where an annotator gave a label. Every item has a rating."""

    given: Floats

    @classmethod
    def of(cls, codes: Sequence[Codes], size: int) -> Panel:
        """From one array of label codes per annotator, negative where none was given; items without any are left out."""
        stacked = np.stack(codes, axis=1)
        given = (stacked[:, :, None] == np.arange(size)).astype(float)
        return cls(given[(stacked >= 0).any(axis=1)])

    @cached_property
    def uses(self) -> Floats:
        """Times each label was given to each item: (items, K)."""
        return np.asarray(self.given.sum(axis=1))

    @cached_property
    def raters(self) -> Floats:
        """Annotators of each item."""
        return np.asarray(self.uses.sum(axis=1))

    @cached_property
    def shared(self) -> npt.NDArray[np.bool_]:
        """Items with two ratings or more."""
        return np.asarray(self.raters >= 2)

    @cached_property
    def unmatched(self) -> bool:
        """Whether some label was given, and by no two annotators to the same item."""
        most = self.uses.max(axis=0)
        return bool(((most > 0) & (most < 2)).any())

    @cached_property
    def mean_use(self) -> Floats:
        """Share of each label, every item weighing the same: (K,)."""
        return np.asarray((self.uses / self.raters[:, None]).mean(axis=0))

    def agreeing(self, weights: Matrix) -> Floats:
        """Share of agreeing couples of ratings of each item; 0 where there is no couple."""
        couples = self.raters * (self.raters - 1)
        agreeing = (self.uses * (self.uses @ weights - 1)).sum(axis=1)
        return np.asarray(np.divide(agreeing, couples, out=np.zeros(len(couples)), where=couples > 0))

    def observed(self, weights: Matrix) -> float:
        """Mean share of agreeing couples, over the items that have one."""
        return float(self.agreeing(weights)[self.shared].mean()) if self.shared.any() else np.nan


def fleiss(panel: Panel, weights: Matrix) -> Estimate:
    """Fleiss' kappa: all annotators share one distribution of labels."""
    mean = panel.mean_use
    return _corrected(panel, weights, float(mean @ weights @ mean), panel.uses @ weights @ mean / panel.raters)


def gwet(panel: Panel, weights: Matrix) -> Estimate:
    """Gwet's AC1; AC2 with weights."""
    size, mean = len(weights), panel.mean_use
    factor = weights.sum() / (size * (size - 1))
    by_chance = factor * (panel.uses @ (1 - mean)) / panel.raters
    return _corrected(panel, weights, float(factor * (mean * (1 - mean)).sum()), by_chance)


def brennan_prediger(panel: Panel, weights: Matrix) -> Estimate:
    """Every declared label is equally likely; PABAK for two labels."""
    return _corrected(panel, weights, float(weights.mean()), np.full(len(panel.raters), weights.mean()))


def conger(panel: Panel, weights: Matrix) -> Estimate:
    """Conger's kappa: Cohen's chance agreement, averaged over all couples of annotators."""
    items, annotators, _ = panel.given.shape
    rated = panel.given.sum(axis=(0, 2))
    own = panel.given.sum(axis=0) / rated[:, None]
    others = own.sum(axis=0) - own
    couples = annotators * (annotators - 1)
    expected = float(np.einsum("gk,kl,gl->", others, weights, own) / couples)
    did = panel.given.sum(axis=2) - rated / items
    seen = (panel.given - did[:, :, None] * own) * (items / rated)[None, :, None]
    by_chance = np.einsum("gk,kl,igl->i", others, weights, seen) / couples
    return _corrected(panel, weights, expected, by_chance)


def _corrected(panel: Panel, weights: Matrix, expected: float, by_chance: Floats) -> Estimate:
    """`by_chance`: what each item adds to the expected agreement, one value per item, with `expected` as their mean."""
    observed, n = panel.observed(weights), len(panel.raters)
    if expected == 1 or not panel.shared.any():
        return Estimate(np.nan, np.nan, observed, expected, n)
    value = (observed - expected) / (1 - expected)
    scale = n / np.count_nonzero(panel.shared) / (1 - expected)
    own = scale * (panel.agreeing(weights) - expected * panel.shared)
    own -= 2 * (1 - value) * (by_chance - expected) / (1 - expected)
    return Estimate(value, _standard_error(own - value), observed, expected, n)


def alpha(panel: Panel, distance: Distance) -> Estimate:
    """Krippendorff's alpha, over the items with two ratings or more.

    The distances are held fixed for the standard error.
    """
    uses, raters = panel.uses[panel.shared], panel.raters[panel.shared]
    if np.count_nonzero(uses.sum(axis=0)) < 2:
        return Estimate(np.nan, np.nan, panel.observed(np.eye(uses.shape[1])), 1.0, len(raters))
    apart = np.asarray(distance(uses.sum(axis=0)), dtype=float)
    weights = 1 - apart / apart.max()
    agreeing = (uses * (uses @ weights - 1)).sum(axis=1) / (raters.mean() * (raters - 1))
    mean = uses.mean(axis=0) / raters.mean()
    raw, expected = float(agreeing.mean()), float(mean @ weights @ mean)
    observed = raw + (1 - raw) / float(raters.sum())
    value, uncorrected = (observed - expected) / (1 - expected), (raw - expected) / (1 - expected)
    surplus = (raters - raters.mean()) / raters.mean()
    own = (agreeing - observed * surplus - expected) / (1 - expected)
    by_chance = uses @ weights @ mean / raters.mean() - expected * surplus
    own -= 2 * (1 - uncorrected) * (by_chance - expected) / (1 - expected)
    return Estimate(value, _standard_error(own - uncorrected), observed, expected, len(raters))


def _standard_error(deviations: Floats) -> float:
    n = len(deviations)
    return float(np.sqrt((deviations**2).sum() / (n * (n - 1)))) if n > 1 else np.nan
