"""Empty label stores by copy: hundreds of tests begin with one, and creating its tables takes longer than copying them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import URL, Engine, create_engine, inspect, text

from annotation.label_store import engine
from annotation.label_store.engine import LabelStore

_create, _engine = engine._create, engine._sqlalchemy_engine


class Statements(dict[tuple[Any, ...], Any]):
    """What SQLAlchemy has compiled, by kind of database: it compiles for each engine anew, and each test opens one."""

    def get(self, key: tuple[Any, ...], default: Any = None) -> Any:
        return super().get((key[0].name, *key[1:]), default)

    def __setitem__(self, key: tuple[Any, ...], compiled: Any) -> None:
        super().__setitem__((key[0].name, *key[1:]), compiled)


STATEMENTS = Statements()


def sharing_statements(address: URL) -> Engine:
    """The engine of a store, with the statements of all stores of this process."""
    opened = _engine(address)
    opened._compiled_cache = STATEMENTS
    return opened


def create_or_copy(store: LabelStore) -> None:
    """Create the tables of `store`; a new one on SQLite becomes a copy of the first that was created."""
    if store.sqlite and not _tables(store):
        with store.engine.connect() as con:
            _created().backup(con.connection.driver_connection)  # type: ignore[arg-type]
    else:
        _create(store)


def _tables(store: LabelStore) -> list[str]:
    with store.read() as con:
        return inspect(con).get_table_names()


@cache
def _created() -> sqlite3.Connection:
    memory = sqlite3.connect(":memory:", check_same_thread=False)
    with TemporaryDirectory() as folder:
        store = LabelStore(engine._sqlalchemy_engine(engine._parse_address(f"sqlite:///{Path(folder) / 'studies.db'}")))
        _create(store)
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
    """The name of a new database on a server that has the tables of a label store."""
    opened(postgres_database(server, name)).close()
    return name
