"""Small studies for tests: people with cheap password hashes, items that can be told apart by eye."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from argon2 import PasswordHasher
from sqlalchemy import select

from annotation.label_store.assignments import Choice, LabellingTask, list_tasks, next_task
from annotation.label_store.engine import LabelStore
from annotation.label_store.ratings import NewRating, Rating, rating_of, submit_rating
from annotation.label_store.schema import ratings
from annotation.label_store.studies import ItemKind, StudyState, advance_study
from annotation.label_store.study_creation import NewItem, NewStudy, create_study
from annotation.studies.accounts import add_account

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
PASSWORD = "four random words here"


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def people(store: LabelStore, *names: str, role: str = "annotator") -> tuple[str, ...]:
    for name in names:
        add_account(store, name, role, PASSWORD, NOW, hasher=CHEAP)
    return names


def item(number: int, kind: ItemKind = ItemKind.STUDY, repeat_of: str | None = None, **other: Any) -> NewItem:
    told: dict[str, Any] = {
        "item_id": f"i{number:03}", "kind": kind, "question_id": f"q{number}", "question": f"Question {number}?",
        "handbook_a": "alder", "handbook_b": "birch", "name_a": "Alder Handbook", "name_b": "Birch Handbook",
        "answer_a": f"Alder says {number}.", "answer_b": f"Birch says {number}.", "repeat_of": repeat_of,
    }  # fmt: skip
    return NewItem(**{**told, **other})


def study_of(
    store: LabelStore,
    items: Sequence[NewItem] | int,
    annotators: Sequence[str] = ("ana", "ben"),
    *,
    study_id: str = "s",
    **other: Any,
) -> str:
    """A study of these items, or of so many; its annotators get accounts."""
    people(store, *annotators)
    made = [item(n) for n in range(1, items + 1)] if isinstance(items, int) else list(items)
    with store.begin() as tx:
        create_study(tx, NewStudy(study_id, "A study", annotators, made, **{"seed": 5, **other}), NOW)
    return study_id


def seat_at(store: LabelStore, annotator: str, item_number: int) -> LabellingTask:
    """The annotator's task for an item that `item` made."""
    return next(task for task in list_tasks(store, "s", annotator) if task.question == f"Question {item_number}?")


def rating_history(store: LabelStore, study_id: str) -> list[dict[str, Any]]:
    """Every rating ever given in a study, superseded ones included, in the order in which they came."""
    with store.read() as con:
        found = con.execute(select(ratings).where(ratings.c.study_id == study_id).order_by(ratings.c.seq)).mappings()
        return [dict(row) for row in found]


def history(store: LabelStore, seat_id: str, annotator: str) -> list[Rating]:
    """Every rating that somebody gave at a seat, first to last."""
    with store.read() as con:
        here = (ratings.c.seat_id == seat_id, ratings.c.annotator == annotator)
        return [rating_of(row) for row in con.execute(select(ratings).where(*here).order_by(ratings.c.revision)).mappings()]


def rate(
    store: LabelStore, annotator: str, item_number: int, label: str, significance: str | None = None, **other: Any
) -> Rating:
    """One rating, or a revision of the one there is."""
    task = seat_at(store, annotator, item_number)
    choice = Choice(label, significance, **other)
    key = f"{annotator}/{item_number}/{task.revision}"
    return submit_rating(store, annotator, NewRating(task.assignment_id, choice, key, task.revision), NOW)


def rate_all(
    store: LabelStore,
    annotator: str,
    label: str = "CONSISTENT",
    significance: str | None = None,
    *,
    study_id: str = "s",
    **other: Any,
) -> int:
    """Rate every item that is left; returns their number."""
    done, choice = 0, Choice(label, significance, **other)
    while (task := next_task(store, study_id, annotator, NOW, "v")) is not None:
        submit_rating(store, annotator, NewRating(task.assignment_id, choice, f"all/{task.assignment_id}"), NOW)
        done += 1
    return done


def step(store: LabelStore, state: StudyState, *, incomplete: bool = False) -> StudyState:
    with store.begin() as tx:
        return advance_study(tx, "s", state, NOW, incomplete=incomplete)
