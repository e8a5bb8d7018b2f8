"""What the judge said of all pairs: the global distribution of labels."""

from __future__ import annotations

import pandas as pd

from audit.metrics.intervals import with_wilson
from audit.store.connection import Connection, frame

SQL = """
with outcomes(place, label, how) as (
    values (0, 'ABSENT', 'pre-screened'), (1, 'ABSENT', 'judged'), (2, 'CONSISTENT', 'judged'), (3, 'COMPLEMENTARY', 'judged'),
           (4, 'DIVERGENT', 'judged'), (5, 'CONTRADICTORY', 'judged'), (6, 'UNSCORED', 'unscored')
),
counted as (
    select coalesce(label::varchar, 'UNSCORED') as label,
           case when label is null then 'unscored' when prescreened then 'pre-screened' else 'judged' end as how,
           count(*) as pairs
    from pairs
    group by all
)
select label, how,
       coalesce(pairs, 0)                                         as pairs,
       coalesce(pairs, 0) / nullif(sum(pairs) over (), 0)         as share,
       case when how = 'judged' then coalesce(pairs, 0)
            / nullif(sum(pairs) filter (how = 'judged') over (), 0) end as share_of_judged
from outcomes left join counted using (label, how)
order by place
"""


def labels(con: Connection) -> pd.DataFrame:
    """How all pairs fall on the labels, with what was pre-screened, judged and unscored kept apart.

    A pair is pre-screened when an answer is absent: it is ABSENT without asking the judge. A pair is judged when the
    judge gave a verdict, ABSENT among them. A pair is unscored when the judge was asked and gave no readable verdict:
    it is no label, and counted on its own.

    Seven rows, in the order pre-screened, the five labels as judged, unscored:
        label            str, a label or UNSCORED
        how              str, 'pre-screened', 'judged' or 'unscored'
        pairs            int
        share            float in [0, 1], of all pairs; NaN in a run without pairs
        share_of_judged  float in [0, 1], of the judged pairs; NaN for pre-screened and unscored
        ..._low, _high   95 % interval, questions and handbooks resampled (see audit.metrics.pigeonhole)
    """
    table = frame(con, SQL)
    table["pairs_all"], table["judged"] = table["pairs"].sum(), table["pairs"].where(table["how"] == "judged").sum()
    table = with_wilson(table, "share", "pairs", "pairs_all")
    table = with_wilson(table, "share_of_judged", "pairs", "judged")
    return table.drop(columns=["pairs_all", "judged"])
