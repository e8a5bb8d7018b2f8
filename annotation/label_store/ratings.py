"""Submitting a rating, revising it, and saving a draft of a choice that is not submitted yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.engine import RowMapping

from annotation.label_store.assignments import Choice, LabellingTask, open_next_task
from annotation.label_store.engine import ConflictError, LabelStore, StudyError
from annotation.label_store.ledger import append_entry, lock_study_head
from annotation.label_store.rationales import check_rationale, stored_rationale
from annotation.label_store.schema import assignments, drafts, items, ratings, studies
from annotation.label_store.stored_values import checked_text, from_timestamp, to_timestamp
from annotation.label_store.studies import StudyState, scheme_of
from annotation.schemes import PAIRS, Scheme
from audit.vocabulary import DIFFERENCES, SIGNIFICANCES

PAGE, PACKET, SIMULATED = "page", "packet", "simulated"
"""How a rating was submitted."""

MAX_KEY_LENGTH = 100


@dataclass(frozen=True)
class Rating:
    """A stored rating.

    revision  1 for the first rating of its assignment; the highest one is the current revision
    seconds   from the first showing of the item in the labelling session to the submission, by the server's clock; None: not
              known, because it was rated offline or the clock was set back
    """

    assignment_id: str
    revision: int
    label: str
    significance: str | None
    flagged: bool
    comment: str
    seconds: float | None
    submitted_at: str


@dataclass(frozen=True)
class NewRating:
    """A rating to be stored.

    assignment_id  the item that was on the screen; it alone decides where the rating goes
    key            idempotency key, such as `<session>/<counter>`: a rating that is sent twice is stored once
    revises        the revision that the annotator saw (LabellingTask.revision): 0 for a first rating
    source         PAGE, PACKET or SIMULATED
    """

    assignment_id: str
    choice: Choice
    key: str
    revises: int = 0
    source: str = PAGE


def submit_rating(store: LabelStore, annotator: str, rating: NewRating, now: datetime) -> Rating:
    """Store one rating; when this returns, it is on disk.

    Raises StudyError when the assignment is not this annotator's, the study is not open for it, or the choice is incomplete or
    not in the vocabulary; ConflictError when the item has another revision than the annotator saw (another tab came first).
    """
    with store.begin() as tx:
        return add_rating(tx, annotator, rating, now)


def submit_and_next(
    store: LabelStore, annotator: str, rating: NewRating, now: datetime, session_id: str
) -> tuple[Rating, LabellingTask | None]:
    """`submit_rating`, and the next task with its clock started, in one transaction."""
    with store.begin() as tx:
        stored, study_id = _store_rating(tx, annotator, rating, now)
        return stored, open_next_task(tx, study_id, annotator, now, session_id)


def add_rating(tx: Connection, annotator: str, rating: NewRating, now: datetime) -> Rating:
    """`submit_rating` inside a transaction, so a packet is stored completely or not at all."""
    return _store_rating(tx, annotator, rating, now)[0]


def _store_rating(tx: Connection, annotator: str, rating: NewRating, now: datetime) -> tuple[Rating, str]:
    """The stored rating, and the id of its study."""
    assignment = _own_assignment(tx, rating.assignment_id, annotator)
    study_id = str(assignment["study_id"])
    head = lock_study_head(tx, ratings, study_id)
    # Before all checks: a rating that is sent again is acknowledged even if the study has advanced in the meantime.
    if (known := _rating_with_key(tx, study_id, rating.key)) is not None:
        return _already_stored(known, rating), study_id
    scheme = scheme_of(tx, study_id)
    check_choice(rating.choice, scheme)
    _check_rationale(tx, assignment, rating.choice)
    _check_open_and_current(tx, assignment, rating)
    entry = append_entry(tx, ratings, head, _rating_entry(assignment, rating, scheme, now))
    row = update(assignments).where(assignments.c.seat_id == rating.assignment_id)
    tx.execute(row.values(current=entry["seq"], visit=None, opened_at=None))
    # A draft that remained after its rating would be shown instead of the rating.
    tx.execute(delete(drafts).where(drafts.c.seat_id == rating.assignment_id))
    return rating_of(entry), study_id


def save_draft(store: LabelStore, annotator: str, assignment_id: str, choice: Choice, now: datetime) -> None:
    """Save a choice that is not submitted, so it survives a closed browser. Drafts enter no figure.

    Raises StudyError when the assignment is not this annotator's or a word is not in the vocabulary.
    """
    with store.begin() as tx:
        assignment = _own_assignment(tx, assignment_id, annotator)
        scheme = scheme_of(tx, assignment["study_id"])
        check_vocabulary(choice, scheme)
        _check_rationale(tx, assignment, choice)
        label = scheme.turned(choice.label, assignment["swapped"])
        words = {"label": label, "significance": choice.significance, "flagged": choice.flagged}
        words |= {"rationale": stored_rationale(choice.rationale, assignment["swapped"]), "difference": choice.difference}
        # Delete and insert, because an upsert is written differently for each of the two databases.
        tx.execute(delete(drafts).where(drafts.c.seat_id == assignment_id))
        draft = {"seat_id": assignment_id, **words, "comment": checked_text(choice.comment), "saved_at": to_timestamp(now)}
        tx.execute(insert(drafts).values(draft))


def recent_seconds(store: LabelStore, study_id: str, annotator: str, limit: int) -> list[float]:
    """How long the annotator's last first ratings took, oldest first: at most `limit`; those without a time are left out."""
    own = (ratings.c.study_id == study_id, ratings.c.annotator == annotator, ratings.c.revision == 1)
    timed = select(ratings.c.milliseconds).where(*own, ratings.c.milliseconds.is_not(None))
    with store.read() as con:
        newest_first = con.execute(timed.order_by(ratings.c.seq.desc()).limit(limit)).scalars().all()
    return [milliseconds / 1000 for milliseconds in reversed(newest_first)]


