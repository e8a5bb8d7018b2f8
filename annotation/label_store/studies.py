"""Studies: made with all their items and seats, moved from state to state, watched."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import numpy as np
from sqlalchemy import Connection, case, func, insert, select, update
from sqlalchemy.engine import RowMapping
from sqlalchemy.exc import IntegrityError

from annotation.label_store import ledger
from annotation.label_store.engine import LabelStore
from annotation.label_store.errors import StudyError
from annotation.label_store.schema import assignments, items, ratings, studies, study_members, users
from annotation.label_store.texts import storable_text, to_timestamp


class StudyState(StrEnum):
    """What may happen in a study now; a study only moves forward."""

    CALIBRATION = "calibration"
    LABELLING = "labelling"
    ADJUDICATION = "adjudication"
    CLOSED = "closed"


class ItemKind(StrEnum):
    """What an item is for; annotators are not told which study items are repeats."""

    CALIBRATION = "calibration"
    STUDY = "study"
    REPEAT = "repeat"


STUDY_STATES = tuple(StudyState)
RATINGS_PER_ITEM = 2
STUDY_ID_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""It begins the names of items, and of the files that are exported."""


@dataclass(frozen=True)
class NewItem:
    """A snapshot of one pair. Side a and b are in the release's order; annotators see them in an order of their own.

    item_id    short and without meaning: an id that followed the strata would tell the verdict
    repeat_of  item_id of the study item that this one silently repeats
    """

    item_id: str
    kind: ItemKind
    question_id: str
    question: str
    handbook_a: str
    handbook_b: str
    name_a: str
    name_b: str
    answer_a: str
    answer_b: str
    repeat_of: str | None = None


@dataclass(frozen=True)
class NewStudy:
    """What a study is made of.

    annotators   two or more usernames. Two: each has a named seat at every item. More: every study item has two open
                 seats, and whoever asks for work takes one (never two at one item); a silent repeat goes to the two who
                 have the item it repeats
    names_shown  whether annotators see which handbook an answer is from
    terms        the release's own words for handbook, organ, ...
    synthetic    whether the texts were made up
    """

    study_id: str
    title: str
    annotators: Sequence[str]
    items: Sequence[NewItem]
    seed: int
    names_shown: bool = False
    terms: dict[str, str] = field(default_factory=dict)
    synthetic: bool = False


@dataclass(frozen=True)
class Study:
    """A study as it stands."""

    study_id: str
    title: str
    state: StudyState
    names_shown: bool
    seed: int
    terms: dict[str, str]
    created_at: str
    synthetic: bool


@dataclass(frozen=True)
class Progress:
    """How far one annotator is in one part of a study.

    rated, seats  items done, and items that are this annotator's (open seats count for nobody)
    """

    annotator: str
    calibration: bool
    rated: int
    assignments: int


def create_study(tx: Connection, new: NewStudy, now: datetime) -> None:
    """Make a study with its items, its seats and each annotator's own order and sides.

    The orders and sides follow from the study's seed and the usernames, so the same call makes the same study.

    Raises StudyError when the id is taken or not allowed, an annotator has no account or another role, or they are fewer
    than two.
    """
    check_study_id(new.study_id)
    _check(tx, new)
    state = StudyState.CALIBRATION if any(item.kind is ItemKind.CALIBRATION for item in new.items) else StudyState.LABELLING
    own = {name: getattr(new, name) for name in ("study_id", "title", "names_shown", "seed", "terms", "synthetic")}
    try:
        tx.execute(insert(studies).values(**own, state=state, created_at=to_timestamp(now)))
    except IntegrityError:
        raise StudyError(f"There is a study '{new.study_id}' already. Nothing was made. Choose another id.") from None
    tx.execute(insert(study_members), [{"study_id": new.study_id, "annotator": name} for name in new.annotators])
    ordered = sorted(new.items, key=lambda item: item.repeat_of is not None)  # a repeat refers to an item that is there
    tx.execute(insert(items), [{"study_id": new.study_id, **_row(item)} for item in ordered])
    tx.execute(insert(assignments), list(_seats(new)))
    ledger.start(tx, new.study_id)


