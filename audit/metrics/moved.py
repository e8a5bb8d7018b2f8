"""The pairs of which two runs say different things, to be read."""

from __future__ import annotations

import pandas as pd

from audit.errors import AuditError
from audit.metrics.transitions import ALIGNED, STATES
from audit.store.connection import Connection, frame

COMPARES = True
ANY = "any"
SQL = f"""
with {ALIGNED},
wanted as (
    from both_runs
    where case when $first = 'any' then first <> 'NOT IN THE RUN' and first <> second else first = $first end
      and case when $second = 'any' then second <> 'NOT IN THE RUN' else second = $second end
),
turns as (
    select *, count(*) over () as total,
           row_number() over (partition by question order by handbook_a, handbook_b) as turn
    from wanted
)
select total, first, second, q.question_id, q.text as question_text, q.organ,
       a.handbook_id as handbook_a, b.handbook_id as handbook_b
from turns
join this.questions q using (question)
join this.handbooks a on a.handbook = handbook_a
join this.handbooks b on b.handbook = handbook_b
order by turn, question, handbook_a, handbook_b
limit $limit
"""


def moved(con: Connection, first: str = ANY, second: str = ANY, limit: int = 100) -> pd.DataFrame:
    """The pairs of which the first run says one thing and the second another.

    `first` and `second` are what each run says of a pair, as in `transitions`, or 'any', which is anything but not having the
    pair; with 'any' for the first, pairs of which both say the same are left out. Every question gives its first pair
    before any gives its second.

    One row per pair, at most `limit`:
        total                              int, pairs that match, the same in every row
        first, second                      str, PRE-SCREENED, a label, UNSCORED or NOT IN THE RUN
        question_id, question_text, organ  str
        handbook_a, handbook_b             str

    No row where nothing matches. Takes a connection to both runs. Raises AuditError for another value.
    """
    for name in (first, second):
        if name not in (ANY, *STATES):
            raise AuditError(f"'{name}' is nothing that a run says of a pair. Allowed: {', '.join((ANY, *STATES))}.")
    return frame(con, SQL, {"first": first, "second": second, "limit": limit})
