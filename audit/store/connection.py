"""Opening a run's store. The only module that imports duckdb."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

if TYPE_CHECKING:  # loading a release needs no data frames, and importing them takes a third of a second
    import pandas as pd

Connection = duckdb.DuckDBPyConnection
DuckDBError = duckdb.Error
MISSING_TABLE_OR_COLUMN = (duckdb.CatalogException, duckdb.BinderException)
"""What a statement raises that names a table, or a column, which the store does not have."""
# More threads fill more row groups at once, each of them some 40 MB in memory
MAX_THREADS = 2
# A larger release spills to a file next to the store while it loads: 46 million pairs take 0.77 GB in all, 5.7
# million 0.48 GB. With 200 MB a load of 23 million pairs fails.
LOADER_MEMORY = "512MB"


CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "enable_external_access": False,
    "lock_configuration": True,
}
"""A statement reads no file but the store, fetches and loads no extension, and cannot allow itself to."""


def open_store(path: Path) -> Connection:
    """A read-only connection to one run's store; any number of processes may have one at a time."""
    return duckdb.connect(str(path), read_only=True, config=CLOSED)


def open_two(path: Path, against: Path) -> Connection:
    """A read-only connection to two runs' stores: the tables of the first are in `this`, those of the second in `other`.

    Raises DuckDBError when both are the same file.
    """
    # An instance of its own: no instance can attach a file that another connection of the process has open.
    con = duckdb.connect()
    try:
        for name, store in (("this", path), ("other", against)):
            # ATTACH takes no bound parameters
            quoted = str(store).replace("'", "''")
            con.execute(f"attach '{quoted}' as {name} (read_only)")
        _close(con)
    except duckdb.Error:
        con.close()
        raise
    return con


def _close(con: Connection) -> None:
    con.execute("; ".join(f"set {name} = {value}" for name, value in CLOSED.items()))


def create_store(path: Path, schema: str, reads: Path | None = None) -> Connection:
    """A new, writable store at `path` with the tables of `schema`, which may read the files below `reads`; for the loader."""
    con = duckdb.connect(str(path), config={"threads": min(MAX_THREADS, os.cpu_count() or 1), "memory_limit": LOADER_MEMORY})
    # In one transaction: nearly a third less time than a hundred of them
    con.execute(f"begin; {schema}; commit")
    if reads is not None:
        folder = f"{reads.absolute()}/".encode(errors="backslashreplace").decode().replace("'", "''")
        con.execute(f"set allowed_directories = ['{folder}']")
    _close(con)
    return con


def frame(con: Connection, sql: str, parameters: Mapping[str, Any] | None = None) -> pd.DataFrame:
    """The rows of one statement with named parameters (`$name`)."""
    # A cursor for each call, here and below: one DuckDB connection used by two threads at once raises.
    return con.cursor().execute(sql, dict(parameters or {})).df()


def rows(con: Connection, sql: str, parameters: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
    """The rows of one statement as plain tuples."""
    return con.cursor().execute(sql, dict(parameters or {})).fetchall()


def arrays(con: Connection, sql: str, parameters: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The result of one statement as one numpy array per column (masked if a column has nulls)."""
    return con.cursor().execute(sql, dict(parameters or {})).fetchnumpy()


def unchanged(con: Connection) -> tuple[str, int] | None:
    """The open store and when it was last written: what follows from it alone may be kept by this. None where it may change."""
    ((path, read_only),) = rows(con, "select path, readonly from duckdb_databases() where database_name = current_database()")
    return (path, Path(path).stat().st_mtime_ns) if path is not None and read_only else None


def append(con: Connection, table: str, columns: Mapping[str, Any], stored: str = "*") -> None:
    """Insert equally long columns into `table` by name; texts become the table's own types (enums included).

    stored  what is inserted of them, as SQL
    """
    batch = pa.table(dict(columns))
    con.register("batch", batch)
    try:
        con.execute(f"insert into {table} by name select {stored} from batch")
    finally:
        con.unregister("batch")
