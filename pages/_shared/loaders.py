"""The only caches of the dashboard.

A run is known by its digest and its load time, so a run that is loaded anew is read anew. Streamlit cannot hash a
function, so a metric is known to the cache by its full name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from audit.errors import AuditError
from audit.queries.run_taxonomy import map_points, taxonomy_of, taxonomy_path
from audit.settings import Settings
from audit.store.connection import Connection, DuckDBError, open_store, open_two
from audit.store.runs import Run, list_runs, store_problem, unreadable_stores
from audit.themes.taxonomy import Taxonomy


def loaded_runs() -> list[Run]:
    """Every loaded run, newest first; files that cannot be read are left out and told by `damaged_stores`."""
    return _listing(*_store())[0]


def damaged_stores() -> list[AuditError]:
    """One problem per store file that cannot be read; the other runs are not touched by it."""
    return [
        AuditError(
            f"The store file {path} cannot be read ({why}). The other runs are shown. "
            "Delete that file (it holds nothing that its release does not) and run: audit load PATH"
        )
        for path, why in _listing(*_store())[1].items()
    ]


def _store() -> tuple[str, tuple[tuple[str, int], ...]]:
    folder = Settings().store_dir
    return str(folder), tuple(sorted((path.name, path.stat().st_mtime_ns) for path in folder.glob("*.duckdb")))


def load(metric: Callable[..., Any], run: Run, **arguments: Any) -> Any:
    """`metric(connection, **arguments)` on a run's store, computed once per run and arguments.

    Raises what the metric raises (AuditError), and AuditError when the store file is gone or damaged.
    """
    with _gone(run):
        return _computed(run.digest, run.loaded_at, _name(metric), arguments, _metric=metric, _path=run.path)


def load_two(metric: Callable[..., Any], run: Run, other: Run, **arguments: Any) -> Any:
    """The same for a metric that compares two runs (audit.metrics.Metric.compares)."""
    stamps = (run.digest, run.loaded_at, other.digest, other.loaded_at)
    with _gone(run, other):
        return _compared(stamps, _name(metric), arguments, _metric=metric, _paths=(run.path, other.path))


def built_taxonomy(run: Run) -> Taxonomy | None:
    """The taxonomy of themes that belongs to a run, as it was built or brought; None where it has none.

    Raises ThemesError when the one that was built cannot be read.
    """
    with _gone(run):
        return _taxonomy(*_themes(run), _run=run)


def places(run: Run) -> pd.DataFrame:
    """The map of that taxonomy: phrase, x, y (audit.queries.run_taxonomy.map_points); no row where it has none."""
    with _gone(run):
        return _points(*_themes(run), _run=run)


def _themes(run: Run) -> tuple[str, str, str, int]:
    """What the taxonomy of a run is known by to the caches: a build writes its file anew."""
    path = taxonomy_path(run, Settings().themes_dir)
    return run.digest, run.loaded_at, str(path), path.stat().st_mtime_ns if path.is_file() else 0


def _content(taxonomy: Taxonomy) -> int:
    """A taxonomy as an argument of a metric: curated ones are made anew in every run of a page."""
    return hash((taxonomy.themes, taxonomy.no_theme))


def _name(metric: Callable[..., Any]) -> str:
    return f"{metric.__module__}.{metric.__qualname__}"


@contextmanager
def _gone(*loaded_runs: Run) -> Iterator[None]:
    """Say which run's store could not be read, in place of what DuckDB says."""
    try:
        yield
    except DuckDBError as error:
        run = next((run for run in loaded_runs if store_problem(run.path)), loaded_runs[0])
        raise AuditError(
            f"Run {run.key} could not be read from {run.path} ({error}). Nothing is shown. "
            "If the file was removed or damaged, load the release again: audit load PATH"
        ) from error


@st.cache_resource(show_spinner=False, max_entries=16)
def _taxonomy(digest: str, loaded_at: str, path: str, written: int, *, _run: Run) -> Taxonomy | None:
    return taxonomy_of(_run, Path(path).parent)


@st.cache_data(show_spinner=False, max_entries=16)
def _points(digest: str, loaded_at: str, path: str, written: int, *, _run: Run) -> pd.DataFrame:
    return map_points(_run, Path(path).parent)


@st.cache_data(show_spinner="Comparing ...", max_entries=100, hash_funcs={Taxonomy: _content})
def _compared(
    stamps: tuple[str, ...], name: str, arguments: dict[str, Any], *, _metric: Callable[..., Any], _paths: tuple[Path, Path]
) -> pd.DataFrame | Any:
    with open_two(*_paths) as con:
        return _metric(con, **arguments)


@st.cache_data(show_spinner=False, max_entries=8)
def _listing(folder: str, files: tuple[tuple[str, int], ...]) -> tuple[list[Run], dict[Path, str]]:
    return list_runs(Path(folder)), unreadable_stores(Path(folder))


@st.cache_resource(show_spinner=False, max_entries=32)
def _connection(path: str, loaded_at: str) -> Connection:
    return open_store(Path(path))


@st.cache_data(show_spinner="Counting ...", max_entries=400, hash_funcs={Taxonomy: _content})
def _computed(
    digest: str, loaded_at: str, name: str, arguments: dict[str, Any], *, _metric: Callable[..., Any], _path: Path
) -> pd.DataFrame | Any:
    return _metric(_connection(str(_path), loaded_at), **arguments)
