"""Means over questions, and paired differences of means, with intervals by resampling the questions.

A question has one or several values; questions are drawn with replacement, each with all its values. Source: Davison and Hinkley
(1997), Bootstrap Methods and their Application, sections 2.4 and 3.8.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from audit.stats.bootstrap import MIN_QUESTIONS, draws
from audit.stats.intervals import Floats, Ints, percentiles
from audit.stats.paired import change_interval, direction


class Mean(NamedTuple):
    """A mean with the ends of its 95 % interval; NaN where it is not known."""

    value: float
    low: float
    high: float


def mean_interval(values: Floats, question: Ints | None = None) -> Mean:
    """The mean of `values` with its 95 % interval, the questions resampled.

    question  the question of each value, any integers; left out where each value has its own

    The mean is NaN without values. The ends are NaN with fewer than MIN_QUESTIONS questions, and where all values are equal:
    equal values in a sample do not prove that there is no spread.
    """
    if not len(values):
        return Mean(np.nan, np.nan, np.nan)
    sums, counts = _by_question(values, question)
    mean = float(values.mean())
    if len(sums) < MIN_QUESTIONS or np.ptp(values) == 0:
        return Mean(mean, np.nan, np.nan)
    weights = draws(len(sums), stream=0)
    low, high = percentiles(((sums @ weights) / (counts @ weights))[None, :], [len(sums)])
    return Mean(mean, float(low[0]), float(high[0]))


def mean_change(differences: Floats, question: Ints | None = None) -> dict[str, Any]:
    """The mean of paired differences, such as one system's value minus another's on the same question.

    change, change_low, change_high (95 % interval, questions resampled with all their differences; NaN where fewer than
    MIN_QUESTIONS questions differ), questions (int, on which the two differ), moves (audit.stats.paired.direction).
    """
    sums, counts = _by_question(differences, question)
    differing = np.count_nonzero(_by_question(np.abs(differences), question)[0])
    low = high = np.nan
    if len(sums):
        weights = draws(len(sums), stream=0)
        replicates = ((sums @ weights) / (counts @ weights))[None, :]
        low, high = (float(end[0]) for end in change_interval(replicates, np.array([differing])))
    moves = direction(low, high, len(sums) > 0 and not differing)
    change = float(differences.mean()) if len(differences) else np.nan
    return {"change": change, "change_low": low, "change_high": high, "questions": differing, "moves": moves}


def _by_question(values: Floats, question: Ints | None) -> tuple[Floats, Floats]:
    """The sum and the number of values of each question."""
    if question is None:
        return values.astype(float), np.ones(len(values))
    _, position = np.unique(question, return_inverse=True)
    return np.bincount(position, values).astype(float), np.bincount(position).astype(float)
