"""The figures of stress tests in an export: the curves of the page Stress."""

from __future__ import annotations

from collections.abc import Iterator

from audit.charts.stress import selective_curves, stress_curves_figure
from audit.exports.context import ExportContext
from audit.exports.published.stress import curves_behind
from audit.exports.stress_tables import SHAPES
from audit.exports.table_model import Picture
from audit.metrics._stress import MEASURE_TITLES
from audit.queries.stress import stress_scope
from audit.vocabulary import StressTest

SIGNAL, CORRECT, DOCUMENTS = "Signal among the documents", "Documents that are factually correct", "Documents shown"


def along(test: str) -> tuple[str, str]:
    """The horizontal axis of a test's curves, as a column and in words: the standard test has no share of signal."""
    if test == StressTest.STANDARD:
        return "size", DOCUMENTS
    return "signal_share", CORRECT if test == StressTest.ROBUSTNESS else SIGNAL


def curves(context: ExportContext) -> list[Picture]:
    """One figure for each test, number of documents and measure of its table."""
    return [picture for test in SHAPES for picture in _of_test(context, test)]


def _of_test(context: ExportContext, test: StressTest) -> Iterator[Picture]:
    frame, (column, across) = context.frame("stress_curves", test=test.value), along(test)
    scope = stress_scope(context.con)
    datasets = scope.loc[scope["test"] == test, "dataset"]
    sizes = [None] if column == "size" else sorted(frame["size"].unique().tolist())
    for size in sizes:
        for measure in SHAPES[test][1]:
            own = frame[(frame["measure"] == measure) & (frame["size"] == size if size is not None else True)]
            if len(own):
                behind = curves_behind(datasets, test, measure, own["size"].unique())
                figure = stress_curves_figure(own, behind, MEASURE_TITLES[measure], across, column)
                words = f"{MEASURE_TITLES[measure]} in the stress test {test}, by: {across.lower()}"
                stem, number = (
                    (f"stress_{test}_{measure}", "")
                    if size is None
                    else (f"stress_{test}_{size}_{measure}", f"; {size} documents")
                )
                yield Picture(stem, f"{words}{number}; 95 % intervals", figure)


def selective(context: ExportContext) -> list[Picture]:
    """Accuracy among what is answered, against coverage, for each test in which a system may decline."""
    frame = context.frame("stress_selective")
    own = frame[frame["test"] != StressTest.STANDARD]
    return [
        Picture(
            f"stress_selective_{test}_{size}",
            f"Accuracy of what each system answers against the share it answers: {test}, {size} documents",
            selective_curves(group, along(str(test))[1]),
        )
        for (test, size), group in own.groupby(["test", "size"], sort=False)
    ]
