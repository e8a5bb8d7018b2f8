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
from annotation.label_store.results import assignment_rows
from annotation.label_store.schema import ratings
from annotation.label_store.studies import ItemKind, StudyState, advance_study
from annotation.label_store.study_creation import NewItem, NewStudy, create_study
from annotation.schemes import HEAD_TO_HEAD
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


def head_to_head_of(
    store: LabelStore, count: int, annotators: Sequence[str] = ("ana", "ben"), *, more: Sequence[NewItem] = (), **other: Any
) -> str:
    """A head-to-head study of so many questions: `plain` (Plain model) and `found` (Model with retrieval), and a reference."""
    items = [compared(number) for number in range(1, count + 1)]
    return study_of(store, [*items, *more], annotators, scheme=HEAD_TO_HEAD, **other)


def compared(number: int, *where: Any, **other: Any) -> NewItem:
    """An item of a head-to-head study."""
    told = {
        "handbook_a": "plain", "handbook_b": "found", "name_a": "Plain model", "name_b": "Model with retrieval",
        "answer_a": f"Plain says {number}.", "answer_b": f"Found says {number}.", "reference": f"Reference {number}.",
    }  # fmt: skip
    return item(number, *where, **{**told, **other})


def prefer(store: LabelStore, annotator: str, item_number: int, system: str, **other: Any) -> Rating:
    """A choice in terms of systems (A: answer a of the item), made on the side where this annotator sees that system."""
    swapped = next(
        row["swapped"]
        for row in assignment_rows(store, "s")
        if row["annotator"] == annotator and row["question"] == f"Question {item_number}?"
    )
    return rate(store, annotator, item_number, str(HEAD_TO_HEAD.turned(system, swapped)), **other)


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