def check_study_id(study_id: str) -> None:
    """Raise StudyError where a new study may not be called so."""
    if not STUDY_ID_PATTERN.fullmatch(study_id):
        raise StudyError(
            f"'{study_id}' is no id for a study. Allowed: at most 64 of A-Z, a-z, 0-9 and . _ -, first a letter or a digit. "
            "Nothing was made."
        )


def _row(item: NewItem) -> dict[str, Any]:
    return {name: storable_text(value) if isinstance(value, str) else value for name, value in asdict(item).items()}


def _check(tx: Connection, new: NewStudy) -> None:
    roles = dict(map(tuple, tx.execute(select(users.c.username, users.c.role))))
    wrong = [name for name in new.annotators if roles.get(name) != "annotator"]
    faults = {
        f"'{', '.join(wrong)}' has no account with the role annotator": bool(wrong),
        f"it needs {RATINGS_PER_ITEM} or more different annotators": len(set(new.annotators)) < RATINGS_PER_ITEM,
        "an annotator is named twice": len(set(new.annotators)) != len(new.annotators),
        "it has no items": not any(item.kind is ItemKind.STUDY for item in new.items),
    }
    found = [fault for fault, wrong_so in faults.items() if wrong_so]
    if found:
        raise StudyError(f"Study '{new.study_id}' cannot be made: {'; '.join(found)}. Nothing was made.")


def _seats(new: NewStudy) -> Iterable[dict[str, Any]]:
    named = len(new.annotators) == RATINGS_PER_ITEM
    for number, annotator in enumerate(new.annotators):
        for calibration in (True, False):
            if calibration or named:
                mine = [item for item in new.items if (item.kind is ItemKind.CALIBRATION) is calibration]
                yield from _own_seats(new, annotator, chr(ord("A") + number), calibration, mine)
    if not named:
        for letter in "AB":
            yield from (_seat(new, item, letter, None, None) for item in new.items if item.kind is not ItemKind.CALIBRATION)


def _own_seats(
    new: NewStudy, annotator: str, letter: str, calibration: bool, mine: Sequence[NewItem]
) -> Iterable[dict[str, Any]]:
    chance = np.random.default_rng([new.seed, zlib.crc32(annotator.encode()), calibration])
    for position, item in enumerate(randomised_order(mine, chance), start=1):
        yield _seat(new, item, letter, annotator, position)


def randomised_order(mine: Sequence[NewItem], chance: np.random.Generator) -> list[NewItem]:
    """The items shuffled, a repeat at least a quarter of the way behind the item it repeats."""
    place = {item.item_id: float(draw) for item, draw in zip(mine, chance.random(len(mine)), strict=True)}
    for item in mine:
        if item.repeat_of is not None:
            place[item.repeat_of] /= 2
            place[item.item_id] = place[item.repeat_of] + 0.25 + place[item.item_id] / 4
    return sorted(mine, key=lambda item: place[item.item_id])


def _seat(new: NewStudy, item: NewItem, letter: str, annotator: str | None, position: int | None) -> dict[str, Any]:
    # Half of all first bits are 1: a side by lot, the same whenever the same study is made.
    lot = hashlib.sha256(f"{new.seed}/{new.study_id}/{item.item_id}/{letter}".encode()).hexdigest()
    return {
        "seat_id": lot[:12],
        "study_id": new.study_id,
        "item_id": item.item_id,
        "seat": letter,
        "calibration": item.kind is ItemKind.CALIBRATION,
        "annotator": annotator,
        "position": position,
        "swapped": int(lot[-1], 16) >= 8,
    }


def find_study(store: LabelStore, study_id: str) -> Study:
    """The study of that id.

    Raises StudyError, naming the studies there are.
    """
    known = {study.study_id: study for study in list_studies(store)}
    if study_id not in known:
        there_are = f"There are: {', '.join(known)}." if known else "There is none yet; make one with: annotation sample"
        raise StudyError(f"There is no study '{study_id}'. {there_are}")
    return known[study_id]


