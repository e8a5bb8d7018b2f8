"""Everybody's ratings, for a PI, for adjudication and for analysis. A page that annotators open must not import this."""

from __future__ import annotations

from typing import Any

from sqlalchemy import and_, select

from annotation.label_store.engine import LabelStore
from annotation.label_store.schema import assignments, items, ratings


def assignment_rows(store: LabelStore, study_id: str) -> list[dict[str, Any]]:
    """One row per seat, rated or not, by item and seat: the item, the seat and the rating that counts.

    Item: item_id, kind, repeat_of, question_id, question, handbook_a, handbook_b, name_a, name_b, answer_a, answer_b.
    Seat: seat_id, seat, annotator (None: open), position, swapped.
    Rating: label, significance, flagged, comment, seconds, source, revision, submitted_at, hash; None where not rated.
    """
    current = and_(ratings.c.study_id == assignments.c.study_id, ratings.c.seq == assignments.c.current)
    joined = assignments.join(items, items.c.item_id == assignments.c.item_id).outerjoin(ratings, current)
    rated = ("seq", "label", "significance", "flagged", "comment", "milliseconds", "source", "revision", "submitted_at", "hash")
    seat = ("seat_id", "seat", "annotator", "position", "swapped")
    item = [column for column in items.c if column.name != "study_id"]
    wanted = select(*item, *(assignments.c[name] for name in seat), *(ratings.c[name] for name in rated)).select_from(joined)
    with store.read() as con:
        found = con.execute(
            wanted.where(assignments.c.study_id == study_id).order_by(items.c.item_id, assignments.c.seat)
        ).mappings()
        return [_row(dict(row)) for row in found]


def _row(row: dict[str, Any]) -> dict[str, Any]:
    milliseconds = row.pop("milliseconds")
    row["seconds"] = None if milliseconds is None else milliseconds / 1000
    return {name: bool(value) if name in ("swapped", "flagged") and value is not None else value for name, value in row.items()}
