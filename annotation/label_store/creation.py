"""Creates the tables of an empty label store, and refuses a store whose tables are of another version.

The tables are declared in `schema` and `annotation.studies.verdict_store`; here are only the triggers that make ledgers
append-only, and the version. After the first release, a change of the tables raises `SCHEMA_VERSION` and comes with the
statements that lead from the version before.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from sqlalchemy import Column, Connection, Integer, MetaData, Table, insert, inspect, select, text

from annotation.label_store.schema import access_log, decisions, metadata, ratings, study_events, theme_edits
from audit.errors import AuditError

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
