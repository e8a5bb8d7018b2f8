"""Sections as pages draw them: the heading, the figure, the table, the sentences and the file of a declaration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from audit.exports.sections.model import SectionSpec, Sentence
from audit.store.runs import Run
from audit.tables import Column
from pages._shared.loaders import drawn, load
from pages._shared.widgets import chart, counts, figure_frame, footer, say, table


def show(run: Run, section: SectionSpec, **options: Any) -> pd.DataFrame:
    """A whole section, by the metric's options; where the metric has no row, what the section then says. The frame."""
    frame: pd.DataFrame = load(section.metric, run, **options)
    if not frame.empty:
        heading(run, section)
        body(run, section, frame)
    elif section.empty:
        heading(run, section)
        counts(run, section.empty)
    return frame


def heading(run: Run, section: SectionSpec) -> None:
    """Its heading, if it has one."""
    if section.heading:
        (st.subheader if section.below else st.header)(say(run, section.heading), anchor=False)


def body(run: Run, section: SectionSpec, frame: pd.DataFrame) -> None:
    """The figure and the table, as tabs of one frame where there are both."""
    if not section.drawing:
        listing(run, section, frame)
        return
    written, metric = section.ordered(frame), section.metric
    chart_tab, table_tab = figure_frame(run, section.key, written, section.csv, metric.name)
    if chart_tab.open:
        with chart_tab:
            drawing(run, section, frame)
    if table_tab.open:
        with table_tab:
            rows(run, section, frame)
    explained(run, section, frame)


def drawing(run: Run, section: SectionSpec, frame: pd.DataFrame) -> None:
    """The figure, and how to read it."""
    spec = section.drawing
    assert spec is not None
    figure = drawn(spec.on_page or spec.draw, frame, key=f"{section.key}/{spec.name}")
    chart(figure, spec.key or spec.name, spec.alt)
    _sentence(run, section.reading, frame)


def listing(
    run: Run,
    section: SectionSpec,
    frame: pd.DataFrame,
    columns: Sequence[Column] = (),
    *,
    saved: pd.DataFrame | None = None,
    file: str = "",
) -> None:
    """The table, the sentence below it, and the CSV file.

    columns  instead of those of the section
    saved    the rows of the file, where they are not those of the table
    file     its stem, where it is not that of the section
    """
    rows(run, section, frame, columns)
    explained(run, section, frame)
    written = section.ordered(frame if saved is None else saved)
    footer(written, file or section.csv, run, section.metric.name)


def explained(run: Run, section: SectionSpec, frame: pd.DataFrame) -> None:
    """The sentence on the figures, and the notes of the metric's table where the section has them."""
    _sentence(run, section.sentence, frame)
    for note in section.metric.table.notes_for(run) if section.notes else ():
        counts(run, "{note}", note=note)


def rows(run: Run, section: SectionSpec, frame: pd.DataFrame, columns: Sequence[Column] = ()) -> None:
    """The table alone."""
    shown = columns or section.metric.table.pick(run, *section.columns)
    table(section.ordered(frame), section.key, shown, rows=section.rows, digits=section.digits, decimals=section.decimals)


def _sentence(run: Run, sentence: Sentence, frame: pd.DataFrame) -> None:
    template = sentence if isinstance(sentence, str) else sentence(frame)
    if template:
        counts(run, template)
