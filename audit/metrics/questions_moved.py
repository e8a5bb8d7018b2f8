"""The questions on which two runs differ most."""

from __future__ import annotations

import pandas as pd

from audit.errors import AuditError
from audit.metrics.transitions import ALIGNED
from audit.stats.interval_columns import with_interval
from audit.stats.intervals import wilson
from audit.store.connection import Connection, frame

COMPARES = True
DISAGREEMENT, ABSENCE, LABEL = "disagreement", "absence", "label"
KINDS = (DISAGREEMENT, ABSENCE, LABEL)

COMPARED = f"""
{ALIGNED},
compared as (
    select question, handbook_a, handbook_b,
           first in ('PRE-SCREENED', 'ABSENT')          as was_absent,
           second in ('PRE-SCREENED', 'ABSENT')         as is_absent,
           first in ('DIVERGENT', 'CONTRADICTORY')      as was_disagreeing,
           second in ('DIVERGENT', 'CONTRADICTORY')     as is_disagreeing,
           case $kind when 'disagreement' then was_disagreeing <> is_disagreeing
                      when 'absence' then was_absent <> is_absent
                      else first <> second and not (was_absent and is_absent) end as moves
    from both_runs
    where first not in ('UNSCORED', 'NOT IN THE RUN') and second not in ('UNSCORED', 'NOT IN THE RUN')
)"""
"""The pairs that both runs scored, and whether they move in what `$kind` asks for."""

TALLY = """count(*) as compared, count(*) filter (moves) as moved,
           count(*) filter (was_absent and is_disagreeing)                                        as revealed,
           count(*) filter (was_disagreeing and is_absent)                                        as lost,
           count(*) filter (not was_absent and not was_disagreeing and is_disagreeing)            as judged_new,
           count(*) filter (was_disagreeing and not is_absent and not is_disagreeing)             as judged_gone"""
"""Counts pairs of `compared`; the last four are disagreeing pairs."""
CHANGE = "revealed - lost + judged_new - judged_gone as change"

SQL = f"""
with {COMPARED},
counted as (
    select question, {TALLY} from compared group by question
),
asked_of as (
    select question, count(distinct handbook) as handbooks
    from (select question, unnest([handbook_a, handbook_b]) as handbook from compared)
    group by question
)
select question_id, text, organ, handbooks, compared, moved, moved / compared as share,
       revealed, lost, judged_new, judged_gone, {CHANGE}
from counted join asked_of using (question) join this.questions using (question)
where moved > 0
order by question
"""


def questions_moved(con: Connection, kind: str = DISAGREEMENT) -> pd.DataFrame:
    """The questions on which two runs differ most, with what came to light there and what is judged otherwise.

    `kind` says what counts as moved. disagreement: a pair that disagrees (divergent or contradictory) in one of the runs only;
    absence: one that is absent in one only; label: one with another label. Compared are the pairs that both runs have and gave a
    verdict to. Questions stand in the order of the lower end of their share's interval, so that few pairs do not lead by chance.

    One row per question with a pair that moved:
        question_id, text, organ   str
        handbooks                  int, that stand in the pairs compared
        compared, moved            int, pairs
        share                      float in [0, 1], moved / compared; share_low, share_high: 95 % interval, Wilson's with as many
                                   trials as there are couples that share no handbook: one handbook heard anew moves all its pairs
        revealed, lost             int, disagreeing pairs that were absent before, or disagreed and are absent now
        judged_new, judged_gone    int, pairs present in both runs that disagree in the second only, in the first only
        change                     int, disagreeing pairs more in the second run: revealed - lost + judged_new - judged_gone

    Takes a connection to both runs (audit.store.connection.open_two). Raises AuditError for another kind.
    """
    table = frame(con, SQL, {"kind": checked(kind)})
    trials = table["handbooks"] // 2
    return by_surety(with_interval(table, "share", *wilson(table["share"] * trials, trials)))


def checked(kind: str) -> str:
    """`kind`. Raises AuditError when nothing can move in it."""
    if kind not in KINDS:
        raise AuditError(f"'{kind}' is nothing in which a pair moves. Nothing was counted. Allowed: {', '.join(KINDS)}.")
    return kind


def by_surety(table: pd.DataFrame) -> pd.DataFrame:
    """The largest lower end of the share first; then the most pairs."""
    return table.sort_values(["share_low", "moved"], ascending=False, kind="stable", na_position="last", ignore_index=True)
