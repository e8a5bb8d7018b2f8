"""The themes of a run: its taxonomy (the release's own, or the one built for it), and which pairs belong to which theme."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from audit.errors import NotInRunError, ThemesError
from audit.release.taxonomy import Taxonomy, Theme, read_map, read_taxonomy
from audit.store.connection import Connection, frame, open_store, rows
from audit.store.runs import Run

THEMES = "select theme_id, name, parent_id, terms, medoid, exemplars, named_by from themes order by rowid"
TOPICS = "select topic, theme_id from theme_topics order by rowid"
RELEASE_POINTS = "select topic as phrase, x, y from theme_topics where x is not null and y is not null order by rowid"
# The commonest question topic of a divergence topic comes first.
DISAGREEMENT_TOPICS = """
select divergence_topic, topic, count(*) as pairs
from judged_pairs join topics using (question)
where disagrees and trim(divergence_topic) <> ''
group by all
order by pairs desc, topic
"""
TOPIC_COUNTS = """
select divergence_topic, count(*) from judged_pairs
where disagrees and trim(divergence_topic) <> '' group by 1
"""
WITHOUT_THEME = """
select coalesce(trim(divergence_topic), '') as topic, count(*)::integer as pairs,
       (count(*) filter (significance = 'high'))::integer as high
from judged_pairs where disagrees and (coalesce(trim(divergence_topic), '') = '' or divergence_topic in $topics)
group by 1 order by high desc, pairs desc, topic
"""
POINT_COLUMNS = ["phrase", "x", "y"]
NOT_BUILT = (
    "Run {key} has no themes: its release has none, and none were built. Nothing was counted. "
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
        raise ThemesError(NOT_BUILT.format(key=run.key))
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
    """The taxonomy in the release itself, None if it has none."""
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


def disagreement_topics(con: Connection) -> tuple[dict[str, int], dict[str, str]]:
    """Divergence topics of disagreeing pairs: divergence topic -> its disagreeing pairs, and -> the commonest topic of its
    questions.

    Only pairs that disagree: a judge may also note differences between answers that agree, which are not disagreements.
    """
    topic_of: dict[str, str] = {}
    for divergence_topic, topic, _ in rows(con, DISAGREEMENT_TOPICS):
        topic_of.setdefault(divergence_topic, topic)
    return dict(rows(con, TOPIC_COUNTS)), topic_of


def topics_without_theme(con: Connection, taxonomy: Taxonomy) -> pd.DataFrame:
    """Divergence topics of disagreeing pairs without a theme: topic (str), pairs, high (int), most of high significance first.

    high   of its pairs, those of high clinical significance
    A row with the topic '' counts disagreements without a divergence topic, where there are any.
    """
    return frame(con, WITHOUT_THEME, {"topics": list(taxonomy.no_theme)})


NO_THEME, NO_TOPIC = "-1", ""
"""The ids of two rows that are not themes: pairs whose divergence topic belongs to no theme, and those without a topic."""
REST = {NO_THEME: "no theme", NO_TOPIC: "no divergence topic stated"}

Grouping = dict[str, list[str]]
"""Divergence topics (`phrases`) and the id of each one's theme (`theme_ids`): parameters of the SQL."""

GROUPING = """grouping as (
    select unnest($phrases::varchar[]) as divergence_topic, unnest($theme_ids::varchar[]) as theme_id
)"""
THEME_OF_PAIR = "case when coalesce(trim(divergence_topic), '') = '' then '' else coalesce(theme_id, '-1') end as theme_id"
# In two parts: as one left join, which must look at every pair that is not absent, a theme took three times as long
THEME_PAIRS = f"""{GROUPING},
theme_pairs as (
    select question, handbook_a, handbook_b, label, significance, divergence_topic, disagrees,
           {THEME_OF_PAIR}
    from judged_pairs join grouping using (divergence_topic)
    where present
    union all
    select question, handbook_a, handbook_b, label, significance, divergence_topic,
           true, case when coalesce(trim(divergence_topic), '') = '' then '' else '-1' end as theme_id
    from judged_pairs anti join grouping using (divergence_topic)
    where disagrees
)"""
"""Every pair that disagrees, in one theme, none, or without a divergence topic; and what else a theme's own topics were said of.

Themes are built from disagreements alone, but a release may bring themes whose topics other pairs have too.
"""


def require_theme(taxonomy: Taxonomy, theme_id: str) -> Theme | None:
    """The theme with this id; None for the ids in REST. Raises NotInRunError when the taxonomy has no such theme."""
    match = next((theme for theme in taxonomy.themes if theme.theme_id == theme_id), None)
    if match is None and theme_id not in REST:
        raise NotInRunError(f"No theme of this run has the id '{theme_id}'. Nothing was counted. The page Themes lists them.")
    return match


def grouping(taxonomy: Taxonomy, level: str = "theme") -> Grouping:
    """Every divergence topic with its theme, or with the topmost theme above that."""
    theme_of = {topic: theme_id for topic, theme_id in taxonomy.theme_of().items() if theme_id is not None}
    top = tops(taxonomy) if level == "parent" else {}
    return {"phrases": list(theme_of), "theme_ids": [top.get(theme_id, theme_id) for theme_id in theme_of.values()]}


def tops(taxonomy: Taxonomy) -> dict[str, str]:
    """The id of every theme -> that of the topmost theme above it, which may be itself.

    Themes that are each other's parents have no topmost one: the smallest id of the cycle is used.
    """
    above = {theme.theme_id: theme.parent_id for theme in taxonomy.themes}
    return {theme_id: _topmost(theme_id, above) for theme_id in above}


def _topmost(theme_id: str, above: Mapping[str, str | None]) -> str:
    # A taxonomy read from a file is checked for cycles; one built in code may have one
    path = [theme_id]
    while (parent := above.get(path[-1])) is not None:
        if parent in path:
            return min(path[path.index(parent) :])
        path.append(parent)
    return path[-1]


def grouping_of(taxonomy: Taxonomy, theme_id: str) -> Grouping:
    """The same, with every topic of a theme and of the themes below it assigned to that theme."""
    inside = below(taxonomy, theme_id)
    grouped = grouping(taxonomy)
    return {**grouped, "theme_ids": [theme_id if own in inside else own for own in grouped["theme_ids"]]}


def below(taxonomy: Taxonomy, theme_id: str) -> set[str]:
    """The ids of a theme and of all themes below it."""
    ids, waiting = set(), [theme_id]
    while waiting:
        ids.add(current := waiting.pop())
        waiting += [theme.theme_id for theme in taxonomy.themes if theme.parent_id == current and theme.theme_id not in ids]
    return ids
