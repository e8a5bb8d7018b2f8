"""Opens the label store, SQLite next to the data by default, PostgreSQL by URL; and the errors of studies and accounts."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from sqlalchemy import Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError, OperationalError

from annotation.label_store.backup import copy_database
from audit.errors import AuditError
from audit.optional_imports import install_hint

MIGRATIONS = Path(__file__).parent / "migrations"
HEAD = "0012"
"""The schema version that this code reads and writes."""

BUSY_MS = 30_000
MIGRATION_LOCK = 2_605_290_84
INVALID_ADDRESS = (
    "AUDIT_STUDIES_URL is not a supported database address. Nothing was opened. "
    "Allowed: sqlite:///path/to/studies.db or postgresql://user:password@host/database"
)


Transaction = Connection
"""The type that `LabelStore.begin` yields, for functions outside this package that pass it on."""


class StudyError(AuditError):
    """The study does not allow what was requested. Nothing was changed."""


class ConflictError(StudyError):
    """The same record was changed elsewhere a moment ago, for example in another tab."""


class SignInError(AuditError):
    """Signing in failed. The message never reveals whether the name or the password was wrong."""


class LabelStore:
    """An open store. Any number of threads and processes may use it; each transaction has its own connection."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.sqlite = engine.dialect.name == "sqlite"
        # SQLite waits for its write lock by sleeping longer and longer; this lock lets the threads of a process queue instead.
        self._writing: AbstractContextManager[Any] = threading.Lock() if self.sqlite else nullcontext()

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A transaction that may write. It commits at the end of the block; an exception rolls all of it back."""
        with self._writing, self._explained_failures(), self.engine.begin() as tx:
            yield tx

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that sees a single state of the store and does not wait for writers."""
        with self._explained_failures(), self.engine.connect() as con:
            yield con.execution_options(label_store_reads=True, **({} if self.sqlite else {"postgresql_readonly": True}))

    @contextmanager
    def _explained_failures(self) -> Iterator[None]:
        """Explain failures of the database itself (locked, full, damaged, gone); callers handle broken constraints."""
        try:
            yield
        except DatabaseError as error:
            # Broken constraints are subclasses too, and callers turn those into messages of their own.
            if not isinstance(error, OperationalError) and type(error) is not DatabaseError:
                raise
            reason = " ".join(str(error.orig).split()).rstrip(".?")
            raise AuditError(
                f"The studies at {_without_password(self.engine.url)} cannot be used: {reason}. "
                "Nothing was changed. Check AUDIT_STUDIES_URL, and that the database is running, has free space, is writable and "
                "is not locked by another program. Then try again."
            ) from error

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()


def open_label_store(url: str) -> LabelStore:
    """The store at `url`, created or migrated first if needed.

    url  `sqlite:///path/to/studies.db`, or `postgresql://user:password@host/database` (needs the extra `postgres`)

    Raises AuditError when the database cannot be reached, or was written by a newer version of this software.
    """
    address = _parse_address(url)
    try:
        store = LabelStore(_sqlalchemy_engine(address))
        with store.read() as con:
            version = _schema_version(con)
        if version != HEAD:
            _migrate(store)
    except NoSuchModuleError:
        raise AuditError(INVALID_ADDRESS) from None
    # The driver of PostgreSQL comes with an extra; SQLite needs none.
    except ModuleNotFoundError as error:
        raise AuditError(
            f"AUDIT_STUDIES_URL names a database that needs the Python package '{error.name}'. Nothing was opened. "
            f"{install_hint('postgres')}"
        ) from None
    return store


