"""Stress tests: curves by the share of signal, tables in the shape in which MedRGB prints its own, and the full ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pandas as pd

from audit.charts.stress import selective_curves, stress_curves_figure
from audit.charts.style import Figure
from audit.errors import AuditError
from audit.evaluation.stress_measures import StressMeasure as M
from audit.exports.context import ExportContext
from audit.exports.published.stress import curves_behind
from audit.exports.sections.model import PictureMaker, SectionSpec, TableMaker, if_empty, listed_as, own_table
from audit.exports.sections.systems import NONE_MEASURED
from audit.exports.table_model import Picture, Table, pivoted, table_of
from audit.metrics._shared import MANY_INTERVALS
from audit.metrics._systems import SYSTEM
from audit.metrics.stress import (
    CALLS_NOTE,
    INSUFFICIENT_NOTE,
    INTERVAL_NOTE,
    MEASURE_COLUMN,
    MEASURE_TITLES,
    SUB_NOTE,
    UNREAD_NOTE,
    stress_contexts,
    stress_curves,
    stress_paired,
    stress_selective,
)
from audit.queries.stress import stress_scope
from audit.tables import Column, TableSpec
from audit.vocabulary import StressTest

SIGNAL, CORRECT, DOCUMENTS = "Signal among the documents", "Documents that are factually correct", "Documents shown"
CURVES = SectionSpec(
    stress_curves,
    key="curves_table",
    columns=("name", "size", "signal_share", "measure", "value", "of", "items", "questions", "unread"),
    rows=16,
)
SELECTIVE = SectionSpec(
    stress_selective,
    key="selective_table",
    heading="Does a system know when to decline?",
    columns=("name", "size", "signal_share", "readable", "answered", "coverage", "accuracy"),
)
PAIRED = SectionSpec(
    stress_paired,
    key="paired",
    columns=("measure", "name", "size", "signal_share", "change", "moves", "of", "value", "first"),
    sentence=MANY_INTERVALS,
    rows=16,
    decimals=3,
)
CONTEXTS = SectionSpec(
    stress_contexts,
    key="contexts",
    heading="The documents as they were shown",
    columns=("size", "signal_share", "instances", "questions", "documents", "share", "smaller"),
    sentence="A {question} with few signal documents has a smaller context; the share of signal is then right on average.",
)


@dataclass(frozen=True)
class Shape:
    """A test's own table: its title, the measures that it has, and their notes."""

    title: str
    measures: tuple[M, ...]
    notes: tuple[str, ...]


SHAPES = {
    StressTest.STANDARD: Shape(
        "Standard stress test: accuracy by the number of documents", (M.ACCURACY, M.OPEN_F1), (INSUFFICIENT_NOTE,)
    ),
    StressTest.SUFFICIENCY: Shape(
        "Sufficiency stress test: signal among noise, by the share of signal",
        (M.ACCURACY, M.OPEN_F1, M.INSUFFICIENT, M.NOISE_DETECTION),
        (INSUFFICIENT_NOTE, CALLS_NOTE),
    ),
    StressTest.INTEGRATION: Shape(
        "Integration stress test: a sub-question to each signal document, by the share of signal",
        (M.ACCURACY, M.OPEN_F1, M.SUB_EXACT, M.SUB_SCORE, M.SUB_F1, M.SUB_DOCUMENT),
        (INSUFFICIENT_NOTE, SUB_NOTE),
    ),
    StressTest.ROBUSTNESS: Shape(
        "Robustness stress test: documents with planted errors, by the share that is factually correct",
        (M.ACCURACY, M.OPEN_F1, M.SUB_EXACT, M.SUB_SCORE, M.SUB_F1, M.SUB_DOCUMENT, M.ERROR_DETECTION),
        (INSUFFICIENT_NOTE, SUB_NOTE, CALLS_NOTE),
    ),
}


def along(test: str) -> tuple[str, str]:
    """The horizontal axis of a test's curves, as a column and in words: the standard test has no share of signal."""
    if test == StressTest.STANDARD:
        return "size", DOCUMENTS
    return "signal_share", CORRECT if test == StressTest.ROBUSTNESS else SIGNAL