def check_vocabulary(choice: Choice, scheme: Scheme = PAIRS) -> None:
    """Raise StudyError when the label is not one of the scheme's, or the significance is not in the vocabulary."""
    words = ("label", choice.label, scheme.words), ("significance", choice.significance, SIGNIFICANCES)
    for field, word, allowed in (*words, ("reason", choice.difference, DIFFERENCES)):
        if word is not None and word not in allowed:
            raise StudyError(f"The {field} '{word}' is not in the vocabulary. Allowed: {', '.join(allowed)}. Nothing was saved.")


def check_choice(choice: Choice, scheme: Scheme = PAIRS) -> None:
    """Raise StudyError when a choice is not a complete rating: disagreement needs a significance, other labels have none."""
    check_vocabulary(choice, scheme)
    if choice.label is None:
        raise StudyError(f"The label is missing. Nothing was saved. Choose one with the keys {scheme.keys}.")
    disagrees = choice.label in scheme.graded
    if disagrees and choice.significance is None:
        raise StudyError(f"{choice.label} needs a significance: {', '.join(SIGNIFICANCES)}. Nothing was saved.")
    if choice.significance is not None and not disagrees:
        only = f"; only {' and '.join(scheme.graded)} have one" if scheme.graded else ""
        raise StudyError(f"{choice.label} has no significance{only}. Nothing was saved.")
    if choice.difference is not None and not disagrees:
        raise StudyError(f"{choice.label} has no reason why the advice differs. Nothing was saved.")


def rating_of(row: Mapping[str, Any] | RowMapping) -> Rating:
    """A row of the ledger as a rating."""
    return Rating(
        assignment_id=row["seat_id"],
        seconds=None if row["milliseconds"] is None else row["milliseconds"] / 1000,
        flagged=bool(row["flagged"]),
        **{name: row[name] for name in ("revision", "label", "significance", "comment", "submitted_at")},
    )


def _own_assignment(con: Connection, assignment_id: str, annotator: str) -> dict[str, Any]:
    own = select(assignments).where(assignments.c.seat_id == assignment_id, assignments.c.annotator == annotator)
    row = con.execute(own).mappings().first()
    if row is None:
        raise StudyError(f"You have no task '{assignment_id}'. Nothing was saved. Go back to your list of studies.")
    return dict(row)


def _rating_with_key(tx: Connection, study_id: str, key: str) -> RowMapping | None:
    if not 0 < len(key) <= MAX_KEY_LENGTH:
        raise StudyError(f"A rating needs a key of 1 to {MAX_KEY_LENGTH} characters. Nothing was saved.")
    return tx.execute(select(ratings).where(ratings.c.study_id == study_id, ratings.c.key == key)).mappings().first()


def _already_stored(known: RowMapping, rating: NewRating) -> Rating:
    # A key that returns for another item is a fault of the browser; storing it would put a label on the wrong item.
    if known["seat_id"] != rating.assignment_id:
        raise ConflictError("This rating was already stored for another item. Nothing was saved. Reload the page.")
    return rating_of(known)


def _check_rationale(tx: Connection, assignment: Mapping[str, Any], choice: Choice) -> None:
    if choice.rationale:
        shown = select(items.c.answer_a, items.c.answer_b).where(items.c.item_id == assignment["item_id"])
        answers = tx.execute(shown).one()
        check_rationale(choice.rationale, answers[::-1] if assignment["swapped"] else answers)


def _check_open_and_current(tx: Connection, assignment: Mapping[str, Any], rating: NewRating) -> None:
    """Check, under the lock, the state of the study and the current revision of the item."""
    last = select(func.max(ratings.c.revision)).where(ratings.c.seat_id == rating.assignment_id).scalar_subquery()
    state, revision = tx.execute(select(studies.c.state, last).where(studies.c.study_id == assignment["study_id"])).one()
    if state != (StudyState.CALIBRATION if assignment["calibration"] else StudyState.LABELLING):
        raise StudyError(f"This study is in the state {state}, so this item can no longer be rated. Nothing was saved.")
    if (revision or 0) != rating.revises:
        raise ConflictError(
            "This item was rated in another window a moment ago. That rating was kept and this one was not saved. "
            "Open the item again to revise it."
        )


def _rating_entry(assignment: Mapping[str, Any], rating: NewRating, scheme: Scheme, now: datetime) -> dict[str, object]:
    # These keys are hashed and stored: renaming one would break every ledger written before.
    choice = rating.choice
    return {
        "seat_id": rating.assignment_id,
        "item_id": assignment["item_id"],
        "annotator": assignment["annotator"],
        "revision": rating.revises + 1,
        "label": str(scheme.turned(choice.label, assignment["swapped"])),
        "significance": None if choice.significance is None else str(choice.significance),
        "flagged": choice.flagged,
        "comment": checked_text(choice.comment),
        "rationale": stored_rationale(choice.rationale, assignment["swapped"]),
        "difference": None if choice.difference is None else str(choice.difference),
        "milliseconds": _milliseconds(assignment["opened_at"], rating.source, now),
        "source": rating.source,
        "submitted_at": to_timestamp(now),
        "key": rating.key,
    }


def _milliseconds(opened_at: str | None, source: str, now: datetime) -> int | None:
    if opened_at is None or source == PACKET:  # the duration of an offline rating is unknown
        return None
    milliseconds = round((now - from_timestamp(opened_at)).total_seconds() * 1000)
    return milliseconds if milliseconds >= 0 else None  # the clock was set back in between, so the time is not known
