"""Everybody's ratings and the adjudicators' decisions, for PIs, adjudication and analysis.

A page that annotators open must never import this module: the blinding contracts forbid it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict, cast

from sqlalchemy import Connection, RowMapping, and_, func, select

from annotation.label_store.assignments import Choice, reference_openings
from annotation.label_store.engine import ConflictError, LabelStore, StudyError
from annotation.label_store.ledger import append_entry, lock_study_head
from annotation.label_store.ratings import check_choice
from annotation.label_store.schema import assignments, decisions, items, ratings, studies
from annotation.label_store.stored_values import checked_text, record_of, to_timestamp
from annotation.label_store.studies import ItemKind, StudyState, scheme_of

ASSIGNMENT_COLUMNS = ("seat_id", "seat", "annotator", "position", "swapped")
RATING_COLUMNS = (
    "seq", "label", "significance", "flagged", "comment", "milliseconds", "source", "revision", "submitted_at", "hash",
    "rationale", "difference",
)  # fmt: skip


@dataclass(frozen=True)
class Decision:
    """An adjudicated label; the highest revision of an item is the current one."""

    item_id: str
    adjudicator: str
    revision: int
    label: str
    significance: str | None
    reason: str
    decided_at: str


@dataclass(frozen=True)
class NewDecision:
    """An adjudicator's decision on one item, to be stored.

    label    about answers a and b of the item, on whatever sides the adjudicator saw them
    key      idempotency key: a decision that is sent twice is stored once
    revises  the revision that the adjudicator saw; 0 for a first decision
    """

    item_id: str
    label: str
    significance: str | None
    reason: str
    key: str
    revises: int = 0


class AssignedItemRow(TypedDict):
    """An item and one of its assignments (annotator None: unassigned); `reference_opened`: when the annotator first did so."""

    item_id: str
    kind: str
    repeat_of: str | None
    question_id: str
    question: str
    handbook_a: str
    handbook_b: str
    name_a: str
    name_b: str
    answer_a: str
    answer_b: str
    reference: str | None
    seat_id: str
    seat: str
    annotator: str | None
    position: int | None
    swapped: bool
    significance: str | None
    seconds: float | None
    rationale: str | None
    difference: str | None
    reference_opened: str | None


class AssignmentRow(AssignedItemRow):
    """An assignment, rated or not: the item, the assignment and the current revision of the rating, None where not rated.

    `rationale` is as stored, see `annotation.label_store.rationales`.
    """

    seq: int | None
    label: str | None
    flagged: bool | None
    comment: str | None
    source: str | None
    revision: int | None
    submitted_at: str | None
    hash: str | None


class RatedRow(AssignedItemRow):
    """An assignment that is rated, with the current revision of the rating."""

    seq: int
    label: str
    flagged: bool
    comment: str
    source: str
    revision: int
    submitted_at: str
    hash: str


def assignment_rows(store: LabelStore, study_id: str) -> list[AssignmentRow]:
    """One row per assignment, rated or not, by item and seat."""
    current = and_(ratings.c.study_id == assignments.c.study_id, ratings.c.seq == assignments.c.current)
    joined = assignments.join(items, items.c.item_id == assignments.c.item_id).outerjoin(ratings, current)
    columns = [
        *(column for column in items.c if column.name != "study_id"),
        *(assignments.c[name] for name in ASSIGNMENT_COLUMNS),
        *(ratings.c[name] for name in RATING_COLUMNS),
    ]
    query = select(*columns).select_from(joined).where(assignments.c.study_id == study_id)
    with store.read() as con:
        rows = con.execute(query.order_by(items.c.item_id, assignments.c.seat)).mappings()
        opened = reference_openings(con, study_id)
        return [_assignment_row(row, opened.get(row["seat_id"])) for row in rows]


def _assignment_row(row: RowMapping, reference_opened: str | None) -> AssignmentRow:
    values = {**row, "reference_opened": reference_opened}
    milliseconds = values.pop("milliseconds")
    values["seconds"] = None if milliseconds is None else milliseconds / 1000
    # SQLite returns 0 and 1 for Booleans.
    booleans = {name: bool(values[name]) for name in ("swapped", "flagged") if values[name] is not None}
    return cast(AssignmentRow, values | booleans)


def rated_study_items(store: LabelStore, study_id: str) -> dict[str, list[RatedRow]]:
    """The ratings of each study item that has one, by item id; calibration items and silent repeats are left out."""
    rated: dict[str, list[RatedRow]] = {}
    for row in assignment_rows(store, study_id):
        if row["kind"] == ItemKind.STUDY and row["label"] is not None:
            rated.setdefault(row["item_id"], []).append(cast(RatedRow, row))
    return rated


def submit_decision(store: LabelStore, adjudicator: str, decision: NewDecision, now: datetime) -> Decision:
    """Store one decision; when this returns, it is on disk.

    Raises StudyError when the study is not in adjudication, the reason is empty, the label is incomplete, or the adjudicator
    rated the item; ConflictError when another decision on the item came first.
    """
    if not decision.reason.strip():
        raise StudyError("A decision needs a reason. Nothing was saved. Explain in one sentence why this label is right.")
    with store.begin() as tx:
        study_id = _study_of_item(tx, decision.item_id)
        check_choice(Choice(decision.label, decision.significance), scheme_of(tx, study_id))
        head = lock_study_head(tx, decisions, study_id)
        same_key = select(decisions).where(decisions.c.study_id == study_id, decisions.c.key == decision.key)
        # Before the other checks, as for ratings: a decision that is sent again is acknowledged.
        if (row := tx.execute(same_key).mappings().first()) is not None:
            return record_of(Decision, row)
        _check_decision(tx, study_id, adjudicator, decision)
        entry = append_entry(tx, decisions, head, _decision_entry(adjudicator, decision, now))
        return record_of(Decision, entry)


def decisions_by_item(store: LabelStore, study_id: str) -> dict[str, Decision]:
    """The current decision of each decided item, by item id."""
    query = select(decisions).where(decisions.c.study_id == study_id).order_by(decisions.c.seq)
    with store.read() as con:
        return {row["item_id"]: record_of(Decision, row) for row in con.execute(query).mappings()}


def _study_of_item(tx: Connection, item_id: str) -> str:
    study_id: str | None = tx.execute(select(items.c.study_id).where(items.c.item_id == item_id)).scalar()
    if study_id is None:
        raise StudyError(f"There is no item '{item_id}'. Nothing was saved.")
    return study_id


def _check_decision(tx: Connection, study_id: str, adjudicator: str, decision: NewDecision) -> None:
    state = tx.execute(select(studies.c.state).where(studies.c.study_id == study_id)).scalar_one()
    if state != StudyState.ADJUDICATION:
        raise StudyError(f"Study '{study_id}' is in the state {state}, so nothing can be adjudicated. Nothing was saved.")
    own = select(func.count()).where(assignments.c.item_id == decision.item_id, assignments.c.annotator == adjudicator)
    if tx.execute(own).scalar_one():
        raise StudyError("You rated this item, so somebody else has to adjudicate it. Nothing was saved.")
    last = select(func.max(decisions.c.revision)).where(decisions.c.item_id == decision.item_id)
    if (tx.execute(last).scalar() or 0) != decision.revises:
        raise ConflictError(
            "Somebody else decided this item a moment ago. That decision was kept and yours was not saved. Open the item again."
        )


def _decision_entry(adjudicator: str, decision: NewDecision, now: datetime) -> dict[str, object]:
    return {
        "item_id": decision.item_id,
        "adjudicator": adjudicator,
        "revision": decision.revises + 1,
        "label": str(decision.label),
        "significance": None if decision.significance is None else str(decision.significance),
        "reason": checked_text(decision.reason.strip(), "reason"),
        "decided_at": to_timestamp(now),
        "key": decision.key,
    }
