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
    selection_parameters,
    systems_of,
    trials,
)
from audit.metrics._systems import SYSTEM
from audit.stats.clustered import clustered_ratio_interval
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec

COUNTS = (StressMeasure.ACCURACY, StressMeasure.INSUFFICIENT, StressMeasure.UNREAD)
COLUMNS = (
    *CELL, "system_id", "name", "measure", "value", "value_low", "value_high", "count", "of", "items", "questions", "unread",
    "at_least", "at_most",
)  # fmt: skip
CURVES = TableSpec(
    "Stress tests: each system by test, size of the context and share of signal",
    (
        *TEST_COLUMNS, SYSTEM, MEASURE_COLUMN, Column.share("value", "Value"),
        Column.count("of", "Of", "replies"),
        Column.count("items", "Over", "replies, documents or sub-answers"),
        Column.count("questions", "{Questions}"), Column.count("unread", "Unread"),
        Column.share("at_least", "At least", "all unread wrong"), Column.share("at_most", "At most", "all unread right"),
    ),
    (INSUFFICIENT_NOTE, CALLS_NOTE, SUB_NOTE, UNREAD_NOTE, INTERVAL_NOTE),
)  # fmt: skip
GLOSSARY = {
    "stress test": "A question with a known share of noise or wrong documents, to see how a system copes.",
    "noise detection": "Of the documents that a system called relevant or noise, the share that it called correctly.",
    "error detection": "Of the documents that a system called factual or wrong, the share that it called correctly.",
    "sub-question": "A question that one document answers in a few words; it shows which documents a system has used.",
}


@metric(sql=REPLIES, table=CURVES, glossary=GLOSSARY)
def stress_curves(con: Connection, test: str | None = None, size: int | None = None) -> pd.DataFrame:
    """Accuracy, insufficient replies, calls on documents and sub-answers of each system in each cell of the stress tests.

    test, size  count only this test, and contexts of this size as asked for; None: all
    Each reply counts once, however many documents it has: if signal documents are scarce, larger contexts have a smaller share
    of them, and only the mean over replies has the requested share.
    A cell is a test, a size and a share of signal (in robustness: of factually correct documents), all as asked for.

    One row per cell, system and measure that a reply has a value of:
        test, size, signal_share                 str, int, int in percent (-1: not stated)
        system_id, name                          str
        measure                                  str, audit.evaluation.stress_measures.StressMeasure
        value, value_low, value_high             float in [0, 1], the mean over replies; 95 % interval, questions resampled
        count                                    float, successes of accuracy, insufficient and unread; NaN for the others, where
                                                 a reply has a share or a score
        of                                       int, the denominator: replies that have a value. accuracy, insufficient, open_f1:
                                                 those that could be read; open_score: those graded, or that decline (0);
                                                 unread: all; the others: those with an item
        items                                    int, what the replies' shares are over. detection: documents called; found: noise
                                                 or wrong documents called; kept: signal or right documents called; sub_exact,
                                                 sub_f1: sub-answers; sub_score: sub-answers that were graded; else: as `of`
        questions                                int, questions in `of`
        unread                                   int, replies, documents or sub-questions asked about without anything readable
        at_least, at_most                        float in [0, 1], accuracy if every unread reply were wrong, or right; NaN for the
                                                 other measures

    A measure without a value in any of a system's replies in a cell has no row. Source: arXiv:2411.09213; formulas:
    audit.evaluation.stress_measures.
    """
    counted = trials(con, test, size)
    value = counted["numerator"] / counted["denominator"].where(counted["denominator"] > 0)
    counted = counted.assign(value=value, of=value.notna().astype(int), items=counted["denominator"])
    group = [*CELL, "system", "measure"]
    totals = counted.groupby(group)[["value", "of", "items", "unread"]].sum()
    by_question = counted[counted["of"] > 0].groupby([*group, "question"])[["value", "of"]].sum()
    curves = _with_intervals(totals[totals["of"] > 0], by_question).reset_index().merge(systems_of(con), on="system")
    successes = curves["value"].where(curves["measure"].isin(COUNTS))
    # A system whose hard replies cannot be read would seem accurate
    accuracy = successes.where(curves["measure"] == StressMeasure.ACCURACY)
    asked, unread = curves["of"] + curves["unread"], curves["unread"]
    curves = curves.assign(at_least=accuracy / asked, at_most=(accuracy + unread) / asked)
    curves = curves.assign(count=successes, value=curves["value"] / curves["of"])
    order = curves["measure"].map({str(name): rank for rank, name in enumerate(StressMeasure)})
    ordered = curves.assign(order=order).sort_values([*CELL, "system", "order"], kind="stable", ignore_index=True)
    return ordered[list(COLUMNS)]


