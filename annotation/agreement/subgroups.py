"""Agreement of the judge with people in groups of items, and its kinds of error, as in arXiv:2605.29084, section 5.1.

The groups come from outside: `annotation.studies.item_groups` has organ, topic, phase, length of the answers and label.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from annotation.agreement.comparisons import Comparison, ReferenceStandard, reference_standards
from annotation.agreement.estimates import MIN_ITEMS, estimate_measure, too_small, undefined
from annotation.agreement.measures import two_rater_measures
from annotation.agreement.tables import INTERVALS, ITEMS, LABEL, NOTE
from annotation.ratings.gold import reference_standard
from annotation.ratings.table import JUDGE, Ratings
from audit.stats.intervals import with_wilson
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
    (
        "Subtotals name no labels.",
        IntervalNote(Population.ITEMS, "Wilson 1927, unweighted"),
    ),
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
    return with_wilson(with_wilson(frame, "accuracy", "right", "n"), "boundary_share", "boundary", "errors")


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
    return Comparison("label", reference.name, JUDGE, reference.codes, ratings.labels[JUDGE], reference.rated, LABELS)


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
    shares = with_wilson(frame.assign(share=frame["n"] / frame["of"].replace(0, np.nan)), "share", "n", "of")
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
