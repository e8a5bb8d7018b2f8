"""Assignments of items to annotators, each with the annotator's own order and own sides of the two answers.

With as many annotators as an item gets ratings, every item is assigned when the study is created. With more, each study item has
that many unassigned slots, and an annotator who asks for work claims one, never two of an item.

Nothing here reads other annotators' ratings, and these tables contain no verdicts.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Select, and_, delete, func, select, update
from sqlalchemy.engine import RowMapping

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.ledger import lock_study_head
from annotation.label_store.rationales import MarkedSentence, rationale_from
from annotation.label_store.schema import assignments, drafts, items, ratings, studies, study_events
from annotation.label_store.seals import REFERENCE, record_study_event
from annotation.label_store.stored_values import to_timestamp
from annotation.label_store.studies import StudyState, annotators_share_items, count_annotators, state_for_annotator
from annotation.schemes import SCHEMES

OPEN_STATES = (StudyState.CALIBRATION, StudyState.LABELLING)
CHOICE_COLUMNS = ("label", "significance", "flagged", "comment", "rationale", "difference")


@dataclass(frozen=True)
class Choice:
    """An annotator's choice, complete or not: a draft may still lack its label.

    label      about the answers as this annotator sees them; a stored label is about answers a and b of the item
    rationale  the sentences that the label rests on, likewise; empty where none was marked
    difference  why the advice differs, a term of DIFFERENCES; None: not stated
    """

    label: str | None = None
    significance: str | None = None
    flagged: bool = False
    comment: str = ""
    rationale: tuple[MarkedSentence, ...] = ()
    difference: str | None = None


@dataclass(frozen=True)
class LabellingTask:
    """One item as one annotator sees it.

    assignment_id            identifies the task in browser events, drafts and ratings
    position                 position in the annotator's own order, from 1
    total                    tasks in this round; None where annotators claim unassigned slots
    first, second            the two answers, on this annotator's sides
    reference                the reference answer, sent on request; None where the item has no reference
    first_name, second_name  the handbooks they are from; None where the study hides names
    revision                 the current revision; 0: not rated
    rated                    that rating; None where not rated
    draft                    a choice that was not submitted, if there is one
    """

    assignment_id: str
    study_id: str
    calibration: bool
    position: int
    total: int | None
    question: str
    first: str
    second: str
    first_name: str | None
    second_name: str | None
    reference: str | None
    revision: int
    rated: Choice | None
    draft: Choice | None

    @property
    def choice(self) -> Choice:
        """The choice to show: the draft, else the current revision, else nothing."""
        return self.draft or self.rated or Choice()


def next_task(store: LabelStore, study_id: str, annotator: str, now: datetime, session_id: str) -> LabellingTask | None:
    """The first unrated task in the annotator's order; None when the round is done or the study is not open.

    It claims an unassigned slot where the study has them. The clock of a task starts when a labelling session first asks for
    it; asking again in the same session leaves it running, another session restarts it.

    Raises StudyError when the annotator does not take part in the study.
    """
    with store.begin() as tx:
        return open_next_task(tx, study_id, annotator, now, session_id)


def open_next_task(tx: Connection, study_id: str, annotator: str, now: datetime, session_id: str) -> LabellingTask | None:
    """`next_task` inside a transaction."""
    state = state_for_annotator(tx, study_id, annotator)
    if state not in OPEN_STATES:
        return None
    calibration = state is StudyState.CALIBRATION
    unrated = annotator_assignments(study_id, annotator, calibration) & slot.current.is_(None)
    assignment_id = tx.execute(select(slot.seat_id).where(unrated).order_by(slot.position).limit(1)).scalar()
    if assignment_id is None:
        lock_study_head(tx, ratings, study_id)  # annotators who ask at the same time must see the slots claimed before
        assignment_id = next(iter(claim_unassigned(tx, study_id, annotator, calibration, 1)), None)
    if assignment_id is None:
        return None
    # A slot that nobody has opened has a null session, and null <> x is not true in SQL.
    new_session = and_(slot.seat_id == assignment_id, slot.visit.is_distinct_from(session_id))
    tx.execute(update(assignments).where(new_session).values(visit=session_id, opened_at=to_timestamp(now)))
    return find_task(tx, assignment_id, annotator)


def list_tasks(store: LabelStore, study_id: str, annotator: str) -> list[LabellingTask]:
    """All tasks of the annotator in the open round, in their own order, rated or not; none when the study is not open."""
    with store.read() as con:
        state = state_for_annotator(con, study_id, annotator)
        if state not in OPEN_STATES:
            return []
        calibration = state is StudyState.CALIBRATION
        total = _total_tasks(con, study_id, annotator, calibration)
        query = _task_query().where(annotator_assignments(study_id, annotator, calibration)).order_by(slot.position)
        return [_task_of(row, total) for row in con.execute(query).mappings()]


def restart_clock(store: LabelStore, assignment_id: str, annotator: str, now: datetime, session_id: str) -> None:
    """Restart a task's clock when the annotator goes back to it."""
    with store.begin() as tx:
        # Raises where the task is not this annotator's.
        find_task(tx, assignment_id, annotator)
        own = update(assignments).where(slot.seat_id == assignment_id)
        tx.execute(own.values(visit=session_id, opened_at=to_timestamp(now)))


