"""Agreement of everybody at once, where there are more than two."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from annotation.agreement import many
from annotation.agreement.coefficients import Distance, Matrix, identity, nominal_distance, ordinal_distance, quadratic
from annotation.agreement.comparisons import graded_by_all, nobody_left_out
from annotation.agreement.figures import Figure, estimated, undefined
from annotation.agreement.many import Estimate, Panel
from annotation.agreement.spread import NO_ITEM
from annotation.ratings import MISSING, Codes, Ratings
from audit.vocabulary import LABELS, SIGNIFICANCES

Found = tuple[Estimate, float]
"""An estimate, and the disagreement that chance expects."""


def panel_figures(ratings: Ratings) -> Iterator[Figure]:
    """Nothing for two annotators; for more, what Conger, Fleiss, Gwet and Krippendorff say of them all."""
    active = [codes for seat in ratings.annotators if (codes := ratings.labels[seat]).max() > MISSING]
    if len(active) >= 3:
        yield from _figures(active, len(LABELS), NO_ITEM)


def significance_figures(ratings: Ratings) -> Iterator[Figure]:
    """The same for clinical significance: annotators and judge together, on the items where each of them gave one."""
    graded = graded_by_all(ratings)
    if len(graded) >= 3:
        yield from _figures(list(graded.values()), len(SIGNIFICANCES), nobody_left_out(graded))


def _figures(seats: list[Codes], size: int, nothing: str) -> Iterator[Figure]:
    panel = Panel.of(seats, size)
    for name, of in COEFFICIENTS.items():
        if len(panel.given):
            yield estimated(name, *of(panel, size), unmatched=panel.unmatched)
        else:
            yield undefined(name, "", 0, nothing)


def _corrected(kind: Callable[[Panel, Matrix], Estimate], panel: Panel, size: int) -> Found:
    found = kind(panel, identity(size))
    return found, 1 - found.expected


def _by_step(panel: Panel, size: int) -> Found:
    return many.conger(panel, quadratic(size)), _corrected(many.conger, panel, size)[1]


def _agreement(panel: Panel, size: int) -> Found:
    uniform = many.brennan_prediger(panel, identity(size))
    return Estimate(uniform.observed, uniform.se * (1 - uniform.expected), math.nan, 0, uniform.n), 1


def _alpha(distance: Distance, panel: Panel) -> Found:
    return many.alpha(panel, distance), 1 - many.alpha(panel, nominal_distance).expected


COEFFICIENTS: dict[str, Callable[[Panel, int], Found]] = {
    "kappa_quadratic": _by_step,
    "kappa": lambda panel, size: _corrected(many.conger, panel, size),
    "kappa_fleiss": lambda panel, size: _corrected(many.fleiss, panel, size),
    "agreement": _agreement,
    "ac1": lambda panel, size: _corrected(many.gwet, panel, size),
    "pabak": lambda panel, size: _corrected(many.brennan_prediger, panel, size),
    "alpha_nominal": lambda panel, _: _alpha(nominal_distance, panel),
    "alpha_ordinal": lambda panel, _: _alpha(ordinal_distance, panel),
}
