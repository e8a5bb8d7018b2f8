"""Two measurements of the same units: changes of shares between two runs, kappa of two verdicts, rank correlation.

Most differences between questions are the same in both runs and cancel. The remaining chance is which questions were asked, so
questions are resampled, each with all its pairs and with the same draw in both runs; the handbooks are fixed. Source: Davison and
Hinkley (1997), Bootstrap Methods and their Application, section 3.8: clusters, paired by drawing once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.stats.agreement import RatedItems, Values, chance_corrected, conger, identity, quadratic
from audit.stats.bootstrap import MIN_KEPT, MIN_QUESTIONS, draws
from audit.stats.clustered import effective_number
from audit.stats.intervals import ROUNDING_ERROR, Floats, Interval, Ints, percentiles, wilson_paired

Correlation = Callable[[Floats, Floats, Floats], Floats]
"""`spearman` or `pearson`."""
RISES, FALLS, UNCLEAR, SAME, UNKNOWN = "rises", "falls", "not clear", "the same", "too few questions"


@dataclass(frozen=True)
class PairedShare:
    """A share in one of two runs: its numerators and denominators, both groups x questions."""

    numerator: Floats
    denominator: Floats

    @property
    def value(self) -> Floats:
        """The share in each group; NaN without a denominator."""
        return ratio(self.numerator.sum(axis=1), self.denominator.sum(axis=1))

    def replicates(self, weights: Floats) -> Floats:
        """The share in each replicate; NaN where a draw keeps less than MIN_KEPT of the denominator."""
        denominator = self.denominator @ weights
        is_kept = denominator >= MIN_KEPT * self.denominator.sum(axis=1, keepdims=True)
        return ratio(self.numerator @ weights, np.where(is_kept, denominator, 0))


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """The share numerator / denominator, NaN where the denominator is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share: Floats = numerator / np.where(denominator > 0, denominator, np.nan)
    return share


def change_interval(replicates: Floats, carrying: Ints) -> Interval:
    """The interval of each row of replicates; NaN where fewer than MIN_QUESTIONS questions carry the change."""
    # If fewer questions carry the change, most draws contain hardly any of it.
    low, high = percentiles(replicates, carrying)
    return np.where(carrying >= MIN_QUESTIONS, low, np.nan), np.where(carrying >= MIN_QUESTIONS, high, np.nan)


def change_columns(name: str, first: PairedShare, second: PairedShare, weights: Floats) -> dict[str, Any]:
    """The second share minus the first, per group: columns `name`, its 95 % interval, `questions` that carry it, and `moves`.

    A question carries a change when its counts differ; there are no more of these than questions in either denominator.
    """
    differing = np.count_nonzero((first.numerator != second.numerator) | (first.denominator != second.denominator), axis=1)
    carrying = np.min([differing, *(np.count_nonzero(share.denominator, axis=1) for share in (first, second))], axis=0)
    ends = change_interval(second.replicates(weights) - first.replicates(weights), carrying)
    return _change_table(name, second.value - first.value, ends, differing) | {"questions": carrying}


def marked_change_columns(name: str, first: PairedShare, second: PairedShare) -> dict[str, Any]:
    """As `change_columns`, for a share of questions that are marked or not in each run: Newcombe's paired interval, valid for few
    changes.
    """
    before, after, asked = first.numerator > 0, second.numerator > 0, first.denominator > 0
    cells = (before & after, before & ~after, ~before & after, ~before & ~after)
    table = [np.count_nonzero(asked & cell, axis=1) for cell in cells]
    return _change_table(name, second.value - first.value, wilson_paired(*table), table[1] + table[2])


def _change_table(name: str, change: Floats, ends: Interval, differing: Ints) -> dict[str, Any]:
    # A share without a denominator has an unknown change, not a change of zero.
    same = (differing == 0) & ~np.isnan(change)
    moves = [direction(*row) for row in zip(*ends, same, strict=True)]
    return {name: change, f"{name}_low": ends[0], f"{name}_high": ends[1], "questions": differing, "moves": moves}


def direction(low: float, high: float, same: bool) -> str:
    """The direction of a change by the ends of its interval (NaN where unknown); SAME where nothing differs at all."""
    if same or np.isnan(low):
        return SAME if same else UNKNOWN
    return RISES if low > 0 else FALLS if high < 0 else UNCLEAR


# With fewer ranked units nearly every draw repeats one or two, and rho jumps between -1 and 1.
MIN_UNITS = 4
# The stream of draws, apart from those of questions and handbooks.
STREAM = 2