def prefetch_tasks(store: LabelStore, study_id: str, annotator: str, wanted: int) -> list[LabellingTask]:
    """Claim unassigned slots until the annotator has `wanted` unrated tasks, so the browser can show the next at once.

    Nobody claims more than an even share of the unassigned slots, so some are left for the others near the end. Returns
    the claimed tasks; none in a study without unassigned slots. `release_assignments` returns those that were not rated.
    """
    with store.begin() as tx:
        state = state_for_annotator(tx, study_id, annotator)
        if state is not StudyState.LABELLING or not annotators_share_items(tx, study_id):
            return []
        # Under the lock, so two annotators do not claim the same slots.
        lock_study_head(tx, ratings, study_id)
        unrated = select(func.count()).where(slot.study_id == study_id, ~slot.calibration, slot.current.is_(None))
        own = tx.execute(unrated.where(slot.annotator == annotator)).scalar_one()
        unassigned = tx.execute(unrated.where(slot.annotator.is_(None))).scalar_one()
        claimed = claim_unassigned(
            tx, study_id, annotator, False, min(wanted - own, unassigned // count_annotators(tx, study_id))
        )
        query = _task_query().where(slot.seat_id.in_(claimed)).order_by(slot.position)
        return [_task_of(row, None) for row in tx.execute(query).mappings()]


def release_assignments(store: LabelStore, study_id: str, annotator: str) -> int:
    """Return the slots that an annotator claimed and did not rate to the others; the number of slots.

    Drafts are deleted: whoever claims the slot next must not see them.
    """
    with store.begin() as tx:
        if not annotators_share_items(tx, study_id):
            return 0
        unrated = annotator_assignments(study_id, annotator, False) & slot.current.is_(None)
        tx.execute(delete(drafts).where(drafts.c.seat_id.in_(select(slot.seat_id).where(unrated))))
        unassigned = {"annotator": None, "position": None, "visit": None, "opened_at": None}
        return int(tx.execute(update(assignments).where(unrated).values(**unassigned)).rowcount)


def _total_tasks(con: Connection, study_id: str, annotator: str, calibration: bool) -> int | None:
    if not calibration and annotators_share_items(con, study_id):
        return None
    # Positions of fixed assignments run from 1 without gaps, and the last one is faster to find than a count.
    last = con.execute(select(func.max(slot.position)).where(annotator_assignments(study_id, annotator, calibration))).scalar()
    return int(last or 0)


def _task_query() -> Select[tuple[object, ...]]:
    current = and_(ratings.c.study_id == slot.study_id, ratings.c.seq == slot.current)
    joined = (
        assignments.join(items, items.c.item_id == slot.item_id)
        .join(studies, studies.c.study_id == slot.study_id)
        .outerjoin(drafts, drafts.c.seat_id == slot.seat_id)
        .outerjoin(ratings, current)
    )
    columns = [
        *(slot[name] for name in ("seat_id", "study_id", "calibration", "position", "swapped")),
        *(items.c[name] for name in ("question", "answer_a", "answer_b", "name_a", "name_b", "reference")),
        *(ratings.c[name].label(f"rated_{name}") for name in CHOICE_COLUMNS),
        *(drafts.c[name].label(f"draft_{name}") for name in CHOICE_COLUMNS),
    ]
    return select(*columns, studies.c.names_shown, studies.c.scheme, drafts.c.saved_at, ratings.c.revision).select_from(joined)


def find_task(con: Connection, assignment_id: str, annotator: str) -> LabellingTask:
    """A task of the annotator. Raises StudyError when no task has that id."""
    row = con.execute(_task_query().where(slot.seat_id == assignment_id, slot.annotator == annotator)).mappings().first()
    if row is None:
        raise StudyError(f"You have no task '{assignment_id}'. Nothing was changed. Go back to your list of studies.")
    return _task_of(row, _total_tasks(con, row["study_id"], annotator, bool(row["calibration"])))


def _task_of(row: RowMapping, total: int | None) -> LabellingTask:
    sides = ("b", "a") if row["swapped"] else ("a", "b")
    first_name, second_name = (row[f"name_{side}"] if row["names_shown"] else None for side in sides)
    return LabellingTask(
        assignment_id=row["seat_id"],
        study_id=row["study_id"],
        calibration=bool(row["calibration"]),
        position=row["position"],
        total=total,
        question=row["question"],
        first=row[f"answer_{sides[0]}"],
        second=row[f"answer_{sides[1]}"],
        first_name=first_name,
        second_name=second_name,
        reference=row["reference"],
        revision=row["revision"] or 0,
        rated=_choice_of(row, "rated") if row["revision"] else None,
        draft=_choice_of(row, "draft") if row["saved_at"] else None,
    )


def _choice_of(row: RowMapping, kind: str) -> Choice:
    swapped = bool(row["swapped"])
    label = SCHEMES[row["scheme"]].turned(row[f"{kind}_label"], swapped)
    rationale = rationale_from(row[f"{kind}_rationale"], swapped)
    graded, comment, difference = (row[f"{kind}_{name}"] for name in ("significance", "comment", "difference"))
    return Choice(label, graded, bool(row[f"{kind}_flagged"]), comment or "", rationale, difference)


# -- unassigned slots ----------------------------------------------------------------------------------------
# With more annotators than ratings of an item, whoever asks for work claims some, in an order
# of their own.

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


# -- Opening a reference answer: shown on request only, and entered in the study's ledger of events ----------


def open_reference(store: LabelStore, assignment_id: str, annotator: str, now: datetime) -> str | None:
    """The reference answer of a task; None where the item has none. The first opening is recorded, with its time.

    Raises StudyError when the task is not this annotator's.
    """
    with store.begin() as tx:
        task = find_task(tx, assignment_id, annotator)
        if task.reference is not None:
            lock_study_head(
                tx, study_events, task.study_id
            )  # if two tabs open it at once, the second finds the entry of the first
            if assignment_id not in reference_openings(tx, task.study_id):
                record_study_event(tx, task.study_id, REFERENCE, {"seat_id": assignment_id, "annotator": annotator}, now)
        return task.reference


def reference_openings(con: Connection, study_id: str) -> dict[str, str]:
    """Assignment id -> when its reference answer was first opened on the page."""
    opened = select(study_events.c.body, study_events.c.happened_at).where(
        study_events.c.study_id == study_id, study_events.c.kind == REFERENCE
    )
    return {json.loads(body)["seat_id"]: at for body, at in con.execute(opened)}
