"""What a label store in a file held last, noted beside it, so that one that lost its accounts is not taken for a new one."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from audit.atomic_io import write_atomic
from audit.errors import AuditError

FIRST_ACCOUNT = "select username || ' ' || created_at from users order by created_at, username limit 1"
OTHERS = 0o007
"""The bits of a file's mode for everybody who has an account on the machine."""


class StoreCounts(NamedTuple):
    """The id of a store (its first account), and its numbers of accounts and studies, neither of which is ever deleted."""

    store: str = ""
    accounts: int = 0
    studies: int = 0


def note_path(path: Path) -> Path:
    """The file that says what the store at `path` held."""
    return path.with_name(f"{path.name}.held")


def refuse_less(path: Path) -> None:
    """Raise AuditError where the store at `path` has fewer accounts or studies than it had, or is another one."""
    noted, held = _noted(path), _held(path)
    if noted is None or held is None:
        return
    if held.accounts < noted.accounts or held.studies < noted.studies or (noted.store and held.store != noted.store):
        raise AuditError(
            f"The studies at {path} had {noted.accounts} accounts and {noted.studies} studies and now have {held.accounts} and "
            f"{held.studies}: the file was emptied, or replaced by an older or another one. Nothing was opened. Restore a backup "
            f"(audit study restore), or, to go on with what is there, delete {note_path(path)}."
        )


def note(path: Path) -> None:
    """Write down what the store at `path` holds now."""
    held = _held(path)
    if held is not None and held.accounts and held != _noted(path):
        write_atomic(note_path(path), json.dumps(held._asdict()))
        note_path(path).chmod(0o600)


def close_to_others(path: Path) -> list[Path]:
    """Take away everybody else's access to a store's files; those that had it. A new file is given none."""
    parts = [Path(f"{path}{ending}") for ending in ("", "-wal", "-shm", ".held", ".served")]
    if not path.exists():
        with suppress(OSError):  # whoever opens it is told in other words
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    opened = [part for part in parts if part.exists() and part.stat().st_mode & OTHERS]
    for part in opened:
        part.chmod(part.stat().st_mode & ~OTHERS)
    return opened


def _noted(path: Path) -> StoreCounts | None:
    try:
        return StoreCounts(**json.loads(note_path(path).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _held(path: Path) -> StoreCounts | None:
    """What the store holds now; None where it cannot be read, which whoever opens it is told in other words."""
    if not path.is_file() or not path.stat().st_size:
        return StoreCounts()
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as con:
            if not con.execute("select 1 from sqlite_master where name = 'users'").fetchone():
                return StoreCounts()
            counts = [con.execute(f"select count(*) from {table}").fetchone()[0] for table in ("users", "studies")]
            first = con.execute(FIRST_ACCOUNT).fetchone()
            return StoreCounts(first[0] if first else "", *counts)
    except sqlite3.DatabaseError:
        return None
