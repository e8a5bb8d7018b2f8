"""The taxonomy of themes that belongs to a run: the release's own, or one that was built for it. Never made here."""

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
PLACES = "select topic as phrase, x, y from theme_topics where x is not null and y is not null order by rowid"
POINTS = ["phrase", "x", "y"]
NONE_YET = (
    "Run {key} has no themes yet: its release brings none, and none were built. Nothing was counted. "
    "Build them with: audit themes build --run {key}"
)


def taxonomy_path(run: Run, themes_dir: Path) -> Path:
    """Where the taxonomy stands that is built for a run: a file by the run's digest, apart from the run's store."""
    return themes_dir / f"{run.digest[:16]}.json"


def taxonomy_of(run: Run, themes_dir: Path) -> Taxonomy | None:
    """The taxonomy of a run: that of its release if it brings one, else the one built for it, else None.

    Raises ThemesError when the one that was built cannot be read.
    """
    with open_store(run.path) as con:
        brought = brought_taxonomy(con, run)
    if brought is not None:
        return brought
    path = taxonomy_path(run, themes_dir)
    return read_taxonomy(path) if path.is_file() else None


def needed_taxonomy(run: Run, themes_dir: Path) -> Taxonomy:
    """The same; raises ThemesError, with the command that builds one, when the run has none."""
    found = taxonomy_of(run, themes_dir)
    if found is None:
        raise ThemesError(NONE_YET.format(key=run.key))
    return found


def points_of(run: Run, themes_dir: Path) -> pd.DataFrame:
    """The places on the map: phrase (str), x, y (float32), one row per phrase that has one; no row without a map.

    Raises ThemesError when the map that was built is missing or was changed.
    """
    with open_store(run.path) as con:
        if brought_taxonomy(con, run) is not None:
            return frame(con, PLACES)
    path = taxonomy_path(run, themes_dir)
    found = read_map(read_taxonomy(path), path) if path.is_file() else None
    return pd.DataFrame(columns=POINTS) if found is None else found[POINTS].dropna(ignore_index=True)


def brought_taxonomy(con: Connection, run: Run) -> Taxonomy | None:
    """The taxonomy that the release brings, None where it brings none."""
    told = rows(con, "select built from taxonomy")
    if not told:
        return None
    holder: dict[str, str | None] = dict(rows(con, TOPICS))
    topics: dict[str | None, list[str]] = {}
    for topic, theme_id in holder.items():
        topics.setdefault(theme_id, []).append(topic)
    themes = tuple(
        Theme(
            theme_id, name, parent_id, tuple(topics.get(theme_id, ())), tuple(terms), medoid or "", tuple(exemplars),
            named_by or "given",
        )
        for theme_id, name, parent_id, terms, medoid, exemplars, named_by in rows(con, THEMES)
    )  # fmt: skip
    return Taxonomy(themes, tuple(topics.get(None, ())), json.loads(told[0][0]), sha256=run.digest)
