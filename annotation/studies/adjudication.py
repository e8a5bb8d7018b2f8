"""Adjudication: what two annotators see differently, decided by a third without names and without the judge; and the gold."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from annotation.label_store.decisions import Decision, decisions_by_item
from annotation.label_store.engine import LabelStore
from annotation.label_store.errors import StudyError
from annotation.label_store.results import assignment_rows
from annotation.label_store.studies import ItemKind, StudyState, advance_study, find_study

AGREED, ADJUDICATED = "agreed", "adjudicated"


@dataclass(frozen=True)
class BlindRating:
    """What one of the two annotators said; who it was is not in it."""

    label: str
    significance: str | None
    flagged: bool
    comment: str


@dataclass(frozen=True)
class Dispute:
    """One item on which the two labels differ.

    The answers stand in an order drawn by lot for the item, and so do the two readings, so that neither tells a handbook or
    an annotator. `decision` is None until somebody decided.
    """

    item_id: str
    question: str
    first: str
    second: str
    readings: tuple[BlindRating, BlindRating]
    decision: Decision | None


@dataclass(frozen=True)
class GoldLabel:
    """The label that counts for an item.

    source        AGREED: both annotators gave it; ADJUDICATED: an adjudicator decided
    significance  of the decision; of two agreeing annotators where they gave the same; else None
    """

    item_id: str
    label: str
    significance: str | None
    source: str
    decision: Decision | None


def list_disputes(store: LabelStore, study_id: str, *, open_only: bool = True) -> list[Dispute]:
    """The queue: study items whose two labels differ, in an order without meaning; decided ones only on request.

    Ratings are still coming in during labelling, so the queue is empty until the study is in adjudication. Calibration items
    and silent repeats are never in it. A different significance under the same label is no dispute.
    """
    if find_study(store, study_id).state not in (StudyState.ADJUDICATION, StudyState.CLOSED):
        return []
    decided = decisions_by_item(store, study_id)
    found = [_dispute(rows, decided.get(item_id)) for item_id, rows in _rated_twice(store, study_id) if _differ(rows)]
    ordered = sorted(found, key=lambda dispute: _lot(dispute.item_id, "place"))
    return [dispute for dispute in ordered if dispute.decision is None or not open_only]


def gold_labels(store: LabelStore, study_id: str) -> dict[str, GoldLabel]:
    """The gold label by item id; items rated once, or disputed and undecided, have none."""
    decided = decisions_by_item(store, study_id)
    found = (_gold(item_id, rows, decided.get(item_id)) for item_id, rows in _rated_twice(store, study_id))
    return {each.item_id: each for each in found if each is not None}


def close_study(store: LabelStore, study_id: str) -> StudyState:
    """Close a study after adjudication.

    Raises StudyError while a dispute is open, or when the study is in another state.
    """
    left = len(list_disputes(store, study_id))
    if left:
        raise StudyError(f"Study '{study_id}': {left} differences are not decided yet. The study stays open.")
    with store.begin() as tx:
        return advance_study(tx, study_id, StudyState.ADJUDICATION)


def _rated_twice(store: LabelStore, study_id: str) -> Iterable[tuple[str, list[dict[str, Any]]]]:
    rows = [row for row in assignment_rows(store, study_id) if row["kind"] == ItemKind.STUDY and row["label"] is not None]
    for item_id, group in groupby(rows, key=lambda row: str(row["item_id"])):
        pair = list(group)
        if len(pair) == 2:
            yield item_id, pair


def _differ(rows: list[dict[str, Any]]) -> bool:
    return bool(rows[0]["label"] != rows[1]["label"])


def _lot(item_id: str, what: str) -> int:
    return int(hashlib.sha256(f"{item_id}/{what}".encode()).hexdigest(), 16)


def _dispute(rows: list[dict[str, Any]], decision: Decision | None) -> Dispute:
    item = rows[0]
    answers = (item["answer_a"], item["answer_b"])
    readings = tuple(BlindRating(row["label"], row["significance"], row["flagged"], row["comment"]) for row in rows)
    first, second = answers if _lot(item["item_id"], "answers") % 2 else answers[::-1]
    one, other = readings if _lot(item["item_id"], "readings") % 2 else readings[::-1]
    return Dispute(item["item_id"], item["question"], first, second, (one, other), decision)


def _gold(item_id: str, rows: list[dict[str, Any]], decision: Decision | None) -> GoldLabel | None:
    if decision is not None:
        return GoldLabel(item_id, decision.label, decision.significance, ADJUDICATED, decision)
    if _differ(rows):
        return None
    significances = {row["significance"] for row in rows}
    return GoldLabel(item_id, rows[0]["label"], significances.pop() if len(significances) == 1 else None, AGREED, None)
