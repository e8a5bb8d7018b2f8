"""The figures read off a table: what each is called, how it is computed, and the scale on which its interval is taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from annotation.agreement import classification, coefficients, intervals
from annotation.agreement.coefficients import Chance, Distance, Matrix, Table, Values
from annotation.agreement.intervals import Scale
from annotation.agreement.spread import Figure, Floats

Misses = Callable[[Floats], Floats]
NO_ROOM = "{first} and {second} gave one and the same label to every item, so chance alone explains all agreement"
NEVER_USED = "neither {first} nor {second} gave this label"


@dataclass(frozen=True)
class Measure:
    """One figure of a table.

    name       what it is called in every output
    of         the figure
    scale      table -> where its interval is taken
    n          table -> items in its denominator
    spread     what is differentiated for the standard error: `of`, unless the literature differs
    why_not    why it can be undefined, with places for the names of the two seats
    corrected  whether chance is taken out, so that the words of Landis and Koch apply
    parts      for a mean over labels, what it is the mean of
    misses     for a figure of one label that is hits / (hits + misses), hits being the label's own cell: tables -> misses;
               given where hits and misses come from different strata
    place      that label's place
    """

    name: str
    of: Figure
    scale: Callable[[Floats], Scale]
    n: Callable[[Floats], float]
    spread: Figure
    why_not: str
    corrected: bool = False
    parts: tuple[Measure, ...] = ()
    misses: Misses | None = None
    place: int = 0


def two_seats(size: int) -> tuple[Measure, ...]:
    """What is said of two seats on K declared labels, the headline first."""
    same = coefficients.identity(size)
    return (
        _beyond_chance("kappa_quadratic", coefficients.quadratic(size), coefficients.cohen),
        _beyond_chance("kappa_linear", coefficients.linear(size), coefficients.cohen),
        _beyond_chance("kappa", same, coefficients.cohen),
        _share("agreement", lambda table: coefficients.observed(table, same)),
        _beyond_chance("ac1", same, coefficients.gwet),
        _beyond_chance("pabak", same, coefficients.uniform),
        _alpha("alpha_nominal", coefficients.nominal_distance, same),
        _alpha("alpha_ordinal", coefficients.ordinal_distance, same),
    )


def over_labels(size: int) -> tuple[Measure, ...]:
    """How well the second seat gives the labels of the first, over all labels."""
    same = coefficients.identity(size)
    return (
        _share("accuracy", lambda table: coefficients.observed(table, same)),
        replace(_share("f1_macro", classification.macro_f1), parts=tuple(per_label(place)[-1] for place in range(size))),
        _share("f1_weighted", classification.weighted_f1),
    )


def per_label(place: int) -> tuple[Measure, ...]:
    """How well the second seat gives one label of the first: precision, recall, F1."""

    def one(of: Callable[[Table], Values]) -> Figure:
        return lambda table: of(table)[..., place]

    def used(table: Floats) -> float:
        return float(classification.either(table)[place])

    def missed(table: Floats) -> Floats:
        return np.asarray((table.sum(axis=-1) - classification.right(table))[..., place])

    def either_way(table: Floats) -> Floats:
        return np.asarray((classification.either(table) - classification.right(table))[..., place] / 2)

    precision, recall, f1 = one(classification.precision), one(classification.recall), one(classification.f1)
    found = _share("recall", recall, lambda table: float(table[place].sum()), "{first} never gave this label")
    return (
        _share("precision", precision, lambda table: float(table[:, place].sum()), "{second} never gave this label"),
        replace(found, misses=missed, place=place),
        Measure("f1", f1, lambda _: intervals.F1, used, f1, NEVER_USED, misses=either_way, place=place),
    )


def _items(table: Floats) -> float:
    return float(table.sum())


def _share(name: str, of: Figure, n: Callable[[Floats], float] = _items, why_not: str = "") -> Measure:
    return Measure(name, of, lambda _: intervals.SHARE, n, of, why_not)


def _beyond_chance(name: str, weights: Matrix, chance: Chance) -> Measure:
    same = coefficients.identity(len(weights))

    def of(table: Table) -> Values:
        return coefficients.corrected(table, weights, chance)

    def scale(table: Floats) -> Scale:
        return intervals.beyond_chance(1 - float(chance(coefficients.shares(table), same)))

    return Measure(name, of, scale, _items, of, NO_ROOM, corrected=True)


def _alpha(name: str, distance: Distance, same: Matrix) -> Measure:
    """The small-sample factor of alpha stays out of its standard error, as in Gwet (2014) and irrCAC."""

    def of(table: Table) -> Values:
        return coefficients.alpha(table, distance)

    def spread(table: Table) -> Values:
        return 1 - coefficients.disagreement(table, distance)

    def scale(table: Floats) -> Scale:
        return intervals.beyond_chance(1 - float(coefficients.scott(coefficients.shares(table), same)))

    return Measure(name, of, scale, _items, spread, NO_ROOM, corrected=True)
