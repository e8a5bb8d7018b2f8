"""Submitting a rating, revising it, and keeping a choice that is not submitted yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.engine import RowMapping

from annotation.label_store import ledger
from annotation.label_store.assignments import Choice, LabellingTask, open_next_task
from annotation.label_store.engine import LabelStore
from annotation.label_store.errors import ConflictError, StudyError
from annotation.label_store.schema import assignments, drafts, ratings, studies
from annotation.label_store.studies import StudyState
from annotation.label_store.texts import checked_text, from_timestamp, to_timestamp
from audit.vocabulary import DISAGREEING, LABELS, SIGNIFICANCES

PAGE, PACKET, SIMULATED = "page", "packet", "simulated"
"""How a rating came in."""

MAX_KEY_LENGTH = 100


@dataclass(frozen=True)
class Rating:
    """A stored rating.

    revision  1 for the first of its seat; only the highest counts
    seconds   from the item's first showing in this sitting to the submit, by the server's clock; None: offline
    """

    seat_id: str
    revision: int
    label: str
    significance: str | None
    flagged: bool
    comment: str
    seconds: float | None
    submitted_at: str


@dataclass(frozen=True)
class NewRating:
    """One press of the last key.

    seat_id   the item that was on the screen: what decides where the rating lands
    key       a name the page makes for this press, such as `<visit>/<counter>`; the same key again changes nothing
    revises   the revision that the annotator saw (Task.revision): 0 for a first rating
    source    PAGE, PACKET or SIMULATED
    """

    seat_id: str
    choice: Choice
    key: str
    revises: int = 0
    source: str = PAGE


def submit_rating(store: LabelStore, annotator: str, what: NewRating, now: datetime) -> Rating:
    """Store one rating; when this returns, it is on the disk.

    Raises StudyError when the seat is not this annotator's, the study is not open for it, or the choice is incomplete or not
    in the vocabulary; ConflictError when the item has another revision than the annotator saw (another tab was quicker).
    """
    with store.begin() as tx:
        return add_rating(tx, annotator, what, now)


def submit_and_next(
    store: LabelStore, annotator: str, what: NewRating, now: datetime, visit: str
) -> tuple[Rating, LabellingTask | None]:
    """`submit_rating`, and the task that comes next with its clock started, in one transaction."""
    with store.begin() as tx:
        rating, study_id = _add(tx, annotator, what, now)
        return rating, open_next_task(tx, study_id, annotator, now, visit)


def add_rating(tx: Connection, annotator: str, what: NewRating, now: datetime) -> Rating:
    """`submit_rating` inside a transaction: a packet is stored whole or not at all."""
    return _add(tx, annotator, what, now)[0]


def _add(tx: Connection, annotator: str, what: NewRating, now: datetime) -> tuple[Rating, str]:
    """The rating, and the study that it is in."""
    seat = _own_seat(tx, what.seat_id, annotator)
    head = ledger.lock(tx, ratings, seat["study_id"])
    if (known := _of_key(tx, seat["study_id"], what.key)) is not None:
        return _same(known, what), seat["study_id"]
    check_choice(what.choice)
    _check_standing(tx, seat, what)
    entry = ledger.append(tx, ratings, head, _entry(seat, what, now))
    tx.execute(
        update(assignments).where(assignments.c.seat_id == what.seat_id).values(current=entry["seq"], visit=None, opened_at=None)
    )
    tx.execute(delete(drafts).where(drafts.c.seat_id == what.seat_id))
    return rating_of(entry), seat["study_id"]


def save_draft(store: LabelStore, annotator: str, seat_id: str, choice: Choice, now: datetime) -> None:
    """Keep a choice that is not submitted, so that it is there again after a closed browser. It counts nowhere.

    Raises StudyError when the seat is not this annotator's or a word is not in the vocabulary.
    """
    check_vocabulary(choice)
    with store.begin() as tx:
        _own_seat(tx, seat_id, annotator)
        tx.execute(delete(drafts).where(drafts.c.seat_id == seat_id))
        kept = {"label": choice.label, "significance": choice.significance, "flagged": choice.flagged}
        tx.execute(
            insert(drafts).values(seat_id=seat_id, **kept, comment=checked_text(choice.comment), saved_at=to_timestamp(now))
        )


def check_vocabulary(choice: Choice) -> None:
    """Raise StudyError when the label or the significance is not in the vocabulary."""
    for what, word, allowed in (
        ("label", choice.label, LABELS),
        ("significance", choice.significance, SIGNIFICANCES),
    ):
        if word is not None and word not in allowed:
            raise StudyError(f"The {what} '{word}' is not in the vocabulary. Allowed: {', '.join(allowed)}. Nothing was saved.")


def check_choice(choice: Choice) -> None:
    """Raise StudyError when a choice is not a whole rating: significance goes with disagreement, and only with it."""
    check_vocabulary(choice)
    if choice.label is None:
        raise StudyError("There is no label. Nothing was saved. Give one with the keys 1 to 5.")
    disagrees = choice.label in DISAGREEING
    if disagrees and choice.significance is None:
        raise StudyError(f"{choice.label} needs a clinical significance: {', '.join(SIGNIFICANCES)}. Nothing was saved.")
    if choice.significance is not None and not disagrees:
        raise StudyError(
            f"{choice.label} has no clinical significance; only {' and '.join(DISAGREEING)} have one. Nothing was saved."
        )


def rating_of(row: Mapping[str, Any] | RowMapping) -> Rating:
    """A row of the ledger as a rating."""
    seconds = None if row["milliseconds"] is None else row["milliseconds"] / 1000
    own = {name: row[name] for name in ("seat_id", "revision", "label", "significance", "comment", "submitted_at")}
    return Rating(**own, flagged=bool(row["flagged"]), seconds=seconds)


def _own_seat(con: Connection, seat_id: str, annotator: str) -> dict[str, Any]:
    own = select(assignments).where(assignments.c.seat_id == seat_id, assignments.c.annotator == annotator)
    row = con.execute(own).mappings().first()
    if row is None:
        raise StudyError(f"There is no task '{seat_id}' of yours. Nothing was saved. Go back to your list of studies.")
    return dict(row)


def _of_key(tx: Connection, study_id: str, key: str) -> RowMapping | None:
    if not 0 < len(key) <= MAX_KEY_LENGTH:
        raise StudyError(f"A submit needs a key of 1 to {MAX_KEY_LENGTH} characters. Nothing was saved.")
    return tx.execute(select(ratings).where(ratings.c.study_id == study_id, ratings.c.key == key)).mappings().first()


def _same(known: RowMapping, what: NewRating) -> Rating:
    if known["seat_id"] != what.seat_id:
        raise ConflictError("This submit was already stored for another item. Nothing was saved. Reload the page.")
    return rating_of(known)


def _check_standing(tx: Connection, seat: Mapping[str, Any], what: NewRating) -> None:
    """Look, under the lock, at the state of the study and at the revision that the item has."""
    last = select(func.max(ratings.c.revision)).where(ratings.c.seat_id == what.seat_id).scalar_subquery()
    state, stored = tx.execute(select(studies.c.state, last).where(studies.c.study_id == seat["study_id"])).one()
    if state != (StudyState.CALIBRATION if seat["calibration"] else StudyState.LABELLING):
        raise StudyError(f"This study is in the state {state}, so this item can no longer be rated. Nothing was saved.")
    if (stored or 0) != what.revises:
        raise ConflictError(
            "This item was rated in another window a moment ago. That rating stands and nothing was saved here. "
            "Open the item again to revise it."
        )


def _entry(seat: Mapping[str, Any], what: NewRating, now: datetime) -> dict[str, Any]:
    opened = seat["opened_at"]
    milliseconds = (
        None if opened is None or what.source == PACKET else round((now - from_timestamp(opened)).total_seconds() * 1000)
    )
    return {
        "seat_id": what.seat_id,
        "item_id": seat["item_id"],
        "annotator": seat["annotator"],
        "revision": what.revises + 1,
        "label": str(what.choice.label),
        "significance": None if what.choice.significance is None else str(what.choice.significance),
        "flagged": what.choice.flagged,
        "comment": checked_text(what.choice.comment),
        "milliseconds": milliseconds,
        "source": what.source,
        "submitted_at": to_timestamp(now),
        "key": what.key,
    }
