"""Themes of disagreement: pairs, questions, handbooks and severity of each, the gravest first."""

from __future__ import annotations

import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import DISAGREEING, PAIRS, QUESTIONS, THEME, TWO_WAY
from audit.metrics.severity import WEIGHT
from audit.queries.lookup import require_one_of
from audit.queries.pair_counts import LABEL_COUNTS, SIGNIFICANCE_COUNTS
from audit.queries.themes import REST, THEME_PAIRS, Grouping, grouping, grouping_of, require_theme, tops
from audit.release.taxonomy import Taxonomy, Theme
from audit.stats.clustered import group_counts, ratio_interval
from audit.stats.intervals import with_interval
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec

LEVELS = ("theme", "parent")
SQL = f"""
with {THEME_PAIRS},
counted as (
    select theme_id,
           count(distinct divergence_topic) filter (theme_id <> '')       as topics,
           count(distinct question)                                       as questions,
           count(*)                                                       as pairs,
{LABEL_COUNTS},
           count(*) filter (disagrees)                                    as disagreeing,
{SIGNIFICANCE_COUNTS}
    from theme_pairs
    group by theme_id
),
sides as (
    select theme_id, handbook_a as handbook from theme_pairs
    union
    select theme_id, handbook_b from theme_pairs
),
involved as (
    select theme_id, count(*) as handbooks, count(distinct center) as centers
    from sides join handbooks using (handbook)
    group by theme_id
),
asked as (
    select distinct theme_id, organ from theme_pairs join questions using (question)
),
concerned as (
    select theme_id, string_agg(organ, ', ' order by organ) as organs from asked group by theme_id
)
select theme_id, topics, questions, handbooks, centers, organs, pairs, consistent, complementary, divergent, contradictory,
       disagreeing, low, medium, high, unstated, {WEIGHT} as burden, ({WEIGHT}) / pairs as severity,
       disagreeing / nullif(sum(disagreeing) over (), 0) as share
from counted join involved using (theme_id) join concerned using (theme_id)
order by high desc, medium desc, pairs desc, theme_id
"""
PAIRS_SQL = f"with {THEME_PAIRS} select question, handbook_a, handbook_b, theme_id, disagrees from theme_pairs"
COUNTS = (
    "topics", "questions", "handbooks", "centers", "pairs", "consistent", "complementary", "divergent", "contradictory",
    "disagreeing", "low", "medium", "high", "unstated", "burden",
)  # fmt: skip
TABLE = TableSpec(
    "What {handbooks} disagree about, the gravest first",
    (
        Column.count("rank", "Rank"), Column.named("name", "Theme"), Column.named("parent", "Parent theme"),
        Column.count("topics", "Divergence topics"), QUESTIONS, PAIRS, DISAGREEING,
        Column.share("share", "Share", "of all disagreement"),
        Column.decimal("severity", "Severity", "per pair"), Column.count("burden", "Weight"),
        Column.count("contradictory", "Contradictory", "pairs"), Column.count("high", "High significance"),
        Column.count("medium", "Medium significance"), Column.count("low", "Low significance"),
        Column.count("unstated", "Significance not stated"),
        Column.count("handbooks", "{Handbooks}"), Column.count("centers", "{Centers}"), Column.named("organs", "{Organs}"),
    ),
    (
        THEME,
        "Rank: the theme with most disagreeing pairs of high {significance} first, then of medium, then the others; so "
        "one grave matter outranks many trivial ones. Weight: 1, 2 or 3 for each disagreeing pair by its significance (low, "
        "medium, high), 1 where it was not stated. Severity: weight per pair.",
        TWO_WAY,
    ),
)  # fmt: skip
GLOSSARY = {
    "theme": "Divergence topics about the same matter. Each belongs to one theme or to none; themes form groups.",
    "weight of a theme": "Its disagreeing pairs, each counting 1, 2 or 3 by {significance} (low, medium, high); 1 where "
    "it was not stated.",
    "divergence topic": "In a few words, what the two answers differ about.",
}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY, by_theme=True)
def themes(con: Connection, taxonomy: Taxonomy, level: str = "theme") -> pd.DataFrame:
    """Themes of disagreement, the gravest first.

    A theme groups divergence topics: the judge's few words on what two answers differ about. Its pairs are those in which both
    handbooks address the question (present pairs) and whose divergence topic belongs to it. burden adds 1 for every pair that
    disagrees (is divergent or contradictory) with low clinical significance, 2 with medium, 3 with high, and 1 where it was not
    stated; severity is the burden per pair. Themes are ranked by their disagreements of high significance, then of medium, then
    by the others, so that one grave matter outranks many trivial ones. share: of all disagreeing pairs of the run, those that
    disagree about this theme. A divergence topic that belongs to no theme
    counts in the row 'no theme', and a disagreement without a divergence topic in a row of its own: none is left out.

    `level` is 'theme', or 'parent': themes that have one are then counted under the theme at their top. One row per theme:
        theme_id                              str; '-1' no theme, '' no divergence topic stated
        name, parent_id, parent               str; the latter two missing for a topmost theme
        rank                                  Int64 from 1 by (high, medium, the other disagreeing pairs); equal ones share the
                                              better rank; <NA> where no theme
        topics                                int, distinct divergence topics in this run
        questions, handbooks, centers         int, that its pairs involve
        organs                                str, of its questions, with commas
        pairs                                 int; consistent + complementary + divergent + contradictory
        disagreeing                           int, pairs; divergent + contradictory = low + medium + high + unstated
        burden                                int; severity  float in [0, 3], burden / pairs
        share                                 float in [0, 1], disagreeing / disagreeing pairs of the run
        share_low, share_high                 95 % interval for other questions and handbooks (audit.stats.clustered)

    severity and shares are NaN where nothing was counted. Raises AuditError for another level. Source: themes of divergence
    topics as in arXiv:2605.29084, section 6; the weights of significance are ours.
    """
    require_one_of(level, LEVELS, "Level")
    grouped = grouping(taxonomy, level)
    return _theme_rows(con, taxonomy, grouped, _listed_ids(taxonomy, level, set(grouped["theme_ids"])))


