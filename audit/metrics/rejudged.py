"""Pairs that were judged anew, each with what was said before and what is said now."""

from __future__ import annotations

import pandas as pd

from audit.errors import AuditError
from audit.metrics.transitions import ALIGNED
from audit.store.connection import Connection, frame

COMPARES = True
ALL, CHANGED, SAME = "all", "changed", "same"
SQL = f"""
with {ALIGNED},
wanted as (
    from both_runs
    where second <> 'NOT IN THE RUN'
      and case $which when 'changed' then first <> second when 'same' then first = second else true end
),
now as (
    select asked.own as question, least(a.own, b.own) as handbook_a, greatest(a.own, b.own) as handbook_b,
           p.reasoning, p.divergence_topic, unscored_reason
    from other.pairs p
    join asked on asked.their = p.question
    join books a on a.their = p.handbook_a
    join books b on b.their = p.handbook_b
    left join other.readings r on r.question = p.question and r.handbook_a = p.handbook_a and r.handbook_b = p.handbook_b
)
select count(*) over () as total, first, second, significance_first, significance_second,
       was.reasoning as reasoning_first, now.reasoning as reasoning_second,
       was.divergence_topic as topic_first, now.divergence_topic as topic_second, now.unscored_reason,
       q.question_id, q.text as question_text, a.handbook_id as handbook_a, b.handbook_id as handbook_b
from wanted w
join now using (question, handbook_a, handbook_b)
left join this.pairs was using (question, handbook_a, handbook_b)
join this.questions q using (question)
join this.handbooks a on a.handbook = w.handbook_a
join this.handbooks b on b.handbook = w.handbook_b
order by question, w.handbook_a, w.handbook_b
limit $limit offset $offset
"""


def rejudged(con: Connection, which: str = ALL, limit: int = 100, offset: int = 0) -> pd.DataFrame:
    """The pairs of a second run, each with what the first run says of it: the two verdicts side by side.

    A pair has changed when what is said of it is another of: pre-screened, the five labels, unscored, not in the run. Another
    significance, topic or reasoning under the same label is no change here, and is shown.

    One row per pair of the second run that the first knows the question and handbooks of, in release order:
        total                                    int, pairs that match `which` (all, changed, same), the same in every row
        first, second                            str, what each run says, as in `transitions`
        significance_first, significance_second  str; missing where there is none
        reasoning_first, reasoning_second        str; missing where there is none
        topic_first, topic_second                str; missing where there is none
        unscored_reason                          str, why the second run has no label; missing where it has one
        question_id, question_text               str
        handbook_a, handbook_b                   str

    Takes a connection to both runs (audit.store.connection.open_two). Raises AuditError for another `which`.
    """
    if which not in (ALL, CHANGED, SAME):
        raise AuditError(f"'{which}' is no choice of pairs. Allowed: {ALL}, {CHANGED}, {SAME}. Nothing was counted.")
    return frame(con, SQL, {"which": which, "limit": limit, "offset": offset})
