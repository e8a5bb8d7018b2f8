"""Agreement with items that share a question or a handbook: intervals for the judge in general, not only for this run's items.

The usual intervals describe the spread of other random items from the same questions and handbooks. Figures on *other* questions
and handbooks scatter more, because items with the same question or handbook are alike. The contribution of each item to a figure
is the figure's derivative by the item's cell; the variance is the sum of products over items that share a question or a handbook,
each with itself, as in `audit.stats.clustered`, and never less than without clusters. The number of trials of the interval is
divided by the same factor (the design effect, Kish 1965), with Student's t for the questions or handbooks, whichever are fewer.

In simulated studies whose questions and handbooks differ in how often the judge errs, intervals of other items contained the
judge's accuracy on other questions and handbooks in 60 to 70 %, these in 93 %, and in 98 % where nothing clusters
(tests/annotation/agreement/test_clustered_agreement.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import stdtrit

from annotation.agreement.comparisons import Comparison, comparisons
from annotation.agreement.estimates import MIN_ITEMS, spread
from annotation.agreement.measures import Measure, classifier_measures, two_rater_measures
from annotation.agreement.tables import FIGURE, ITEMS, NOTE, rater_name
from annotation.ratings.design import Codes, Floats
from annotation.ratings.gold import MAJORITY, reference_standard
from annotation.ratings.table import GOLD, Ratings
from audit.stats.agreement import derivatives
from audit.stats.intervals import TAIL, Z, scaled_wilson
from audit.tables import Column, TableSpec

CLUSTERED_TABLE = TableSpec(
    "Agreement on these items, and on other questions and handbooks",
    (
        Column.text("who", "Between"), FIGURE, Column.decimal("value", "Items like these"),
        Column.decimal("clustered", "Other questions and handbooks"), Column.decimal("wider", "Times as wide"),
        Column.count("questions", "Questions"), Column.count("handbooks", "Handbooks"), ITEMS, NOTE,
    ),
    (
        "In brackets: 95 % intervals. Items like these: of other items drawn at random from the same run. Other questions and "
        "handbooks: items that share a question or a handbook count as related, so the interval generalises to this judge, or "
        "these annotators, elsewhere.",
    ),
)  # fmt: skip
MIN_CLUSTERS = 5


def clustered_agreement(ratings: Ratings, items: pd.DataFrame) -> pd.DataFrame:
    """The headline coefficient and the raw agreement of each comparison of labels, with both intervals.

    items  item_id, question_id, handbook_a, handbook_b of the rated pairs

    One row per comparison and figure:
        who, figure                        str, the two raters, and the name of the figure
        value, value_low, value_high       float, interval of other items drawn like these
        clustered, clustered_low, _high    float, the same value, and the interval of other questions and handbooks
        wider                              float, at least 1: how many times as wide
        questions, handbooks, n            int, behind the figure
        note                               str, empty or why an interval is missing
    """
    clusters = items.set_index("item_id").loc[list(ratings.items), ["question_id", "handbook_a", "handbook_b"]]
    # One table has one reference standard
    other = {GOLD, MAJORITY} - {reference_standard(ratings)}
    compared = [pair for pair in comparisons(ratings) if pair.about == "label" and pair.first not in other]
    rows = [row for comparison in compared for row in _rows(comparison, clusters)]
    columns = [
        "who", "figure", "value", "value_low", "value_high", "clustered", "clustered_low", "clustered_high", "wider",
        "questions", "handbooks", "n", "note",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def _rows(comparison: Comparison, clusters: pd.DataFrame) -> Iterator[tuple[object, ...]]:
    size, both = len(comparison.order), comparison.labelled_by_both
    raw = classifier_measures(size)[0] if comparison.of_judge else None
    headline, *others = two_rater_measures(size, comparison.ordered)
    own = clusters[both]
    related = _Related.of(own)
    for measure in (headline, raw or next(measure for measure in others if measure.name == "agreement")):
        yield (
            f"{rater_name(comparison.first)} and "
            f"{rater_name(comparison.second)}", measure.name, *_estimates(measure, comparison, related),
            related.questions, related.handbooks, int(both.sum()), _note(related, int(both.sum())),
        )  # fmt: skip


def _note(related: _Related, n: int) -> str:
    if n < MIN_ITEMS:
        return f"too small: {n} items, {MIN_ITEMS} needed"
    few = min(related.questions, related.handbooks)
    return f"too few questions or handbooks: {few}, {MIN_CLUSTERS} needed" if few < MIN_CLUSTERS else ""


def _estimates(measure: Measure, comparison: Comparison, related: _Related) -> tuple[float, ...]:
    table, n = comparison.table(), int(comparison.labelled_by_both.sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        value = float(measure.formula(table.table)) if n else math.nan
        if math.isnan(value):
            return (math.nan,) * 7
        se, trials = spread(measure, table, n)
        slopes = derivatives(measure.spread, table.table)
        both = comparison.labelled_by_both
        design_effect = related.design_effect(slopes[comparison.rows[both], comparison.columns[both]])
        scale = measure.scale(table.table)
    narrow = scaled_wilson(value, se, trials, scale)
    if _note(related, n):
        return value, *narrow, value, math.nan, math.nan, math.nan
    # A few clusters do not show how much clusters differ
    units = min(related.questions, related.handbooks)
    wider = math.sqrt(design_effect) * float(stdtrit(units - 1, 1 - TAIL)) / Z
    return value, *narrow, value, *scaled_wilson(value, se * wider, trials / wider**2, scale), wider


class _Related:
    """Which items share a question or a handbook."""

    def __init__(self, codes: tuple[Codes, ...], both_sides: tuple[Codes, ...], questions: int, handbooks: int) -> None:
        self.codes, self.both_sides, self.questions, self.handbooks = codes, both_sides, questions, handbooks

    @classmethod
    def of(cls, clusters: pd.DataFrame) -> _Related:
        """`clusters`: question_id, handbook_a, handbook_b, one row per item."""
        question, questions = pd.factorize(clusters["question_id"])
        sides, handbooks = pd.factorize(pd.concat([clusters["handbook_a"], clusters["handbook_b"]]))
        a, b = sides[: len(clusters)], sides[len(clusters) :]
        base = max(len(handbooks), 1)
        couple = np.minimum(a, b) * base + np.maximum(a, b)
        answers = np.concatenate([question * base + a, question * base + b])
        return cls((question, couple), (np.concatenate([a, b]), answers), len(questions), len(handbooks))

    def design_effect(self, influence: Floats) -> float:
        """How many times the variance of independent items the variance is, at least 1."""
        independent = float((influence**2).sum())
        if not independent:
            return 1.0
        n, related = len(influence), self._products(np.ones(len(influence)))
        # Divided by unrelated pairs of items, for the reason in audit.stats.clustered
        inflation = n**2 / (n**2 - related) if related < n**2 else math.inf
        return max(1.0, min(self._products(influence) / independent * inflation, float(n)))

    def _products(self, values: Floats) -> float:
        """The sum of products of `values` over related items, each item with itself included."""
        question, couple = (_squares(code, values) for code in self.codes)
        handbook, answer = (_squares(code, np.concatenate([values, values])) for code in self.both_sides)
        # Inclusion-exclusion for pairs that meet both conditions
        return question + handbook - couple - answer + float((values**2).sum())


def _squares(code: npt.NDArray[np.intp], values: Floats) -> float:
    return float((np.bincount(pd.factorize(code)[0], weights=values) ** 2).sum())
