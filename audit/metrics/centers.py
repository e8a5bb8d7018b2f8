"""What each center's handbooks leave out and where they disagree, within the center and with others."""

from __future__ import annotations

import pandas as pd

from audit.metrics.intervals import with_wilson
from audit.metrics.steps import BY_COUPLE
from audit.store.connection import Connection, frame

SQL = f"""
with {BY_COUPLE},
placed as (
    select a.center as center_a, b.center as center_b, t.*
    from tallies t
    join handbooks a on a.handbook = t.handbook_a
    join handbooks b on b.handbook = t.handbook_b
),
sides as (
    select center_a as center, center_a = center_b as within, * from placed
    union all
    select center_b as center, false as within, * from placed where center_a <> center_b
),
involved as (
    select center,
           sum(pairs)::bigint                                            as pairs,
           sum(scored)::bigint                                           as scored,
           sum(unscored)::bigint                                         as unscored,
           sum(absent)::bigint                                           as absent_pairs,
           sum(present)::bigint                                          as present,
           sum(consistent)::bigint                                       as consistent,
           sum(disagreeing)::bigint                                      as disagreeing,
           coalesce(sum(present) filter (within), 0)::bigint             as within_present,
           coalesce(sum(disagreeing) filter (within), 0)::bigint         as within_disagreeing,
           coalesce(sum(present) filter (not within), 0)::bigint         as between_present,
           coalesce(sum(disagreeing) filter (not within), 0)::bigint     as between_disagreeing
    from sides
    group by center
),
answered as (
    select center, count(*) as answers, count(*) filter (absent) as answers_absent
    from answers join handbooks using (handbook)
    group by center
),
centers as (
    select center, count(*) as handbooks from handbooks group by center
)
select center, handbooks,
       case when has_answers then coalesce(answers, 0) end        as asked,
       case when has_answers then coalesce(answers_absent, 0) end as absent,
       answers_absent / nullif(answers, 0)                        as absence,
       coalesce(pairs, 0)                                         as pairs,
       coalesce(scored, 0)                                        as scored,
       coalesce(unscored, 0)                                      as unscored,
       coalesce(absent_pairs, 0)                                  as absent_pairs,
       coalesce(present, 0)                                       as present,
       coalesce(consistent, 0)                                    as consistent,
       coalesce(disagreeing, 0)                                   as disagreeing,
       absent_pairs / nullif(scored, 0)                           as r_abs,
       disagreeing / nullif(present, 0)                           as r_div,
       consistent / nullif(present, 0)                            as r_con,
       coalesce(within_present, 0)                                as within_present,
       coalesce(within_disagreeing, 0)                            as within_disagreeing,
       within_disagreeing / nullif(within_present, 0)             as r_div_within,
       coalesce(between_present, 0)                               as between_present,
       coalesce(between_disagreeing, 0)                           as between_disagreeing,
       between_disagreeing / nullif(between_present, 0)           as r_div_between
from centers left join involved using (center) left join answered using (center) cross join run
order by center
"""


def centers(con: Connection) -> pd.DataFrame:
    """Absence and disagreement per center."""
    table = frame(con, SQL).astype({"asked": "Int64", "absent": "Int64"})
    for share, k, n in (
        ("r_abs", "absent_pairs", "scored"), ("r_div", "disagreeing", "present"), ("r_con", "consistent", "present"),
        ("r_div_within", "within_disagreeing", "within_present"), ("r_div_between", "between_disagreeing", "between_present"),
    ):  # fmt: skip
        table = with_wilson(table, share, k, n)
    known = table[["absent", "asked"]].astype(float)
    return with_wilson(table.assign(absent=known["absent"], asked=known["asked"]), "absence", "absent", "asked").astype(
        {"asked": "Int64", "absent": "Int64"}
    )