def spearman(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Spearman's rho of `x` and `y`, one value per column of `weights`; NaN where one of the two does not vary.

    `weights` are whole numbers, units x replicates: how often a unit counts. Source: Spearman (1904), Am. J. Psychol. 15.
    """
    total = weights.sum(axis=0)
    # The mean rank of n units is (n + 1) / 2, ties or not.
    rank_x, rank_y = (_mid_ranks(values, weights) - (total + 1) / 2 for values in (x, y))
    variance = (weights * rank_x**2).sum(axis=0) * (weights * rank_y**2).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        rho: Floats = (weights * rank_x * rank_y).sum(axis=0) / np.sqrt(np.where(variance > 0, variance, np.nan))
    return rho


def pearson(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Pearson's r of `x` and `y`, otherwise as `spearman`."""
    total = weights.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        # On the scale from 0 to 1 the moments cancel safely; equal values become NaN.
        u, v = ((values - values.min()) / np.ptp(values) for values in (x, y))
        mean_u, mean_v = u @ weights / total, v @ weights / total
        variance_u, variance_v = u**2 @ weights / total - mean_u**2, v**2 @ weights / total - mean_v**2
        varies = np.minimum(variance_u, variance_v) > ROUNDING_ERROR
        r: Floats = (u * v @ weights / total - mean_u * mean_v) / np.sqrt(np.where(varies, variance_u * variance_v, np.nan))
    return r


def correlation_interval(correlation: Correlation, x: Floats, y: Floats) -> tuple[float, float, float]:
    """Spearman's or Pearson's coefficient with its 95 % percentile interval, the units resampled.

    The ends are NaN with fewer than MIN_UNITS units, and the coefficient too where one of the two does not vary.
    """
    value = float(correlation(x, y, np.ones((len(x), 1)))[0]) if len(x) else np.nan
    if len(x) < MIN_UNITS or np.isnan(value):
        return value, np.nan, np.nan
    low, high = percentiles(correlation(x, y, draws(len(x), STREAM))[None, :], [len(x)])
    return value, float(low[0]), float(high[0])


def _mid_ranks(values: Floats, weights: Floats) -> Floats:
    # Equal values share the mean of the ranks they occupy: those before them, plus half their own number.
    tied, group = np.unique(values, return_inverse=True)
    own = np.zeros((len(tied), weights.shape[1]))
    np.add.at(own, group, weights)
    ranks: Floats = (np.cumsum(own, axis=0) - own + (own + 1) / 2)[group]
    return ranks


def cohen_kappa(tables: Values, *, ordered: bool = False) -> Values:
    """Cohen's kappa of each table of counts, (..., K, K): first verdict by second; NaN where it is empty or has one label.

    `ordered`: with weights that grow with the square of the steps between two labels.
    """
    items, size = RatedItems.from_table(tables), tables.shape[-1]
    return chance_corrected(items, quadratic(size) if ordered else identity(size), conger)


def clustered_kappa_interval(tables: Values, *, ordered: bool = False, read: Values | None = None) -> tuple[float, float]:
    """The 95 % interval of the kappa of all questions together; `tables` is float (questions, K, K), one table a question.

    read  the same tables of what was seen, where `tables` are estimated

    Questions are resampled, each with all its pairs. Where a few questions decide, as with rare labels or large weights,
    replicates are too alike, so the tails are those of as many questions as the variance has degrees of freedom: twice its
    square over the variance of the squared influences (Satterthwaite 1946, Biometrics Bull. 2), a question's influence being
    how kappa changes without it. NaN where verdicts differ on fewer than MIN_QUESTIONS questions, agree on fewer than that, or
    agree on one label only, or where no question changes kappa.
    """
    seen = tables if read is None else read
    agreed, labels = np.trace(seen, axis1=-2, axis2=-1), np.diagonal(seen.sum(axis=0))
    differing = seen.sum(axis=(-2, -1)) - agreed
    # With so few questions the replicates do not show the error of kappa. Where all verdicts agree on one label, every draw has
    # a kappa of about 0, however often both would give another label to further pairs.
    if np.count_nonzero(labels) < 2 or min(np.count_nonzero(agreed), np.count_nonzero(differing)) < MIN_QUESTIONS:
        return np.nan, np.nan
    replicates = np.moveaxis(tables, 0, -1) @ draws(len(tables), stream=0)
    total = tables.sum(axis=0)
    influence = np.square(cohen_kappa(total - tables, ordered=ordered) - cohen_kappa(total, ordered=ordered))
    deciding = float(effective_number(np.nansum(influence), np.nansum(influence**2)))
    if not deciding:  # all questions are alike
        return np.nan, np.nan
    units = min(2 / max(1 / deciding - 1 / len(tables), ROUNDING_ERROR), len(tables))
    low, high = percentiles(cohen_kappa(np.moveaxis(replicates, -1, 0), ordered=ordered)[None, :], [units])
    return float(low[0]), float(high[0])