def _with_intervals(totals: pd.DataFrame, by_question: pd.DataFrame) -> pd.DataFrame:
    """The totals with questions, value_low and value_high; `by_question` has value and of for each question with any."""
    # Groups over the same questions are counted together: a run may have a thousand groups
    together: dict[bytes, list[tuple[Any, Any]]] = {}
    for key, table in by_question.groupby(level=list(range(len(CELL) + 2))):
        together.setdefault(table.index.get_level_values("question").to_numpy().tobytes(), []).append((key, table.to_numpy()))
    ends: dict[Any, tuple[int, float, float]] = {}
    for groups in together.values():
        tables = np.stack([table for _, table in groups]).astype(np.float32)
        low, high = clustered_ratio_interval(tables[:, :, 0], tables[:, :, 1], events=False)
        ends.update((key, (tables.shape[1], *between)) for (key, _), *between in zip(groups, low, high, strict=True))
    rows = [ends[key] for key in totals.index]
    return totals.assign(
        **{name: [row[index] for row in rows] for index, name in enumerate(("questions", "value_low", "value_high"))}
    )


CONTEXTS_SQL = f"""
with {CHOSEN.strip()},
contexts as (
    select instance, count(place) as documents,
           avg(case when test = 'robustness' then is_factual else is_signal end::integer) as sound
    from chosen left join stress_documents using (instance) group by instance, test
)
select test, size, coalesce(signal_share, -1)::integer as signal_share, count(*) as instances,
       -- In an order, because a mean of fractions added up in another one differs in its last digits.
       count(distinct question) as questions, avg(documents) as documents, avg(sound order by sound) as share,
       count(*) filter (documents < size) as smaller
from chosen join contexts using (instance)
group by all order by test, size, signal_share
"""
CONTEXTS = TableSpec(
    "Stress tests: actual and requested contexts",
    (
        *TEST_COLUMNS,
        Column.count("instances", "Instances"),
        Column.count("questions", "{Questions}"),
        Column.decimal("documents", "Documents", "mean"),
        Column.share("share", "Real share of signal", "mean"),
        Column.count("smaller", "Smaller than asked for"),
    ),
    (
        "A {question} with few signal documents has a smaller context; the share of signal is then right on average. In "
        "robustness it is the share of documents that are factually correct.",
    ),
)


@metric(
    sql=CONTEXTS_SQL,
    table=CONTEXTS,
    glossary={"signal and noise": "Signal documents belong to the {question}; noise documents belong to other {questions}."},
)
def stress_contexts(con: Connection, test: str | None = None, size: int | None = None) -> pd.DataFrame:
    """The actual size and share of signal of the stress tests' contexts, compared with the requested values.

    test, size  count only this test, and contexts of this size as asked for; None: all

    One row per test, size and share of signal as asked for:
        test, size, signal_share  str, int, int in percent (-1: not stated)
        instances, questions      int
        documents                 float, mean number of documents
        share                     float in [0, 1], mean share of signal (robustness: of correct documents); NaN without documents
        smaller                   int, instances with fewer documents than asked for
    """
    return frame(con, CONTEXTS_SQL, selection_parameters(test, size))
