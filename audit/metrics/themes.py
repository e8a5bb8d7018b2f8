"""What the sources disagree about: pairs, people and places behind each theme, worst first."""

from __future__ import annotations

import pandas as pd

from audit.errors import NotInRunError
from audit.metrics.severity import WEIGHT
from audit.metrics.steps import require_level
from audit.stats.bootstrap import ratio_interval, resample_groups
from audit.stats.interval_columns import with_interval
from audit.store.connection import Connection, frame
from audit.themes.taxonomy import Taxonomy, Theme

OF_THEMES = True
NO_THEME, NO_TOPIC = "-1", ""
"""The ids of two rows that are no theme: pairs whose divergence topic belongs to none, and those without such a topic."""
REST = {NO_THEME: "no theme", NO_TOPIC: "no divergence topic stated"}
LEVELS = ("theme", "parent")

Grouping = dict[str, list[str]]
"""Divergence topics (`phrases`), and beside each the id of its theme (`theme_ids`): what SQL takes."""

TOLD = """grouping as (
    select unnest($phrases::varchar[]) as divergence_topic, unnest($theme_ids::varchar[]) as theme_id
),
told as (
    select question, handbook_a, handbook_b, label, significance, divergence_topic,
           label in ('DIVERGENT', 'CONTRADICTORY') as disagrees,
           case when coalesce(trim(divergence_topic), '') = '' then '' else coalesce(theme_id, '-1') end as theme_id
    from pairs left join grouping using (divergence_topic)
    where label <> 'ABSENT' and (trim(divergence_topic) <> '' or label in ('DIVERGENT', 'CONTRADICTORY'))
)"""
"""Present pairs that have a divergence topic, and disagreeing ones without, each in one theme."""

SQL = f"""
with {TOLD},
counted as (
    select theme_id,
           count(distinct divergence_topic) filter (theme_id <> '')       as topics,
           count(distinct question)                                       as questions,
           count(*)                                                       as pairs,
           count(*) filter (label = 'CONSISTENT')                         as consistent,
           count(*) filter (label = 'COMPLEMENTARY')                      as complementary,
           count(*) filter (label = 'DIVERGENT')                          as divergent,
           count(*) filter (label = 'CONTRADICTORY')                      as contradictory,
           count(*) filter (disagrees)                                    as disagreeing,
           count(*) filter (disagrees and significance = 'low')           as low,
           count(*) filter (disagrees and significance = 'medium')        as medium,
           count(*) filter (disagrees and significance = 'high')          as high,
           count(*) filter (disagrees and significance is null)           as unstated
    from told
    group by theme_id
),
sides as (
    select theme_id, handbook_a as handbook from told
    union
    select theme_id, handbook_b from told
),
involved as (
    select theme_id, count(*) as handbooks, count(distinct center) as centers
    from sides join handbooks using (handbook)
    group by theme_id
),
asked as (
    select distinct theme_id, organ from told join questions using (question)
),
concerned as (
    select theme_id, string_agg(organ, ', ' order by organ) as organs from asked group by theme_id
)
select theme_id, topics, questions, handbooks, centers, organs, pairs, consistent, complementary, divergent, contradictory,
       disagreeing, low, medium, high, unstated, {WEIGHT} as burden, ({WEIGHT}) / pairs as severity,
       disagreeing / nullif(sum(disagreeing) over (), 0) as share, disagreeing / pairs as r_div
from counted join involved using (theme_id) join concerned using (theme_id)
order by burden desc, pairs desc, theme_id
"""
PAIRS = f"with {TOLD} select question, handbook_a, handbook_b, theme_id, disagrees from told"
COUNTS = (
    "topics", "questions", "handbooks", "centers", "pairs", "consistent", "complementary", "divergent", "contradictory",
    "disagreeing", "low", "medium", "high", "unstated", "burden",
)  # fmt: skip


def themes(con: Connection, taxonomy: Taxonomy, level: str = "theme") -> pd.DataFrame:
    """What the sources disagree about, the gravest theme first.

    A theme groups divergence topics: the judge's few words on what two answers differ about. Its pairs are those in which both
    handbooks address the question (present pairs) and whose divergence topic belongs to it. burden adds 1 for every pair that
    disagrees (is divergent or contradictory) with low clinical significance, 2 with medium, 3 with high, and 1 where it was not
    stated; themes are ranked by it. severity is the burden per pair. share: of all disagreeing pairs of the run, those that
    disagree about this theme. r_div: of the theme's own pairs, those that disagree. A divergence topic that belongs to no theme
    counts in the row 'no theme', and a disagreement without a divergence topic in a row of its own: none is left out.

    `level` is 'theme', or 'parent': themes that have one are then counted under the theme at their top. One row per theme:
        theme_id                              str; '-1' no theme, '' no divergence topic stated
        name, parent_id, parent               str; the latter two missing where there is no theme above
        rank                                  Int64 from 1 by burden, equal burdens share the better rank; <NA> where no theme
        topics                                int, distinct divergence topics in this run
        questions, handbooks, centers         int, that its pairs involve
        organs                                str, of its questions, with commas
        pairs                                 int; consistent + complementary + divergent + contradictory
        disagreeing                           int, pairs; divergent + contradictory = low + medium + high + unstated
        burden                                int; severity  float in [0, 3], burden / pairs
        share                                 float in [0, 1], disagreeing / disagreeing pairs of the run
        r_div                                 float in [0, 1], disagreeing / pairs
        share_..., r_div_low, ..._high        95 % intervals: questions and handbooks resampled; Wilson's over questions where a
                                              theme, or the rest, stands on fewer than five questions (audit.stats.bootstrap)

    severity and shares are NaN where nothing was counted. Raises AuditError for another level. Source: themes and weights as in
    arXiv:2605.29084; intervals: Owen (2007).
    """
    require_level(level, LEVELS)
    grouped = grouping(taxonomy, level)
    return _counted(con, taxonomy, grouped, _listed(taxonomy, level, set(grouped["theme_ids"])))


