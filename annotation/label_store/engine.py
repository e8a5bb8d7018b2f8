"""Opens the label store, SQLite next to the data by default, PostgreSQL by URL; and the errors of studies and accounts."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Integer,
    MetaData,
    Table,
    create_engine,
    event,
    insert,
    inspect,
    make_url,
    select,
    text,
)
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError, OperationalError
from sqlalchemy.schema import CreateColumn

from annotation.label_store.held import close_to_others, note, note_on_server, refuse_less, refuse_less_on_server
from annotation.label_store.schema import access_log, decisions, metadata, ratings, study_events, theme_edits
from audit.errors import AuditError, disk_problem
from audit.optional_imports import install_hint

SQLITE = "sqlite:///"
BUSY_MS = 30_000
log = logging.getLogger(__name__)
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


GROWN = "grown"
"""In the `info` of a transaction that adds an account or a study."""


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
            grown = tx.info.pop(GROWN, False)
        if grown:
            self.note_held()

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
            if self.engine.dialect.name == "sqlite":
                reason += disk_problem(Path(self.engine.url.database or ""))
            raise AuditError(
                f"The studies at {_without_password(self.engine.url)} cannot be used: {reason}. "
                "Nothing was changed. Check AUDIT_STUDIES_URL, and that the database is running, has free space, is writable and "
                "is not locked by another program. Then try again."
            ) from error

    def note_held(self) -> None:
        """Write down how many accounts and studies there are, so that a store that lost some is refused."""
        if self.sqlite:
            return note(Path(self.engine.url.database or ""))
        with suppress(AuditError), self.read() as con:  # what was just written stays written where it cannot be noted
            return note_on_server(con, self.engine.url)
        return None

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()


def store_exists(url: str) -> bool:
    """Whether the database is there; one on a server counts as there."""
    return not url.startswith(SQLITE) or Path(url.removeprefix(SQLITE)).is_file()


def open_label_store(url: str) -> LabelStore:
    """The store at `url`, created first if needed.

    url  `sqlite:///path/to/studies.db`, or `postgresql://user:password@host/database` (needs the extra `postgres`)

    Raises AuditError when the database cannot be reached, or was written by another version of this software.
    """
    address = _parse_address(url)
    try:
        if address.get_backend_name() == "sqlite":
            refuse_earlier_file(Path(address.database or ""), _without_password(address))
            refuse_less(Path(address.database or ""))
        store = LabelStore(_sqlalchemy_engine(address))
        with store.read() as con:
            created = is_created(con, _without_password(address))
            if not store.sqlite:
                refuse_less_on_server(con, address, created=created)
            lacking = created and list(_lacking(con, _without_password(address)))
        if not created:
            _create(store)
        elif lacking:
            with store.begin() as tx:
                add_lacking(tx, _without_password(address))
        if created:
            store.note_held()
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
    """Hold an SQLite store, also one that is not there yet, for this server until it ends; None where any number may share it.

    SQLite lets one process write at a time, and the one that waits polls: of two busy servers, one starved (4 ratings against
    131 in 15 s). Commands in a terminal write for moments only, so they are not kept out.

    Raises AuditError when another server holds the store, or its folder cannot be written.
    """
    path = sqlite_path(url)
    if path is None:
        return None
    refuse_less(path)
    lock = serving_lock(path)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.is_file() and (opened := close_to_others(path)):
            names = ", ".join(map(str, opened))
            log.warning("Every account of this machine could read %s, with hashes of passwords; not any more.", names)
        lock.acquire()
    except Timeout:
        raise AuditError(
            f"Another dashboard already serves the studies at {path}, and SQLite lets one process write at a time. "
            "This one was not started. Stop the other, or keep the studies in PostgreSQL (AUDIT_STUDIES_URL), which any number "
            "may share."
        ) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise AuditError(f"The dashboard cannot write to {path.parent}: {reason}. It was not started.") from None
    return lock


def serving_lock(path: Path) -> FileLock:
    """The lock that a dashboard holds while it serves the SQLite store at `path`."""
    return FileLock(f"{path}.served", timeout=0)


def sqlite_path(url: str) -> Path | None:
    """The file of an SQLite store; None for PostgreSQL. Raises AuditError for any other address."""
    address = _parse_address(url)
    return Path(address.database or "") if address.get_backend_name() == "sqlite" else None


def refuse_earlier_file(path: Path, name: object) -> None:
    """Raise AuditError, with `name` for the file, where it is an SQLite store from before the first release.

    Asked before the file is opened as a store, because that writes the journal mode into it.
    """
    # SQLite takes no lock on an immutable file, writes nothing beside it, and makes none that is missing. What it cannot read is
    # read when the store is opened.
    file = f"{path.resolve().as_uri()}?immutable=1&mode=ro"
    with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(file, uri=True)) as con:
        row = con.execute(f"select version_num from {BEFORE_RELEASE}").fetchone()
        raise AuditError(earlier_message(name, row and row[0]))


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
        Path(address.database).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not Path(address.database).exists():
            close_to_others(Path(address.database))
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


def _create(store: LabelStore) -> None:
    with store.begin() as tx:
        create_tables(tx, _without_password(store.engine.url))


# -- tables of a new store -----------------------------------------------------------------------------------
# Creates the tables of an empty label store, and refuses a store whose tables are of another version.
#
# The tables are declared in `schema` and `annotation.studies.verdict_store`; here are only the triggers that make ledgers
# append-only, and the version. After the first release, a change of the tables raises `SCHEMA_VERSION` and comes with the
# statements that lead from the version before.

SCHEMA_VERSION = 1
"""The version of the tables that this code reads and writes."""
schema_version = Table("schema_version", MetaData(), Column("version", Integer, nullable=False))
BEFORE_RELEASE = "alembic_version"
"""The table in which stores from before the first release have their revision."""
VERDICT_TABLES = "annotation.studies.verdict_store"
"""Imported by name, for a new store only: no module that annotators run may know the judge's verdicts."""
CREATION_LOCK = 2_605_290_84
APPEND_ONLY = (ratings, decisions, study_events, theme_edits)
PRUNED = "exists (select 1 from access_log where kept_from > old.at)"
"""An entry may go once an entry that stays says from when on entries are kept: so no removal is unlogged."""


