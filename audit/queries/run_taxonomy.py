"""The taxonomy of themes that belongs to a run: the release's own, or the one built for it. Nothing is built here."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from audit.errors import ThemesError
from audit.store.connection import Connection, frame, open_store, rows
from audit.store.runs import Run
from audit.themes.taxonomy import Taxonomy, Theme, read_map, read_taxonomy

THEMES = "select theme_id, name, parent_id, terms, medoid, exemplars, named_by from themes order by rowid"
TOPICS = "select topic, theme_id from theme_topics order by rowid"
RELEASE_POINTS = "select topic as phrase, x, y from theme_topics where x is not null and y is not null order by rowid"
POINT_COLUMNS = ["phrase", "x", "y"]
NO_THEMES = (
    "Run {key} has no themes yet: its release has none, and none were built. Nothing was counted. "
    "Build them with: audit themes build --run {key}"
)


def taxonomy_path(run: Run, themes_dir: Path) -> Path:
    """The file of the taxonomy that is built for a run: named by the run's digest, apart from the run's store."""
    return themes_dir / f"{run.digest[:16]}.json"


def taxonomy_of(run: Run, themes_dir: Path) -> Taxonomy | None:
    """The taxonomy of a run: that of its release if it has one, else the one built for it, else None.

    Raises ThemesError when the one that was built cannot be read.
    """
    with open_store(run.path) as con:
        of_release = release_taxonomy(con, run)
    if of_release is not None:
        return of_release
    path = taxonomy_path(run, themes_dir)
    return read_taxonomy(path) if path.is_file() else None


def require_taxonomy(run: Run, themes_dir: Path) -> Taxonomy:
    """The taxonomy of a run. Raises ThemesError, with the command that builds one, when the run has none."""
    taxonomy = taxonomy_of(run, themes_dir)
    if taxonomy is None:
        raise ThemesError(NO_THEMES.format(key=run.key))
    return taxonomy


def map_points(run: Run, themes_dir: Path) -> pd.DataFrame:
    """The points of the theme map: phrase (str), x, y (float32), one row per phrase on it; no row without a map.

    Raises ThemesError when the map that was built is missing or was changed.
    """
    with open_store(run.path) as con:
        if release_taxonomy(con, run) is not None:
            return frame(con, RELEASE_POINTS)
    path = taxonomy_path(run, themes_dir)
    points = read_map(read_taxonomy(path), path) if path.is_file() else None
    return pd.DataFrame(columns=POINT_COLUMNS) if points is None else points[POINT_COLUMNS].dropna(ignore_index=True)


def release_taxonomy(con: Connection, run: Run) -> Taxonomy | None:
    """The taxonomy in the release itself, None where it has none."""
    built = rows(con, "select built from taxonomy")
    if not built:
        return None
    theme_of: dict[str, str | None] = dict(rows(con, TOPICS))
    topics: dict[str | None, list[str]] = {}
    for topic, theme_id in theme_of.items():
        topics.setdefault(theme_id, []).append(topic)
    themes = tuple(
        Theme(
            theme_id, name, parent_id, tuple(topics.get(theme_id, ())), tuple(terms), medoid or "", tuple(exemplars),
            named_by or "given",
        )
        for theme_id, name, parent_id, terms, medoid, exemplars, named_by in rows(con, THEMES)
    )  # fmt: skip
    return Taxonomy(themes, tuple(topics.get(None, ())), json.loads(built[0][0]), sha256=run.digest)
