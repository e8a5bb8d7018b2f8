"""Unassigned slots: with more annotators than ratings of an item, whoever asks for work claims some, in an order of their own."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, Connection, and_, func, select, update

from annotation.label_store.schema import assignments, items
from annotation.label_store.studies import count_annotators

REPEAT_DISTANCE = 0.25
"""How far behind an item its silent repeat comes, as a share of the annotator's work."""

slot = assignments.c


def annotator_assignments(study_id: str, annotator: str, calibration: bool) -> ColumnElement[bool]:
    """The assignments of an annotator in one round of a study."""
    return and_(slot.study_id == study_id, slot.annotator == annotator, slot.calibration == calibration)


@dataclass(frozen=True)
class _UnassignedSlot:
    """An unassigned slot from one annotator's point of view.

    repeat_of     the item that its item silently repeats
    met_at        the annotator's position of that item; None where they do not have it
    is_repeated   whether a repeat of its own item is still to come
    """

    assignment_id: str
    item_id: str
    repeat_of: str | None
    met_at: int | None
    is_repeated: bool


def claim_unassigned(tx: Connection, study_id: str, annotator: str, calibration: bool, wanted: int) -> list[str]:
    """Assign up to `wanted` unassigned slots to the annotator, in an order of their own; the ids of the assignments.

    The caller has locked the ledger of ratings.
    """
    if wanted < 1:
        return []
    own = annotator_assignments(study_id, annotator, calibration)
    last = tx.execute(select(func.coalesce(func.max(slot.position), 0)).where(own)).scalar_one()
    unassigned = sorted(_unassigned_slots(tx, study_id, annotator, calibration), key=lambda s: _random_rank(annotator, s))
    slots = tx.execute(select(func.count()).where(slot.study_id == study_id, ~slot.calibration)).scalar_one()
    even_share = slots / count_annotators(tx, study_id)
    distance = math.ceil(even_share * REPEAT_DISTANCE) if any(s.repeat_of for s in unassigned) else 0
    claimed: list[str] = []
    for position in range(last + 1, last + 1 + wanted):
        chosen = _next_slot(unassigned, position, distance)
        if chosen is None:
            break
        row = update(assignments).where(slot.seat_id == chosen.assignment_id)
        tx.execute(row.values(annotator=annotator, position=position))
        claimed.append(chosen.assignment_id)
        remaining = (s for s in unassigned if s.item_id != chosen.item_id)
        unassigned = [replace(s, met_at=position) if s.repeat_of == chosen.item_id else s for s in remaining]
    return claimed


def _next_slot(unassigned: list[_UnassignedSlot], position: int, distance: int) -> _UnassignedSlot | None:
    """The slot for the annotator's task number `position`.

    A silent repeat goes to an annotator who has the item it repeats, at least `distance` tasks later; earlier only where
    nothing else is left. `_random_rank` draws repeated items early, so there is work to do in between.
    """
    allowed = [candidate for candidate in unassigned if not candidate.repeat_of or candidate.met_at]
    due = (candidate for candidate in allowed if position - (candidate.met_at or -distance) >= distance)
    return next(due, allowed[0] if allowed else None)


def _random_rank(annotator: str, candidate: _UnassignedSlot) -> int:
    """A hash as rank: a randomised order of the annotator's own, the same at every request."""
    rank = int.from_bytes(hashlib.sha256(f"{annotator}/{candidate.assignment_id}".encode()).digest())
    return rank // 2 if candidate.is_repeated else rank


def _unassigned_slots(tx: Connection, study_id: str, annotator: str, calibration: bool) -> list[_UnassignedSlot]:
    """Unassigned slots of items that the annotator does not have."""
    original, repeat = assignments.alias("original"), items.alias("repeat")
    met = and_(original.c.item_id == items.c.repeat_of, original.c.annotator == annotator)
    joined = assignments.join(items, items.c.item_id == slot.item_id).outerjoin(original, met)
    own_items = select(slot.item_id).where(slot.study_id == study_id, slot.annotator == annotator)
    repeated = select(repeat.c.repeat_of).where(repeat.c.study_id == study_id, repeat.c.repeat_of.is_not(None))
    query = select(
        slot.seat_id, items.c.item_id, items.c.repeat_of, original.c.position, items.c.item_id.in_(repeated)
    ).select_from(joined)
    unassigned = (slot.study_id == study_id, slot.annotator.is_(None), slot.calibration == calibration)
    return [_UnassignedSlot(*row) for row in tx.execute(query.where(*unassigned, slot.item_id.not_in(own_items)))]
