"""Figures of a table of two raters: names, formulas, and the scale of each interval.

A table is float (..., K, K): rows are the first rater's labels, columns the second's, in the declared order. Where the second
rater is measured by the first, rows are the reference standard and columns the classifier's labels. Every formula also takes
complex tables, because `annotation.agreement.comparisons` differentiates it by a complex step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from audit.stats import agreement
from audit.stats.agreement import Chance, Distance, RatedItems, chance_corrected, identity
from audit.stats.intervals import F1_SCALE, SHARE_SCALE, Scale, chance_scale

Floats = npt.NDArray[np.float64]
Values = npt.NDArray[Any]
"""Float or complex."""
Formula = Callable[[Values], Values]
"""From tables (..., K, K) to their figures."""
SAME_LABEL = "{first} and {second} gave every item the same label, so chance explains all agreement"
FOR_ORDERED_LABELS = ("kappa_quadratic", "kappa_linear", "alpha_ordinal")
PRECISION = "precision"
NEVER_USED = "neither {first} nor {second} gave this label"


@dataclass(frozen=True)
class Measure:
    """One figure of a table.

    name               its name in every output
    formula            table -> value
    scale              table -> scale of its interval
    n                  table -> items in its denominator
    spread             the formula that is differentiated for the standard error: `formula`, unless the literature differs
    undefined_reason   why it can be undefined, with placeholders for the names of the two raters
    parts              for a mean over labels, the measures it is the mean of
    misses             for a figure of one label that is hits / (hits + misses), hits being the label's own cell: tables ->
                       misses; given where hits and misses come from different strata
    label_index        index of that label in the declared order
    """

    name: str
    formula: Formula
    scale: Callable[[Floats], Scale]
    n: Callable[[Floats], float]
    spread: Formula
    undefined_reason: str
    parts: tuple[Measure, ...] = ()
    misses: Callable[[Floats], Floats] | None = None
    label_index: int = 0


def two_rater_measures(size: int, ordered: bool = True) -> tuple[Measure, ...]:
    """Agreement of two raters on K declared labels, the headline first; without weights where the labels are not ordered."""
    measures = (
        _chance_corrected_measure("kappa_quadratic", agreement.quadratic(size), agreement.conger),
        _chance_corrected_measure("kappa_linear", agreement.linear(size), agreement.conger),
        _chance_corrected_measure("kappa", identity(size), agreement.conger),
        _share_measure("agreement", raw_agreement),
        _chance_corrected_measure("ac1", identity(size), agreement.gwet),
        _chance_corrected_measure("pabak", identity(size), agreement.brennan_prediger),
        _alpha_measure("alpha_nominal", agreement.nominal_distance),
        _alpha_measure("alpha_ordinal", agreement.ordinal_distance),
    )
    return tuple(measure for measure in measures if ordered or measure.name not in FOR_ORDERED_LABELS)


def kappa_of_disagreement(size: int, disagreeing: Sequence[int]) -> Measure:
    """Cohen's kappa of *disagrees or not*: of K declared labels, those with these indices count as one, the others as another."""
    member = np.zeros((size, 2))
    member[np.arange(size), np.isin(np.arange(size), list(disagreeing)).astype(int)] = 1
    plain = _chance_corrected_measure("kappa_disagrees", identity(2), agreement.conger)

    def collapsed(table: Values) -> Values:
        return np.asarray(member.T @ table @ member)

    def formula(table: Values) -> Values:
        return plain.formula(collapsed(table))

    return replace(
        plain, formula=formula, spread=formula, scale=lambda table: plain.scale(collapsed(table)),
        undefined_reason="{first} and {second} call every item a disagreement, or none",
    )  # fmt: skip


def classifier_measures(size: int, in_play: Sequence[int] = ()) -> tuple[Measure, ...]:
    """How well the second rater reproduces the labels of the first, over all labels.

    in_play  the labels that the items can have, by index, if known; macro F1 is then their mean. Empty: all
    """
    labels = tuple(in_play) or tuple(range(size))

    def macro(table: Values) -> Values:
        return _mean_f1(f1(table)[..., labels])

    return (
        _share_measure("accuracy", raw_agreement),
        replace(_share_measure("f1_macro", macro), parts=tuple(label_measures(label)[-1] for label in labels)),
        _share_measure("f1_weighted", weighted_f1),
    )


