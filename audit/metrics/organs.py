"""Where handbooks are silent and where they disagree, by the organ of the question."""

from __future__ import annotations

import pandas as pd

from audit.metrics.intervals import with_wilson
from audit.metrics.steps import BY_QUESTION, COUNTS, RATES, SUMMED
from audit.store.connection import Connection, frame

SQL = f"""
with {BY_QUESTION},
summed as (
    select case when grouping(organ) = 1 then '(all)' else organ end as organ,
           grouping(organ)                        as is_total,
           count(*)                               as questions,
           count(*) filter (scored > 0)           as questions_scored,
           count(*) filter (disagreeing > 0)      as questions_any,
{SUMMED}
    from questions left join tallies using (question)
    group by grouping sets ((organ), ())
)
select organ, questions, {", ".join(COUNTS)},
       {RATES},
       questions_scored, questions_any,
       questions_any / nullif(questions_scored, 0) as pct_any_div
from summed
order by is_total, organ = 'general', organ
"""


def organs(con: Connection) -> pd.DataFrame:
    """Absence, disagreement and agreement per question organ."""
    table = frame(con, SQL)
    for share, k, n in (("r_abs", "absent", "scored"), ("r_div", "disagreeing", "present"), ("r_con", "consistent", "present")):
        table = with_wilson(table, share, k, n)
    return with_wilson(table, "pct_any_div", "questions_any", "questions_scored")
