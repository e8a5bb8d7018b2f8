"""The figures of answering systems in an export: the charts of the page Systems, on the frames of its tables."""

from __future__ import annotations

import pandas as pd

from audit.charts.criteria import criteria_bars, preference_bars
from audit.charts.systems import difference_dots, downstream_bubbles, mean_dots
from audit.errors import AuditError
from audit.exports.context import ExportContext
from audit.exports.table_model import Picture
from audit.metrics._systems import COMPOSITE, MEASURE_TITLES, REFUSAL, WORDS, in_order
from audit.metrics.downstream import downstream_points

RATERS = {"human": "compared by people", "judge": "compared by a judge"}


def preference_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """The metric `preferences` with the columns of its figure: name (`first : second`) and by (who compared them)."""
    return frame.assign(name=frame["name_a"] + " : " + frame["name_b"], by=frame["rater_kind"].map(RATERS))


def titles_of(frame: pd.DataFrame) -> dict[str, str]:
    """Measure -> title of every measure of a frame, the composite, refusals and lengths first."""
    present = in_order(frame["measure"])
    first = [name for name in (COMPOSITE, REFUSAL, WORDS) if name in present]
    return {name: MEASURE_TITLES.get(name, name) for name in [*first, *(name for name in present if name not in first)]}


def composites(context: ExportContext) -> list[Picture]:
    """The composite of each system."""
    frame = _known(context, "composite").assign(measure=COMPOSITE)
    title = "The composite of the eight criteria of each system, from 0 to 10, with 95 % intervals"
    return [Picture("composite", title, mean_dots(frame, "name", {COMPOSITE: MEASURE_TITLES[COMPOSITE]}))]


def criteria(context: ExportContext) -> list[Picture]:
    """How often each system has each score on each criterion."""
    title = "How often each system has each score on the eight criteria, the lowest score left, the best right"
    return [Picture("criteria", title, criteria_bars(_known(context, "criteria_scores")))]


def differences(context: ExportContext) -> list[Picture]:
    """Every measure of each system minus that of the first one."""
    frame = _known(context, "system_differences")
    title = f"Difference of each system to {frame['against'].iloc[0]} on the same questions; filled: the interval excludes 0"
    return [Picture("system_differences", title, difference_dots(frame, "name", titles_of(frame)))]


def measures(context: ExportContext) -> list[Picture]:
    """Measures against the reference answers and of retrieval."""
    frame = _known(context, "system_measures")
    title = "Measures of each system against reference answers and of its retrieval, with 95 % intervals"
    return [Picture("system_measures", title, mean_dots(frame, "name", titles_of(frame)))]


def preferences(context: ExportContext) -> list[Picture]:
    """How often the answer of the first of two systems was preferred."""
    frame = _known(context, "preferences")
    title = "Which of two systems' answers is preferred, and by whom"
    return [Picture("preferences", title, preference_bars(preference_frame(frame)))]


def retrieval_and_quality(context: ExportContext) -> list[Picture]:
    """The composite against each measure of retrieval, one figure for each system and measure."""
    points = downstream_points(context.con)
    if points.empty:
        raise AuditError(f"No system of run {context.run.key} has both measures of retrieval and composites.")
    return [
        Picture(
            f"downstream_{name}_{measure}",
            f"Composite of {name} against {MEASURE_TITLES[str(measure)]} of its search, question by question",
            downstream_bubbles(own, MEASURE_TITLES[str(measure)]),
        )
        for (name, measure), own in points.groupby(["name", "measure"], sort=False)
    ]


def _known(context: ExportContext, metric: str) -> pd.DataFrame:
    frame = context.frame(metric)
    if frame.empty:
        raise AuditError(f"Run {context.run.key} has no data for the figure of '{metric}': not measured, not zero.")
    return frame
