"""Studies: created with all their items and assignments, moved from state to state, and watched."""

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

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.ledger import lock_study_head, start_study_ledgers
from annotation.label_store.schema import assignments, items, ratings, storable_text, studies, study_members, to_timestamp, users


class StudyState(StrEnum):
    """What may happen in a study now; a study only moves forward."""

    CALIBRATION = "calibration"
    LABELLING = "labelling"
    ADJUDICATION = "adjudication"
    CLOSED = "closed"


class ItemKind(StrEnum):
    """What an item is for. Annotators do not learn which items are repeats."""

    CALIBRATION = "calibration"
    STUDY = "study"
    REPEAT = "repeat"


STUDY_STATES = tuple(StudyState)
RATINGS_PER_ITEM = 2
STUDY_ID_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""Study ids begin item ids and the names of exported files, hence the restriction."""


@dataclass(frozen=True)
class NewItem:
    """A snapshot of one pair. Sides a and b are in the release's order; annotators see them in an order of their own.

    item_id    short and meaningless: an id that followed the strata would reveal the verdict
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
    """What a study is created from.

    annotators   two or more usernames. With two, both rate every item. With more, every study item has two unassigned slots,
                 and an annotator who asks for work claims one (never both of an item); a silent repeat goes to the two
                 annotators who have the item it repeats
    names_shown  whether annotators see which handbook an answer is from
    terms        the release's own words for handbook, organ, ...
    synthetic    whether the texts are synthetic
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
    """A study in its current state."""

    study_id: str
    title: str
    state: StudyState
    names_shown: bool
    seed: int
    terms: dict[str, str]
    created_at: str
    synthetic: bool


@dataclass(frozen=True)
class AnnotatorProgress:
    """How far one annotator is in one round of a study.

    rated, assignments  items done, and items assigned to this annotator (unassigned slots count for nobody)
    """

    annotator: str
    calibration: bool
    rated: int
    assignments: int


# -- creating ----------------------------------------------------------------------------------------------------------


def create_study(tx: Connection, new: NewStudy, now: datetime) -> None:
    """Create a study with its items, its assignments, and each annotator's own order and sides.

    Orders and sides follow from the study's seed and the usernames, so the same call creates the same study.

    Raises StudyError when the id is taken or not allowed, an annotator has no account or another role, or there are fewer
    than two annotators.
    """
    check_study_id(new.study_id)
    _check_new_study(tx, new)
    calibration = any(item.kind is ItemKind.CALIBRATION for item in new.items)
    state = StudyState.CALIBRATION if calibration else StudyState.LABELLING
    values = {name: getattr(new, name) for name in ("study_id", "title", "names_shown", "seed", "terms", "synthetic")}
    try:
        tx.execute(insert(studies).values(**values, state=state, created_at=to_timestamp(now)))
    except IntegrityError:
        raise StudyError(f"Study '{new.study_id}' already exists. Nothing was created. Choose another id.") from None
    tx.execute(insert(study_members), [{"study_id": new.study_id, "annotator": name} for name in new.annotators])
    originals_first = sorted(new.items, key=lambda item: item.repeat_of is not None)  # repeats refer to rows that must exist
    tx.execute(insert(items), [{"study_id": new.study_id, **_item_row(item)} for item in originals_first])
    tx.execute(insert(assignments), list(_assignment_rows(new)))
    start_study_ledgers(tx, new.study_id)


def check_study_id(study_id: str) -> None:
    """Raise StudyError when a new study may not have this id."""
    if not STUDY_ID_PATTERN.fullmatch(study_id):
        raise StudyError(
            f"'{study_id}' is not a valid study id. Allowed: up to 64 of A-Z, a-z, 0-9 and . _ -, beginning with a letter or a "
            "digit. Nothing was created."
        )


def _item_row(item: NewItem) -> dict[str, Any]:
    return {name: storable_text(value) if isinstance(value, str) else value for name, value in asdict(item).items()}


def _check_new_study(tx: Connection, new: NewStudy) -> None:
    roles = dict(map(tuple, tx.execute(select(users.c.username, users.c.role))))
    wrong_role = [name for name in new.annotators if roles.get(name) != "annotator"]
    checks = {
        f"'{', '.join(wrong_role)}' has no account with the role annotator": bool(wrong_role),
        f"it needs at least {RATINGS_PER_ITEM} different annotators": len(set(new.annotators)) < RATINGS_PER_ITEM,
        "an annotator is named twice": len(set(new.annotators)) != len(new.annotators),
        "it has no items": not any(item.kind is ItemKind.STUDY for item in new.items),
    }
    faults = [fault for fault, failed in checks.items() if failed]
    if faults:
        raise StudyError(f"Study '{new.study_id}' cannot be created: {'; '.join(faults)}. Nothing was created.")


def _assignment_rows(new: NewStudy) -> Iterable[dict[str, Any]]:
    calibration = [item for item in new.items if item.kind is ItemKind.CALIBRATION]
    study = [item for item in new.items if item.kind is not ItemKind.CALIBRATION]
    everybody_rates_all = len(new.annotators) == RATINGS_PER_ITEM
    for number, annotator in enumerate(new.annotators):
        letter = chr(ord("A") + number)
        yield from _ordered_rows(new, annotator, letter, True, calibration)
        if everybody_rates_all:
            yield from _ordered_rows(new, annotator, letter, False, study)
    if not everybody_rates_all:
        for letter in "AB":
            yield from (_assignment_row(new, item, letter, None, None) for item in study)


def _ordered_rows(
    new: NewStudy, annotator: str, letter: str, calibration: bool, own_items: Sequence[NewItem]
) -> Iterable[dict[str, Any]]:
    rng = np.random.default_rng([new.seed, zlib.crc32(annotator.encode()), calibration])
    for position, item in enumerate(randomised_order(own_items, rng), start=1):
        yield _assignment_row(new, item, letter, annotator, position)


def randomised_order(own_items: Sequence[NewItem], rng: np.random.Generator) -> list[NewItem]:
    """The items in randomised order, each repeat at least a quarter of the way behind the item it repeats."""
    rank = {item.item_id: float(draw) for item, draw in zip(own_items, rng.random(len(own_items)), strict=True)}
    for item in own_items:
        if item.repeat_of is not None:
            rank[item.repeat_of] /= 2
            rank[item.item_id] = rank[item.repeat_of] + 0.25 + rank[item.item_id] / 4
    return sorted(own_items, key=lambda item: rank[item.item_id])


def _assignment_row(new: NewStudy, item: NewItem, letter: str, annotator: str | None, position: int | None) -> dict[str, Any]:
    # The hash is the random draw: the last hex digit is 8 or more for half of all assignments, and the same in every rebuild.
    draw = hashlib.sha256(f"{new.seed}/{new.study_id}/{item.item_id}/{letter}".encode()).hexdigest()
    return {
        "seat_id": draw[:12],
        "study_id": new.study_id,
        "item_id": item.item_id,
        "seat": letter,
        "calibration": item.kind is ItemKind.CALIBRATION,
        "annotator": annotator,
        "position": position,
        "swapped": int(draw[-1], 16) >= 8,
    }


# -- looking up --------------------------------------------------------------------------------------------------------


def find_study(store: LabelStore, study_id: str) -> Study:
    """The study with that id.

    Raises StudyError, naming the studies that exist.
    """
    known = {study.study_id: study for study in list_studies(store)}
    if study_id not in known:
        existing = f"Existing studies: {', '.join(known)}." if known else "There are none. Create one with: audit study sample"
        raise StudyError(f"There is no study '{study_id}'. {existing}")
    return known[study_id]


def list_studies(store: LabelStore, annotator: str | None = None) -> list[Study]:
    """All studies, newest first; with `annotator`, those in which that person rates."""
    query = select(studies).order_by(studies.c.created_at.desc(), studies.c.study_id)
    if annotator is not None:
        own = study_members.c.study_id == studies.c.study_id
        query = query.join(study_members, own).where(study_members.c.annotator == annotator)
    with store.read() as con:
        return [_study_of(row) for row in con.execute(query).mappings()]


def _study_of(row: RowMapping) -> Study:
    return Study(**{**{name: row[name] for name in Study.__dataclass_fields__}, "state": StudyState(row["state"])})


def list_annotators(store: LabelStore, study_id: str) -> list[str]:
    """Who rates in a study: by letter (A first) where both annotators rate every item, else by name."""
    first_letters = select(assignments.c.annotator, func.min(assignments.c.seat)).where(assignments.c.study_id == study_id)
    members = select(study_members.c.annotator).where(study_members.c.study_id == study_id)
    with store.read() as con:
        names = con.execute(members).scalars().all()
        letters = dict(map(tuple, con.execute(first_letters.group_by(assignments.c.annotator))))
    return sorted(names, key=lambda name: (letters.get(name, ""), name))


def find_annotator(store: LabelStore, study_id: str, name: str) -> str:
    """The username of somebody who rates in the study. Raises StudyError, naming its annotators, for anybody else."""
    find_study(store, study_id)
    known, username = list_annotators(store, study_id), name.strip().casefold()
    if username not in known:
        raise StudyError(
            f"'{name}' is not an annotator of study '{study_id}'. Nothing was done. Its annotators: {', '.join(known)}."
        )
    return username


def study_progress(store: LabelStore, study_id: str) -> list[AnnotatorProgress]:
    """How far each annotator is, calibration and study separately. Counts only, never what somebody chose."""
    column = assignments.c
    done = func.sum(case((column.current.is_not(None), 1), else_=0))
    counts = (
        select(column.annotator, column.calibration, done, func.count())
        .where(column.study_id == study_id, column.annotator.is_not(None))
        .group_by(column.annotator, column.calibration)
        .order_by(column.calibration.desc(), column.annotator)
    )
    with store.read() as con:
        rows = con.execute(counts)
        return [AnnotatorProgress(name, bool(calibration), int(rated), int(total)) for name, calibration, rated, total in rows]


# -- moving forward ----------------------------------------------------------------------------------------------------


def advance_study(tx: Connection, study_id: str, expected: StudyState, *, incomplete: bool = False) -> StudyState:
    """Move a study from the state that the caller saw to the next one, and return that.

    incomplete  leave calibration or labelling although ratings are missing; items with fewer than two ratings get no gold label

    Raises StudyError when the study is closed, when ratings are missing and `incomplete` is false, or when somebody else
    moved it a moment ago. `annotation.studies.adjudication.close_study` checks that every dispute is decided.
    """
    if expected is StudyState.CLOSED:
        raise StudyError(f"Study '{study_id}' is closed. Nothing was changed. Draw a new sample to collect more ratings.")
    lock_study_head(tx, ratings, study_id)  # a rating submitted now is stored before the move, or refused after it
    if not incomplete:
        _refuse_if_unrated(tx, study_id, expected)
    following = STUDY_STATES[STUDY_STATES.index(expected) + 1]
    unchanged = (studies.c.study_id == study_id, studies.c.state == expected)
    if tx.execute(update(studies).where(*unchanged).values(state=following)).rowcount != 1:
        raise StudyError(f"Study '{study_id}' is no longer in the state {expected}. Nothing was changed. Look at it again.")
    return following


def _refuse_if_unrated(tx: Connection, study_id: str, state: StudyState) -> None:
    column = assignments.c
    in_round = (column.study_id == study_id, column.calibration == (state is StudyState.CALIBRATION))
    missing = tx.execute(select(func.count()).where(*in_round, column.current.is_(None))).scalar_one()
    if missing and state in (StudyState.CALIBRATION, StudyState.LABELLING):
        raise StudyError(
            f"Study '{study_id}': {missing:,} ratings of the {state} round are missing. The study stays in {state}. "
            "Wait for them, or continue with missing ratings (in a terminal: --incomplete)."
        )
