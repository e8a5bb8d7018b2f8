"""The task that an annotator sees: a question and two answers, in the annotator's own order and on own sides.

Nothing here reads anybody else's rating, and there is no verdict in these tables to read.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Select, and_, delete, func, select, update
from sqlalchemy.engine import RowMapping

from annotation.label_store import ledger
from annotation.label_store.engine import LabelStore
from annotation.label_store.errors import StudyError
from annotation.label_store.open_seats import claim_unassigned, count_annotators
from annotation.label_store.schema import assignments, drafts, items, ratings, studies, study_members
from annotation.label_store.studies import StudyState
from annotation.label_store.texts import to_timestamp

OPEN_STATES = (StudyState.CALIBRATION, StudyState.LABELLING)


@dataclass(frozen=True)
class Choice:
    """What an annotator says, or has chosen so far (a draft may still lack its label)."""

    label: str | None = None
    significance: str | None = None
    flagged: bool = False
    comment: str = ""


@dataclass(frozen=True)
class LabellingTask:
    """One item as one annotator sees it.

    seat_id       names the task in key events, drafts and submits
    position      place in the annotator's own order, from 1; `total` tasks in this round, None with open seats
    first, second         the two answers, on this annotator's sides
    first_name, second_name  whose they are; None where the study hides names
    revision      0: not rated; n: the annotator's n-th rating of it counts
    rated         that rating; None where not rated
    draft         a choice that was not submitted; None where there is none
    """

    seat_id: str
    study_id: str
    calibration: bool
    position: int
    total: int | None
    question: str
    first: str
    second: str
    first_name: str | None
    second_name: str | None
    revision: int
    rated: Choice | None
    draft: Choice | None

    @property
    def choice(self) -> Choice:
        """What to show as chosen: the draft, else the rating that counts, else nothing."""
        return self.draft or self.rated or Choice()


def next_task(store: LabelStore, study_id: str, annotator: str, now: datetime, visit: str) -> LabellingTask | None:
    """The first task in the annotator's order that has no rating; None when this round is done or the study is not open.

    It takes an open seat where the study has them. The clock of the task starts when it is first asked for in a sitting:
    asking again in the same `visit` (one browser session) leaves it running, another sitting starts it anew.

    Raises StudyError when the annotator is not in the study.
    """
    with store.begin() as tx:
        return open_next_task(tx, study_id, annotator, now, visit)


def open_next_task(tx: Connection, study_id: str, annotator: str, now: datetime, visit: str) -> LabellingTask | None:
    """`next_task` inside a transaction."""
    state = _state(tx, study_id, annotator)
    if state not in OPEN_STATES:
        return None
    calibration = state is StudyState.CALIBRATION
    seat_id = _first_unrated(tx, study_id, annotator, calibration) or _take(tx, study_id, annotator, calibration)
    if seat_id is None:
        return None
    _start_clock(tx, seat_id, now, visit)
    return _read(tx, seat_id, annotator)


def list_tasks(store: LabelStore, study_id: str, annotator: str) -> list[LabellingTask]:
    """Every task that is the annotator's in the open round, in own order, rated or not; none when the study is not open."""
    with store.read() as con:
        state = _state(con, study_id, annotator)
        if state not in OPEN_STATES:
            return []
        calibration = state is StudyState.CALIBRATION
        mine = and_(
            assignments.c.study_id == study_id, assignments.c.annotator == annotator, assignments.c.calibration == calibration
        )
        total = _total(con, study_id, annotator, calibration)
        found = con.execute(_shown().where(mine).order_by(assignments.c.position)).mappings()
        return [_task(row, total) for row in found]


def restart_clock(store: LabelStore, seat_id: str, annotator: str, now: datetime, visit: str) -> None:
    """Start a task's clock when the annotator goes back to it."""
    with store.begin() as tx:
        _read(tx, seat_id, annotator)
        tx.execute(update(assignments).where(assignments.c.seat_id == seat_id).values(visit=visit, opened_at=to_timestamp(now)))


