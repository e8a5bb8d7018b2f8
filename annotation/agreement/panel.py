"""Agreement of all annotators together, where there are more than two."""

from __future__ import annotations

import math
from collections.abc import Iterator

from annotation.agreement import many
from annotation.agreement.coefficients import identity, nominal_distance, ordinal_distance, quadratic
from annotation.agreement.figures import Figure, estimated
from annotation.agreement.many import Estimate, Panel
from annotation.ratings import MISSING, Ratings
from audit.vocabulary import LABELS


def panel_figures(ratings: Ratings) -> Iterator[Figure]:
    """Nothing for two annotators; for more, what Conger, Fleiss, Gwet and Krippendorff say of them all."""
    active = [codes for seat in ratings.annotators if (codes := ratings.labels[seat]).max() > MISSING]
    if len(active) < 3:
        return
    panel, same, by_step = Panel.of(active, len(LABELS)), identity(len(LABELS)), quadratic(len(LABELS))
    conger, fleiss, ac1, uniform = (kind(panel, same) for kind in (many.conger, many.fleiss, many.gwet, many.brennan_prediger))
    yield estimated("kappa_quadratic", many.conger(panel, by_step), 1 - conger.expected)
    yield estimated("kappa", conger, 1 - conger.expected)
    yield estimated("kappa_fleiss", fleiss, 1 - fleiss.expected)
    yield estimated("agreement", Estimate(uniform.observed, uniform.se * (1 - uniform.expected), math.nan, 0, uniform.n), 1)
    yield estimated("ac1", ac1, 1 - ac1.expected)
    yield estimated("pabak", uniform, 1 - uniform.expected)
    nominal = many.alpha(panel, nominal_distance)
    yield estimated("alpha_nominal", nominal, 1 - nominal.expected)
    yield estimated("alpha_ordinal", many.alpha(panel, ordinal_distance), 1 - nominal.expected)
