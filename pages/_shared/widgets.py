"""Parts of a page around a chart: the chart itself, its definition, its counts, its download, and links to other pages."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from audit.charts.dark_mode import to_dark_mode
from audit.charts.style import Figure
from audit.exports.text_writers import csv_bytes, file_name
from audit.metrics import METRICS
from audit.store.runs import Run
from pages._blinded.theme import is_dark
from pages._shared.terms import say

CHART_CONFIG = {"displaylogo": False, "modeBarButtons": [["toImage"]], "responsive": True}
"""On hover, a single button: save the figure as an image, for a slide."""


def how_counted(*names: str) -> None:
    """The definition and the SQL of what is shown, one click away; `names` are keys of audit.metrics.METRICS."""
    with st.popover("How this is counted", icon=":material/functions:"):
        for name in names:
            _definition(METRICS[name].docstring)
            st.code(METRICS[name].sql, language="sql")


def _definition(docstring: str) -> None:
    """Prose is wrapped to the screen; a list of columns keeps its line breaks and spaces."""
    for paragraph in docstring.split("\n\n"):
        if "\n    " in paragraph:
            st.code(paragraph, language=None, wrap_lines=True)
        else:
            st.text(" ".join(paragraph.split()))


def counts(run: Run, template: str, **values: object) -> None:
    """A line under a chart with the counts behind it; a template of `say`."""
    st.caption(say(run, template, **values))


def download(frame: pd.DataFrame, name: str, run: Run) -> None:
    """A button that saves what is shown as CSV, safe to open in a spreadsheet; the file name has the run and its digest."""
    st.download_button(
        "Download CSV", data=lambda: csv_bytes(frame), file_name=file_name(run, name), mime="text/csv",
        key=f"csv_{name}", on_click="ignore", icon=":material/download:",
    )  # fmt: skip


def footer(frame: pd.DataFrame, name: str, run: Run, *metrics: str) -> None:
    """The download button and, where metrics are named, `how_counted` next to it."""
    with st.container(horizontal=True):
        download(frame, name, run)
        if metrics:
            how_counted(*metrics)


def _config(key: str) -> dict[str, Any]:
    return {**CHART_CONFIG, "toImageButtonOptions": {"format": "svg", "filename": key}}


def chart(figure: Figure, key: str, alt: str) -> None:
    """Draw a figure; `alt` describes it in a sentence for screen readers."""
    st.plotly_chart(_in_page_theme(figure), width="stretch", key=key, config=_config(key), alt=alt, theme=None)


def clicked_point(figure: Figure, key: str, alt: str) -> Any | None:
    """Draw a figure and return the `customdata` of the clicked marker, None when none was clicked."""
    event = st.plotly_chart(
        _in_page_theme(figure), width="stretch", key=key, config=_config(key), alt=alt, theme=None, on_select="rerun",
        selection_mode="points",
    )  # fmt: skip
    points = event["selection"]["points"]
    return points[0].get("customdata") if points else None


def go_to(script: str, run: Run, **params: str | list[str]) -> None:
    """Open another page on the same run: `go_to("question", run, question="q1")`.

    This page's own parameters are passed along: the browser records the new address for this page before it opens the other, so
    without them the Back button would return to a view without its filters.
    """
    here = {name: st.query_params.get_all(name) for name in st.query_params}
    st.switch_page(f"pages/{script}.py", query_params={**here, "run": run.key, **params})


def link(script: str, label: str, run: Run, /, icon: str | None = None, **params: str | list[str]) -> None:
    """A link to another page on the same run; `label` is a template of `say`."""
    st.page_link(f"pages/{script}.py", label=say(run, label), icon=icon, query_params={"run": run.key, **params})


def _in_page_theme(figure: Figure) -> Figure:
    """Charts are drawn for light pages; on a dark page their colours are exchanged."""
    return to_dark_mode(figure) if is_dark() else figure
