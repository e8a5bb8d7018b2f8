"""The handbooks in whose pairs two runs differ most."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.metrics.questions_moved import CHANGE, COMPARED, DISAGREEMENT, TALLY, by_surety, checked
from audit.stats.bootstrap import clustered_ratio_interval
from audit.stats.interval_columns import with_interval
from audit.store.connection import Connection, frame

COMPARES = True
SIDES = f"""
with {COMPARED},
sides as (
    select handbook_a as handbook, * exclude (handbook_a, handbook_b) from compared
    union all
    select handbook_b, * exclude (handbook_a, handbook_b) from compared
)"""
EACH = f"{SIDES} select handbook, question, count(*) as compared, count(*) filter (moves) as moved from sides group by all"
SQL = f"""{SIDES},
counted as (
    select handbook, count(distinct question) as questions, {TALLY} from sides group by handbook
)
select handbook, handbook_id, organ, center, phase, questions, compared, moved, moved / compared as share,
       revealed, lost, judged_new, judged_gone, {CHANGE}
from counted join this.handbooks using (handbook)
where moved > 0
order by handbook
"""


def handbooks_moved(con: Connection, kind: str = DISAGREEMENT) -> pd.DataFrame:
    """The handbooks in whose pairs two runs differ most, with what came to light there and what is judged otherwise.

    `kind` is that of `questions_moved`: disagreement, absence or label. A pair counts for both its handbooks, so that numbers do
    not add up to those of the runs. Handbooks stand in the order of the lower end of their share's interval.

    One row per handbook with a pair that moved:
        handbook_id, organ, center, phase  str
        questions                          int, on which it has a pair that is compared
        compared, moved                    int, pairs
        share                              float in [0, 1], moved / compared; share_low, share_high: 95 % interval, questions
                                           resampled (Wilson's over them where pairs move on fewer than five); NaN on one
        revealed, lost, judged_new, judged_gone, change   int, as in `questions_moved`

    Takes a connection to both runs (audit.store.connection.open_two). Raises AuditError for another kind.
    """
    table, each = frame(con, SQL, {"kind": checked(kind)}), frame(con, EACH, {"kind": kind})
    part, whole = (_by_question(each, count, table["handbook"]) for count in ("moved", "compared"))
    return by_surety(with_interval(table, "share", *clustered_ratio_interval(part, whole)).drop(columns="handbook"))


def _by_question(each: pd.DataFrame, count: str, handbooks: pd.Series) -> np.ndarray:
    """A count per handbook (rows) and question (columns)."""
    found = each.pivot(index="handbook", columns="question", values=count).reindex(handbooks).fillna(0)
    return found.to_numpy(dtype=np.float32)