def lock_for_serving(url: str) -> FileLock | None:
    """Hold an existing SQLite store for this server until the process ends; None where any number of servers may share it.

    SQLite lets one process write at a time, and the one that waits polls: of two busy servers, one starved (4 ratings against
    131 in 15 s). Commands in a terminal write for moments only, so they are not kept out.

    Raises AuditError when another server holds the store.
    """
    path = sqlite_path(url)
    if path is None or not path.is_file():
        return None
    lock = serving_lock(path)
    try:
        lock.acquire()
    except Timeout:
        raise AuditError(
            f"Another dashboard already serves the studies at {path}, and SQLite lets one process write at a time. "
            "This one was not started. Stop the other, or keep the studies in PostgreSQL (AUDIT_STUDIES_URL), which any number "
            "may share."
        ) from None
    return lock


def serving_lock(path: Path) -> FileLock:
    """The lock that a dashboard holds while it serves the SQLite store at `path`."""
    return FileLock(f"{path}.served", timeout=0)


def sqlite_path(url: str) -> Path | None:
    """The file of an SQLite store; None for PostgreSQL. Raises AuditError for any other address."""
    address = _parse_address(url)
    return Path(address.database or "") if address.get_backend_name() == "sqlite" else None


def _parse_address(url: str) -> URL:
    try:
        address = make_url(url)
    except ArgumentError:
        raise AuditError(INVALID_ADDRESS) from None
    return address.set(drivername="postgresql+psycopg") if address.drivername in ("postgresql", "postgres") else address


def _without_password(address: URL) -> str:
    return address.render_as_string(hide_password=True)


def _sqlalchemy_engine(address: URL) -> Engine:
    if address.get_backend_name() != "sqlite":
        # Pinged first, so a restart of PostgreSQL does not cost an annotator the next rating.
        return create_engine(address, pool_size=20, max_overflow=20, pool_pre_ping=True)
    if address.database:
        Path(address.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(address, pool_size=20, max_overflow=20, connect_args={"timeout": BUSY_MS / 1000})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # otherwise the driver opens transactions of its own; _begin_sqlite does it
    connection.execute(f"pragma busy_timeout = {BUSY_MS}")
    _write_ahead(connection)
    connection.execute("pragma synchronous = full")  # an acknowledged rating survives a power cut
    connection.execute("pragma foreign_keys = on")


def _write_ahead(connection: Any) -> None:
    # SQLite refuses the switch at once, whatever the timeout, while another process writes or makes the same switch.
    # The file then stays switched, so one of the next tries succeeds.
    deadline = time.monotonic() + BUSY_MS / 1000
    while True:
        try:
            connection.execute("pragma journal_mode = wal")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _begin_sqlite(con: Connection) -> None:
    reads = con.get_execution_options().get("label_store_reads")
    # A writer takes the lock at once: SQLite may refuse a transaction that has read and then wants to write.
    con.exec_driver_sql("begin" if reads else "begin immediate")


def _schema_version(con: Connection) -> str | None:
    if not inspect(con).has_table("alembic_version"):
        return None
    version: str | None = con.execute(text("select version_num from alembic_version")).scalar()
    return version


def _migrate(store: LabelStore) -> None:
    from alembic import command  # slow to import, and only a new or an outdated store needs it
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    # Alembic's configuration interpolates % in its values.
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    with store.begin() as tx:
        if not store.sqlite:  # of several processes that start on an empty database, only one creates the tables
            tx.execute(text("select pg_advisory_xact_lock(:lock)"), {"lock": MIGRATION_LOCK})
        _copy_before_migration(store, _schema_version(tx))
        config.attributes["connection"] = tx
        try:
            command.upgrade(config, "head")
        except CommandError:
            raise AuditError(
                f"The studies at {_without_password(store.engine.url)} were written by a newer version of this software. "
                "Nothing was changed. Install that version, or name another database in AUDIT_STUDIES_URL."
            ) from None


def _copy_before_migration(store: LabelStore, version: str | None) -> None:
    """Copy an older SQLite store beside itself. The caller has its write lock, so nothing is written in between."""
    if store.sqlite and version is not None and version < HEAD:
        path = Path(store.engine.url.database or "")
        copy_database(path, path.with_name(f"{path.name}.before-{HEAD}-{datetime.now(UTC):%Y%m%d-%H%M%S}"))
