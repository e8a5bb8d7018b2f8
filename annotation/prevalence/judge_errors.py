"""Where and when the judge errs, by rated items: groups of items drawn towards all of them, and the errors in order of time."""

from __future__ import annotations

import numpy as np
import pandas as pd

from annotation.agreement.tables import LABEL
from annotation.ratings.gold import human_labels
from annotation.ratings.table import JUDGE, Ratings
from audit.stats.cusum import FALSE_ALARMS, ODDS, Cusum, cusum
from audit.stats.intervals import Floats
from audit.stats.partial_pooling import pooled_rates
from audit.tables import Column, IntervalKind, IntervalNote, Population, TableSpec
from audit.vocabulary import LABELS

NOT_RATED = "not rated"
JUDGE_ERRORS_TABLE = TableSpec(
    "Where the judge errs, by rated items",
    (
        Column.text("by", "Grouped by"), Column.text("group", "Group", words=LABEL.words), Column.count("n", "Rated", "items"),
        Column.decimal("errors", "Errors", "items"), Column.share("own", "Errors", "share of its own"),
        Column.share("value", "Errors, drawn towards all").of_kind(IntervalKind.CREDIBLE), Column.text("note", "Note"),
    ),
    (
        "An error: raters give another label than the judge; an open dispute counts in parts. Each group is drawn towards all "
        "groups of its kind, the more, the fewer items it has and the less they differ. Items count as they were drawn.",
        "A group that is not rated is not one without errors.",
        IntervalNote(
            Population.ITEMS,
            "credible intervals: beforehand the mean of the groups, and how far they differ (intraclass correlation), are each "
            "uniform from 0 to 1",
        ),
    ),
)  # fmt: skip
TIME_NOTE = (
    f"Each error adds to the sum, and each right label takes from it: the evidence for {ODDS:g} times the usual odds of an error "
    f"with this label of the judge. It never falls below 0. Where the order of items means nothing, it passes the limit in "
    f"{100 * FALSE_ALARMS:g} % of studies (found by shuffling these items)."
)


def errors_of_judge(ratings: Ratings) -> Floats:
    """The share of each item's raters who give another label than the judge, (items,); NaN without a label by either."""
    labels, judge = human_labels(ratings), ratings.labels[JUDGE]
    same = np.where(judge >= 0, np.take_along_axis(labels, np.maximum(judge, 0)[:, None], axis=1)[:, 0], np.nan)
    return np.asarray(1 - same)


def judge_errors_by_group(ratings: Ratings, groups: pd.DataFrame, unrated: pd.DataFrame | None = None) -> pd.DataFrame:
    """How often the judge errs in each group of items.

    groups   item_id, by, group; an item may be in several
    unrated  by, group: those in which nobody rated an item

    One row per group, in the order of `groups`, after each kind those not rated:
        by, group                str
        n                        int, items with a label by raters and a readable verdict
        errors                   float, of these with another label; open disputes in parts
        own                      float in [0, 1], errors / n; NaN where not rated
        value, ..._low, ..._high float in [0, 1], drawn towards groups of its kind, with a 95 % credible interval; NaN likewise
        note                     str, NOT_RATED or ""
    """
    error = pd.Series(errors_of_judge(ratings), index=ratings.items)
    known = groups.assign(error=groups["item_id"].map(error))
    parts = [known, *([unrated.assign(error=np.nan)] if unrated is not None else [])]
    counted = pd.concat(parts, ignore_index=True).groupby(["by", "group"], sort=False)["error"].agg(n="count", errors="sum")
    kinds = {by: place for place, by in enumerate(dict.fromkeys(counted.index.get_level_values("by")))}
    table = counted.reset_index().sort_values("by", key=lambda by: by.map(kinds), kind="stable")
    for _, own in table.groupby("by", sort=False):
        pooled = pooled_rates(own["errors"], own["n"])
        table.loc[own.index, ["value", "value_low", "value_high"]] = np.array(pooled).T
    with np.errstate(invalid="ignore"):
        table["own"] = table["errors"] / table["n"].replace(0, np.nan)
    return table.assign(note=np.where(table["n"] > 0, "", NOT_RATED)).reset_index(drop=True)


def judge_errors_in_time(ratings: Ratings, order: pd.Series) -> tuple[list[str], Cusum]:
    """The items in order of time, and the sum of evidence that the judge errs more often than on average.

    order  item ids as index, earliest first
    """
    error = pd.Series(errors_of_judge(ratings), index=ratings.items)
    judge = pd.Series(ratings.labels[JUDGE], index=ratings.items)
    items = [item for item in order.index if item in error.index and not np.isnan(error[item])]
    own, label = error[items].to_numpy(), judge[items].to_numpy()
    wrong, n = (np.bincount(label, weights=weights, minlength=len(LABELS)) for weights in (own, np.ones(len(own))))
    expected = pooled_rates(wrong, n).value
    return items, cusum(own, np.clip(expected[label], 0.005, 0.995))
