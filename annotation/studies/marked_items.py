"""The sentences that annotators of a study marked, item by item, and how far they overlap. For PIs and adjudicators only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from annotation.label_store.engine import LabelStore
from annotation.label_store.rationales import rationale_from
from annotation.label_store.results import rated_study_items
from audit.stats.means import mean_interval
from audit.tables import Column, IntervalNote, Population, TableSpec


def overlap_of_study(store: LabelStore, study_id: str) -> pd.DataFrame:
    """`rationale_overlap` over the study items that two annotators rated; calibration items and silent repeats are excluded.

    Of an item with more than two ratings, each two annotators count.
    """
    return rationale_overlap(
        [
            MarkedItem(first["label"] == second["label"], _sentences(first["rationale"]), _sentences(second["rationale"]))
            for ratings in rated_study_items(store, study_id).values()
            for first, second in combinations(ratings, 2)
        ]
    )


def _sentences(stored: str | None) -> Sentences:
    return frozenset(map(tuple, rationale_from(stored)))


# -- Overlap of the sentences that two annotators mark as the basis of their labels --------------------------


Sentences = frozenset[tuple[int, ...]]
EVERY, SAME, DIFFERENT = "all", "same", "different"
OVERLAP_TABLE = TableSpec(
    "Marked sentences: overlap between annotators",
    (
        Column.text("items", "Items", words={EVERY: "All", SAME: "With the same label", DIFFERENT: "With different labels"}),
        Column.count("rated", "Rated by both", "items"),
        Column.count("one", "Marked by one", "items"),
        Column.count("n", "Marked by both", "items"),
        Column.share("value", "Overlap", "mean over items marked by both"),
    ),
    (
        "Overlap of an item: twice the sentences that both marked, over the sentences that one marked plus those that the other "
        "marked (sentence-level F1; Hripcsak and Rothschild 2005, J Am Med Inform Assoc 12:296). 1: the same sentences; 0: none "
        "in common.",
        "Marking is optional: an item that one annotator or none marked has no overlap and is counted apart, never as 0.",
        IntervalNote(Population.ITEMS, "items are resampled; none where there are too few, or where all overlaps are equal"),
    ),
)


class MarkedItem(NamedTuple):
    """The sentences that two annotators of an item marked, each as (answer, start, end), about answers a and b of the item."""

    same_label: bool
    first: Sentences
    second: Sentences


def rationale_overlap(items: Sequence[MarkedItem]) -> pd.DataFrame:
    """One row for all items, those with the same label and those with different ones, with the columns of OVERLAP_TABLE.

    items             EVERY, SAME or DIFFERENT
    rated, one, n     int, items that both rated; of these those where one annotator marked sentences, and where both did
    value, low, high  float in [0, 1], mean sentence-level F1 over the `n` items with its 95 % interval; NaN where not known
    """
    rows = list(_rows(items))
    return pd.DataFrame(rows, columns=["items", "rated", "one", "n", "value", "low", "high"])


def _rows(items: Sequence[MarkedItem]) -> Iterator[tuple[object, ...]]:
    groups = {
        EVERY: list(items),
        SAME: [item for item in items if item.same_label],
        DIFFERENT: [item for item in items if not item.same_label],
    }
    for name, group in groups.items():
        both = [item for item in group if item.first and item.second]
        one = sum(bool(item.first) != bool(item.second) for item in group)
        overlaps = np.array([_f1(item.first, item.second) for item in both], dtype=float)
        yield name, len(group), one, len(both), *mean_interval(overlaps)


def _f1(first: Sentences, second: Sentences) -> float:
    return 2 * len(first & second) / (len(first) + len(second))
