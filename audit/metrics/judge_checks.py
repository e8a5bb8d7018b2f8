"""Whether the judge says the same when it is asked again: with the answers swapped, without names, or once more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from audit.metrics.question_shares import LABEL_NAMES, kappa_columns, label_tables, share_columns
from audit.store.connection import Connection, frame
from audit.vocabulary import CHECK_KINDS, DISAGREEING

SQL = """
with checked as (
    select c.question, c.kind, coalesce(p.label::varchar, 'UNSCORED') as first, coalesce(c.label::varchar, 'UNSCORED') as again
    from checks c join pairs p using (question, handbook_a, handbook_b)
)
select question, kind::varchar as kind, first, again, count(*) as pairs
from checked
group by all
order by all
"""


def judge_checks(con: Connection) -> pd.DataFrame:
    """Whether the judge gives the same label when it is asked about the same pair again.

    Checks are of three kinds. swap: the two answers stand in the other order, so a label that changes depended on position.
    blind: the names of centers are hidden. repeat: nothing is changed, so what changes here is chance, and the floor that the
    other two must be held against. changed: of the checks in which both verdicts can be read, the share with another label.
    crossed: the share that moves between agreeing (absent, consistent, complementary) and disagreeing (divergent,
    contradictory); to disagreement, to agreement: the two ways in which it does, equally common when asking differently makes
    the judge neither stricter nor milder. kappa: agreement of both verdicts beyond chance. unread: of all checks, the share
    in which one of the two verdicts could not be read; they count in nothing else.

    One row per kind and figure, kinds in the order swap, blind, repeat; 'changed' first:
        kind                   str
        figure                 str, 'changed', 'crossed', 'to disagreement', 'to agreement', 'kappa' or 'unread'
        count, of              int, checks; of is 0 where nothing was measured
        value                  float, a share in [0, 1] or kappa; NaN where nothing was measured, which is not 0
        value_low, value_high  95 % interval: questions resampled, each with all its checks; where the event is rare, Wilson's
                               with questions as trials; NaN where it cannot be known
        interval               str, which of the two

    Source: kappa: Cohen (1960). Position bias of judges: Zheng et al. (2023), arXiv:2306.05685.
    """
    counts = frame(con, SQL)
    return pd.DataFrame([row for kind in CHECK_KINDS for row in _figures(counts[counts["kind"] == kind], kind.value)])


def _figures(counts: pd.DataFrame, kind: str) -> Iterator[dict[str, Any]]:
    scored = counts["first"].isin(LABEL_NAMES) & counts["again"].isin(LABEL_NAMES)
    before, after = (counts[side].isin(DISAGREEING) for side in ("first", "again"))
    changed = counts["first"] != counts["again"]
    for figure, part, whole in (
        ("changed", changed, scored),
        ("crossed", before != after, scored),
        ("to disagreement", ~before & after, scored),
        ("to agreement", before & ~after, scored),
        ("unread", ~scored, scored | True),
    ):
        yield {"kind": kind, "figure": figure, **share_columns(counts, part, whole)}
    yield {"kind": kind, "figure": "kappa", **kappa_columns(label_tables(counts, "first", "again"))}
