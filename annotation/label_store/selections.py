"""Saved selections as rows: a name, and the address of a list with its filters. The rules are in `annotation.studies`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from annotation.label_store.engine import LabelStore
from annotation.label_store.schema import saved_selections
from annotation.label_store.stored_values import record_of, to_timestamp


@dataclass(frozen=True)
class SavedSelection:
    """A selection that somebody saved.

    address   the query of the list's address, without the run: `organ=heart&significance=high`
    author    username
    saved_at  UTC, ISO 8601
    """

    name: str
    address: str
    author: str
    saved_at: str


def list_selections(store: LabelStore) -> list[SavedSelection]:
    """Every saved selection, by name."""
    with store.read() as con:
        return [record_of(SavedSelection, row) for row in con.execute(select(saved_selections)).mappings().all()]


def find_selection(tx: Connection, name: str) -> SavedSelection | None:
    """The selection of that name, locked until the transaction ends; None if there is none."""
    row = tx.execute(select(saved_selections).where(saved_selections.c.name == name).with_for_update()).mappings().first()
    return None if row is None else record_of(SavedSelection, row)


def put_selection(tx: Connection, name: str, address: str, author: str, now: datetime) -> None:
    """Write a selection in the place of the one that had its name."""
    remove_selection(tx, name)
    tx.execute(insert(saved_selections).values(name=name, address=address, author=author, saved_at=to_timestamp(now)))


def remove_selection(tx: Connection, name: str) -> None:
    """Delete the selection of that name, if there is one."""
    tx.execute(delete(saved_selections).where(saved_selections.c.name == name))
