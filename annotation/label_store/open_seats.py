"""Open seats: with more than two annotators, whoever asks for work takes one, and never two at one item."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace

from sqlalchemy import Connection, and_, func, select, update

from annotation.label_store.schema import assignments, items, study_members

LATER = 0.25
"""How far behind an item its silent repeat comes, as a share of the annotator's work."""


def count_annotators(con: Connection, study_id: str) -> int:
    """How many annotators a study has."""
    return int(
        con.execute(select(func.count()).select_from(study_members).where(study_members.c.study_id == study_id)).scalar_one()
    )


def claim_unassigned(tx: Connection, study_id: str, annotator: str, calibration: bool, wanted: int) -> list[str]:
    """Up to so many open seats, in an order of the annotator's own. The ledger of ratings is locked."""
    if wanted < 1:
        return []
    mine = (assignments.c.study_id == study_id, assignments.c.annotator == annotator, assignments.c.calibration == calibration)
    last = tx.execute(select(func.coalesce(func.max(assignments.c.position), 0)).where(*mine)).scalar_one()
    free = sorted(_free(tx, study_id, annotator, calibration), key=lambda seat: _lot(annotator, seat))
    apart = math.ceil(_own_share(tx, study_id) * LATER) if any(seat.repeat_of for seat in free) else 0
    given: list[str] = []
    for position in range(last + 1, last + 1 + wanted):
        seat = _open_seat(free, position, apart)
        if seat is None:
            break
        tx.execute(
            update(assignments).where(assignments.c.seat_id == seat.seat_id).values(annotator=annotator, position=position)
        )
        given.append(seat.seat_id)
        free = [_beside(other, seat, position) for other in free if other.item_id != seat.item_id]
    return given


@dataclass(frozen=True)
class _Seat:
    """An open seat: its item, the item that repeats, when the annotator meets that, and whether a repeat of it is to come."""

    seat_id: str
    item_id: str
    repeat_of: str | None
    met: int | None
    comes_again: bool


def _open_seat(free: list[_Seat], position: int, apart: int) -> _Seat | None:
    """Of open seats, in the annotator's order, one for the annotator's task number `position`.

    A silent repeat goes to whoever has the item it repeats, at least a quarter of the work later; sooner only where nothing
    else is left. So that there is work to come in between, items that come again are drawn early.
    """
    there = [seat for seat in free if not seat.repeat_of or seat.met]
    due = (seat for seat in there if position - (seat.met or -apart) >= apart)
    return next(due, there[0] if there else None)


def _beside(other: _Seat, taken: _Seat, position: int) -> _Seat:
    """Another open seat once one is taken: a repeat of its item may follow."""
    return replace(other, met=position) if other.repeat_of == taken.item_id else other


def _lot(annotator: str, seat: _Seat) -> int:
    """Everybody's own order, the same whenever somebody asks."""
    drawn = int.from_bytes(hashlib.sha256(f"{annotator}/{seat.seat_id}".encode()).digest())
    return drawn // 2 if seat.comes_again else drawn


def _free(tx: Connection, study_id: str, annotator: str, calibration: bool) -> list[_Seat]:
    """Open seats at items where the annotator has none."""
    first, again = assignments.alias("first"), items.alias("again")
    met = and_(first.c.item_id == items.c.repeat_of, first.c.annotator == annotator)
    joined = assignments.join(items, items.c.item_id == assignments.c.item_id).outerjoin(first, met)
    mine = select(assignments.c.item_id).where(assignments.c.study_id == study_id, assignments.c.annotator == annotator)
    repeated = select(again.c.repeat_of).where(again.c.study_id == study_id, again.c.repeat_of.is_not(None))
    wanted = select(assignments.c.seat_id, items.c.item_id, items.c.repeat_of, first.c.position, items.c.item_id.in_(repeated))
    free = (assignments.c.study_id == study_id, assignments.c.annotator.is_(None), assignments.c.calibration == calibration)
    return [_Seat(*row) for row in tx.execute(wanted.select_from(joined).where(*free, assignments.c.item_id.not_in(mine)))]


def _own_share(con: Connection, study_id: str) -> float:
    """Study items that fall to each annotator where the work is shared evenly."""
    counted = select(func.count()).where(assignments.c.study_id == study_id, ~assignments.c.calibration)
    return float(con.execute(counted).scalar_one()) / count_annotators(con, study_id)
