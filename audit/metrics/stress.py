"""How systems do in stress tests, by test, size of the context and share of signal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from audit.evaluation.stress_measures import StressMeasure
from audit.metrics import metric
from audit.metrics._stress import (
    CALLS_NOTE,
    CELL,
    CHOSEN,
    INSUFFICIENT_NOTE,
    INTERVAL_NOTE,
    MEASURE_COLUMN,
    REPLIES,
    SUB_NOTE,
    TEST_COLUMNS,
    UNREAD_NOTE,
    bound,
    systems_of,
    trials,
)
from audit.metrics._systems import SYSTEM, identity
from audit.stats.bootstrap import clustered_ratio_interval
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec

NOT_COUNTS = (StressMeasure.SUB_SCORE, StressMeasure.SUB_F1, StressMeasure.OPEN_F1)
COLUMNS = (
    *CELL, "system_id", "name", "measure", "value", "value_low", "value_high", "count", "of", "questions", "unread",
)  # fmt: skip
CURVES = TableSpec(
    "Stress tests: each system by test, size of the context and share of signal",
    (
        *TEST_COLUMNS, SYSTEM, MEASURE_COLUMN, Column.share("value", "Value"),
        Column.count("of", "Of", "replies, documents or sub-answers"),
        Column.count("questions", "{Questions}"), Column.count("unread", "Unread"),
    ),
    (INSUFFICIENT_NOTE, CALLS_NOTE, SUB_NOTE, UNREAD_NOTE, INTERVAL_NOTE),
)  # fmt: skip
GLOSSARY = {
    "stress test": "A question whose documents are partly noise or wrong in a known share, to see what a system makes of it.",
    "noise detection": "Of the documents that a system called relevant or noise, the share that is what it was called.",
    "error detection": "Of the documents that a system called factual or wrong, the share that is what it was called.",
    "sub-question": "A question that one document answers in a few words; it shows which documents a system has used.",
}


@metric(sql=REPLIES, table=CURVES, glossary=GLOSSARY)
def stress_curves(con: Connection, test: str | None = None, size: int | None = None) -> pd.DataFrame:
    """Accuracy, insufficient replies, calls on documents and sub-answers of each system in each cell of the stress tests.

    test, size  count only this test, and contexts of this size as asked for; None: all
    A cell is a test, a size and a share of signal (in robustness: of factually correct documents), all as asked for.

    One row per cell, system and measure that has trials or something unread:
        test, size, signal_share                 str, int, int in percent (-1: not stated)
        system_id, name                          str
        measure                                  str, audit.evaluation.stress_measures.StressMeasure
        value, value_low, value_high             float in [0, 1]; 95 % interval, questions resampled; NaN where `of` is 0
        count                                    float, successes; NaN for sub_score, sub_f1 and open_f1: means of scores
        of                                       int, the denominator. accuracy, insufficient, open_f1: replies that could be
                                                 read; unread: replies; detection: documents called; found: noise or wrong
                                                 documents called; kept: signal or right documents called; sub_exact, sub_f1:
                                                 sub-answers; sub_score: sub-answers that were graded
        questions                                int, questions in `of`
        unread                                   int, replies, documents or sub-questions asked about without anything readable

    A measure that a system gives nothing for in any reply of a cell has no row. Source: arXiv:2411.09213; formulas:
    audit.evaluation.stress_measures.
    """
    systems = {row["system"]: row for row in systems_of(con).to_dict("records")}
    groups = trials(con, test, size).groupby([*CELL, "system", "measure"], sort=False)
    rows = [_row(dict(zip((*CELL, "system", "measure"), key, strict=True)), table, systems) for key, table in groups]
    curves = pd.DataFrame([row for row in rows if row["of"]], columns=[*COLUMNS, "system"])
    order = curves["measure"].map({str(name): rank for rank, name in enumerate(StressMeasure)})
    curves = curves.assign(order=order).sort_values([*CELL, "system", "order"], kind="stable", ignore_index=True)
    return curves[list(COLUMNS)]


def _row(cell: dict[str, Any], table: pd.DataFrame, systems: dict[int, Any]) -> dict[str, Any]:
    by_question = table.groupby("question")[["numerator", "denominator"]].sum()
    counted = by_question[by_question["denominator"] > 0].to_numpy(dtype=np.float32)
    numerator, of = counted[:, 0], counted[:, 1]
    low, high = clustered_ratio_interval(numerator[None, :], of[None, :]) if len(counted) else ([np.nan], [np.nan])
    total = float(of.sum())
    return {
        **cell, **identity(systems[cell["system"]]), "measure": str(cell["measure"]),
        "value": float(numerator.sum()) / total if total else np.nan, "value_low": low[0], "value_high": high[0],
        "count": np.nan if cell["measure"] in NOT_COUNTS else float(numerator.sum()), "of": int(total),
        "questions": len(counted), "unread": int(table["unread"].sum()),
    }  # fmt: skip


CONTEXTS_SQL = f"""
with {CHOSEN.strip()},
contexts as (
    select instance, count(place) as documents,
           avg(case when test = 'robustness' then is_factual else is_signal end::integer) as sound
    from chosen left join stress_documents using (instance) group by instance, test
)
select test, size, coalesce(signal_share, -1)::integer as signal_share, count(*) as instances,
       count(distinct question) as questions, avg(documents) as documents, avg(sound) as share,
       count(*) filter (documents < size) as smaller
from chosen join contexts using (instance)
group by all order by test, size, signal_share
"""
CONTEXTS = TableSpec(
    "Stress tests: the contexts as they are",
    (
        *TEST_COLUMNS, Column.count("instances", "Instances"), Column.count("questions", "{Questions}"),
        Column.decimal("documents", "Documents", "mean"), Column.share("share", "Real share of signal", "mean"),
        Column.count("smaller", "Smaller than asked for"),
    ),
    (
        "A {question} with few signal documents has a smaller context; the share of signal is then right on average. In "
        "robustness it is the share of documents that are factually correct.",
    ),
)  # fmt: skip


@metric(
    sql=CONTEXTS_SQL, table=CONTEXTS,
    glossary={"signal and noise": "Signal documents belong to the {question}; noise documents belong to other {questions}."},
)  # fmt: skip
def stress_contexts(con: Connection, test: str | None = None, size: int | None = None) -> pd.DataFrame:
    """How large the contexts of the stress tests are, and what share of them is signal, beside what was asked for.

    test, size  count only this test, and contexts of this size as asked for; None: all

    One row per test, size and share of signal as asked for:
        test, size, signal_share  str, int, int in percent (-1: not stated)
        instances, questions      int
        documents                 float, mean number of documents
        share                     float in [0, 1], mean share of signal (robustness: of correct documents); NaN without documents
        smaller                   int, instances with fewer documents than asked for
    """
    return frame(con, CONTEXTS_SQL, bound(test, size))
