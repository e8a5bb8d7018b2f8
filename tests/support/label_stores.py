"""Empty label stores by copy: a dozen migrations take half a second, and hundreds of tests begin with an empty store."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import create_engine, inspect, text

from annotation.label_store import engine
from annotation.label_store.engine import LabelStore

_migrate = engine._migrate


def migrate_or_copy(store: LabelStore) -> None:
    """Migrate `store`; a new one on SQLite becomes a copy of the first that was migrated."""
    if store.sqlite and not _tables(store):
        with store.engine.connect() as con:
            _migrated().backup(con.connection.driver_connection)  # type: ignore[arg-type]
    else:
        _migrate(store)


def _tables(store: LabelStore) -> list[str]:
    with store.read() as con:
        return inspect(con).get_table_names()


@cache
def _migrated() -> sqlite3.Connection:
    memory = sqlite3.connect(":memory:", check_same_thread=False)
    with TemporaryDirectory() as folder:
        store = LabelStore(engine._sqlalchemy_engine(engine._parse_address(f"sqlite:///{Path(folder) / 'studies.db'}")))
        _migrate(store)
        with store.engine.connect() as con:
            con.connection.driver_connection.backup(memory)  # type: ignore[union-attr]
        store.close()
    return memory


def postgres_database(server: str, name: str, template: str | None = None) -> str:
    """The URL of a new database on a server, empty or a copy of another one there."""
    admin = create_engine(server.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")
    with admin.connect() as con:
        con.execute(text(f"create database {name}" + (f" template {template}" if template else "")))
    admin.dispose()
    return server.rpartition("/")[0] + f"/{name}"


def postgres_template(server: str, name: str, opened: Callable[[str], LabelStore]) -> str:
    """The name of a new database on a server that has been migrated."""
    opened(postgres_database(server, name)).close()
    return name
