"""Adjudication: somebody else decides items whose annotators have no majority, without names and without the judge.

The gold label of an item is the adjudicated one, or else the one that more than half of its annotators gave, at least two of them
(`annotation.ratings.gold`). With two annotators, that is the label on which they agree.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.rationales import MarkedSentence, rationale_from
from annotation.label_store.results import Decision, RatedRow, decisions_by_item, rated_study_items
from annotation.label_store.studies import (
    RATINGS_PER_ITEM,
    Study,
    StudyState,
    advance_study,
    find_study,
    list_studies,
    neutral_titles,
)

AGREED, ADJUDICATED = "agreed", "adjudicated"


@dataclass(frozen=True)
class BlindRating:
    """The choice of one annotator, without the annotator's name.

    label      about answers a and b of the item
    rationale  the sentences that the annotator marked, on the sides of the Dispute
    """

    label: str
    significance: str | None
    flagged: bool
    comment: str
    rationale: tuple[MarkedSentence, ...] = ()


@dataclass(frozen=True)
class DisputedItem:
    """One item on which no label has a majority.

    The order of the answers and the order of the ratings are randomised per item, so neither reveals a handbook or an
    annotator. `swapped`: answer b is shown first; labels are about answers a and b (`Scheme.turned`). `decision` is None
    until somebody has decided.
    """

    item_id: str
    question: str
    first: str
    second: str
    ratings: tuple[BlindRating, ...]
    decision: Decision | None
    swapped: bool
    reference: str | None


@dataclass(frozen=True)
class GoldLabel:
    """The final label of an item.

    source        AGREED: a majority of the annotators chose it; ADJUDICATED: an adjudicator decided
    significance  of the decision; of the annotators who chose the label, where they chose the same; else None
    """

    item_id: str
    label: str
    significance: str | None
    source: str
    decision: Decision | None


def list_disputes(store: LabelStore, study_id: str, *, open_only: bool = True) -> list[DisputedItem]:
    """Study items with two ratings or more and no majority, in randomised order; decided ones only with `open_only=False`.

    Empty until the study is in adjudication, because ratings may still change. Calibration items and silent repeats are never
    disputes; neither is a different significance under the same label.
    """
    if find_study(store, study_id).state not in (StudyState.ADJUDICATION, StudyState.CLOSED):
        return []
    decisions = decisions_by_item(store, study_id)
    disputes = [
        _dispute_of(rows, decisions.get(item_id)) for item_id, rows in _rated_items(store, study_id) if _majority(rows) is None
    ]
    ordered = sorted(disputes, key=lambda dispute: _random_number(dispute.item_id, "place"))
    return [dispute for dispute in ordered if dispute.decision is None or not open_only]


def studies_of_adjudicator(store: LabelStore, username: str) -> list[Study]:
    """The studies that wait for decisions, or in which this adjudicator has decided; newest first, under neutral titles."""
    listed = list_studies(store)
    titles = neutral_titles(listed)
    return [replace(study, title=titles[study.study_id]) for study in listed if _is_of(store, study, username)]


def _is_of(store: LabelStore, study: Study, username: str) -> bool:
    decided = decisions_by_item(store, study.study_id).values()
    return study.state is StudyState.ADJUDICATION or any(decision.adjudicator == username for decision in decided)


def gold_labels(store: LabelStore, study_id: str) -> dict[str, GoldLabel]:
    """The gold label by item id; items rated once, and undecided disputes, have none."""
    decisions = decisions_by_item(store, study_id)
    labels = (_gold_label(item_id, rows, decisions.get(item_id)) for item_id, rows in _rated_items(store, study_id))
    return {label.item_id: label for label in labels if label is not None}


def close_study(store: LabelStore, study_id: str, now: datetime) -> StudyState:
    """Close a study after adjudication.

    Raises StudyError while a dispute is undecided, or when the study is in another state.
    """
    undecided = len(list_disputes(store, study_id))
    if undecided:
        raise StudyError(f"Study '{study_id}': {undecided} disputes are undecided. The study stays open. Decide them first.")
    with store.begin() as tx:
        return advance_study(tx, study_id, StudyState.ADJUDICATION, now)


def _rated_items(store: LabelStore, study_id: str) -> Iterable[tuple[str, list[RatedRow]]]:
    """The study items with two ratings or more."""
    return ((item_id, rows) for item_id, rows in rated_study_items(store, study_id).items() if len(rows) > 1)


def _majority(rows: list[RatedRow]) -> str | None:
    """The label of more than half of an item's ratings, of which there are two at least."""
    label, count = Counter(row["label"] for row in rows).most_common(1)[0]
    return label if 2 * count > len(rows) else None


def _random_number(item_id: str, purpose: str) -> int:
    # A hash instead of a random generator: the same item looks the same to every adjudicator, at every visit. The purpose is part
    # of the hash, so renaming one would reorder the disputes of running studies.
    return int(hashlib.sha256(f"{item_id}/{purpose}".encode()).hexdigest(), 16)


def _dispute_of(rows: list[RatedRow], decision: Decision | None) -> DisputedItem:
    item = rows[0]
    answers = (item["answer_a"], item["answer_b"])
    swapped = _random_number(item["item_id"], "answers") % 2 == 0
    ratings = [_blind_rating(row, swapped) for row in rows]
    first, second = answers[::-1] if swapped else answers
    shown = item["item_id"], item["question"], first, second, tuple(_in_random_order(item["item_id"], ratings))
    return DisputedItem(*shown, decision, swapped, item["reference"])


def _in_random_order(item_id: str, ratings: list[BlindRating]) -> list[BlindRating]:
    if len(ratings) == RATINGS_PER_ITEM:  # as it was before there were more
        return ratings if _random_number(item_id, "readings") % 2 else ratings[::-1]
    ranks = [_random_number(item_id, f"readings/{number}") for number in range(len(ratings))]
    return [rating for _, rating in sorted(zip(ranks, ratings, strict=True), key=lambda ranked: ranked[0])]


def _blind_rating(row: RatedRow, swapped: bool) -> BlindRating:
    rationale = rationale_from(row["rationale"], swapped)
    return BlindRating(row["label"], row["significance"], row["flagged"], row["comment"], rationale)


def _gold_label(item_id: str, rows: list[RatedRow], decision: Decision | None) -> GoldLabel | None:
    if decision is not None:
        return GoldLabel(item_id, decision.label, decision.significance, ADJUDICATED, decision)
    label = _majority(rows)
    if label is None:
        return None
    significances = {row["significance"] for row in rows if row["label"] == label}
    significance = significances.pop() if len(significances) == 1 else None
    return GoldLabel(item_id, label, significance, AGREED, None)
