"""A figure with its 95 % interval, the number behind it, and what to say where there is none."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace

import numpy as np

from annotation.agreement import classification, intervals
from annotation.agreement.intervals import Scale
from annotation.agreement.many import Estimate
from annotation.agreement.measures import Measure, Misses
from annotation.agreement.spread import NO_ITEM, Counts, slopes
from annotation.prevalence import stratified
from audit.vocabulary import LABELS

SMALL = 10
"""A figure that rests on fewer items, or is known no better than from fewer independent ones, is marked too small."""
ENDS = (0.2, 0.4, 0.6, 0.8)
WORDS = ("slight", "fair", "moderate", "substantial", "almost perfect")


@dataclass(frozen=True)
class Figure:
    """One number of a report.

    name, label       what it is, and of which label (empty where of all)
    value, low, high  NaN where undefined
    se                standard error of the value (delta method), NaN where undefined
    n                 items in its denominator
    word              Landis and Koch's, for a chance-corrected figure
    note              empty, or `undefined: ...`, `too small: ...`, `no interval: ...`
    """

    name: str
    label: str
    value: float
    low: float
    high: float
    se: float
    n: int
    word: str = ""
    note: str = ""


def undefined(name: str, label: str, n: int, reason: str) -> Figure:
    """The figure that cannot be, and why."""
    return Figure(name, label, math.nan, math.nan, math.nan, math.nan, n, note=f"undefined: {reason}")


def figure(
    measure: Measure, counts: Counts, label: str = "", seats: tuple[str, str] = ("one", "the other"), nothing: str = NO_ITEM
) -> Figure:
    """`measure` of `counts`, with its interval; `seats` are named where it is undefined, `nothing` is why there is no item."""
    n = round(measure.n(counts.cells.sum(axis=0)))
    with np.errstate(invalid="ignore", divide="ignore"):
        value = float(measure.of(counts.table)) if counts.items else math.nan
        if math.isnan(value):
            why_not = measure.why_not.format(first=seats[0], second=seats[1]) if counts.items else nothing
            return undefined(measure.name, label, n, why_not)
        # The spread is taken where each stratum has its imagined item, the interval around the figure as it is.
        se = math.sqrt(counts.variance(slopes(measure.spread, counts.cautious)))
        worth = intervals.trials(float(measure.of(counts.cautious)), se, n, measure.scale(counts.cautious))
        if not counts.weighted and classification.unmatched(counts.table):
            worth = min(worth, n)
        found = _figure(measure.name, label, value, se, n, worth, measure.scale(counts.table), measure.corrected)
    if counts.weighted and measure.misses is not None:
        found = _by_stratum(found, measure.misses, measure.place, counts)
    return _mean_of_labels(found, measure, counts, seats[0]) if measure.parts else found


def estimated(name: str, estimate: Estimate, room: float, *, unmatched: bool = False) -> Figure:
    """A figure of a whole panel; `room` is the disagreement on labels that chance expects, 1 where chance stays in.

    `unmatched` says that some label was given, and by no two annotators to the same item.
    """
    if math.isnan(estimate.value):
        return undefined(name, "", estimate.n, "all gave one and the same to every item" if estimate.n else NO_ITEM)
    scale = intervals.beyond_chance(room)
    worth = intervals.trials(estimate.value, estimate.se, estimate.n, scale)
    worth = min(worth, estimate.n) if unmatched else worth
    return _figure(name, "", estimate.value, estimate.se, estimate.n, worth, scale, room < 1)


def _by_stratum(found: Figure, misses: Misses, place: int, counts: Counts) -> Figure:
    """Where most pairs of a rare label can hide in a large stratum, the spread of the table does not show it; its strata do."""
    anywhere = np.broadcast_to(counts.possible[:, None, :], counts.cells.shape).astype(float)
    hits = stratified(counts.cells[:, place, place], counts.rated, counts.pairs, counts.possible[:, place])
    missed = stratified(misses(counts.cells), counts.rated, counts.pairs, misses(anywhere) > 0)
    low, high = intervals.quotient(missed, hits)
    return replace(found, low=1 / (1 + high), high=1 / (1 + low))


def _mean_of_labels(mean: Figure, measure: Measure, counts: Counts, first: str) -> Figure:
    """A mean over labels is known no better than its parts: one rare label can hide all its errors.

    For a sample the parts are taken as independent (Zou, Huang and Zhang 2009, Comput. Stat. Data Anal. 53). Weighted to the
    run, an error that no item of a large stratum shows lowers two labels at once, the one that was meant and the one that was
    given; so downwards their distances are added as they are. A label that the first seat never gave leaves the mean to the
    others, whatever it would add to it: then there is no interval, and the reason is told.
    """
    never = [place for place, given in enumerate(counts.cells.sum(axis=(0, 2))) if not given]
    if never:
        reason = f"no interval: {first} never gave {', '.join(LABELS[place] for place in never)}, and the mean is of the others"
        return replace(mean, low=math.nan, high=math.nan, note="; ".join(filter(None, [mean.note, reason])))
    parts = [part for part in (figure(part, counts) for part in measure.parts) if not math.isnan(part.value)]
    down, up = [part.value - part.low for part in parts], [part.high - part.value for part in parts]
    below = (sum(down) if counts.weighted else math.hypot(*down)) / len(parts)
    return replace(mean, low=min(mean.low, mean.value - below), high=max(mean.high, mean.value + math.hypot(*up) / len(parts)))


def _figure(name: str, label: str, value: float, se: float, n: int, worth: float, scale: Scale, corrected: bool) -> Figure:
    low, high = intervals.ends(value, se, worth, scale)
    return Figure(name, label, value, low, high, se, n, word(value) if corrected else "", too_small(n, worth))


def too_small(n: int, worth: float) -> str:
    """What to say of a figure that rests on so few items, or is known as badly as from so few."""
    if n < SMALL:
        return f"too small: {n} item{'' if n == 1 else 's'}, {SMALL} needed"
    return f"too small: known as from {worth:.0f} independent items, {SMALL} needed" if worth < SMALL - 0.5 else ""


def word(value: float) -> str:
    """What Landis and Koch (1977), Biometrics 33, call a kappa of this size."""
    return "poor" if value < 0 else WORDS[bisect_left(ENDS, value)]
