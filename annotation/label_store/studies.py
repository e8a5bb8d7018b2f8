"""Studies: looked up, watched, and moved from state to state. `annotation.label_store.study_creation` creates them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Connection, and_, case, func, select, update

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.ledger import lock_study_head
from annotation.label_store.schema import assignments, items, ratings, studies, study_members
from annotation.label_store.seals import STATE, record_study_event
from annotation.label_store.stored_values import record_of
from annotation.schemes import SCHEMES, Scheme
from audit.terms import own_term


class StudyState(StrEnum):
    """The state of a study; a study only moves forward."""

    CALIBRATION = "calibration"
    LABELLING = "labelling"
    ADJUDICATION = "adjudication"
    CLOSED = "closed"


class ItemKind(StrEnum):
    """The purpose of an item. Annotators do not learn which items are repeats."""

    CALIBRATION = "calibration"
    STUDY = "study"
    REPEAT = "repeat"


STUDY_STATES = tuple(StudyState)
RATINGS_PER_ITEM = 2
"""The default number of ratings per item."""
MAX_RATINGS_PER_ITEM = 5


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
    scheme: Scheme
    ratings_per_item: int = RATINGS_PER_ITEM

    def term(self, word: str, count: int = 1) -> str:
        """The release's own word for `word`; plural unless `count` is 1."""
        return own_term(self.terms, word, count)


@dataclass(frozen=True)
class AnnotatorProgress:
    """How far one annotator is in one round of a study.

    rated, assignments  items done, and items assigned to this annotator (unassigned slots count for nobody)
    """

    annotator: str
    calibration: bool
    rated: int
    assignments: int


# -- looking up --------------------------------------------------------------------------------------------------------


def find_study(store: LabelStore, study_id: str) -> Study:
    """The study with that id.

    Raises StudyError, naming the studies that exist.
    """
    known = {study.study_id: study for study in list_studies(store)}
    if study_id not in known:
        existing = f"Existing studies: {', '.join(known)}." if known else "There are none. Create one with: audit study create"
        raise StudyError(f"There is no study '{study_id}'. {existing}")
    return known[study_id]


def list_studies(store: LabelStore, annotator: str | None = None) -> list[Study]:
    """All studies, newest first; with `annotator`, those in which that person rates, under their neutral titles."""
    query = select(studies).order_by(studies.c.created_at.desc(), studies.c.study_id)
    members = select(study_members.c.study_id).where(study_members.c.annotator == annotator)
    with store.read() as con:
        rows = con.execute(query).mappings().all()
        own = None if annotator is None else set(con.execute(members).scalars())
    listed = [record_of(Study, {**row, "state": StudyState(row["state"]), "scheme": SCHEMES[row["scheme"]]}) for row in rows]
    if own is None:
        return listed
    titles = neutral_titles(listed)
    return [replace(study, title=titles[study.study_id]) for study in listed if study.study_id in own]


def neutral_titles(newest_first: Sequence[Study]) -> dict[str, str]:
    """The neutral title shown to annotators: a real title such as "Is DIVERGENT overused?" would bias them.

    newest_first  all studies, as `list_studies` gives them, because they are numbered in the order of their creation
    """
    numbers = range(len(newest_first), 0, -1)
    return {study.study_id: f"Study {n} ({study.scheme.name})" for n, study in zip(numbers, newest_first, strict=True)}


def answers_shown(store: LabelStore, study_id: str) -> list[tuple[str, str, str]]:
    """(item id, first answer, second answer) of a study's items as annotators read them, silent repeats excluded."""
    query = select(items.c.item_id, items.c.answer_a, items.c.answer_b).where(items.c.study_id == study_id)
    with store.read() as con:
        rows = con.execute(query.where(items.c.kind != ItemKind.REPEAT.value).order_by(items.c.item_id))
        return [(item_id, first, second) for item_id, first, second in rows]


def items_shown(store: LabelStore, study_id: str) -> list[tuple[str, str, str, str, str]]:
    """(question id, whose first answer, whose second, the two answers) of a study's items, silent repeats excluded."""
    columns = (items.c.question_id, items.c.handbook_a, items.c.handbook_b, items.c.answer_a, items.c.answer_b)
    query = select(*columns).where(items.c.study_id == study_id, items.c.kind != ItemKind.REPEAT.value)
    with store.read() as con:
        return [(q, a, b, first, second) for q, a, b, first, second in con.execute(query.order_by(items.c.item_id))]


def question_of_items(store: LabelStore, study_id: str) -> dict[str, str]:
    """Item id -> question id, of the items of a study's sample."""
    query = select(items.c.item_id, items.c.question_id).where(items.c.study_id == study_id, items.c.kind == ItemKind.STUDY.value)
    with store.read() as con:
        return dict(map(tuple, con.execute(query)))


