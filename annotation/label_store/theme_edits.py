"""Curation of the themes of a run, as rows. Append-only; what an act means and may do is known to `annotation.theme_edits`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.engine import RowMapping

from annotation.label_store import ledger
from annotation.label_store.engine import LabelStore
from annotation.label_store.errors import StudyError
from annotation.label_store.schema import theme_edits
from annotation.label_store.texts import checked_text, to_timestamp

KEY_LIMIT = 100


@dataclass(frozen=True)
class ThemeEditRow:
    """One entry of the ledger.

    body      the change, as JSON
    undoes    number of the act that this one takes back, if it is an undo
    taxonomy  sha256 of the taxonomy that the curator had before them
    key       the curator's own name for this press of the button
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


def lock_edit_ledger(tx: Connection, run: str) -> Mapping[str, Any]:
    """The end of a run's ledger, locked until the transaction ends."""
    return ledger.lock_or_start(tx, theme_edits, run)


def edit_rows(con: Connection, run: str) -> list[ThemeEditRow]:
    """Every act on the themes of a run, first to last."""
    found = con.execute(select(theme_edits).where(theme_edits.c.run == run).order_by(theme_edits.c.seq)).mappings()
    return [_row(row) for row in found]


def list_edit_rows(store: LabelStore, run: str) -> list[ThemeEditRow]:
    """The same, in a connection of its own."""
    with store.read() as con:
        return edit_rows(con, run)


def count_edits(store: LabelStore, run: str) -> int:
    """How many acts there are on the themes of a run, undos among them."""
    with store.read() as con:
        return int(con.execute(select(func.count()).where(theme_edits.c.run == run)).scalar_one())


def append_edit(
    tx: Connection, head: Mapping[str, Any], *, kind: str, body: str, undoes: int | None, author: str, reason: str,
    taxonomy: str, key: str, now: datetime,
) -> ThemeEditRow:  # fmt: skip
    """Write an act behind the locked `head`.

    Raises StudyError when the key has no length that can be kept, or the reason is missing or too long.
    """
    if not 0 < len(key) <= KEY_LIMIT:
        raise StudyError(f"An act needs a key of 1 to {KEY_LIMIT} characters. Nothing was saved.")
    if not reason.strip():
        raise StudyError("Curation needs a reason. Nothing was saved. Say in a sentence why.")
    entry = {
        "kind": kind, "body": body, "undoes": undoes, "author": author, "reason": checked_text(reason.strip(), "reason"),
        "made_at": to_timestamp(now), "taxonomy": taxonomy, "key": key,
    }  # fmt: skip
    return _row(ledger.append(tx, theme_edits, dict(head), entry))


def _row(row: Mapping[str, Any] | RowMapping) -> ThemeEditRow:
    return ThemeEditRow(**{name: row[name] for name in ThemeEditRow.__dataclass_fields__})