def list_studies(store: LabelStore, annotator: str | None = None) -> list[Study]:
    """All studies, newest first; with `annotator`, those in which that person rates."""
    wanted = select(studies).order_by(studies.c.created_at.desc(), studies.c.study_id)
    if annotator is not None:
        wanted = wanted.join(study_members, study_members.c.study_id == studies.c.study_id).where(
            study_members.c.annotator == annotator
        )
    with store.read() as con:
        return [_study(row) for row in con.execute(wanted).mappings()]


def _study(row: RowMapping) -> Study:
    return Study(**{**{name: row[name] for name in Study.__dataclass_fields__}, "state": StudyState(row["state"])})


def list_annotators(store: LabelStore, study_id: str) -> list[str]:
    """Who rates in a study, by seat (A first) where seats are named, else by name."""
    first = (
        select(assignments.c.annotator, func.min(assignments.c.seat))
        .where(assignments.c.study_id == study_id)
        .group_by(assignments.c.annotator)
    )
    with store.read() as con:
        names = con.execute(select(study_members.c.annotator).where(study_members.c.study_id == study_id)).scalars().all()
        letter = dict(map(tuple, con.execute(first)))
    return sorted(names, key=lambda name: (letter.get(name, ""), name))


def find_annotator(store: LabelStore, study_id: str, name: str) -> str:
    """The username of one who rates in the study. Raises StudyError, naming those who do, for anybody else."""
    find_study(store, study_id)
    known, username = list_annotators(store, study_id), name.strip().casefold()
    if username not in known:
        raise StudyError(f"'{name}' does not rate in study '{study_id}'. Nothing was done. Its annotators: {', '.join(known)}.")
    return username


def study_progress(store: LabelStore, study_id: str) -> list[Progress]:
    """How far every annotator is, calibration and study apart. Counts only: nothing of what was said."""
    done = func.sum(case((assignments.c.current.is_not(None), 1), else_=0))
    counted = (
        select(assignments.c.annotator, assignments.c.calibration, done, func.count())
        .where(assignments.c.study_id == study_id, assignments.c.annotator.is_not(None))
        .group_by(assignments.c.annotator, assignments.c.calibration)
        .order_by(assignments.c.calibration.desc(), assignments.c.annotator)
    )
    with store.read() as con:
        return [Progress(name, bool(cal), int(rated), int(total)) for name, cal, rated, total in con.execute(counted)]


def advance_study(tx: Connection, study_id: str, expected: StudyState, *, incomplete: bool = False) -> StudyState:
    """Move a study from the state that the caller saw to the next one, and return that.

    incomplete  leave calibration or labelling although seats are unrated; items with fewer than two ratings have no gold

    Raises StudyError when the study is closed, when ratings are missing and `incomplete` is false, or when somebody else
    moved it a moment ago. Whether every difference is decided is for `annotation.studies.adjudication.close_study` to say.
    """
    if expected is StudyState.CLOSED:
        raise StudyError(f"Study '{study_id}' is closed. Nothing was changed. Draw a new sample for more ratings.")
    ledger.lock(tx, ratings, study_id)  # a rating that is on its way comes before the move or is refused after it
    if not incomplete:
        _refuse_unrated(tx, study_id, expected)
    following = STUDY_STATES[STUDY_STATES.index(expected) + 1]
    here = (studies.c.study_id == study_id, studies.c.state == expected)
    if tx.execute(update(studies).where(*here).values(state=following)).rowcount != 1:
        raise StudyError(f"Study '{study_id}' is no longer in the state {expected}. Nothing was changed. Look at it again.")
    return following


def _refuse_unrated(tx: Connection, study_id: str, state: StudyState) -> None:
    of_state = assignments.c.calibration == (state is StudyState.CALIBRATION)
    left = tx.execute(
        select(func.count()).where(assignments.c.study_id == study_id, of_state, assignments.c.current.is_(None))
    ).scalar_one()
    if left and state in (StudyState.CALIBRATION, StudyState.LABELLING):
        raise StudyError(
            f"Study '{study_id}': {left:,} ratings of the {state} round are still to come. The study stays in {state}. "
            "Wait for them, or move on although ratings are missing (in a terminal: --incomplete)."
        )
