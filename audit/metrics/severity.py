"""Whether weighing disagreements by their clinical significance changes which units look worst."""

from __future__ import annotations

import pandas as pd

from audit.store.connection import Connection, frame

WEIGHTS = {"low": 1, "medium": 2, "high": 3, "unstated": 1}
"""The weight of a disagreeing pair by its clinical significance. A disagreement whose significance the judge did not
state weighs as the least one does: it is a disagreement, and nothing says that it matters more."""

WEIGHT = " + ".join(f"{weight} * {significance}" for significance, weight in WEIGHTS.items())

SQL = f"""
with present_pairs as (
    select question, handbook_a, handbook_b, significance, label in ('DIVERGENT', 'CONTRADICTORY') as disagrees
    from pairs
    where label <> 'ABSENT'
),
memberships as (
    select question_id as unit, p.* from present_pairs p join questions using (question) where $level = 'question'
    union all
    select topic, p.* from present_pairs p join topics using (question) where $level = 'topic'
    union all
    select handbook_id, p.* from present_pairs p join handbooks on handbook = handbook_a where $level = 'handbook'
    union all
    select handbook_id, p.* from present_pairs p join handbooks on handbook = handbook_b where $level = 'handbook'
),
units as (
    select question_id as unit, question as place from questions where $level = 'question'
    union all
    select topic, 0 from (select distinct topic from topics) where $level = 'topic'
    union all
    select handbook_id, handbook from handbooks where $level = 'handbook'
),
counted as (
    select unit,
           count(*)                                                   as present,
           count(*) filter (disagrees)                                as disagreeing,
           count(*) filter (disagrees and significance = 'low')       as low,
           count(*) filter (disagrees and significance = 'medium')    as medium,
           count(*) filter (disagrees and significance = 'high')      as high,
           count(*) filter (disagrees and significance is null)       as unstated
    from memberships
    group by unit
),
scored as (
    select unit, place,
           coalesce(present, 0) as present, coalesce(disagreeing, 0) as disagreeing,
           coalesce(low, 0) as low, coalesce(medium, 0) as medium, coalesce(high, 0) as high, coalesce(unstated, 0) as unstated,
           ({WEIGHT}) / nullif(present, 0)     as severity,
           disagreeing / nullif(present, 0)    as r_div
    from units left join counted using (unit)
),
ranked as (
    select *, case when severity is not null then rank() over (order by severity desc nulls last) end as rank_severity,
              case when r_div is not null then rank() over (order by r_div desc nulls last) end as rank_r_div
    from scored
)
select unit, present, disagreeing, low, medium, high, unstated, severity, r_div,
       rank_severity, rank_r_div, rank_r_div - rank_severity as rank_shift
from ranked
order by rank_severity nulls last, rank_r_div, place, unit
"""


def severity(con: Connection, level: str = "question") -> pd.DataFrame:
    """Severity-weighted against plain disagreement."""
    return frame(con, SQL, {"level": level}).astype({"rank_severity": "Int64", "rank_r_div": "Int64", "rank_shift": "Int64"})
