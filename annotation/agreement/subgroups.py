"""Agreement of the judge with people in groups of items, and its kinds of error, as in arXiv:2605.29084, section 5.1.

The groups come from outside: `annotation.studies.item_groups` has organ, topic, phase, length of the answers and label.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from annotation.agreement.comparisons import Comparison, ReferenceStandard, comparisons, reference_standards
from annotation.agreement.estimates import MIN_ITEMS, estimate_measure, spread, too_small, undefined
from annotation.agreement.measures import Measure, classifier_measures, two_rater_measures
from annotation.agreement.tables import FIGURE, INTERVALS, ITEMS, LABEL, NOTE, rater_name
from annotation.ratings.design import Floats, width_of
from annotation.ratings.gold import MAJORITY, reference_standard
from annotation.ratings.table import GOLD, JUDGE, Ratings
from audit.stats.agreement import derivatives
from audit.stats.clustered import pair_codes, squared_sums
from audit.stats.intervals import TAIL, Z, scaled_wilson, with_wilson
from audit.tables import Column, IntervalNote, Population, TableSpec
from audit.vocabulary import LABELS, Label

ALL_ITEMS = "all items"
KAPPA = two_rater_measures(len(LABELS))[0]
COMPLEMENTARY = Label.COMPLEMENTARY.code
ON_BOUNDARY, ELSEWHERE, ALL_ERRORS = "at complementary", "elsewhere", "all errors"
SEVERE, MILD = "judge more severe than raters", "judge milder than raters"
ONE_LABEL = "no kappa where raters or the judge gave one label only"
OF_SUBTOTAL = {"right": "", "judged": ""}
GROUP_COLUMNS = ("by", "group", "n", "errors", "accuracy", "kappa", "kappa_low", "kappa_high", "boundary", "note")

SUBGROUPS_TABLE = TableSpec(
    "Agreement of the judge with raters, by group of items",
    (
        Column.text("by", "Grouped by"), Column.text("group", "Group", words=LABEL.words), ITEMS,
        Column.count("errors", "Errors", "items"), Column.share("accuracy", "Same label"),
        Column.decimal("kappa", "Cohen's kappa", "quadratic weights"),
        Column.count("boundary", "Errors at complementary", "items"),
        Column.share("boundary_share", "Errors at complementary", "of the errors"), NOTE,
    ),
    (
        "Errors at complementary: raters or the judge said COMPLEMENTARY, and the other did not. An item on two topics counts in "
        f"both. Groups of fewer than {MIN_ITEMS} items are marked.",
        "Intervals are unweighted and not corrected for the number of groups: of 20 groups without a real difference, about "
        "one differs by chance alone.",
        INTERVALS,
    ),
)  # fmt: skip
FAILURE_MODES_TABLE = TableSpec(
    "How the judge fails",
    (
        Column.text("mode", "Kind of error"),
        Column.text("right", "Label by raters", words=LABEL.words),
        Column.text("judged", "Label by the judge", words=LABEL.words),
        Column.count("n", "Errors", "items"),
        Column.share("share", "Of all errors"),
    ),
    ("Subtotals name no labels.", IntervalNote(Population.ITEMS, "Wilson 1927, unweighted")),
)


def subgroups(ratings: Ratings, groups: pd.DataFrame) -> pd.DataFrame:
    """The judge by the reference standard (gold, else the majority), in all items and in each group.

    `groups` has a row for each item and group: item_id, by, group; an item may be in several. One row per group, in the order in
    which they first appear, after one of all items:
        by, group                     str
        n                             int, items with a label by people and a readable verdict
        errors                        int, of these with another label
        accuracy, ..._low, ..._high   float in [0, 1], share with the same label, Wilson's interval
        kappa, ..._low, ..._high      Cohen's, quadratic weights; NaN where undefined
        boundary                      int, errors in which one of the two labels is COMPLEMENTARY
        boundary_share, ...           of the errors, with Wilson's interval; NaN without errors
        note                          str, where kappa is undefined or the group too small
    """
    position = pd.Index(ratings.items).get_indexer(pd.Index(groups["item_id"]))
    known = groups.assign(position=position)[position >= 0]
    rows = [_group_row(ratings, ALL_ITEMS, "", np.ones(len(ratings.items), dtype=bool))]
    for (by, group), own in known.groupby(["by", "group"], sort=False):
        members = np.zeros(len(ratings.items), dtype=bool)
        members[own["position"]] = True
        rows.append(_group_row(ratings, str(by), str(group), members))
    frame = pd.DataFrame(rows, columns=list(GROUP_COLUMNS))
    frame["right"], frame["boundary_share"] = frame["n"] - frame["errors"], frame["boundary"] / frame["errors"].replace(0, np.nan)
    width = partial(width_of, live=ratings.live)
    return with_wilson(with_wilson(frame, "accuracy", "right", "n", width), "boundary_share", "boundary", "errors", width)


def _group_row(ratings: Ratings, by: str, group: str, members: np.ndarray) -> tuple[object, ...]:
    own = _judge_by_people(ratings)
    compared = replace(own, rated=own.rated & members)
    both = compared.labelled_by_both
    people, judge = compared.rows[both], compared.columns[both]
    wrong = people != judge
    # Where one of the two gives one label only, as in a group by label, kappa is 0 whatever they agree on
    varied = len(np.unique(people)) > 1 and len(np.unique(judge)) > 1
    kappa = (
        estimate_measure(KAPPA, compared.table(), raters=(own.first, JUDGE))
        if varied
        else undefined(KAPPA.name, "", int(both.sum()), ONE_LABEL)
    )
    boundary = int((wrong & ((people == COMPLEMENTARY) | (judge == COMPLEMENTARY))).sum())
    n = int(both.sum())
    note = "; ".join(dict.fromkeys(filter(None, [kappa.note, too_small(n, n)])))
    accuracy = (n - int(wrong.sum())) / n if n else np.nan
    return by, group, n, int(wrong.sum()), accuracy, kappa.value, kappa.low, kappa.high, boundary, note


def _judge_by_people(ratings: Ratings) -> Comparison:
    reference = _reference(ratings)
    return Comparison(
        "label", reference.name, JUDGE, reference.codes, ratings.labels[JUDGE], reference.rated, LABELS, live=ratings.live
    )


def _reference(ratings: Ratings) -> ReferenceStandard:
    name = reference_standard(ratings)
    return next(standard for standard in reference_standards(ratings) if standard.name == name)


def failure_modes(ratings: Ratings) -> pd.DataFrame:
    """The judge's errors by kind, with subtotals: at COMPLEMENTARY and elsewhere, more severe and milder than people, and all.

    One row per kind, most frequent first, inside each subtotal of the boundary:
        mode           str
        right, judged  str, the label by people and by the judge; "" in a subtotal
        n              int, items
        share, ...     float in [0, 1], of all errors, with Wilson's interval; NaN without errors
    """
    compared = _judge_by_people(ratings)
    wrong = compared.labelled_by_both & (compared.rows != compared.columns)
    errors = pd.DataFrame({"right": compared.rows[wrong], "judged": compared.columns[wrong]})
    at_boundary = (errors == COMPLEMENTARY).any(axis=1)
    rows = [*_kinds(errors[at_boundary], ON_BOUNDARY), *_kinds(errors[~at_boundary], ELSEWHERE)]
    severe = int((errors["judged"] > errors["right"]).sum())
    rows += [{"mode": mode, **OF_SUBTOTAL, "n": n} for mode, n in ((SEVERE, severe), (MILD, len(errors) - severe))]
    frame = pd.DataFrame([*rows, {"mode": ALL_ERRORS, **OF_SUBTOTAL, "n": len(errors)}]).assign(of=len(errors))
    frame["share"] = frame["n"] / frame["of"].replace(0, np.nan)
    shares = with_wilson(frame, "share", "n", "of", partial(width_of, live=ratings.live))
    # All of all errors is no finding
    shares.loc[shares["mode"] == ALL_ERRORS, ["share_low", "share_high"]] = np.nan
    return shares


def _kinds(errors: pd.DataFrame, mode: str) -> list[dict[str, object]]:
    """The kinds of error of one subtotal, and the subtotal."""
    counted = errors.value_counts(["right", "judged"]).reset_index(name="n").sort_values(["n", "right"], ascending=[False, True])
    kinds = [
        {"mode": mode, "right": LABELS[right], "judged": LABELS[judged], "n": n}
        for right, judged, n in counted.itertuples(index=False, name=None)
    ]
    return [*kinds, {"mode": f"{mode}, together", **OF_SUBTOTAL, "n": len(errors)}]


# -- Agreement with items that share a question or a handbook ------------------------------------------------
# The usual intervals describe the spread of other random items from the same questions and handbooks. Figures on *other*
# questions and handbooks scatter more, because items with the same question or handbook are alike. The contribution of each
# item to a figure is the figure's derivative by the item's cell; the variance is the sum of products over items that share a
# question or a handbook, each with itself, as in `audit.stats.clustered`, and never less than without clusters. The number of
# trials of the interval is divided by the same factor (the design effect, Kish 1965), with Student's t for the questions or
# handbooks, whichever are fewer.
#
# In simulated studies whose questions and handbooks differ in how often the judge errs, intervals of other items contained
# the judge's accuracy on other questions and handbooks in 60 to 70 %, these in 93 %, and in 98 % where nothing clusters
# (tests/annotation/agreement/test_clustered_agreement.py).

CLUSTERED_TABLE = TableSpec(
    "Agreement on these items, and on other questions and {handbooks}",
    (
        Column.text("who", "Between"), FIGURE, Column.decimal("value", "Items like these"),
        Column.decimal("clustered", "Other questions and {handbooks}"), Column.decimal("wider", "Times as wide"),
        Column.count("questions", "Questions"), Column.count("handbooks", "{Handbooks}"), ITEMS, NOTE,
    ),
    (
        "Items like these: other items drawn at random from the same run.",
        IntervalNote(
            Population.AS_HEADED,
            "for other questions and {handbooks}, items that share either count as related, so the interval generalises to this "
            "judge, or these annotators, elsewhere",
        ),
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
    related = _Related(own)
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
    narrow = scaled_wilson(value, se, trials, scale, table.width)
    if _note(related, n):
        return value, *narrow, value, math.nan, math.nan, math.nan
    # A few clusters do not show how much clusters differ
    units = min(related.questions, related.handbooks)
    wider = math.sqrt(design_effect) * float(stdtrit(units - 1, 1 - TAIL)) / Z
    return value, *narrow, value, *scaled_wilson(value, se, trials, scale, wider * table.width), wider


class _Related:
    """Which items share a question or a handbook; `clusters`: question_id, handbook_a, handbook_b, one row per item."""

    def __init__(self, clusters: pd.DataFrame) -> None:
        self.codes = pair_codes(clusters.rename(columns={"question_id": "question"}))
        self.questions, self.handbooks = (len(np.unique(code)) for code in self.codes[:2])

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
        sums = (squared_sums(code, np.tile(values, len(code) // len(values))) for code in self.codes[:4])
        question, handbook, couple, answer = sums
        # Inclusion-exclusion for pairs that meet both conditions
        return question + handbook - couple - answer + float((values**2).sum())