def one_theme(con: Connection, taxonomy: Taxonomy, theme_id: str) -> pd.Series:
    """The row of `themes` of one theme, without its rank; a theme that others stand below counts with all of theirs.

    Raises NotInRunError when the taxonomy has no such theme.
    """
    require_theme(taxonomy, theme_id)
    counted = _counted(con, taxonomy, grouping_of(taxonomy, theme_id), [theme_id]).drop(columns="rank")
    return counted[counted["theme_id"] == theme_id].iloc[0]


def require_theme(taxonomy: Taxonomy, theme_id: str) -> Theme | None:
    """The theme with an id; None for the id of a row that is no theme. Raises NotInRunError when there is none."""
    found = next((theme for theme in taxonomy.themes if theme.theme_id == theme_id), None)
    if found is None and theme_id not in REST:
        raise NotInRunError(f"No theme of this run has the id '{theme_id}'. Nothing was counted. The page Themes lists them.")
    return found


def _counted(con: Connection, taxonomy: Taxonomy, grouped: Grouping, listed: list[str]) -> pd.DataFrame:
    counted = frame(con, SQL, grouped).set_index("theme_id")
    table = counted.reindex(list(dict.fromkeys([*listed, *counted.index])))
    table[list(COUNTS)] = table[list(COUNTS)].fillna(0).astype(int)
    return _ordered(_with_intervals(con, _named(table.reset_index(), taxonomy), grouped))


def grouping(taxonomy: Taxonomy, level: str = "theme") -> Grouping:
    """Every divergence topic under its theme, or under the theme at the top of that."""
    of = {topic: theme_id for topic, theme_id in taxonomy.theme_of().items() if theme_id is not None}
    top = tops(taxonomy) if level == "parent" else {}
    return {"phrases": list(of), "theme_ids": [top.get(theme_id, theme_id) for theme_id in of.values()]}


def tops(taxonomy: Taxonomy) -> dict[str, str]:
    """The id of every theme -> that of the theme at its top, which may be itself."""
    above = {theme.theme_id: theme.parent_id for theme in taxonomy.themes}
    found: dict[str, str] = {}
    for theme_id in above:
        top = theme_id
        while (parent := above.get(top)) is not None:
            top = parent
        found[theme_id] = top
    return found


def grouping_of(taxonomy: Taxonomy, theme_id: str) -> Grouping:
    """The same, with every topic of a theme and of those below it under that theme."""
    inside = below(taxonomy, theme_id)
    found = grouping(taxonomy)
    return {**found, "theme_ids": [theme_id if own in inside else own for own in found["theme_ids"]]}


def below(taxonomy: Taxonomy, theme_id: str) -> set[str]:
    """The ids of a theme and of all that stand below it."""
    found, waiting = set(), [theme_id]
    while waiting:
        found.add(now := waiting.pop())
        waiting += [theme.theme_id for theme in taxonomy.themes if theme.parent_id == now and theme.theme_id not in found]
    return found


def _listed(taxonomy: Taxonomy, level: str, holding: set[str]) -> list[str]:
    """Every theme that could hold a pair, also where it holds none; one above others only where it has topics itself."""
    if level == "parent":
        return list(dict.fromkeys(tops(taxonomy).values()))
    leaves = {theme.theme_id for theme in taxonomy.leaves}
    return [theme.theme_id for theme in taxonomy.themes if theme.theme_id in leaves | holding]


def _named(table: pd.DataFrame, taxonomy: Taxonomy) -> pd.DataFrame:
    known: dict[str, Theme] = {theme.theme_id: theme for theme in taxonomy.themes}
    names = {theme_id: theme.name for theme_id, theme in known.items()} | REST
    parent = table["theme_id"].map({theme_id: theme.parent_id for theme_id, theme in known.items()}).astype("str")
    table.insert(1, "name", table["theme_id"].map(names))
    table.insert(2, "parent_id", parent)
    table.insert(3, "parent", parent.map(names).astype("str"))
    return table


def _with_intervals(con: Connection, table: pd.DataFrame, grouped: Grouping) -> pd.DataFrame:
    pairs = frame(con, PAIRS, grouped)
    place = pd.Index(table["theme_id"]).get_indexer(pd.Index(pairs["theme_id"]))
    # Disagreeing pairs in the first half of the groups, the others in the second, so that both share their draws.
    group = place + len(table) * ~pairs["disagrees"].to_numpy(dtype=bool)
    counts = resample_groups(pairs, group, 2 * len(table))
    disagreeing, others = counts[: len(table)], counts[len(table) :]
    table = with_interval(table, "share", *ratio_interval(disagreeing, disagreeing.total()))
    return with_interval(table, "r_div", *ratio_interval(disagreeing, disagreeing + others))


def _ordered(table: pd.DataFrame) -> pd.DataFrame:
    rest = table["theme_id"].isin(REST)
    rank = table["burden"].mask(rest).rank(ascending=False, method="min").astype("Int64")
    table.insert(4, "rank", rank)
    order = table.assign(rest=rest).sort_values(["rest", "rank", "pairs", "name"], ascending=[True, True, False, True])
    return order.drop(columns="rest").reset_index(drop=True)
