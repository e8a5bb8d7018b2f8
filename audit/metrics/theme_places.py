"""Where one theme is disputed: organs, centers and handbooks."""

from __future__ import annotations

import pandas as pd

from audit.metrics.themes import TOLD, grouping_of, require_theme
from audit.store.connection import Connection, frame
from audit.themes.taxonomy import Taxonomy

OF_THEMES = True
SQL = f"""
with {TOLD},
mine as (
    select question, handbook_a, handbook_b, disagrees from told where theme_id = $theme_id
),
sides as (
    select question, handbook_a as handbook, handbook_a, handbook_b, disagrees from mine
    union all
    select question, handbook_b, handbook_a, handbook_b, disagrees from mine
),
placed as (
    select 'organ' as kind, organ as name, question, handbook_a, handbook_b, disagrees from mine join questions using (question)
    union all
    select distinct 'center', center, question, handbook_a, handbook_b, disagrees from sides join handbooks using (handbook)
    union all
    select 'handbook', handbook_id, question, handbook_a, handbook_b, disagrees from sides join handbooks using (handbook)
)
select kind, name, count(*) as pairs, count(*) filter (disagrees) as disagreeing, count(distinct question) as questions
from placed
group by kind, name
order by kind, disagreeing desc, pairs desc, name
"""


def theme_places(con: Connection, taxonomy: Taxonomy, theme_id: str) -> pd.DataFrame:
    """Where a theme is disputed: organs of its questions, centers and handbooks whose answers are involved.

    A pair counts for both of its handbooks, and for both of their centers (once, where they are the same), so those rows add up
    to more than the theme. One row per organ, center and handbook that is involved, the most disputed first:
        kind                         str, 'organ', 'center' or 'handbook'
        name                         str, organ, center or handbook_id
        pairs, disagreeing           int, counted as in `themes`, with those of themes that stand below this one
        questions                    int

    Raises NotInRunError when the taxonomy has no such theme.
    """
    require_theme(taxonomy, theme_id)
    return frame(con, SQL, {**grouping_of(taxonomy, theme_id), "theme_id": theme_id})
