"""The agreement report of a table of ratings: every figure, the tables behind them, and the judge's errors item by item."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace

import numpy as np
import pandas as pd

from annotation.agreement.comparisons import MAJORITY, POPULATION, SAMPLE, Comparison, comparisons, gold, majority
from annotation.agreement.errors import judge_errors
from annotation.agreement.figures import Figure, figure, too_small, undefined
from annotation.agreement.measures import Measure, over_labels, per_label, two_seats
from annotation.agreement.panel import panel_figures, significance_figures
from annotation.agreement.work import ONESELF_COLUMNS, drift, time_per_item, with_oneself
from annotation.design import Design
from annotation.prevalence import Share, judge_share, stratified
from annotation.ratings import GOLD, JUDGE, MISSING, Ratings
from audit.stats.intervals import wilson
from audit.vocabulary import LABELS

ALL = "all annotators"
GRADERS = "annotators and judge"
HEADLINE = "kappa_quadratic"
NO_VERDICT = "without a verdict"
FIGURE_COLUMNS = ("about", "first", "second", "scope", "name", "label", "value", "low", "high", "se", "n", "word", "note")
NO_DESIGN = "the table has no column design_weight, so it is not known what part of the run an item stands for"
CELL_COLUMNS = ("about", "first", "second", "scope", "first_label", "second_label", "count")
Row = tuple[object, ...]


@dataclass(frozen=True)
class Report:
    """What a table of ratings says about agreement.

    figures    one row per figure, columns FIGURE_COLUMNS: about (label, significance), the two seats (the first is what the
               judge is measured by; `second` is empty for a prevalence), scope (`sample`: these items; `population`: weighted
               to the run), name, label (empty where of all), value with its 95 % interval, standard error, items in the
               denominator, Landis and Koch's word, note
    confusion  one row per cell, columns CELL_COLUMNS; count is items, or in the population estimated pairs of the run
    errors     see `judge_errors`
    times      see `time_per_item`; drift, see `drift`: no rows where the table tells neither times nor order
    oneself    see `with_oneself`; no rows without silent repeats
    counts     items in all, rated by each annotator, without a majority among the rated, without a verdict of the judge
    population why there are no figures of the run; empty where there are
    """

    figures: pd.DataFrame
    confusion: pd.DataFrame
    errors: pd.DataFrame
    times: pd.DataFrame
    drift: pd.DataFrame
    oneself: pd.DataFrame
    counts: dict[str, int]
    population: str


def agreement_report(ratings: Ratings, repeats: pd.DataFrame | None = None) -> Report:
    """Every figure of a table of ratings, half-finished ones too: what cannot be said yet says why.

    `repeats`: what annotators said of items that came back silently, as `with_oneself` takes it.
    """
    compared, designs = comparisons(ratings), [None] if ratings.design is None else [None, ratings.design]
    figures = [row for comparison in compared for design in designs for row in _compared(comparison, design)]
    figures += [("label", ALL, "", SAMPLE, *astuple(found)) for found in panel_figures(ratings)]
    figures += [("significance", GRADERS, "", SAMPLE, *astuple(found)) for found in significance_figures(ratings)]
    figures += [row for design in designs for row in _prevalences(ratings, design)]
    cells = [row for comparison in compared for design in designs for row in _cells(comparison, design)]
    return Report(
        pd.DataFrame(figures, columns=list(FIGURE_COLUMNS)),
        pd.DataFrame(cells, columns=list(CELL_COLUMNS)),
        judge_errors(ratings),
        time_per_item(ratings),
        drift(ratings),
        pd.DataFrame(columns=list(ONESELF_COLUMNS)) if repeats is None else with_oneself(repeats),
        counts(ratings),
        NO_DESIGN if ratings.design is None else "",
    )


def report_without_judge(ratings: Ratings, repeats: pd.DataFrame | None = None) -> Report:
    """The report for somebody who still decides what differs: no figure, count or weight in it comes from a verdict."""
    silent = {**ratings.labels, JUDGE: np.full(len(ratings.items), MISSING)}
    graded = {seat: codes for seat, codes in ratings.significance.items() if seat != JUDGE}
    report = agreement_report(replace(ratings, labels=silent, significance=graded, design=None), repeats)
    told = {name: n for name, n in report.counts.items() if name != NO_VERDICT}
    figures, confusion = (
        table[(table["first"] != JUDGE) & (table["second"] != JUDGE)] for table in (report.figures, report.confusion)
    )
    return replace(
        report, figures=figures, confusion=confusion, drift=report.drift[report.drift["against"] != JUDGE], counts=told
    )


def counts(ratings: Ratings) -> dict[str, int]:
    """Items: in all, rated by each annotator, rated by two or more without a majority, without a readable verdict."""
    given = {seat: ratings.labels[seat] != MISSING for seat in ratings.annotators}
    several = np.sum(list(given.values()), axis=0) >= 2
    return {
        "items": len(ratings.items),
        **{seat: int(rated.sum()) for seat, rated in given.items()},
        f"without a {MAJORITY}": int((several & (majority(ratings) == MISSING)).sum()),
        NO_VERDICT: int((ratings.labels[JUDGE] == MISSING).sum()),
    }


def _compared(comparison: Comparison, design: Design | None) -> Iterator[Row]:
    table, seats = comparison.counts(design), (comparison.first, comparison.second)
    empty = [] if design is None else [name for name, n in zip(design.names, table.rated, strict=True) if n == 0]
    for measure, label in _measures(comparison):
        found = (
            figure(measure, table, label, seats, comparison.nothing)
            if not empty
            else _not_yet(measure.name, label, table.items, empty)
        )
        yield comparison.about, *seats, _scope(design), *astuple(found)


def _not_yet(name: str, label: str, n: int, empty: list[str]) -> Figure:
    return undefined(name, label, n, f"no item of stratum {', '.join(empty)} is rated yet")


def _measures(comparison: Comparison) -> Iterator[tuple[Measure, str]]:
    size = len(comparison.order)
    yield from ((measure, "") for measure in two_seats(size))
    if comparison.judged and comparison.about == "label":
        yield from ((measure, "") for measure in over_labels(size))
        yield from ((measure, label) for place, label in enumerate(comparison.order) for measure in per_label(place))


def _cells(comparison: Comparison, design: Design | None) -> Iterator[Row]:
    found = comparison.counts(design)
    table = found.table if design is None else found.in_pairs
    for row, first in enumerate(comparison.order):
        for column, second in enumerate(comparison.order):
            seats = comparison.about, comparison.first, comparison.second, _scope(design)
            yield *seats, first, second, float(table[row, column])


def _scope(design: Design | None) -> str:
    return SAMPLE if design is None else POPULATION


def _prevalences(ratings: Ratings, design: Design | None) -> Iterator[Row]:
    """How often each seat gave each label, of the items on which it gave one."""
    settled = gold(ratings)
    for seat, given in ratings.labels.items():
        codes = settled if seat == GOLD and settled is not None else given
        rated = codes != MISSING
        found = codes[:, None] == np.arange(len(LABELS))
        for place, label in enumerate(LABELS):
            if design is not None and seat == JUDGE:
                known = _known(float(judge_share(design, codes).value[place]), label.value, int(rated.sum()))
            else:
                known = _prevalence(label.value, int(rated.sum()), _share(found[:, place], rated, design))
            yield "label", seat, "", _scope(design), *astuple(known)


def _share(found: np.ndarray, rated: np.ndarray, design: Design | None) -> Share:
    if design is not None:
        return stratified(design.counted(found), design.counted(rated), design.pairs)
    n = max(rated.sum(), 1)
    return Share(found.sum() / n, *wilson(found.sum(), n))


def _prevalence(label: str, n: int, share: Share) -> Figure:
    if not n:
        return undefined("prevalence", label, 0, "no item has a label")
    value, low, high = (float(part) for part in share)
    return Figure("prevalence", label, value, low, high, math.nan, n, note=too_small(n, n))


def _known(value: float, label: str, n: int) -> Figure:
    return Figure("prevalence", label, value, math.nan, math.nan, math.nan, n, note="known for the whole run")
