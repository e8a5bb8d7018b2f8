"""A figure with its 95 % interval, the number of items behind it, and a note where it is undefined or too uncertain.

Intervals are Wilson's on the figure's own scale (audit.stats.intervals.scaled_wilson), with the number of trials that gives
the share behind the figure the figure's standard error. Where nothing disagrees, or everything does, no spread can be seen, and
the items themselves are the trials.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from annotation.agreement.comparisons import NO_ITEM, StratifiedTable, missing_significance, significance_by_all
from annotation.agreement.measures import FOR_ORDERED_LABELS, PRECISION, Measure, has_unmatched_label
from annotation.ratings.design import MISSING, Codes, width_of
from annotation.ratings.table import Ratings
from audit.stats import agreement
from audit.stats.agreement import CoefficientEstimate, Distance, RatedItems, derivatives, identity
from audit.stats.intervals import (
    Scale,
    chance_scale,
    effective_n,
    finite_share_interval,
    quotient_interval,
    scaled_wilson,
    stratified_share,
)
from audit.vocabulary import LABELS, SIGNIFICANCES

MIN_ITEMS = 10
"""A figure based on fewer items, or known no better than from fewer independent ones, is marked as too small."""
SKEWED = 0.75
SKEWED_NOTE = (
    "nearly all items have one label: in simulated samples of 50 to 400 items such intervals contained the truth in 76 to 93 %"
)
EXACT = "exact: every pair of the run that the judge calls so is rated"


@dataclass(frozen=True)
class Estimate:
    """One number of a report.

    name, label       what it is, and of which label (empty where of all)
    value, low, high  NaN where undefined
    se                standard error of the value (delta method), NaN where undefined
    n                 items in its denominator
    note              empty, or `undefined: ...`, `too small: ...`, `no interval: ...`, `exact: ...`
    """

    name: str
    label: str
    value: float
    low: float
    high: float
    se: float
    n: int
    note: str = ""


def undefined(name: str, label: str, n: int, reason: str) -> Estimate:
    """A figure that is undefined, and why."""
    return Estimate(name, label, math.nan, math.nan, math.nan, math.nan, n, note=f"undefined: {reason}")


def estimate_measure(
    measure: Measure,
    table: StratifiedTable,
    label: str = "",
    raters: tuple[str, str] = ("one", "the other"),
    empty_reason: str = NO_ITEM,
) -> Estimate:
    """`measure` of `table`, with its interval; `raters` are named where it is undefined, `empty_reason` where it has no item."""
    n = round(measure.n(table.cells.sum(axis=0)))
    if not table.items:
        return undefined(measure.name, label, n, empty_reason)
    # An undefined figure is 0 / 0 here; its note explains it, so a warning would only confuse.
    with np.errstate(invalid="ignore", divide="ignore"):
        value = float(measure.formula(table.table))
        if math.isnan(value):
            reason = measure.undefined_reason.format(first=raters[0], second=raters[1])
            return undefined(measure.name, label, n, reason)
        se, trials = spread(measure, table, n)
        scale = measure.scale(table.table)
    estimate = _with_interval(measure.name, label, value, se, n, trials, scale, table.width)
    if table.weighted and measure.misses is not None:
        estimate = _with_strata_interval(estimate, measure, table)
    if table.weighted and measure.name == PRECISION:
        estimate = _with_own_stratum_interval(estimate, measure, table)
    if not table.weighted and measure.name in FOR_ORDERED_LABELS:
        estimate = _flagged_where_skewed(estimate, table)
    return _widened_to_parts(estimate, measure, table, raters[0]) if measure.parts else estimate


def spread(measure: Measure, table: StratifiedTable, n: int) -> tuple[float, float]:
    """The standard error of a figure, and the number of independent trials that its interval is made with."""
    # The spread is taken where each stratum has its imagined item, the interval around the figure without it.
    cautious = table.with_imagined_items
    se = math.sqrt(table.variance(derivatives(measure.spread, cautious)))
    trials = effective_n(float(measure.formula(cautious)), se, n, measure.scale(cautious))
    if not table.weighted and measure.name in FOR_ORDERED_LABELS:
        trials = min(trials, _cautious_trials(measure, table, n))
    # A label that was given and never by both raters to the same item hides spread: 38 items of one label and two of another,
    # each from one rater only, gave a kappa of -0.03 [-0.06, 0.01]. So there are at most as many trials as items.
    if not table.weighted and has_unmatched_label(table.table):
        trials = min(trials, n)
    return se, trials


def _cautious_trials(measure: Measure, table: StratifiedTable, n: int) -> float:
    """The trials that a sample with half an imagined item has, less those that estimating the shares of the labels takes.

    With weights that grow with the distance, one far disagreement counts as much as sixteen near ones, and a sample that happens
    to have none shows no spread. In simulated samples of 148 items (labels 87, 8, 3, 1, 1 %, raters 99 % right) intervals of
    quadratic kappa covered 77 % without it and 95 % with both (python -m benchmarks.kappa_coverage); a whole item only made them
    wider.
    """
    more = table.with_half_an_item
    se = math.sqrt(more.variance(derivatives(measure.spread, more.table)))
    free = max(n - (len(more.table) - 1), 1) / n
    return free * effective_n(float(measure.formula(more.table)), se, n, measure.scale(more.table))


def _flagged_where_skewed(estimate: Estimate, table: StratifiedTable) -> Estimate:
    """Nearly all items have one label: no interval of a weighted coefficient then has sufficient coverage."""
    cells = table.table
    most = float(np.minimum(cells.sum(axis=0), cells.sum(axis=1)).max()) / max(table.items, 1)
    if estimate.note or most < SKEWED:
        return estimate
    return replace(estimate, note=SKEWED_NOTE)


def _with_strata_interval(estimate: Estimate, measure: Measure, table: StratifiedTable) -> Estimate:
    """If most pairs of a rare label can hide in a large stratum, the strata show the spread but the table does not."""
    assert measure.misses is not None
    anywhere = np.broadcast_to(table.possible[:, None, :], table.cells.shape).astype(float)
    label = measure.label_index
    hits = stratified_share(table.cells[:, label, label], table.rated, table.pairs, table.possible[:, label], table.width)
    can_miss = measure.misses(anywhere) > 0
    misses = stratified_share(measure.misses(table.cells), table.rated, table.pairs, can_miss, table.width)
    low, high = quotient_interval(misses, hits)
    return replace(estimate, low=1 / (1 + high), high=1 / (1 + low))


def _with_own_stratum_interval(estimate: Estimate, measure: Measure, table: StratifiedTable) -> Estimate:
    """Where the pairs that the judge calls so are a stratum, the precision is a share of it: known exactly if all are rated."""
    own = table.possible[:, measure.label_index]
    if own.sum() != 1 or table.possible[own].sum() != 1:
        return estimate
    hits = table.cells[own, measure.label_index, measure.label_index].sum()
    rated, pairs = table.cells[own].sum(), table.pairs[own].sum()
    low, high = finite_share_interval(round(hits), round(rated), round(pairs))
    if table.live and low < high:
        _, low, high = map(float, stratified_share([hits], [rated], [pairs], width=table.width))
    return replace(estimate, low=low, high=high, note=EXACT if low == high else estimate.note)


def _widened_to_parts(mean: Estimate, measure: Measure, table: StratifiedTable, first: str) -> Estimate:
    """A mean over labels is known no better than its parts: one rare label can hide all its errors.

    For a sample the parts are taken as independent (Zou, Huang and Zhang 2009, Comput. Stat. Data Anal. 53). Weighted to the
    run, an error that no item of a large stratum shows lowers two labels at once, the right one and the given one; so downwards
    their distances are simply added. A label that the first rater never gave leaves the mean to the others, whatever it
    would add; then there is no interval, and the note says why.
    """
    # A label without a reference item leaves the mean to the other labels, whatever it would add.
    uses = table.cells.sum(axis=(0, 2))
    never = [part.label_index for part in measure.parts if not uses[part.label_index]]
    if never:
        names = ", ".join(LABELS[index] for index in never)
        reason = f"no interval: {first} never gave {names}, so the mean covers the other labels only"
        return replace(mean, low=math.nan, high=math.nan, note="; ".join(filter(None, [mean.note, reason])))
    parts = [part for part in (estimate_measure(part, table) for part in measure.parts) if not math.isnan(part.value)]
    down, up = [part.value - part.low for part in parts], [part.high - part.value for part in parts]
    # Simply added downwards for a run: an error that no item of a large stratum shows lowers two labels at once.
    below = (sum(down) if table.weighted else math.hypot(*down)) / len(parts)
    above = math.hypot(*up) / len(parts)
    return replace(mean, low=min(mean.low, mean.value - below), high=max(mean.high, mean.value + above))


def _with_interval(name: str, label: str, value: float, se: float, n: int, trials: float, scale: Scale, width: float) -> Estimate:
    low, high = scaled_wilson(value, se, trials, scale, width)
    return Estimate(name, label, value, low, high, se, n, too_small(n, trials))


def too_small(n: int, trials: float) -> str:
    """The note of a figure that is based on so few items, or is known no better than from so few; empty where it is fine."""
    if n < MIN_ITEMS:
        return f"too small: {n} item{'' if n == 1 else 's'}, {MIN_ITEMS} needed"
    independent = "1 independent item" if round(trials) == 1 else f"{trials:.0f} independent items"
    return f"too small: as precise as {independent}, {MIN_ITEMS} needed" if trials < MIN_ITEMS - 0.5 else ""


def multi_rater_estimates(ratings: Ratings) -> Iterator[Estimate]:
    """Agreement of all annotators together: Conger, Fleiss, Gwet and Krippendorff; nothing for fewer than three."""
    active = [codes for rater in ratings.annotators if (codes := ratings.labels[rater]).max() > MISSING]
    # Two annotators are compared as a pair already.
    if len(active) >= 3:
        size, ordered = len(ratings.scheme.words), ratings.scheme.ordered
        together = _estimates_together(active, size, NO_ITEM, live=ratings.live)
        yield from (estimate for estimate in together if ordered or estimate.name not in FOR_ORDERED_LABELS)


def multi_rater_significance(ratings: Ratings) -> Iterator[Estimate]:
    """Agreement on clinical significance of annotators and judge together, on the items where each of them gave one."""
    graded = significance_by_all(ratings)
    if len(graded) >= 3:
        raters = list(graded.values())
        yield from _estimates_together(raters, len(SIGNIFICANCES), missing_significance(graded), live=ratings.live)


def _estimates_together(raters: list[Codes], size: int, empty_reason: str, *, live: bool) -> Iterator[Estimate]:
    items = RatedItems.from_codes(raters, size)
    for name, coefficient in MULTI_RATER_COEFFICIENTS.items():
        if items.n:
            estimate, expected_disagreement = coefficient(items, size)
            width = float(width_of(estimate.n, live=live))
            yield _multi_rater_estimate(name, estimate, expected_disagreement, width, never_matched=items.never_matched)
        else:
            yield undefined(name, "", 0, empty_reason)


def _multi_rater_estimate(
    name: str, estimate: CoefficientEstimate, expected_disagreement: float, width: float, *, never_matched: bool
) -> Estimate:
    """`expected_disagreement` is that on labels by chance, 1 for a figure that leaves chance in."""
    if math.isnan(estimate.value):
        return undefined(name, "", estimate.n, "all raters gave every item the same label" if estimate.n else NO_ITEM)
    scale = chance_scale(expected_disagreement)
    trials = effective_n(estimate.value, estimate.se, estimate.n, scale)
    trials = min(trials, estimate.n) if never_matched else trials
    return _with_interval(name, "", estimate.value, estimate.se, estimate.n, trials, scale, width)


Together = Callable[[RatedItems, int], tuple[CoefficientEstimate, float]]
"""From items and the number of labels to an estimate and the disagreement on labels that chance expects."""


def _unweighted(chance: agreement.Chance) -> Together:
    def coefficient(items: RatedItems, size: int) -> tuple[CoefficientEstimate, float]:
        estimate = agreement.estimate(items, identity(size), chance)
        return estimate, 1 - estimate.expected

    return coefficient


def _quadratic_kappa(items: RatedItems, size: int) -> tuple[CoefficientEstimate, float]:
    expected = float(agreement.conger(items, identity(size)))
    return agreement.estimate(items, agreement.quadratic(size), agreement.conger), 1 - expected


def _raw_agreement(items: RatedItems, size: int) -> tuple[CoefficientEstimate, float]:
    uniform = agreement.estimate(items, identity(size), agreement.brennan_prediger)
    return CoefficientEstimate(uniform.observed, uniform.se * (1 - uniform.expected), math.nan, 0, uniform.n), 1


def _alpha(distance: Distance) -> Together:
    def coefficient(items: RatedItems, _: int) -> tuple[CoefficientEstimate, float]:
        nominal = agreement.estimate_alpha(items, agreement.nominal_distance)
        return agreement.estimate_alpha(items, distance), 1 - nominal.expected

    return coefficient


MULTI_RATER_COEFFICIENTS: dict[str, Together] = {
    "kappa_quadratic": _quadratic_kappa,
    "kappa": _unweighted(agreement.conger),
    "kappa_fleiss": _unweighted(agreement.fleiss),
    "agreement": _raw_agreement,
    "ac1": _unweighted(agreement.gwet),
    "pabak": _unweighted(agreement.brennan_prediger),
    "alpha_nominal": _alpha(agreement.nominal_distance),
    "alpha_ordinal": _alpha(agreement.ordinal_distance),
}
