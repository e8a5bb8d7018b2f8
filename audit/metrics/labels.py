"""How the judge labelled all pairs: the distribution of labels."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import PAIRS, TWO_WAY
from audit.queries.pair_counts import read_pairs
from audit.stats.intervals import with_interval
from audit.stats.pair_table import ALL, JUDGED, PRESCREENED, UNSCORED, Outcomes, Rate, one_group, rate_intervals
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec
from audit.vocabulary import LABELS, Label

# Every outcome has a row, even if no pair has it.
OUTCOMES = ((Label.ABSENT, "pre-screened"), *((label, "judged") for label in LABELS), ("UNSCORED", "unscored"))
SQL = f"""
with outcomes(sort_key, label, how) as (
    values {", ".join(f"({place}, '{label}', '{how}')" for place, (label, how) in enumerate(OUTCOMES))}
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
order by sort_key
"""
OUTCOME_CODES = {"pre-screened": PRESCREENED, **{label.value: label.code for label in LABELS}, "unscored": UNSCORED}
"""The outcome that each row of SQL counts."""
# For an outcome that is not in the denominator, such as unscored among the judged.
UNKNOWN = (np.array([np.nan]), np.array([np.nan]))
TABLE = TableSpec(
    "How pairs were labelled",
    (
        Column.text("how", "Judged"),
        Column.text("label", "Label", words={**{label.value: label.value.lower() for label in LABELS}, "UNSCORED": "unscored"}),
        PAIRS,
        Column.share("share", "Share", "of all pairs"),
        Column.share("share_of_judged", "Share", "of judged pairs"),
    ),
    (
        "Pre-screened: one of the two answers is absent, so the judge was not asked.",
        "Unscored: the judge was asked and gave no readable verdict; unscored is not a label.",
        TWO_WAY,
    ),
)
GLOSSARY = {
    "pre-screened": "Labelled absent without asking the judge, because one of the two answers is absent.",
    "judged": "Both answers were read by the judge which gave a label and its reasons.",
}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def labels(con: Connection) -> pd.DataFrame:
    """How many pairs have each label, with pre-screened, judged and unscored pairs kept apart.

    A pair is pre-screened when an answer is absent: it is ABSENT without asking the judge. A pair is judged when the
    judge gave a verdict, ABSENT among them. A pair is unscored when the judge was asked and gave no readable verdict:
    it is not a label and is counted separately.

    Seven rows, in the order pre-screened, the five labels as judged, unscored:
        label            str, a label or UNSCORED
        how              str, 'pre-screened', 'judged' or 'unscored'
        pairs            int
        share            float in [0, 1], of all pairs; NaN in a run without pairs
        share_of_judged  float in [0, 1], of the judged pairs; NaN for pre-screened and unscored
        ..._low, _high   95 % interval for other questions and handbooks (audit.stats.clustered); NaN where fewer than two
                         questions or four handbooks are in the denominator

    Source: the labels are those of arXiv:2605.29084, section 4.
    """
    table, pairs = frame(con, SQL), read_pairs(con)
    everything = one_group(pairs)
    intervals = rate_intervals(pairs, everything, {**_outcome_ratios("share", ALL), **_outcome_ratios("share_of_judged", JUDGED)})
    for share in ("share", "share_of_judged"):
        ends = [intervals.get(f"{share} {name}", UNKNOWN) for name in OUTCOME_CODES]
        table = with_interval(table, share, [low[0] for low, _ in ends], [high[0] for _, high in ends])
    return table


def _outcome_ratios(share: str, denominator: Outcomes) -> dict[str, Rate]:
    return {f"{share} {name}": (frozenset((code,)), denominator) for name, code in OUTCOME_CODES.items() if code in denominator}
