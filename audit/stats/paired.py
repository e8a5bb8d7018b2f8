"""Changes of shares between two runs on the same questions, with paired intervals.

Most of what makes questions differ is the same in both runs and cancels. What is left to chance is which questions were
asked, so questions are resampled, each with all its pairs and with the same draw in both runs; the handbooks are fixed.
A change that fewer than MIN_QUESTIONS questions carry has no interval (NaN), because most draws contain hardly any of it.
Source: Davison and Hinkley (1997), Bootstrap Methods and their Application, section 3.8: clusters, paired by drawing once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.stats.bootstrap import MIN_KEPT, MIN_QUESTIONS
from audit.stats.intervals import Floats, Interval, Ints, percentiles, wilson_paired

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
    """The same for a share of questions, each marked or not in either run: Wilson's paired interval, even where few change."""
    before, after, asked = first.numerator > 0, second.numerator > 0, first.denominator > 0
    cells = (before & after, before & ~after, ~before & after, ~before & ~after)
    table = [np.count_nonzero(asked & cell, axis=1) for cell in cells]
    return _change_table(name, second.value - first.value, wilson_paired(*table), table[1] + table[2])


def _change_table(name: str, change: Floats, ends: Interval, differing: Ints) -> dict[str, Any]:
    same = (differing == 0) & ~np.isnan(change)
    moves = [direction(*row) for row in zip(*ends, same, strict=True)]
    return {name: change, f"{name}_low": ends[0], f"{name}_high": ends[1], "questions": differing, "moves": moves}


def direction(low: float, high: float, same: bool) -> str:
    """The direction of a change by the ends of its interval (NaN where unknown); SAME where nothing differs at all."""
    if same or np.isnan(low):
        return SAME if same else UNKNOWN
    return RISES if low > 0 else FALLS if high < 0 else UNCLEAR
