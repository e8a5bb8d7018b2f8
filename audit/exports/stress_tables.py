"""Tables of stress tests in the shape in which MedRGB prints its own (one column per share of signal), and the full ones."""

from __future__ import annotations

from typing import Any

from audit.errors import AuditError
from audit.evaluation.stress_measures import StressMeasure
from audit.exports.context import ExportContext
from audit.exports.pivoted import pivoted
from audit.exports.sections.systems import NONE_MEASURED, TableMaker
from audit.exports.table_model import Table, table_of
from audit.metrics._stress import (
    CALLS_NOTE,
    INSUFFICIENT_NOTE,
    INTERVAL_NOTE,
    MEASURE_COLUMN,
    SUB_NOTE,
    UNREAD_NOTE,
)
from audit.metrics._systems import SYSTEM
from audit.queries.stress import stress_scope
from audit.tables import Column, TableSpec
from audit.vocabulary import StressTest

M = StressMeasure
SHAPES: dict[StressTest, tuple[str, tuple[StressMeasure, ...], tuple[str, ...]]] = {
    StressTest.STANDARD: (
        "Standard stress test: accuracy by the number of documents", (M.ACCURACY, M.OPEN_F1), (INSUFFICIENT_NOTE,)
    ),
    StressTest.SUFFICIENCY: (
        "Sufficiency stress test: signal among noise, by the share of signal",
        (M.ACCURACY, M.OPEN_F1, M.INSUFFICIENT, M.NOISE_DETECTION), (INSUFFICIENT_NOTE, CALLS_NOTE),
    ),
    StressTest.INTEGRATION: (
        "Integration stress test: a sub-question to each signal document, by the share of signal",
        (M.ACCURACY, M.OPEN_F1, M.SUB_EXACT, M.SUB_SCORE, M.SUB_F1), (INSUFFICIENT_NOTE, SUB_NOTE),
    ),
    StressTest.ROBUSTNESS: (
        "Robustness stress test: documents with planted errors, by the share that is factually correct",
        (M.ACCURACY, M.OPEN_F1, M.SUB_EXACT, M.SUB_SCORE, M.SUB_F1, M.ERROR_DETECTION), (INSUFFICIENT_NOTE, SUB_NOTE, CALLS_NOTE),
    ),
}  # fmt: skip
"""Test -> title, measures and notes of its table."""
SIZE = Column.count("size", "Documents", "asked for")


def by_share(test: StressTest) -> TableMaker:
    """The table of one test: a row per system, size and measure, a column per share of signal (standard: per size)."""

    def maker(context: ExportContext) -> Table:
        title, measures, notes = SHAPES[test]
        frame = context.frame("stress_curves", test=test.value)
        own = frame[frame["measure"].isin([measure.value for measure in measures]) & (frame["signal_share"] >= 0)]
        if own.empty:
            raise AuditError(NONE_MEASURED.format(key=context.run.key, what=f"replies to the stress test {test}"))
        along, unit = ("size", "documents") if test == StressTest.STANDARD else ("signal_share", "%")
        rows = ["name", "measure"] if along == "size" else ["name", "size", "measure"]
        values = sorted(own[along].unique().tolist())
        wide = pivoted(own.assign(**{along: own[along].astype(str)}), rows, along, "value")
        shares = tuple(Column.share(str(value), f"{value} {unit}") for value in values)
        columns = (SYSTEM, *([SIZE] if "size" in rows else []), MEASURE_COLUMN, *shares)
        spec = TableSpec(title, columns, (*notes, UNREAD_NOTE, INTERVAL_NOTE))
        return table_of(f"stress_{test}", spec, wide, context.run, _replies(context))

    maker.__name__ = f"stress_{test}"
    return maker


def stress_table(metric: str, **options: Any) -> TableMaker:
    """A metric of stress tests as a table; left out, with a reason, where nobody took the tests."""

    def maker(context: ExportContext) -> Table:
        if context.frame(metric, **options).empty:
            raise AuditError(NONE_MEASURED.format(key=context.run.key, what=f"data for '{metric}'"))
        return context.table(metric, _replies(context), **options)

    maker.__name__ = metric
    return maker


def _replies(context: ExportContext) -> str:
    curves, scope = context.frame("stress_curves"), stress_scope(context.con)
    return context.fill(f"{curves['system_id'].nunique()} systems, {scope['instances'].sum():,} instances")


STRESS_TABLES: tuple[TableMaker, ...] = (
    *map(by_share, SHAPES), stress_table("stress_curves"), stress_table("stress_selective"), stress_table("stress_paired"),
    stress_table("stress_contexts"),
)  # fmt: skip
"""Every table of stress tests, in order."""