def curves_of(own: pd.DataFrame, test: str, measure: str, scope: pd.DataFrame, models: Iterable[str] = ()) -> tuple[Figure, bool]:
    """One measure of every system in a test, and whether published figures of the same questions are behind it.

    scope   of the instances: dataset, retrieval; models: for `curves_behind`
    """
    behind = curves_behind(scope, test, measure, own["size"].unique(), models)
    column, across = along(test)
    return stress_curves_figure(own, behind, MEASURE_TITLES[M(measure)], across, column), len(behind) > 0


# -- export ------------------------------------------------------------------------------------------------------------


def _replies(context: ExportContext, frame: pd.DataFrame) -> str:
    curves, scope = context.frame("stress_curves"), stress_scope(context.con)
    return context.fill(f"{curves['system_id'].nunique()} systems, {scope['instances'].sum():,} instances")


def of_stress(section: SectionSpec) -> TableMaker:
    """A metric of stress tests as a table; left out, with a reason, where nobody took the tests."""
    missing = if_empty(NONE_MEASURED, what=f"data for '{section.metric.name}'")
    return own_table(section.metric, _replies, missing=missing)


def by_share(test: StressTest) -> TableMaker:
    """The table of one test: a row per system, size and measure, a column per share of signal (standard: per size)."""
    shape = SHAPES[test]

    @listed_as(f"stress_{test}")
    def maker(context: ExportContext) -> Table:
        frame = context.frame("stress_curves", test=test.value)
        own = frame[frame["measure"].isin([measure.value for measure in shape.measures]) & (frame["signal_share"] >= 0)]
        if own.empty:
            raise AuditError(NONE_MEASURED.format(key=context.run.key, what=f"replies to the stress test {test}"))
        across, _ = along(test)
        unit, sizes = ("documents", ()) if across == "size" else ("%", (Column.count("size", "Documents", "asked for"),))
        first = (SYSTEM, *sizes, MEASURE_COLUMN)
        values = sorted(own[across].unique().tolist())
        rows = ["system_id", *(column.name for column in first)]
        wide = pivoted(own.assign(**{across: own[across].astype(str)}), rows, across, "value")
        shares = tuple(Column.share(str(value), f"{value} {unit}") for value in values)
        spec = TableSpec(shape.title, (*first, *shares), (*shape.notes, UNREAD_NOTE, INTERVAL_NOTE))
        return table_of(f"stress_{test}", spec, wide, context.run, _replies(context, frame))

    return maker


STRESS_TABLES: tuple[TableMaker, ...] = (*map(by_share, SHAPES), *map(of_stress, (CURVES, SELECTIVE, PAIRED, CONTEXTS)))
"""Every table of stress tests, in order."""


def curves(context: ExportContext) -> Iterator[Picture]:
    """One figure for each test, number of documents and measure of its table."""
    scope = stress_scope(context.con)
    for test in SHAPES:
        frame, own_scope = context.frame("stress_curves", test=test.value), scope[scope["test"] == test]
        if along(test)[0] == "size":
            yield from _curves(test, frame, own_scope, f"stress_{test}")
            continue
        for size, own in frame.groupby("size"):
            yield from _curves(test, own, own_scope, f"stress_{test}_{size}", f"; {size} documents")


def _curves(test: StressTest, frame: pd.DataFrame, scope: pd.DataFrame, stem: str, documents: str = "") -> Iterator[Picture]:
    for measure in SHAPES[test].measures:
        own = frame[frame["measure"] == measure]
        if len(own):
            title = f"{MEASURE_TITLES[measure]} in the stress test {test}, by: {along(test)[1].lower()}{documents}"
            figure, _ = curves_of(own, test, measure, scope)
            yield Picture(f"{stem}_{measure}", f"{title}; 95 % intervals", figure)


def selective(context: ExportContext) -> Iterator[Picture]:
    """Accuracy among what is answered, against coverage, for each test in which a system may decline."""
    frame = context.frame("stress_selective")
    for (test, size), own in frame[frame["test"] != StressTest.STANDARD].groupby(["test", "size"], sort=False):
        title = f"Accuracy of what each system answers against the share it answers: {test}, {size} documents"
        yield Picture(f"stress_selective_{test}_{size}", title, selective_curves(own, along(str(test))[1]))


STRESS_PICTURES: tuple[PictureMaker, ...] = (curves, selective)
"""Every figure of stress tests, in order."""
