"""The second seat as a classifier of the first: precision, recall and F1, from the same tables as the coefficients.

Rows are the reference (what is taken as right), columns what the classifier said. Everything takes tables of any leading
shape, complex ones too. A label that neither seat used has no F1; the macro mean leaves it out, as scikit-learn does.
"""

from __future__ import annotations

import numpy as np

from annotation.agreement.coefficients import Table, Values


def _ratio(part: Values, whole: Values) -> Values:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(part / np.where(np.real(whole) > 0, whole, np.nan))


def right(table: Table) -> Values:
    """How much of each label both seats gave: (..., K)."""
    return np.diagonal(table, axis1=-2, axis2=-1)


def recall(table: Table) -> Values:
    """Of the items that are L, the share called L; NaN where none is."""
    return _ratio(right(table), table.sum(axis=-1))


def precision(table: Table) -> Values:
    """Of the items called L, the share that are L; NaN where none was."""
    return _ratio(right(table), table.sum(axis=-2))


def either(table: Table) -> Values:
    """Items that are L or were called L: (..., K)."""
    return np.asarray(table.sum(axis=-1) + table.sum(axis=-2) - right(table))


def unmatched(table: Table) -> bool:
    """Whether some label was given, and never by both seats to the same item."""
    return bool(((either(table) > 0) & (right(table) == 0)).any())


def f1(table: Table) -> Values:
    """The harmonic mean of precision and recall; 0 where nothing is right, NaN where neither seat used the label."""
    return _ratio(2 * right(table), table.sum(axis=-1) + table.sum(axis=-2))


def macro_f1(table: Table) -> Values:
    """The mean F1 of the labels that either seat used."""
    scores = f1(table)
    used = ~np.isnan(scores)
    return _ratio(np.where(used, scores, 0).sum(axis=-1), used.sum(axis=-1))


def weighted_f1(table: Table) -> Values:
    """The mean F1 of the labels, each weighing as much as the reference used it."""
    support = table.sum(axis=-1)
    return _ratio(np.where(np.real(support) > 0, f1(table) * support, 0).sum(axis=-1), support.sum(axis=-1))
