"""The exit question to raters: whose do you think this answer is? Asked when all of a rater's items are rated.

The institutions to choose among, and the answers, are events in the study's ledger, so a store of before needs no new table;
a study that was created without institutions asks nothing. Nothing here says who is right.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from annotation.label_store.assignments import annotator_assignments, slot
from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.ledger import lock_study_head
from annotation.label_store.schema import items, study_events
from annotation.label_store.seals import GUESS, INSTITUTIONS, events_of, record_study_event
from annotation.label_store.studies import ItemKind, StudyState, annotators_share_items, state_for_annotator
from audit.vocabulary import NOTHING_SAID

ASKED = 10
"""Answers that each rater is asked about, at most."""


@dataclass(frozen=True)
class ExitQuestion:
    """One answer that a rater has read on side A."""

    assignment_id: str
    question: str
    answer: str


@dataclass(frozen=True)
class ExitQuestions:
    """What a rater is still asked: the institutions to choose among, the answers, and how many are answered."""

    institutions: tuple[str, ...] = ()
    open: tuple[ExitQuestion, ...] = ()
    answered: int = 0


def record_institutions(tx: Connection, study_id: str, institutions: Mapping[str, str], now: datetime) -> None:
    """Record what the exit question asks among: handbook id -> institution. Fewer than two: nothing is asked."""
    if len(set(institutions.values())) > 1:
        record_study_event(tx, study_id, INSTITUTIONS, {"of": dict(institutions)}, now)


def institutions_of(con: Connection, study_id: str) -> dict[str, str]:
    """Handbook id -> institution; empty where the study asks no exit question."""
    recorded = events_of(con, study_id, INSTITUTIONS)
    return dict(recorded[-1]["of"]) if recorded else {}


def exit_questions(store: LabelStore, study_id: str, annotator: str) -> ExitQuestions:
    """What a rater is asked now; nothing before all of their items are rated, nor after labelling has ended."""
    with store.read() as con:
        return _exit_questions(con, study_id, annotator)


def answer_exit_question(
    store: LabelStore, study_id: str, annotator: str, assignment_id: str, institution: str | None, now: datetime
) -> None:
    """Store a rater's answer; None: does not know. It cannot be changed.

    Raises StudyError for an answer that is not asked about, and for an institution that is not one of the study's.
    """
    with store.begin() as tx:
        lock_study_head(tx, study_events, study_id)
        asked = _exit_questions(tx, study_id, annotator)
        if assignment_id not in {one.assignment_id for one in asked.open}:
            raise StudyError("You are not asked about this answer, or have answered it already. Nothing was saved.")
        if institution is not None and institution not in asked.institutions:
            raise StudyError("This is not one of the institutions of the study. Nothing was saved. Choose one of the list.")
        body = {"seat_id": assignment_id, "annotator": annotator, "institution": institution}
        record_study_event(tx, study_id, GUESS, body, now)


def _exit_questions(con: Connection, study_id: str, annotator: str) -> ExitQuestions:
    institutions = tuple(sorted(set(institutions_of(con, study_id).values())))
    if not institutions or state_for_annotator(con, study_id, annotator) is not StudyState.LABELLING:
        return ExitQuestions()
    own = annotator_assignments(study_id, annotator, False)
    columns = (slot.seat_id, slot.current, slot.swapped, items.c.kind, items.c.question, items.c.answer_a, items.c.answer_b)
    found = con.execute(select(*columns).where(own, items.c.item_id == slot.item_id)).all()
    unclaimed = select(slot.seat_id).where(slot.study_id == study_id, slot.annotator.is_(None)).limit(1)
    more = annotators_share_items(con, study_id) and con.execute(unclaimed).first() is not None
    if not found or more or any(row.current is None for row in found):
        return ExitQuestions()
    shown = [
        ExitQuestion(row.seat_id, row.question, row.answer_b if row.swapped else row.answer_a)
        for row in found
        if row.kind == ItemKind.STUDY.value
    ]
    # The hash is the draw: the same for a rater at every visit, and unrelated to the item
    drawn = sorted(shown, key=lambda one: hashlib.sha256(f"exit/{one.assignment_id}".encode()).hexdigest())
    asked = [one for one in drawn if one.answer != NOTHING_SAID][:ASKED]
    done = {guess["seat_id"] for guess in events_of(con, study_id, GUESS) if guess["annotator"] == annotator}
    return ExitQuestions(institutions, tuple(one for one in asked if one.assignment_id not in done), len(done))
