"""Opening the label store: SQLite beside the data by default, PostgreSQL by URL."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError, OperationalError

from audit.errors import AuditError
from audit.optional_imports import install_hint

MIGRATIONS = Path(__file__).parent / "migrations"
HEAD = "0004"
"""The schema version that this code reads and writes."""

BUSY_MS = 30_000
MIGRATION_LOCK = 2_605_290_84
NO_ADDRESS = (
    "AUDIT_STUDIES_URL is no database address that is known here. Nothing was opened. "
    "Allowed: sqlite:///path/to/studies.db or postgresql://user:password@host/database"
)


class LabelStore:
    """An open store. Any number of threads and processes may hold one; each transaction takes its own connection."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.sqlite = engine.dialect.name == "sqlite"
        # SQLite's own wait for the write lock is a sleep that gets longer; a lock here lets threads queue without it.
        self._writing: AbstractContextManager[Any] = threading.Lock() if self.sqlite else nullcontext()

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A transaction that may write: it commits at the end of the block, or nothing of it happened."""
        with self._writing, self._said(), self.engine.begin() as tx:
            yield tx

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that sees one state of the store and waits for no writer."""
        with self._said(), self.engine.connect() as con:
            yield con.execution_options(label_store_reads=True, **({} if self.sqlite else {"postgresql_readonly": True}))

    @contextmanager
    def _said(self) -> Iterator[None]:
        """Where the database itself fails (locked, full, damaged, gone), say so; what its own rules refuse is the caller's."""
        try:
            yield
        except DatabaseError as error:
            if not isinstance(error, OperationalError) and type(error) is not DatabaseError:
                raise
            raise AuditError(
                f"The studies at {_shown(self.engine.url)} cannot be used: {' '.join(str(error.orig).split()).rstrip('.?')}. "
                "Nothing was changed. Check AUDIT_STUDIES_URL, and that the database is running, has room, may be written to and "
                "is not held by another program; then try again."
            ) from error

    def close(self) -> None:
        """Give every connection back."""
        self.engine.dispose()


def open_label_store(url: str) -> LabelStore:
    """The store at `url`, made or brought up to date first where needed.

    url  `sqlite:///path/to/studies.db`, or `postgresql://user:password@host/database` (needs the extra `postgres`)

    Raises AuditError when the database cannot be reached, or was written by a newer version of this software.
    """
    address = _address(url)
    try:
        store = LabelStore(_engine(address))
        if _version(store) != HEAD:
            _migrate(store)
    except NoSuchModuleError:
        raise AuditError(NO_ADDRESS) from None
    except ModuleNotFoundError as error:
        raise AuditError(
            f"AUDIT_STUDIES_URL names a database that needs the Python package '{error.name}'. Nothing was opened. "
            f"{install_hint('postgres')}"
        ) from None
    return store


def _address(url: str) -> URL:
    try:
        address = make_url(url)
    except ArgumentError:
        raise AuditError(NO_ADDRESS) from None
    return address.set(drivername="postgresql+psycopg") if address.drivername in ("postgresql", "postgres") else address


def _shown(address: URL) -> str:
    return address.render_as_string(hide_password=True)


def _engine(address: URL) -> Engine:
    if address.get_backend_name() != "sqlite":
        return create_engine(address, pool_size=20, max_overflow=20, pool_pre_ping=True)
    if address.database:
        Path(address.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(address, pool_size=20, max_overflow=20, connect_args={"timeout": BUSY_MS / 1000})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # the driver starts no transactions behind our back; _begin_sqlite does
    connection.execute(f"pragma busy_timeout = {BUSY_MS}")
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = full")  # what was acknowledged is on the disk
    connection.execute("pragma foreign_keys = on")


def _begin_sqlite(con: Connection) -> None:
    reads = con.get_execution_options().get("label_store_reads")
    # A writer takes the lock at once: a transaction that reads first and writes later may be refused half way.
    con.exec_driver_sql("begin" if reads else "begin immediate")


def _version(store: LabelStore) -> str | None:
    with store.read() as con:
        if not inspect(con).has_table("alembic_version"):
            return None
        version: str | None = con.execute(text("select version_num from alembic_version")).scalar()
        return version


def _migrate(store: LabelStore) -> None:
    from alembic import command  # only a new or an old store needs it, and it is slow to import
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    with store.begin() as tx:
        if not store.sqlite:  # of several processes that start on an empty database, one makes the tables
            tx.execute(text("select pg_advisory_xact_lock(:lock)"), {"lock": MIGRATION_LOCK})
        config.attributes["connection"] = tx
        try:
            command.upgrade(config, "head")
        except CommandError:
            raise AuditError(
                f"The studies at {_shown(store.engine.url)} were written by a newer version of this software. "
                "Nothing was changed. Install that version, or name another database in AUDIT_STUDIES_URL."
            ) from None
