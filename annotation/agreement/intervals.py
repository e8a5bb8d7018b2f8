"""95 % intervals of figures that are shares in disguise.

A chance-corrected figure is the agreement on labels that would give it, if chance agreed as often as it does here; F1 is
the Jaccard share of a label. Wilson's interval suits shares, near 0 and 1 too, so it is taken there and carried back, with
as many trials as would give the share the spread that the figure has: an effective number of items, as Korn and Graubard
(1998), Survey Methodology 24(2), take it for shares from complex samples.

Such an interval stays within the range of the figure and has no zero width: where nothing disagrees, or everything does, no
spread can be seen, and the items themselves are the trials. Where a label was given and never by both to the same item, the
spread of kappa and alpha misses what the label could still do (38 items of one label and two of another, each from one seat
only, gave a kappa of -0.03 [-0.06, 0.01]): there are no more trials than items then. On simulated samples of 20, 40 and 148
items (tests/annotation/test_interval_coverage.py) it held kappas, AC1, alphas and raw agreement in 91 to 96 %, where value
+- 1.96 standard errors held 57 to 96 %; with a label on few items in 90 to 100 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from annotation.prevalence import Share
from audit.stats.intervals import Z, wilson

ROUNDING = 1e-9
"""Six times a sixth is not quite one."""
LEAST = -1.0
"""No figure is lower, however little chance leaves to disagree on."""


@dataclass(frozen=True)
class Scale:
    """Leads from a figure to the share behind it and back.

    share  the share that stands behind a figure; below 0 where raters agree far less than by chance
    carry  the figure that goes with a share
    steep  how far the figure moves with the share, at a share
    """

    share: Callable[[float], float]
    carry: Callable[[float], float]
    steep: Callable[[float], float]


SHARE = Scale(share=lambda value: value, carry=lambda share: share, steep=lambda _: 1.0)
F1 = Scale(
    share=lambda value: value / (2 - value),
    carry=lambda share: 2 * share / (1 + share),
    steep=lambda share: 2 / (1 + share) ** 2,
)


def beyond_chance(room: float) -> Scale:
    """For a chance-corrected figure; `room` is the disagreement on labels that chance expects."""
    return Scale(lambda value: 1 - (1 - value) * room, lambda share: 1 - (1 - share) / room, lambda _: 1 / room)


def trials(value: float, se: float, n: float, scale: Scale) -> float:
    """How many independent items would know the share behind the figure as well as it is known; n where no spread shows."""
    share = scale.share(value)
    if not (ROUNDING < share < 1 - ROUNDING and se > ROUNDING):
        return n
    return share * (1 - share) / (se / scale.steep(share)) ** 2


def ends(value: float, se: float, effective: float, scale: Scale) -> tuple[float, float]:
    """Both ends of the interval, from the figure, its standard error and the number of trials."""
    share = min(scale.share(value), 1.0)
    low, high = (scale.carry(float(end)) for end in wilson(max(share, 0.0) * effective, effective))
    if share < 0:  # far below chance: no share of items stands behind it; without a spread it goes up as far as from none agreed
        low, high = (value - Z * se, value + Z * se) if se > ROUNDING else (value, value + high - scale.carry(0.0))
    return max(low, min(value, LEAST)), high


def quotient(part: Share, whole: Share) -> tuple[float, float]:
    """Both ends of the interval of part / whole, from their own intervals; infinite where `whole` may be 0.

    Source: Donner and Zou (2012), Stat. Methods Med. Res. 21 (MOVER-R), taking the two as uncorrelated.
    """
    b, b_low, b_high = (float(end) for end in part)
    a, a_low, a_high = (float(end) for end in whole)
    low = _root(a * b, -1, a_high * (2 * a - a_high), b_low * (2 * b - b_low))
    high = _root(a * b, 1, a_low * (2 * a - a_low), b_high * (2 * b - b_high))
    return max(low, 0.0), high


def _root(product: float, sign: int, squared: float, rest: float) -> float:
    """The root of squared x^2 - 2 product x + rest = 0 on the side of `sign`."""
    if squared == 0:
        return math.inf if sign > 0 else rest / (2 * product) if product else 0.0
    return (product + sign * math.sqrt(max(product**2 - squared * rest, 0.0))) / squared