def prefetch_tasks(store: LabelStore, study_id: str, annotator: str, wanted: int) -> list[LabellingTask]:
    """Take open seats until the annotator has so many to come, so that the browser holds the next tasks already.

    Nobody takes more than an even share of what is open: near the end there is something left for the others. Returns the
    tasks that were taken; none in a study with named seats. `release_assignments` gives back what was not rated.
    """
    with store.begin() as tx:
        state = _state(tx, study_id, annotator)
        if state is not StudyState.LABELLING or count_annotators(tx, study_id) <= 2:
            return []
        ledger.lock(tx, ratings, study_id)
        waiting = and_(assignments.c.study_id == study_id, ~assignments.c.calibration, assignments.c.current.is_(None))
        mine = tx.execute(select(func.count()).where(waiting, assignments.c.annotator == annotator)).scalar_one()
        free = tx.execute(select(func.count()).where(waiting, assignments.c.annotator.is_(None))).scalar_one()
        more = min(wanted - mine, free // count_annotators(tx, study_id))
        taken = assignments.c.seat_id.in_(claim_unassigned(tx, study_id, annotator, False, more))
        return [_task(row, None) for row in tx.execute(_shown().where(taken).order_by(assignments.c.position)).mappings()]


def release_assignments(store: LabelStore, study_id: str, annotator: str) -> int:
    """Open again the seats that somebody took and did not rate, in a study with open seats; how many they were.

    What was chosen there and not submitted is forgotten: whoever takes the seat next must not see it.
    """
    with store.begin() as tx:
        if count_annotators(tx, study_id) <= 2:
            return 0
        unrated = and_(assignments.c.annotator == annotator, ~assignments.c.calibration, assignments.c.current.is_(None))
        held = and_(assignments.c.study_id == study_id, unrated)
        tx.execute(delete(drafts).where(drafts.c.seat_id.in_(select(assignments.c.seat_id).where(held))))
        free = {"annotator": None, "position": None, "visit": None, "opened_at": None}
        return int(tx.execute(update(assignments).where(held).values(**free)).rowcount)


def _state(con: Connection, study_id: str, annotator: str) -> StudyState:
    joined = studies.join(
        study_members, and_(study_members.c.study_id == studies.c.study_id, study_members.c.annotator == annotator)
    )
    state = con.execute(select(studies.c.state).select_from(joined).where(studies.c.study_id == study_id)).scalar()
    if state is None:
        raise StudyError(f"There is no study '{study_id}' in which you rate. Ask the investigator who runs it.")
    return StudyState(state)


def _first_unrated(con: Connection, study_id: str, annotator: str, calibration: bool) -> str | None:
    mine = (assignments.c.study_id == study_id, assignments.c.annotator == annotator, assignments.c.calibration == calibration)
    unrated = (
        select(assignments.c.seat_id).where(*mine, assignments.c.current.is_(None)).order_by(assignments.c.position).limit(1)
    )
    seat_id: str | None = con.execute(unrated).scalar()
    return seat_id


def _take(tx: Connection, study_id: str, annotator: str, calibration: bool) -> str | None:
    """Give the annotator an open seat at an item where they have none."""
    ledger.lock(tx, ratings, study_id)  # of several who ask at once, each sees what the one before took
    return next(iter(claim_unassigned(tx, study_id, annotator, calibration, 1)), None)


def _start_clock(tx: Connection, seat_id: str, now: datetime, visit: str) -> None:
    elsewhere = and_(assignments.c.seat_id == seat_id, assignments.c.visit.is_distinct_from(visit))
    tx.execute(update(assignments).where(elsewhere).values(visit=visit, opened_at=to_timestamp(now)))


def _shown() -> Select[tuple[object, ...]]:
    current = and_(ratings.c.study_id == assignments.c.study_id, ratings.c.seq == assignments.c.current)
    joined = (
        assignments.join(items, items.c.item_id == assignments.c.item_id)
        .join(studies, studies.c.study_id == assignments.c.study_id)
        .outerjoin(drafts, drafts.c.seat_id == assignments.c.seat_id)
        .outerjoin(ratings, current)
    )
    said = [ratings.c[name].label(f"rated_{name}") for name in ("label", "significance", "flagged", "comment")]
    kept = [drafts.c[name].label(f"draft_{name}") for name in ("label", "significance", "flagged", "comment")]
    seat = [assignments.c[name] for name in ("seat_id", "study_id", "calibration", "position", "swapped")]
    shown = [items.c[name] for name in ("question", "answer_a", "answer_b", "name_a", "name_b")]
    return select(*seat, *shown, studies.c.names_shown, drafts.c.saved_at, ratings.c.revision, *said, *kept).select_from(joined)


def _read(con: Connection, seat_id: str, annotator: str) -> LabellingTask:
    own = and_(assignments.c.seat_id == seat_id, assignments.c.annotator == annotator)
    row = con.execute(_shown().where(own)).mappings().first()
    if row is None:
        raise StudyError(f"There is no task '{seat_id}' of yours. Nothing was changed. Go back to your list of studies.")
    return _task(row, _total(con, row["study_id"], annotator, bool(row["calibration"])))


def _task(row: RowMapping, total: int | None) -> LabellingTask:
    sides = ("b", "a") if row["swapped"] else ("a", "b")
    first_name, second_name = (row[f"name_{side}"] if row["names_shown"] else None for side in sides)
    return LabellingTask(
        seat_id=row["seat_id"],
        study_id=row["study_id"],
        calibration=bool(row["calibration"]),
        position=row["position"],
        total=total,
        question=row["question"],
        first=row[f"answer_{sides[0]}"],
        second=row[f"answer_{sides[1]}"],
        first_name=first_name,
        second_name=second_name,
        revision=row["revision"] or 0,
        rated=_choice(row, "rated") if row["revision"] else None,
        draft=_choice(row, "draft") if row["saved_at"] else None,
    )


def _choice(row: RowMapping, kind: str) -> Choice:
    return Choice(row[f"{kind}_label"], row[f"{kind}_significance"], bool(row[f"{kind}_flagged"]), row[f"{kind}_comment"] or "")


def _total(con: Connection, study_id: str, annotator: str, calibration: bool) -> int | None:
    if not calibration and count_annotators(con, study_id) > 2:
        return None
    mine = (assignments.c.study_id == study_id, assignments.c.annotator == annotator, assignments.c.calibration == calibration)
    last = con.execute(select(func.max(assignments.c.position)).where(*mine)).scalar()  # named seats are numbered through from 1
    return int(last or 0)
