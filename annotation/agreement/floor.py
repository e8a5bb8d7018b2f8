"""The judge beside another judge of the same items, such as plain rules: the floor that a language model must beat."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from annotation.agreement.comparisons import POPULATION, SAMPLE, Comparison, Mask, yardsticks
from annotation.agreement.figures import Figure, figure
from annotation.agreement.measures import Measure, over_labels, two_seats
from annotation.agreement.spread import NO_ITEM
from annotation.design import Design, Floats
from annotation.ratings import JUDGE, MISSING, Codes, Ratings
from audit.metrics.intervals import percentiles
from audit.vocabulary import LABELS

ORDER = tuple(label.value for label in LABELS)
NAMES = ("kappa_quadratic", "kappa_linear", "kappa", "accuracy", "f1_weighted")
FIGURES = tuple(measure for measure in (*two_seats(len(LABELS)), *over_labels(len(LABELS))) if measure.name in NAMES)
REPLICATES, SEED = 2000, 1915
COLUMNS = (
    "by", "scope", "name", "n", "judge", "judge_low", "judge_high", "other", "other_low", "other_high",
    "difference", "difference_low", "difference_high", "note",
)  # fmt: skip
Row = tuple[object, ...]


@dataclass(frozen=True)
class Rival:
    """Another judge of the same items: what it is called, and its label codes, MISSING where it gave none."""

    name: str
    labels: Codes


def beside(ratings: Ratings, rival: Rival) -> pd.DataFrame:
    """How much better the judge agrees with people than another judge does, on the items that both have labelled.

    One row per yardstick, scope and figure:
        by          what both are measured by: majority, gold or an annotator
        scope       sample or population, as in the report
        name        kappa_quadratic, kappa_linear, kappa, accuracy, f1_weighted
        n           items that both judges and the yardstick have labelled
        judge, other            the figure of each, with its 95 % interval (`judge_low`, ...)
        difference  judge minus other, with the 95 % percentile interval of a paired bootstrap: items are drawn anew, both
                    judges on the same ones; inside the strata for the population. NaN where a figure is undefined
        note        why something is undefined or too small
    """
    designs = [None] if ratings.design is None else [None, ratings.design]
    rows = [row for yardstick in yardsticks(ratings) for design in designs for row in _rows(ratings, rival, yardstick, design)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _rows(ratings: Ratings, rival: Rival, yardstick: tuple[str, Codes, Mask], design: Design | None) -> Iterator[Row]:
    name, codes, rated = yardstick
    judge = ratings.labels[JUDGE]
    told = np.where((judge != MISSING) & (rival.labels != MISSING), codes, MISSING)
    two = [
        Comparison("label", name, who, told, labels, rated, ORDER) for who, labels in ((JUDGE, judge), (rival.name, rival.labels))
    ]
    counts = [comparison.counts(design) for comparison in two]
    scope = SAMPLE if design is None else POPULATION
    if not counts[0].items or (counts[0].rated == 0).any():
        reason = f"undefined: {NO_ITEM if not counts[0].items else 'a stratum has no rated item yet'}"
        yield from ((name, scope, measure.name, counts[0].items, *[math.nan] * 9, reason) for measure in FIGURES)
        return
    drawn = [_drawn(comparison, design) for comparison in two]
    for measure in FIGURES:
        mine, theirs = (figure(measure, table, seats=(name, one.second)) for one, table in zip(two, counts, strict=True))
        low, high = _ends(measure, drawn, mine.n)
        ends = mine.value, mine.low, mine.high, theirs.value, theirs.low, theirs.high
        yield name, scope, measure.name, mine.n, *ends, mine.value - theirs.value, low, high, _note(mine, theirs)


def _drawn(comparison: Comparison, design: Design | None) -> Floats:
    """The comparison's table in each replicate, (replicates, K, K); the same items in each for every comparison of a rating."""
    rated, size = comparison.rated, len(comparison.order)
    plan = design or Design(("all",), np.array([np.inf]), np.zeros(len(rated), dtype=np.intp))
    weight = np.ones(len(rated)) if design is None else (design.pairs / plan.counted(rated))[plan.stratum]
    cell = np.where(comparison.both, comparison.rows * size + comparison.columns, MISSING)[rated]
    told = (cell[:, None] == np.arange(size * size)) * weight[rated, None]
    return np.asarray(plan.redraws(rated, REPLICATES, SEED) @ told).reshape(-1, size, size)


def _ends(measure: Measure, drawn: list[Floats], n: int) -> tuple[float, float]:
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.real(measure.of(drawn[0]) - measure.of(drawn[1]))
    low, high = percentiles(apart[None], [n])
    return float(low[0]), float(high[0])


def _note(mine: Figure, theirs: Figure) -> str:
    return "; ".join(dict.fromkeys(found.note for found in (mine, theirs) if found.note))
