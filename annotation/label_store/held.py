"""What a label store held last, noted beside its file or in the data folder, so that one that lost its accounts is refused."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import URL, Connection, text

from audit.atomic_io import write_atomic
from audit.errors import AuditError
from audit.settings import Settings

log = logging.getLogger(__name__)
COUNTS = "select (select count(*) from users), (select count(*) from studies)"

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


def server_note_path(address: URL) -> Path:
    """The file in the data folder that says what the store in this database of a server held."""
    place = f"{address.host}:{address.port}/{address.database}"
    return Settings().data_dir / f"studies-{hashlib.sha256(place.encode()).hexdigest()[:16]}.held"


def refuse_less(path: Path) -> None:
    """Raise AuditError where the store at `path` has fewer accounts or studies than it had, or is another one."""
    held = _held(path)
    if held is not None:
        _refuse_less(held, note_path(path), str(path))


def refuse_less_on_server(con: Connection, address: URL, *, created: bool) -> None:
    """The same for a store of a server; `created`: whether it has its tables."""
    held = _held_on_server(con) if created else StoreCounts()
    _refuse_less(held, server_note_path(address), address.render_as_string(hide_password=True))


def _refuse_less(held: StoreCounts, kept: Path, name: str) -> None:
    noted = _noted(kept)
    if noted is None:
        return
    if held.accounts < noted.accounts or held.studies < noted.studies or (noted.store and held.store != noted.store):
        raise AuditError(
            f"The studies at {name} had {noted.accounts} accounts and {noted.studies} studies and now have {held.accounts} and "
            f"{held.studies}: the database was emptied, or replaced by an older or another one. Nothing was opened. Restore a "
            f"backup (audit study restore; of PostgreSQL, pg_restore), or, to go on with what is there, delete {kept}."
        )


def note(path: Path) -> None:
    """Write down what the store at `path` holds now."""
    held = _held(path)
    if held is not None:
        _note(held, note_path(path))


def note_on_server(con: Connection, address: URL) -> None:
    """Write down what the store of a server holds now; only the log says where this machine's data folder takes no note."""
    try:
        kept = server_note_path(address)
        kept.parent.mkdir(parents=True, exist_ok=True)
        _note(_held_on_server(con), kept)
    except OSError as error:
        log.warning("What the studies hold could not be noted in %s: %s.", kept, error.strerror)


def _note(held: StoreCounts, kept: Path) -> None:
    if held.accounts and held != _noted(kept):
        write_atomic(kept, json.dumps(held._asdict()))
        kept.chmod(0o600)


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


def _noted(kept: Path) -> StoreCounts | None:
    try:
        return StoreCounts(**json.loads(kept.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _held_on_server(con: Connection) -> StoreCounts:
    first = con.execute(text(FIRST_ACCOUNT)).scalar()
    return StoreCounts(first or "", *con.execute(text(COUNTS)).one())


def _held(path: Path) -> StoreCounts | None:
    """What the store holds now; None where it cannot be read, which whoever opens it is told in other words."""
    if not path.is_file() or not path.stat().st_size:
        return StoreCounts()
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as con:
            if not con.execute("select 1 from sqlite_master where name = 'users'").fetchone():
                return StoreCounts()
            first = con.execute(FIRST_ACCOUNT).fetchone()
            return StoreCounts(first[0] if first else "", *con.execute(COUNTS).fetchone())
    except sqlite3.DatabaseError:
        return None