def is_created(con: Connection, address: str) -> bool:
    """Whether the tables are there; False for a database without any of them.

    address  of the store, for messages: without a password

    Raises AuditError when they are of another version.
    """
    names = set(inspect(con).get_table_names())
    if schema_version.name in names:
        version = con.execute(select(schema_version.c.version)).scalar()
        if version != SCHEMA_VERSION:
            raise AuditError(
                f"The studies at {address} were written by a newer version of this software. "
                "Nothing was changed. Install that version, or name another database in AUDIT_STUDIES_URL."
            )
        return True
    if BEFORE_RELEASE in names:
        raise AuditError(earlier_message(address, con.execute(text(f"select version_num from {BEFORE_RELEASE}")).scalar()))
    if names & metadata.tables.keys():
        raise AuditError(earlier_message(address, None))
    return False


def _lacking(con: Connection, address: str) -> Iterator[Table | Column[Any]]:
    """The tables and columns that a store of this version lacks because it was created before they came.

    Raises AuditError where a column may not be empty, so that nothing could be added.
    """
    held = {name: {column["name"] for column in columns} for (_, name), columns in inspect(con).get_multi_columns().items()}
    for table in metadata.sorted_tables:
        if table.name not in held:
            yield table
            continue
        for column in table.columns:
            if column.name not in held[table.name]:
                if not column.nullable:
                    raise AuditError(earlier_message(address, f"without {table.name}.{column.name}"))
                yield column


def add_lacking(tx: Connection, address: str) -> None:
    """Add what an earlier store lacks: empty tables and columns. Its rows stay as they are."""
    for one in _lacking(tx, address):
        if isinstance(one, Table):
            one.create(tx, checkfirst=True)
        else:
            tx.execute(text(f"alter table {one.table.name} add column {CreateColumn(one).compile(dialect=tx.dialect)}"))


def earlier_message(address: object, revision: str | None) -> str:
    """What is said of a store from before the first release."""
    return (
        f"The studies at {address} were written before the first release (revision {revision or 'not recorded'}), and this "
        "version opens only those that it created itself. Nothing in them was changed. Export their ratings with the version "
        "that wrote them (audit study export); then move the database away or name another one in AUDIT_STUDIES_URL, and a new "
        "one is created."
    )


def create_tables(tx: Connection, address: str) -> None:
    """Create every table in an empty database. The caller commits, so a store has all tables or none."""
    if tx.dialect.name != "sqlite":  # of several processes that start on an empty database, only one creates the tables
        tx.execute(text("select pg_advisory_xact_lock(:lock)"), {"lock": CREATION_LOCK})
    if is_created(tx, address):
        return
    for tables in (metadata, import_module(VERDICT_TABLES).metadata, schema_version.metadata):
        tables.create_all(tx)
    triggers = _sqlite_triggers() if tx.dialect.name == "sqlite" else _postgresql_triggers()
    for statement in triggers:
        tx.execute(text(statement))
    tx.execute(insert(schema_version).values(version=SCHEMA_VERSION))


# -- append-only ledgers -----------------------------------------------------------------------------------------------


def _sqlite_triggers() -> Iterator[str]:
    for table in (*APPEND_ONLY, access_log):
        raising = f"begin select raise(abort, '{_refusal(table)}'); end"
        pruned = f" when not {PRUNED}" if table is access_log else ""
        yield f"create trigger {table}_no_update before update on {table} {raising}"
        yield f"create trigger {table}_no_delete before delete on {table}{pruned} {raising}"


def _postgresql_triggers() -> Iterator[str]:
    for table in (*APPEND_ONLY, access_log):
        changes = "update or truncate" if table is access_log else "update or delete or truncate"
        yield _postgresql_function(f"{table}_sealed", f"raise exception '{_refusal(table)}';")
        yield (f"create trigger {table}_sealed before {changes} on {table} for each statement execute function {table}_sealed()")
    kept = f"if not {PRUNED} then raise exception '{_refusal(access_log)}'; end if; return old;"
    yield _postgresql_function("access_log_kept", kept)
    yield "create trigger access_log_kept before delete on access_log for each row execute function access_log_kept()"


def _postgresql_function(name: str, body: str) -> str:
    return f"create function {name}() returns trigger language plpgsql as $$ begin {body} end $$"


def _refusal(table: Table) -> str:
    return f"{table} {'is' if table is access_log else 'are'} append-only"
