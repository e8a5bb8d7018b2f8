"""What two runs have in common, and what only one of them has."""

from __future__ import annotations

import pandas as pd

from audit.metrics.transitions import ALIGNED
from audit.store.connection import Connection, frame

COMPARES = True
SQL = f"""
with {ALIGNED},
pairs_shared as (
    select count(*) as pairs from both_runs where first <> 'NOT IN THE RUN' and second <> 'NOT IN THE RUN'
),
counted as (
    select 0 as place, 'questions' as what,
           (select count(*) from asked) as in_both,
           (select count(*) from this.questions) as first, (select count(*) from other.questions) as second
    union all
    select 1, 'handbooks', (select count(*) from books),
           (select count(*) from this.handbooks), (select count(*) from other.handbooks)
    union all
    select 2, 'pairs', (select pairs from pairs_shared), (select count(*) from this.pairs), (select count(*) from other.pairs)
)
select what, in_both, first - in_both as only_first, second - in_both as only_second
from counted
order by place
"""


def shared(con: Connection) -> pd.DataFrame:
    """Which questions, handbooks and pairs two runs have in common, and how many only one of them has.

    Questions and handbooks are the same when their ids are. A pair is in both when its question and both its handbooks are,
    and each run has a record of it. Every comparison of two runs rests on what is in both, and says nothing of the rest.

    Three rows, what 'questions', 'handbooks', 'pairs':
        what                     str
        in_both                  int
        only_first, only_second  int

    Takes a connection to both runs (audit.store.connection.open_two).
    """
    return frame(con, SQL)
