"""Cached loading: runs, metrics of one or two runs, taxonomies."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import pandas as pd
import streamlit as st

from audit.charts.style import Figure
from audit.errors import AuditError
from audit.queries.themes import map_points, taxonomy_of, taxonomy_path
from audit.release.taxonomy import Taxonomy
from audit.result_cache import cached_or_computed
from audit.settings import Settings
from audit.store.connection import Connection, DuckDBError, open_store, open_two
from audit.store.runs import Run, read_stores, store_problem

Result = TypeVar("Result")


def loaded_runs() -> list[Run]:
    """Every loaded run, newest first; `damaged_stores` reports the files that cannot be read."""
    return list(_listing(*_store_files())[0])


def damaged_stores() -> list[AuditError]:
    """One error per store file that cannot be read; the other runs are not affected."""
    return [
        AuditError(
            f"The store file {path} cannot be read ({reason}). The other runs are shown. "
            "Delete that file (everything in it comes from its release) and run: audit load PATH"
        )
        for path, reason in _listing(*_store_files())[1].items()
    ]


def _store_files() -> tuple[str, tuple[tuple[str, int], ...]]:
    folder = Settings().store_dir
    return str(folder), tuple(sorted((path.name, path.stat().st_mtime_ns) for path in folder.glob("*.duckdb")))


def load(metric: Callable[..., Result], run: Run, **arguments: object) -> Result:
    """`metric(connection, **arguments)` on a run's store, computed once per run and arguments.

    Raises what the metric raises (AuditError), and AuditError when the store file is gone or damaged.
    """
    with _explain_unreadable(run):
        # A run is identified by its digest and its load time, so a run that is loaded again is read again.
        result = _cached_metric(run.digest, run.loaded_at, _full_name(metric), arguments, _metric=metric, _path=run.path)
    return cast(Result, result)


def load_two(metric: Callable[..., Result], run: Run, other: Run, **arguments: object) -> Result:
    """The same for a metric that compares two runs (`Metric.compares`)."""
    stamps = (run.digest, run.loaded_at, other.digest, other.loaded_at)
    with _explain_unreadable(run, other):
        result = _cached_comparison(stamps, _full_name(metric), arguments, _metric=metric, _paths=(run.path, other.path))
    return cast(Result, result)


def drawn(draw: Callable[..., Figure], *arguments: object, key: str = "", **options: object) -> Figure:
    """`draw(*arguments, **options)`, drawn once for the same tables: half of a page's computing time is drawing. May be changed.

    key  its name in the cache, where the function has none of its own
    """
    # Streamlit's own way to tell tables apart takes longer than drawing them
    content = sha256(pickle.dumps((arguments, options))).digest()
    kept = _cached_figure(key or _full_name(draw), content, _draw=partial(draw, *arguments, **options))
    # To validate again what is copied takes six times as long
    return Figure(kept.to_dict(), _validate=False)


def built_taxonomy(run: Run) -> Taxonomy | None:
    """The original taxonomy of a run, as it was built or released; None where it has none.

    Raises ThemesError when the built one cannot be read.
    """
    with _explain_unreadable(run):
        return _cached_taxonomy(*_taxonomy_key(run), _run=run)


def theme_map_points(run: Run) -> pd.DataFrame:
    """The map of that taxonomy: phrase, x, y; no rows where it has none."""
    with _explain_unreadable(run):
        return _cached_points(*_taxonomy_key(run), _run=run)


MAX_RECENT_ANSWERS = 16


@st.cache_resource(show_spinner=False)
def recent_answers() -> OrderedDict[Hashable, Any]:
    """What was asked of runs lately, by run, question and scope: in memory only, so that a click on a page asks nothing again."""
    return OrderedDict()


def remember_answer(key: Hashable, answer: object) -> None:
    """Keep an answer until MAX_RECENT_ANSWERS others were given."""
    recent = recent_answers()
    recent[key] = answer
    while len(recent) > MAX_RECENT_ANSWERS:
        recent.popitem(last=False)


def _taxonomy_key(run: Run) -> tuple[str, str, str, int]:
    path = taxonomy_path(run, Settings().themes_dir)
    # The modification time changes when the taxonomy is rebuilt.
    return run.digest, run.loaded_at, str(path), path.stat().st_mtime_ns if path.is_file() else 0


def _taxonomy_hash(taxonomy: Taxonomy) -> int:
    # By content: a curated taxonomy is a new object in every page run, often with the same content.
    return hash((taxonomy.themes, taxonomy.no_theme))


def _full_name(metric: Callable[..., object]) -> str:
    # Streamlit cannot hash a function, so the caches know a metric by its full name.
    return f"{metric.__module__}.{metric.__qualname__}"


@contextmanager
def _explain_unreadable(*runs: Run) -> Iterator[None]:
    """Replace DuckDB's error by one that names the run and says what to do."""
    try:
        yield
    except DuckDBError as error:
        # Of two runs, the one whose store is damaged is named.
        run = next((run for run in runs if store_problem(run.path)), runs[0])
        raise AuditError(
            f"Run {run.key} could not be read from {run.path} ({error}). Nothing is shown. "
            "If the file was removed or damaged, load the release again: audit load PATH"
        ) from error


# A resource and not data, because a taxonomy never changes: sessions share it without copies.
@st.cache_resource(show_spinner=False, max_entries=16)
def _cached_taxonomy(digest: str, loaded_at: str, path: str, written: int, *, _run: Run) -> Taxonomy | None:
    return taxonomy_of(_run, Path(path).parent)


@st.cache_data(show_spinner=False, max_entries=16)
def _cached_points(digest: str, loaded_at: str, path: str, written: int, *, _run: Run) -> pd.DataFrame:
    return map_points(_run, Path(path).parent)


@st.cache_data(show_spinner="Comparing ...", max_size="64MB", hash_funcs={Taxonomy: _taxonomy_hash})
def _cached_comparison(
    stamps: tuple[str, ...], name: str, arguments: dict[str, object], *, _metric: Callable[..., object], _paths: tuple[Path, Path]
) -> object:
    with open_two(*_paths) as con:
        return cached_or_computed(_metric, con, _paths[0], arguments, other=_paths[1])


# Shared for the same reason: the widgets of every page that a session has seen hold on to the runs that they were drawn with, and
# the load report of one run is half a megabyte.
@st.cache_resource(show_spinner=False, max_entries=8)
def _listing(folder: str, files: tuple[tuple[str, int], ...]) -> tuple[list[Run], dict[Path, str]]:
    return read_stores(Path(folder))


@st.cache_resource(show_spinner=False, max_entries=32)
def _connection(path: str, loaded_at: str) -> Connection:
    # Threads share it: each query takes a cursor of its own.
    return open_store(Path(path))


# A figure is some 50 KB
@st.cache_resource(show_spinner=False, max_entries=200)
def _cached_figure(name: str, content: bytes, *, _draw: Callable[[], Figure]) -> Figure:
    return _draw()


# Bounded by bytes: a filtered page of pairs has a few thousand, and the questions of a large run half a million.
@st.cache_data(show_spinner="Counting ...", max_size="128MB", hash_funcs={Taxonomy: _taxonomy_hash})
def _cached_metric(
    digest: str, loaded_at: str, name: str, arguments: dict[str, object], *, _metric: Callable[..., object], _path: Path
) -> object:
    return cached_or_computed(_metric, _connection(str(_path), loaded_at), _path, arguments)
