"""Cohen's kappa of two verdicts on the same pairs, with an interval that respects that pairs share questions."""

from __future__ import annotations

import numpy as np

from audit.metrics.intervals import Floats, percentiles
from audit.metrics.pigeonhole import FEW, draws


def kappa(tables: Floats) -> Floats:
    """Cohen's kappa of each table of counts, float (..., K, K): first verdict by second.

    1 when both always agree, 0 when they agree as often as two judges would who label blindly with the same label shares.
    NaN where a table is empty or has one label only. Source: Cohen (1960), Educ. Psychol. Meas. 20.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        p = tables / tables.sum(axis=(-2, -1), keepdims=True)
        agreed = np.trace(p, axis1=-2, axis2=-1)
        expected = (p.sum(axis=-1) * p.sum(axis=-2)).sum(axis=-1)
        found: Floats = (agreed - expected) / np.where(expected == 1, np.nan, 1 - expected)
    return found


def kappa_interval(tables: Floats) -> tuple[float, float]:
    """The 95 % interval of the kappa of all questions together; `tables` is float (questions, K, K), one table a question.

    Questions are resampled, with all their pairs. NaN where verdicts differ, or agree, on fewer than FEW questions: with so few
    the resampled values say nothing of how far kappa could lie off. NaN too where they agree on one label only: every draw then
    has a kappa of about 0, however often both would give one of the others in more pairs.
    """
    agreed, labels = np.trace(tables, axis1=-2, axis2=-1), np.diagonal(tables.sum(axis=0))
    if np.count_nonzero(labels) < 2 or min(np.count_nonzero(agreed), np.count_nonzero(tables.sum(axis=(-2, -1)) - agreed)) < FEW:
        return np.nan, np.nan
    weighed = np.tensordot(draws(len(tables), stream=0), tables, axes=(0, 0))
    low, high = percentiles(kappa(weighed)[None, :], [len(tables)])
    return float(low[0]), float(high[0])