def label_measures(label_index: int) -> tuple[Measure, ...]:
    """How well the second rater reproduces one label of the first: precision, recall, F1."""

    def at_label(formula: Formula) -> Formula:
        return lambda table: formula(table)[..., label_index]

    def missed(table: Floats) -> Floats:
        return np.asarray((table.sum(axis=-1) - hits(table))[..., label_index])

    # F1 = hits / (hits + half of the errors) has the form of a recall, so it takes the same interval from the strata.
    def half_errors(table: Floats) -> Floats:
        return np.asarray((given_by_either(table) - hits(table))[..., label_index] / 2)

    f1_of_label = at_label(f1)
    precision_measure = _share_measure(
        PRECISION, at_label(precision), lambda table: float(table[:, label_index].sum()), "{second} never gave this label"
    )
    recall_measure = _share_measure(
        "recall", at_label(recall), lambda table: float(table[label_index].sum()), "{first} never gave this label"
    )
    return (
        replace(precision_measure, label_index=label_index),
        replace(recall_measure, misses=missed, label_index=label_index),
        Measure(
            "f1", f1_of_label, lambda _: F1_SCALE, lambda table: float(given_by_either(table)[label_index]), f1_of_label,
            NEVER_USED, misses=half_errors, label_index=label_index,
        ),
    )  # fmt: skip


def _item_count(table: Floats) -> float:
    return float(table.sum())


def _share_measure(
    name: str, formula: Formula, n: Callable[[Floats], float] = _item_count, undefined_reason: str = ""
) -> Measure:
    return Measure(name, formula, lambda _: SHARE_SCALE, n, formula, undefined_reason)


def _chance_corrected_measure(name: str, weights: Floats, chance: Chance) -> Measure:
    def formula(table: Values) -> Values:
        return chance_corrected(RatedItems.from_table(table), weights, chance)

    def scale(table: Floats) -> Scale:
        return chance_scale(1 - float(chance(RatedItems.from_table(table), identity(len(weights)))))

    return Measure(name, formula, scale, _item_count, formula, SAME_LABEL)


def _alpha_measure(name: str, distance: Distance) -> Measure:
    """The small-sample factor of alpha is kept out of its standard error, as in Gwet (2014) and irrCAC."""

    def formula(table: Values) -> Values:
        return agreement.krippendorff_alpha(RatedItems.from_table(table), distance)

    def spread(table: Values) -> Values:
        return 1 - agreement.disagreement_ratio(RatedItems.from_table(table), distance)

    def scale(table: Floats) -> Scale:
        return chance_scale(1 - float(agreement.fleiss(RatedItems.from_table(table), identity(table.shape[-1]))))

    return Measure(name, formula, scale, _item_count, spread, SAME_LABEL)


def raw_agreement(table: Values) -> Values:
    """The share of items with the same label."""
    return agreement.observed_agreement(RatedItems.from_table(table), identity(table.shape[-1]))


def hits(table: Values) -> Values:
    """Items to which both raters gave a label: (..., K)."""
    return np.diagonal(table, axis1=-2, axis2=-1)


def given_by_either(table: Values) -> Values:
    """Items to which at least one rater gave a label: (..., K)."""
    return np.asarray(table.sum(axis=-1) + table.sum(axis=-2) - hits(table))


def has_unmatched_label(table: Floats) -> bool:
    """Whether some label was given, and never by both raters to the same item."""
    return bool(((given_by_either(table) > 0) & (hits(table) == 0)).any())


def recall(table: Values) -> Values:
    """Of the items that are L by the reference, the share called L; NaN where there is no such item."""
    return _quotient(hits(table), table.sum(axis=-1))


def precision(table: Values) -> Values:
    """Of the items called L, the share that are L by the reference; NaN where there is no such item."""
    return _quotient(hits(table), table.sum(axis=-2))


def f1(table: Values) -> Values:
    """The harmonic mean of precision and recall; 0 without a hit, NaN where neither rater used the label."""
    return _quotient(2 * hits(table), table.sum(axis=-1) + table.sum(axis=-2))


def _mean_f1(scores: Values) -> Values:
    """The mean F1 of the labels that either rater used, as scikit-learn computes it."""
    used = ~np.isnan(scores)
    return _quotient(np.where(used, scores, 0).sum(axis=-1), used.sum(axis=-1))


def weighted_f1(table: Values) -> Values:
    """The mean F1 of the labels, each weighted by how often the reference uses it."""
    uses = table.sum(axis=-1)
    # A label without a reference item has F1 NaN and weight 0, and NaN * 0 would be NaN.
    return _quotient(np.where(np.real(uses) > 0, f1(table) * uses, 0).sum(axis=-1), uses.sum(axis=-1))


def _quotient(numerator: Values, denominator: Values) -> Values:
    with np.errstate(invalid="ignore", divide="ignore"):
        # Complex during differentiation; only the real part shows whether there is an item.
        return np.asarray(numerator / np.where(np.real(denominator) > 0, denominator, np.nan))
