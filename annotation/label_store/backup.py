"""Copies of an SQLite database that are consistent while people write to it.

`cp` of a live database is not: what was written last is in a second file, the write-ahead log, and is missing from the copy.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from audit.atomic_io import atomic_file
from audit.errors import AuditError

WAIT_S = 30.0
OWNER_ONLY = 0o600
"""A label store has the hashes of passwords."""


def copy_database(source: Path, target: Path) -> None:
    """Copy a database as of one moment into one file that only its owner may read. Nobody who writes has to wait for it.

    Raises AuditError when `source` is not a sound database, or `target` cannot be written; there is then no file.
    """
    with explained_failures(source), atomic_file(target) as draft:
        draft.touch(OWNER_ONLY)
        with closing(sqlite3.connect(source, timeout=WAIT_S)) as origin, closing(sqlite3.connect(draft)) as copy:
            origin.backup(copy)
            # Without a write-ahead log, so the copy is one file, which may be copied on.
            copy.execute("pragma journal_mode = delete")
            (sound,) = copy.execute("pragma integrity_check(1)").fetchone()
        if sound != "ok":
            raise AuditError(f"{source} is damaged ({' '.join(sound.split())}). No copy was made.")


def in_use(path: Path) -> bool:
    """Whether a connection to a database is open, in this process or another; also writes its write-ahead log into it."""
    try:
        with closing(sqlite3.connect(path, timeout=0)) as con:
            # Leaving the write-ahead log needs the database for oneself.
            con.execute("pragma journal_mode = delete").fetchone()
    except sqlite3.OperationalError as error:
        return "locked" in str(error)
    except sqlite3.DatabaseError:  # damaged, which is a reason to restore it
        return False
    return False


@contextmanager
def explained_failures(source: Path) -> Iterator[None]:
    """Explain failures of SQLite and of the file system."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise AuditError(f"{source} cannot be copied: {error}. No copy was made.") from error
    except OSError as error:
        raise AuditError(f"The copy of {source} cannot be written: {error.strerror}. No copy was made.") from error
