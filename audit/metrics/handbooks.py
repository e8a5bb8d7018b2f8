"""What each handbook leaves out, and how often it disagrees with the others."""

from __future__ import annotations

import pandas as pd

from audit.metrics.intervals import with_wilson
from audit.metrics.steps import BY_COUPLE, require_answers
from audit.store.connection import Connection, frame


COUNTS = ("pairs", "scored", "unscored", "absent_pairs", "present", "consistent", "disagreeing")

SQL = f"""
with {BY_COUPLE},
sides as (
    select handbook_a as handbook, * from tallies
    union all
    select handbook_b as handbook, * from tallies
),
summed as (
    select handbook,
           sum(pairs)::bigint        as pairs,
           sum(scored)::bigint       as scored,
           sum(unscored)::bigint     as unscored,
           sum(absent)::bigint       as absent_pairs,
           sum(present)::bigint      as present,
           sum(consistent)::bigint   as consistent,
           sum(disagreeing)::bigint  as disagreeing
    from sides
    group by handbook
),
answered as (
    select handbook, count(*) as answers, count(*) filter (absent) as answers_absent
    from answers
    group by handbook
)
select handbook, handbook_id, organ, center, phase,
       coalesce(answers, 0)                as asked,
       coalesce(answers_absent, 0)         as absent,
       answers_absent / nullif(answers, 0) as absence,
       {", ".join(f"coalesce({count}, 0) as {count}" for count in COUNTS)},
       summed.disagreeing / nullif(summed.present, 0) as r_div
from handbooks left join summed using (handbook) left join answered using (handbook)
order by handbook
"""


def handbooks(con: Connection) -> pd.DataFrame:
    """Absence and disagreement per handbook."""
    require_answers(con, "what a handbook leaves out")
    table = with_wilson(frame(con, SQL), "absence", "absent", "asked")
    return with_wilson(table, "r_div", "disagreeing", "present")
