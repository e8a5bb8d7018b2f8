"""Saves what can still be read of a damaged journal, so that replies that were paid for are not asked again."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from audit.atomic_io import atomic_file
from audit.errors import AuditError
from audit.pipeline.llm.journal import SCHEMA

COLUMNS = "number, key, attempt, outcome, reply, stored_at"
MAX_GROWTH = 1_000
FURTHEST = 1_000
"""So many numbers in a row that cannot be read are the end of a journal whose length cannot be read either."""


def recover_journal(damaged: Path, saved: Path) -> int:
    """Write a journal of the replies of `damaged` that can be read; their number. `damaged` stays as it is.

    Raises AuditError where `saved` exists, or the plan cannot be read: without it no command can continue.
    """
    if saved.exists():
        raise AuditError(f"{saved} already exists, and nothing is overwritten. Name another file.")
    if not damaged.is_file():
        raise AuditError(f"{damaged} is not a file. Nothing was written.")
    with (
        TemporaryDirectory() as folder, closing(sqlite3.connect(_whole_pages(damaged, Path(folder)))) as con,
        atomic_file(saved) as draft, closing(sqlite3.connect(draft)) as copy, copy,
    ):  # fmt: skip
        plan = next(iter(_rows(con, "select plan from plan")), None)
        if plan is None:
            raise AuditError(f"Nothing of {damaged} can be read. Nothing was written. Take the last backup of it.")
        copy.executescript(SCHEMA)
        copy.execute("insert into plan values (?)", plan)
        count = 0
        for row in _replies(con):
            with suppress(ValueError, sqlite3.IntegrityError):
                json.loads(row[4])
                copy.execute(f"insert into replies ({COLUMNS}) values (?, ?, ?, ?, ?, ?)", row)
                count += 1
        return count


def _whole_pages(damaged: Path, folder: Path) -> Path:
    """A copy to read, as long as its header says: SQLite reads nothing of a file that was cut."""
    copy = folder / "journal"
    for ending in ("", "-wal"):
        if (part := Path(f"{damaged}{ending}")).is_file():
            shutil.copyfile(part, f"{copy}{ending}")
    with copy.open("r+b") as file:
        header = file.read(100)
        size = int.from_bytes(header[16:18]) * int.from_bytes(header[28:32])
        if copy.stat().st_size < size <= MAX_GROWTH * copy.stat().st_size:
            file.truncate(size)
    return copy


def _replies(con: sqlite3.Connection) -> Iterator[tuple[Any, ...]]:
    """One by one, as one page that cannot be read ends a query over all."""
    last = next(iter(_rows(con, "select max(number) from replies")), (None,))[0]
    number = missed = 0
    while number < last if last is not None else missed < FURTHEST:
        number += 1
        row = next(iter(_rows(con, f"select {COLUMNS} from replies where number = ?", number)), None)
        missed = 0 if row else missed + 1
        if row:
            yield row


def _rows(con: sqlite3.Connection, query: str, *values: Any) -> list[tuple[Any, ...]]:
    try:
        return con.execute(query, values).fetchall()
    except sqlite3.DatabaseError:
        return []
