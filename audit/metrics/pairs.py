"""Which two handbooks disagree most often: one row per couple of handbooks."""

from __future__ import annotations

import pandas as pd

from audit.metrics.steps import BY_COUPLE
from audit.stats.interval_columns import with_wilson
from audit.store.connection import Connection, frame

SQL = f"""
with {BY_COUPLE}
select t.handbook_a, a.handbook_id as handbook_a_id, a.organ as organ_a, a.center as center_a,
       t.handbook_b, b.handbook_id as handbook_b_id, b.organ as organ_b, b.center as center_b,
       pairs as questions, scored, unscored, absent, present, consistent, disagreeing,
       absent / nullif(scored, 0)       as r_abs,
       disagreeing / nullif(present, 0) as r_div
from tallies t
join handbooks a on a.handbook = t.handbook_a
join handbooks b on b.handbook = t.handbook_b
order by t.handbook_a, t.handbook_b
"""


def pairs(con: Connection) -> pd.DataFrame:
    """How often two handbooks disagree, over the questions that both were asked.

    Of the questions that both handbooks answer (present pairs), the share on which the judge found their answers
    divergent or contradictory. Unscored pairs count in no share. Two handbooks that share no question have no row.

    One row per couple of handbooks, handbook_a before handbook_b in release order:
        handbook_a, handbook_b            int, handbook numbers; handbook_a_id, handbook_b_id  str
        organ_a, center_a, organ_b, ...   str
        questions                         int, questions asked of both (each is one pair)
        scored, unscored, absent          int, pairs
        present, consistent, disagreeing  int, pairs
        r_abs, r_div                      float in [0, 1]; NaN where scored, present is 0
        ..._low, ..._high                 95 % Wilson: the couple is fixed and each question adds one pair, so
                                          the questions are independent units
    """
    table = frame(con, SQL)
    table = with_wilson(table, "r_abs", "absent", "scored")
    return with_wilson(table, "r_div", "disagreeing", "present")
