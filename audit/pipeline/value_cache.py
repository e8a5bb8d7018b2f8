"""Values that were computed before, one SQLite file: a stopped computation goes on where it was."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from audit.errors import AuditError

TABLE = "create table if not exists computed (key text primary key, value text not null) without rowid"


class ValueCache:
    """Lists of numbers by key. Each `store` is kept even if the process is killed right after it.

    Raises AuditError where the file is damaged or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def stored(self, keys: Sequence[str]) -> dict[str, list[float]]:
        """The stored values of these keys."""
        with self._opened() as con:
            # A temporary table, because SQLite limits the number of bound values in one statement
            con.execute("create temp table requested (key text primary key)")
            con.executemany("insert or ignore into requested values (?)", [(key,) for key in keys])
            rows = con.execute("select key, value from computed join requested using (key)").fetchall()
        return {key: json.loads(value) for key, value in rows}

    def store(self, values: Mapping[str, Sequence[float]]) -> None:
        """Store values, replacing those of the same keys."""
        rows = [(key, json.dumps([float(number) for number in numbers])) for key, numbers in values.items()]
        with self._opened() as con:
            con.executemany("insert or replace into computed values (?, ?)", rows)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Two commands may compute at once and share the file
            with closing(sqlite3.connect(self.path, timeout=60)) as con, con:
                con.execute(TABLE)
                yield con
        except (sqlite3.DatabaseError, OSError) as error:
            raise AuditError(
                f"{self.path} cannot be used to keep computed values ({error}). Nothing was written. Delete the file and run "
                "this again."
            ) from error


def key_of(*parts: str) -> str:
    """The key of these texts, in this order."""
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()
