"""The theme edits of a run as rows. Append-only; `annotation.theme_edits` knows what an edit means and when it is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.ledger import append_entry, lock_run_head
from annotation.label_store.ratings import MAX_KEY_LENGTH
from annotation.label_store.schema import theme_edits
from annotation.label_store.stored_values import checked_text, record_of, to_timestamp


@dataclass(frozen=True)
class ThemeEditRow:
    """One entry of the ledger.

    body      the change, as JSON
    undoes    number of the edit that this one undoes, if it is an undo
    taxonomy  sha256 of the taxonomy that the editor was looking at
    key       idempotency key of this click
    """

    seq: int
    kind: str
    body: str
    undoes: int | None
    author: str
    reason: str
    made_at: str
    taxonomy: str
    key: str
    hash: str


def lock_edit_ledger(tx: Connection, run: str) -> Mapping[str, object]:
    """The head of a run's ledger, locked until the transaction ends."""
    return lock_run_head(tx, theme_edits, run)


def edit_rows(con: Connection, run: str) -> list[ThemeEditRow]:
    """Every edit of the themes of a run, oldest first."""
    rows = con.execute(select(theme_edits).where(theme_edits.c.run == run).order_by(theme_edits.c.seq)).mappings()
    return [record_of(ThemeEditRow, row) for row in rows]


def list_edit_rows(store: LabelStore, run: str) -> list[ThemeEditRow]:
    """The same, on a connection of its own."""
    with store.read() as con:
        return edit_rows(con, run)


def count_edits(store: LabelStore, run: str) -> int:
    """How many edits a run has, undos included."""
    with store.read() as con:
        return int(con.execute(select(func.count()).where(theme_edits.c.run == run)).scalar_one())


def append_edit(
    tx: Connection, head: Mapping[str, Any], *, kind: str, body: str, undoes: int | None, author: str, reason: str,
    taxonomy: str, key: str, now: datetime,
) -> ThemeEditRow:  # fmt: skip
    """Write an edit after the locked `head`.

    Raises StudyError when the key is empty or too long, or the reason is missing or too long.
    """
    if not 0 < len(key) <= MAX_KEY_LENGTH:
        raise StudyError(f"An edit needs a key of 1 to {MAX_KEY_LENGTH} characters. Nothing was saved.")
    if not reason.strip():
        raise StudyError("An edit needs a reason. Nothing was saved. Explain it in one sentence.")
    entry = {
        "kind": kind, "body": body, "undoes": undoes, "author": author, "reason": checked_text(reason.strip(), "reason"),
        "made_at": to_timestamp(now), "taxonomy": taxonomy, "key": key,
    }  # fmt: skip
    return record_of(ThemeEditRow, append_entry(tx, theme_edits, dict(head), entry))
