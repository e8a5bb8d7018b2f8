"""Which pairs belong to which theme: the grouping that SQL takes, and the ids that do not name a theme."""

from __future__ import annotations

from audit.errors import NotInRunError
from audit.themes.taxonomy import Taxonomy, Theme

NO_THEME, NO_TOPIC = "-1", ""
"""The ids of two rows that are not themes: pairs whose divergence topic belongs to no theme, and those without a topic."""
REST = {NO_THEME: "no theme", NO_TOPIC: "no divergence topic stated"}

Grouping = dict[str, list[str]]
"""Divergence topics (`phrases`) and the id of each one's theme (`theme_ids`): parameters of the SQL."""

THEME_PAIRS = """grouping as (
    select unnest($phrases::varchar[]) as divergence_topic, unnest($theme_ids::varchar[]) as theme_id
),
theme_pairs as (
    select question, handbook_a, handbook_b, label, significance, divergence_topic,
           label in ('DIVERGENT', 'CONTRADICTORY') as disagrees,
           case when coalesce(trim(divergence_topic), '') = '' then '' else coalesce(theme_id, '-1') end as theme_id
    from pairs left join grouping using (divergence_topic)
    where label <> 'ABSENT' and (trim(divergence_topic) <> '' or label in ('DIVERGENT', 'CONTRADICTORY'))
)"""
"""Present pairs that have a divergence topic, and disagreeing ones without, each in one theme."""


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
    """The id of every theme -> that of the topmost theme above it, which may be itself."""
    above = {theme.theme_id: theme.parent_id for theme in taxonomy.themes}
    topmost: dict[str, str] = {}
    for theme_id in above:
        top = theme_id
        while (parent := above.get(top)) is not None:
            top = parent
        topmost[theme_id] = top
    return topmost


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
