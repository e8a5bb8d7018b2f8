"""How far two runs' judges agree on the pairs that both of them judged."""

from __future__ import annotations

import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import INTERVAL_METHOD
from audit.queries.aligned_runs import ALIGNED
from audit.queries.question_shares import LABEL_NAMES, kappa_columns, label_tables, share_columns
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec
from audit.vocabulary import DISAGREEING, SIGNIFICANCES, Label

SQL = f"""
with {ALIGNED}
select question, first, second, significance_first, significance_second, count(*) as pairs
from both_runs
where first not in ('PRE-SCREENED', 'NOT IN THE RUN') and second not in ('PRE-SCREENED', 'NOT IN THE RUN')
group by all
order by all
"""
FIGURE_WORDS = {
    "kappa": "Kappa",
    "same label": "Same label",
    "DIVERGENT kept": "Divergent in both, of those divergent in the first",
    "disagreement kept": "Disagreeing in both, of those disagreeing in the first",
    "disagreement new": "Disagreement only in the second",
    "significance stated": "Significance stated in both",
    "significance the same": "Same significance in both",
    "read in both": "Readable in both",
}
TABLE = TableSpec(
    "How far the judges of two runs agree",
    (
        Column.text("figure", "Figure", words=FIGURE_WORDS), Column.count("count", "Pairs"), Column.count("of", "Of", "pairs"),
        Column.decimal("value", "Value"), INTERVAL_METHOD,
    ),
    ("Over pairs that both judges were asked about. In brackets: 95 % intervals.",),
)  # fmt: skip
GLOSSARY = {"kappa": "How far two verdicts agree beyond chance: 1 always, 0 as often as two blind labellers would."}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY, compares=True)
def run_agreement(con: Connection) -> pd.DataFrame:
    """How far the judges of two runs agree on the pairs that both were asked about.

    Pairs that one of the runs pre-screened, or does not have, are in no figure here; `transitions` counts them. kappa: agreement
    on the five labels beyond chance. same label: the share with the same label. DIVERGENT kept: of the pairs that the
    first calls divergent, those that the second does too; disagreement kept: the same for divergent or contradictory.
    disagreement new: of the pairs without disagreement in the first, those with one in the second. significance stated:
    of the pairs that disagree in both and have a clinical significance in the first, those that have one in the second;
    significance the same: with the same one. read in both: of all these pairs, those with a label in both.

    One row per figure:
        figure                 str, as above
        count, of              int, pairs; of is 0 where there is nothing to measure
        value                  float, a share in [0, 1] or kappa; NaN where of is 0
        value_low, value_high  95 % interval: questions resampled, each with all its pairs; where rare, Wilson's with questions as
                               trials; NaN where it cannot be known
        interval               str, which of the two

    Takes a connection to both runs. Source: kappa: Cohen (1960); the ablation of arXiv:2605.29084.
    """
    counts = frame(con, SQL)
    read = counts["first"].isin(LABEL_NAMES) & counts["second"].isin(LABEL_NAMES)
    split, again = (counts[side].isin(DISAGREEING) & read for side in ("first", "second"))
    divergent = (counts["first"] == Label.DIVERGENT) & read
    both_significant = split & again & counts["significance_first"].isin(SIGNIFICANCES)
    figures = {
        "same label": (counts["first"] == counts["second"], read),
        "DIVERGENT kept": (counts["second"] == Label.DIVERGENT, divergent),
        "disagreement kept": (again, split),
        "disagreement new": (again, read & ~split),
        "significance stated": (counts["significance_second"].isin(SIGNIFICANCES), both_significant),
        "significance the same": (counts["significance_second"] == counts["significance_first"], both_significant),
        "read in both": (read, read | True),
    }
    rows = [{"figure": "kappa", **kappa_columns(label_tables(counts, "first", "second"))}]
    rows += [
        {"figure": figure, **share_columns(counts, counted, denominator)} for figure, (counted, denominator) in figures.items()
    ]
    return pd.DataFrame(rows)