def list_annotators(store: LabelStore, study_id: str) -> list[str]:
    """Who rates in a study: by letter (A first) where everybody rates every item, else by name."""
    # Letters, because the columns of a study (annotator_a, ...) follow them.
    first_letters = select(assignments.c.annotator, func.min(assignments.c.seat)).where(assignments.c.study_id == study_id)
    members = select(study_members.c.annotator).where(study_members.c.study_id == study_id)
    with store.read() as con:
        names = con.execute(members).scalars().all()
        letters = dict(map(tuple, con.execute(first_letters.group_by(assignments.c.annotator))))
    return sorted(names, key=lambda name: (letters.get(name, ""), name))


def count_annotators(con: Connection, study_id: str) -> int:
    """How many annotators a study has."""
    members = select(func.count()).select_from(study_members).where(study_members.c.study_id == study_id)
    return int(con.execute(members).scalar_one())


def annotators_share_items(con: Connection, study_id: str) -> bool:
    """Whether a study has more annotators than ratings of an item, so they claim items instead of rating all."""
    wanted = con.execute(select(studies.c.ratings_per_item).where(studies.c.study_id == study_id)).scalar_one()
    return count_annotators(con, study_id) > int(wanted)


def state_for_annotator(con: Connection, study_id: str, annotator: str) -> StudyState:
    """The state of a study, for somebody who rates in it. Raises StudyError for anybody else."""
    member = study_members.c
    joined = studies.join(study_members, and_(member.study_id == studies.c.study_id, member.annotator == annotator))
    state = con.execute(select(studies.c.state).select_from(joined).where(studies.c.study_id == study_id)).scalar()
    if state is None:
        raise StudyError(f"You do not take part in a study '{study_id}'. Ask the investigator who runs it.")
    return StudyState(state)


def scheme_of(con: Connection, study_id: str) -> Scheme:
    """The scheme of a study."""
    return SCHEMES[con.execute(select(studies.c.scheme).where(studies.c.study_id == study_id)).scalar_one()]


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


def advance_study(tx: Connection, study_id: str, expected: StudyState, now: datetime, *, incomplete: bool = False) -> StudyState:
    """Move a study from the state that the caller saw to the next one, record that as an event, and return the new state.

    incomplete  leave calibration or labelling although ratings are missing; items with fewer than two ratings get no gold label

    Raises StudyError when the study is closed, when ratings are missing and `incomplete` is false, or when somebody else
    moved it a moment ago. `annotation.studies.adjudication.close_study` checks that every dispute is decided.
    """
    if expected is StudyState.CLOSED:
        raise StudyError(f"Study '{study_id}' is closed. Nothing was changed. Draw a new sample to collect more ratings.")
    lock_study_head(tx, ratings, study_id)  # a rating submitted now is stored before the move or rejected after it
    if not incomplete:
        _refuse_if_unrated(tx, study_id, expected)
    following = STUDY_STATES[STUDY_STATES.index(expected) + 1]
    # The expected state is part of the condition: of two people who advance a study at once, one gets an error.
    unchanged = (studies.c.study_id == study_id, studies.c.state == expected)
    if tx.execute(update(studies).where(*unchanged).values(state=following)).rowcount != 1:
        raise StudyError(f"Study '{study_id}' is no longer in the state {expected}. Nothing was changed. Look at it again.")
    record_study_event(tx, study_id, STATE, {"from": expected, "state": following}, now)
    return following


def count_ratings(con: Connection, study_id: str, state: StudyState) -> tuple[int, int]:
    """(ratings missing, ratings in all) of the round that a study is in: of calibration, or of the study itself."""
    column = assignments.c
    missing = func.coalesce(func.sum(case((column.current.is_(None), 1), else_=0)), 0)
    in_round = (column.study_id == study_id, column.calibration == (state is StudyState.CALIBRATION))
    unrated, total = con.execute(select(missing, func.count()).where(*in_round)).one()
    return int(unrated), int(total)


def is_complete(store: LabelStore, study: Study) -> bool:
    """Whether a study is closed with every rating that was planned when it was drawn."""
    with store.read() as con:
        return study.state is StudyState.CLOSED and not count_ratings(con, study.study_id, study.state)[0]


def _refuse_if_unrated(tx: Connection, study_id: str, state: StudyState) -> None:
    missing, _ = count_ratings(tx, study_id, state)
    if missing and state in (StudyState.CALIBRATION, StudyState.LABELLING):
        raise StudyError(
            f"Study '{study_id}': {missing:,} ratings of the {state} round are missing. The study stays in {state}. "
            "Wait for them, or continue with missing ratings (in a terminal: --incomplete)."
        )
