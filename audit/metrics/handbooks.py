"""What each handbook leaves out, and how often it disagrees with the others."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.metrics.steps import BY_COUPLE, require_answers
from audit.queries.pair_table import read_pairs
from audit.stats.bootstrap import side_rate_intervals
from audit.stats.interval_columns import with_interval, with_wilson
from audit.stats.pair_table import RATES
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
    select handbook, count(absent) as answers, count(*) filter (absent) as answers_absent
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
    """What each handbook leaves out, and how often it disagrees with the others.

    absence: of the questions that the handbook was asked, the share it does not address. r_div: of the pairs of this
    handbook with another in which both address the question (present pairs), the share that the judge found divergent or
    contradictory. A question not asked of the handbook counts nowhere; nor does an unscored pair in r_div.

    One row per handbook, in release order:
        handbook                          int, number; handbook_id, organ, center, phase  str
        asked, absent                     int, questions whose answer could be read
        absence                           float in [0, 1], absent / asked; NaN where asked is 0
        absence_low, absence_high         95 % Wilson: a handbook answers each question once, so questions are the units
        pairs, scored, unscored           int, pairs that involve the handbook
        absent_pairs, present             int, pairs; scored = absent_pairs + present
        consistent, disagreeing           int, pairs
        r_div                             float in [0, 1], disagreeing / present; NaN where present is 0
        r_div_low, r_div_high             95 % interval with questions and the other handbooks resampled, this one fixed; Wilson's
                                          over questions where disagreement, or the rest, is on fewer than five; NaN where fewer
                                          than two questions or two others stand in the denominator

    Raises NotInRunError when the release came without answers: absence is then unknown, not zero.
    Source: as arXiv:2605.29084; intervals: Wilson (1927), Owen (2007).
    """
    require_answers(con, "what a handbook leaves out")
    table, pairs = with_wilson(frame(con, SQL), "absence", "absent", "asked"), read_pairs(con)
    one_each = np.arange(len(pairs.handbooks))
    low, high = side_rate_intervals(pairs, one_each, len(one_each), {"r_div": RATES["r_div"]})["all"]["r_div"]
    ends = pd.DataFrame({"low": low, "high": high}, index=pairs.handbooks).reindex(table["handbook"])
    return with_interval(table, "r_div", ends["low"], ends["high"])