def one_theme(con: Connection, taxonomy: Taxonomy, theme_id: str) -> pd.Series:
    """The row of `themes` of one theme, without its rank; a theme includes the pairs of all themes below it.

    Raises NotInRunError when the taxonomy has no such theme.
    """
    require_theme(taxonomy, theme_id)
    # Counted with the themes below it, a theme cannot be ranked among them.
    table = _theme_rows(con, taxonomy, grouping_of(taxonomy, theme_id), [theme_id]).drop(columns="rank")
    return table[table["theme_id"] == theme_id].iloc[0]


def _theme_rows(con: Connection, taxonomy: Taxonomy, grouped: Grouping, listed: list[str]) -> pd.DataFrame:
    counted = frame(con, SQL, grouped).set_index("theme_id")
    # A theme without a pair in this run keeps a row of zeros.
    table = counted.reindex(list(dict.fromkeys([*listed, *counted.index])))
    table[list(COUNTS)] = table[list(COUNTS)].fillna(0).astype(int)
    return _ranked(_with_intervals(con, _with_names(table.reset_index(), taxonomy), grouped))


def _listed_ids(taxonomy: Taxonomy, level: str, with_pairs: set[str]) -> list[str]:
    """Every theme that could have a pair, also if it has none; a parent only where it has topics of its own."""
    if level == "parent":
        return list(dict.fromkeys(tops(taxonomy).values()))
    leaves = {theme.theme_id for theme in taxonomy.leaves}
    return [theme.theme_id for theme in taxonomy.themes if theme.theme_id in leaves | with_pairs]


def _with_names(table: pd.DataFrame, taxonomy: Taxonomy) -> pd.DataFrame:
    known: dict[str, Theme] = {theme.theme_id: theme for theme in taxonomy.themes}
    names = {theme_id: theme.name for theme_id, theme in known.items()} | REST
    parent = table["theme_id"].map({theme_id: theme.parent_id for theme_id, theme in known.items()}).astype("str")
    table.insert(1, "name", table["theme_id"].map(names))
    table.insert(2, "parent_id", parent)
    table.insert(3, "parent", parent.map(names).astype("str"))
    return table


def _with_intervals(con: Connection, table: pd.DataFrame, grouped: Grouping) -> pd.DataFrame:
    pairs = frame(con, PAIRS_SQL, grouped)
    theme = pd.Index(table["theme_id"]).get_indexer(pd.Index(pairs["theme_id"]))
    disagrees = pairs["disagrees"].to_numpy(dtype=bool)
    counts = group_counts(pairs, theme, len(table), disagrees, of_all=True)
    return with_interval(table, "share", *ratio_interval(counts, 0, 1))


def _ranked(table: pd.DataFrame) -> pd.DataFrame:
    # Rows that are not themes have no rank and are last, however many pairs they have.
    rest = table["theme_id"].isin(REST)
    gravity = pd.Series(zip(table["high"], table["medium"], table["low"] + table["unstated"], strict=True), index=table.index)
    # From the last to the first, so equal rows keep the better rank.
    ranks = {own: rank for rank, own in reversed([*enumerate(sorted(gravity[~rest], reverse=True), start=1)])}
    table.insert(4, "rank", gravity.map(ranks).mask(rest).astype("Int64"))
    ordered = table.assign(rest=rest).sort_values(["rest", "rank", "pairs", "name"], ascending=[True, True, False, True])
    return ordered.drop(columns="rest").reset_index(drop=True)
