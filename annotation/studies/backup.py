"""Backup and restore of the label store: everything that people have entered, and their accounts."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from filelock import Timeout

from annotation.label_store.access_log import TERMINAL, Actor, Event, log_event, log_faults
from annotation.label_store.account_rows import end_all_sessions
from annotation.label_store.engine import StudyError, open_label_store, refuse_earlier_file, serving_lock, sqlite_path
from annotation.label_store.held import note, refuse_less
from annotation.label_store.studies import list_studies
from annotation.studies.verification import heads_record, verify_study
from audit.atomic_io import atomic_file
from audit.errors import AuditError, disk_problem

POSTGRESQL = (
    "These studies are kept in PostgreSQL, which has programs of its own for this. Nothing was done. "
    "Back up: pg_dump --format=custom --file=FILE DATABASE. Restore, into a new database: pg_restore --dbname=NEW FILE, then "
    "name that in AUDIT_STUDIES_URL and run: audit study verify STUDY"
)


@dataclass(frozen=True)
class CheckedCopy:
    """The contents of a copy of a label store, and the alterations of its studies and its access log, one sentence per fault."""

    studies: int
    ratings: int
    faults: tuple[str, ...]


def back_up(url: str, file: Path) -> CheckedCopy:
    """Copy the label store to `file` as of one moment, while people rate, and verify every study in the copy.

    Raises StudyError when `file` exists or the studies are in PostgreSQL, AuditError when the copy cannot be made, and where the
    store has lost accounts or studies: such a backup would take the place of good ones.
    """
    path = _existing_path(url)
    if file.exists():
        raise StudyError(
            f"{file} already exists, and a backup never overwrites a file. Nothing was written. Choose another name."
        )
    refuse_less(path)
    copy_database(path, file)
    return check_copy(file)


def check_copy(file: Path) -> CheckedCopy:
    """Verify every study in a copy of the copy.

    Raises AuditError when `file` is not a label store, or is from another version of this software.
    """
    if not file.is_file():
        raise StudyError(f"{file} is not a file.")
    with TemporaryDirectory() as folder:
        scratch = Path(folder) / "studies.db"
        copy_database(file, scratch)
        _refuse_other_databases(file, scratch)
        store = open_label_store(f"sqlite:///{scratch}")
        try:
            studies = [study.study_id for study in list_studies(store)]
            faults = tuple(f"{study}: {fault}" for study in studies for fault in verify_study(store, study))
            faults += tuple(f"access log: {fault}" for fault in log_faults(store))
            ratings = sum(heads_record(store, study)["ratings"]["entries"] for study in studies)
        finally:
            store.close()
    return CheckedCopy(len(studies), ratings, faults)


def restore(
    url: str, file: Path, now: datetime, *, accept_faults: bool = False, actor: Actor = TERMINAL
) -> tuple[CheckedCopy, Path | None]:
    """Put a backup in the place of the label store; returns what it contains, and where the replaced database is kept.

    accept_faults  restore although the verification found something altered

    Everybody is signed out, at the identity provider too, because sessions that had ended since would be valid again. The access
    log has an entry on it.

    Raises StudyError, with nothing replaced, when a server or command uses the database in place or the copy has faults;
    AuditError when `file` is not a label store.
    """
    path = _sqlite_only(url)
    if not file.is_file():
        raise StudyError(f"{file} is not a file. Nothing was replaced.")
    checked = check_copy(file)
    if checked.faults and not accept_faults:
        raise StudyError(
            f"{file} was altered: {checked.faults[0]} ({len(checked.faults)} findings). Nothing was replaced. Choose another "
            "backup, or restore it anyway (--accept-faults)."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with serving_lock(path), TemporaryDirectory() as folder, explained_failures(file), atomic_file(path) as draft:
            copy_database(_signed_out_copy(file, Path(folder), now, actor), draft)
            aside = _set_aside(path, now)
        note(path)
        return checked, aside
    except Timeout:
        raise StudyError(_in_use_sentence(path)) from None


def _signed_out_copy(file: Path, folder: Path, now: datetime, actor: Actor) -> Path:
    """A copy of a backup in which nobody is signed in."""
    copy = folder / "restored.db"
    copy_database(file, copy)
    store = open_label_store(f"sqlite:///{copy}")
    try:
        with store.begin() as tx:
            end_all_sessions(tx, now)
            log_event(tx, Event.RESTORED, actor, now, f"{file.name}; everybody was signed out")
    finally:
        store.close()
    return copy


def _set_aside(path: Path, now: datetime) -> Path | None:
    """Keep a copy of the database in place, if there is one, and remove its write-ahead log, which belongs to no other."""
    if not path.exists():
        return None
    aside = path.with_name(f"{path.name}.replaced-{now:%Y%m%d-%H%M%S-%f}")
    copies = {Path(f"{path}{ending}"): Path(f"{aside}{ending}") for ending in ("", "-wal") if Path(f"{path}{ending}").exists()}
    for part, copy in copies.items():
        shutil.copy2(part, copy)
    # Asked after copying, because SQLite removes the log of a database that it finds damaged.
    if in_use(path):
        for copy in copies.values():
            copy.unlink()
        raise StudyError(_in_use_sentence(path))
    for ending in ("-wal", "-shm"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
    return aside


def _in_use_sentence(path: Path) -> str:
    return f"A dashboard or a command uses {path}. Nothing was replaced. Stop it (audit serve), and try again."


def _existing_path(url: str) -> Path:
    path = _sqlite_only(url)
    if not path.is_file():
        raise StudyError(f"There is no label store at {path}, so there is nothing to back up.")
    return path


def _sqlite_only(url: str) -> Path:
    path = sqlite_path(url)
    if path is None:
        raise StudyError(POSTGRESQL)
    return path


def _refuse_other_databases(file: Path, scratch: Path) -> None:
    refuse_earlier_file(scratch, file)
    with closing(sqlite3.connect(scratch)) as con:
        if con.execute("select 1 from sqlite_master where name = 'schema_version'").fetchone() is None:
            raise StudyError(f"{file} is a database, but not one of studies. Nothing was replaced.")


# -- Copies of an SQLite database that are consistent while people write to it -------------------------------
# `cp` of a live database is not: what was written last is in a second file, the write-ahead log, and is missing from the copy.

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
        raise AuditError(f"{source} cannot be copied: {error}{disk_problem(source)}. No copy was made.") from error
    except OSError as error:
        raise AuditError(f"The copy of {source} cannot be written: {error.strerror}. No copy was made.") from error
