"""Finding themes by words."""

from __future__ import annotations

import pandas as pd

from audit.metrics.disagreements import FOLDED
from audit.metrics.themes import TOLD, grouping
from audit.store.connection import Connection, frame
from audit.themes.taxonomy import Taxonomy

OF_THEMES = True
SQL = f"""
with {TOLD},
wanted as (
    select i, {FOLDED.format(text="$words[i]")} as word from range(1, len($words) + 1) as numbered(i)
),
topics_told as (
    select distinct theme_id, divergence_topic from told where theme_id <> ''
),
named as (
    select unnest($named::varchar[]) as theme_id, {FOLDED.format(text="unnest($names::varchar[])")} as name
),
by_topic as (
    select theme_id, divergence_topic
    from topics_told t join wanted on contains({FOLDED.format(text="t.divergence_topic")}, word)
    group by all having count(*) = len($words)
),
by_name as (
    select theme_id from named join wanted on contains(name, word) group by theme_id having count(*) = len($words)
)
select theme_id, count(divergence_topic) as found
from (select theme_id, divergence_topic from by_topic union all select theme_id, null from by_name)
group by theme_id
order by found desc, theme_id
"""


def theme_search(con: Connection, taxonomy: Taxonomy, words: str) -> pd.DataFrame:
    """The themes whose name and terms, or one of whose divergence topics, hold every one of some words.

    A word may stand anywhere in another; case and accents do not matter, % and _ are ordinary characters. Words are found as they
    are written: what means the same in other words is not. Divergence topics are those of this run's present pairs.

    One row per theme, those with most divergence topics found first:
        theme_id  str; '-1' for divergence topics without a theme
        found     int, its divergence topics that hold all the words; 0 where only its name or terms do
    """
    texts = {theme.theme_id: " ".join((theme.name, *theme.terms)) for theme in taxonomy.themes}
    told = {"words": words.split(), "named": list(texts), "names": list(texts.values())}
    return frame(con, SQL, {**grouping(taxonomy), **told})
