"""How the judge's replies were read, and why some could not be."""

from __future__ import annotations

import pandas as pd

from audit.metrics.question_shares import NO_INTERVAL, share_columns
from audit.store.connection import Connection, frame
from audit.vocabulary import PARSES

NOT_SAID = "not said"
SQL = """
with asked as (
    from pairs where not prescreened
)
select question, coalesce(parse::varchar, 'not said') as parse, label is null as unscored,
       case when label is null then coalesce(unscored_reason, 'not said') end as reason, count(*) as pairs
from asked left join readings using (question, handbook_a, handbook_b)
group by all
order by all
"""


def judge_reading(con: Connection) -> pd.DataFrame:
    """How the judge's replies were read: as what was asked for, with help, or not at all, and then why.

    strict: the reply was the JSON asked for. lenient: JSON with faults. label: only the label was recognised in the text.
    none: nothing was, and the pair is unscored. rules: no model was asked. not said: the release does not tell. A pair can be
    unscored for a reason, which the release may tell. Pre-screened pairs were not asked, and are in no count.

    One row per way of reading that the release could tell, then one for all unscored pairs and one per reason, most common
    first:
        part                   str, 'read' or 'unscored'
        name                   str, strict ... rules, 'not said'; '(all)' or a reason of the release
        count, of              int, pairs; of: all pairs that the judge was asked about
        value                  float in [0, 1], count / of; NaN where no pair was asked, or where the release does not tell
        value_low, value_high  95 % interval: questions resampled, each with all its pairs; where rare, Wilson's with questions as
                               trials; NaN where it cannot be known
        interval               str, which of the two
    """
    counts = frame(con, SQL)
    asked = counts["pairs"] >= 0
    told = not counts.empty and bool((counts["parse"] != NOT_SAID).any())
    ways = [
        {"part": "read", "name": name, **_known(share_columns(counts, counts["parse"] == name, asked), told or name == NOT_SAID)}
        for name in (*map(str, PARSES), NOT_SAID)
    ]
    reasons = counts[counts["unscored"]].groupby("reason")["pairs"].sum().sort_values(ascending=False, kind="stable").index
    unscored = [{"part": "unscored", "name": "(all)", **share_columns(counts, counts["unscored"], asked)}]
    unscored += [{"part": "unscored", "name": name, **share_columns(counts, counts["reason"] == name, asked)} for name in reasons]
    return pd.DataFrame(ways + unscored)


def _known(figure: dict[str, object], known: bool) -> dict[str, object]:
    """A share that the release says nothing of is unknown, not zero."""
    unknown = dict.fromkeys(("value", "value_low", "value_high"), float("nan"))
    return figure if known else figure | unknown | {"interval": NO_INTERVAL}
