"""The sentences that annotators of a study marked, item by item, and how far they overlap. For PIs and adjudicators only."""

from __future__ import annotations

from itertools import combinations

import pandas as pd

from annotation.agreement.rationale_overlap import MarkedItem, Sentences, rationale_overlap
from annotation.label_store.engine import LabelStore
from annotation.label_store.rationales import rationale_from
from annotation.label_store.results import rated_study_items


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
