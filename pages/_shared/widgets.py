"""What a page writes and draws: text in the run's own terms, charts, tables, counts, downloads, links to other pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st
from streamlit.elements.lib.mutable_tab_container import TabContainer

from audit.charts.captions import LINE_LENGTH, PHONE_LETTERS, SAVED_WIDTH, with_caption, with_notice, with_room_for_names
from audit.charts.dark_mode import to_dark_mode
from audit.charts.narrow import narrowed
from audit.charts.style import Figure
from audit.exports.table_model import metric_frame
from audit.exports.text_writers import csv_bytes, file_name
from audit.formatting import unbroken
from audit.metrics import METRICS
from audit.store.runs import Run
from audit.tables import Column, ColumnKind, Row
from audit.terms import terms
from pages._blinded.file_widgets import download_button
from pages._blinded.frame import escaped, is_dark, is_phone
from pages._blinded.scripts import script_path
from pages._shared.listing import NumberForm, draw_listing, listing_data
from pages._shared.previews import current_notice, current_source

Params = Mapping[str, str | list[str]]
"""What an address says after the run."""


def say(run: Run, template: str, **values: object) -> str:
    """Markdown from one of our templates: `{handbooks}`, `{Organ}`, `{a_handbook}` are the run's terms; all values are escaped.

    A number and its percent sign stay on one line.
    """
    values_by_name = {**_escaped_terms(tuple(terms(run).items())), **{name: escaped(value) for name, value in values.items()}}
    return unbroken(template.format(**values_by_name))


@lru_cache(maxsize=64)
def _escaped_terms(words: tuple[tuple[str, str], ...]) -> dict[str, str]:
    # A page says some forty sentences, and to escape every term for each of them took a tenth of its computing time.
    return {name: escaped(value) for name, value in words}


def title_of(run: Run, word: str) -> str:
    """The run's word for `word` as a column heading or a label: `Topic area` for `organ` in a release that says so.

    Plain text: widget labels interpret Markdown, so pass it through `escaped` there.
    """
    return terms(run)[word.capitalize()]


def listed(names: Iterable[object]) -> str:
    """`a, b and c`."""
    *first, last = [str(name) for name in names] or [""]
    return f"{', '.join(first)} and {last}" if first else last


# On hover, a single button: save the figure as an image, for a slide.
CHART_CONFIG = {"displaylogo": False, "modeBarButtons": [["toImage"]], "responsive": True, "typesetMath": False}


RAISES = re.compile(r"Raises [^.]*(?:\.(?!\s|$)[^.]*)*\.\s*")
"""The sentence of a docstring that says which errors a function raises."""


def how_counted(*names: str) -> None:
    """The definition and the SQL of what is shown, one click away; `names` are keys of audit.metrics.METRICS."""
    with st.popover("How this is counted", icon=":material/functions:"):
        definitions(*names)


def definitions(*names: str) -> None:
    """What metrics count, in prose; their columns and SQL behind a fold. `names` are keys of audit.metrics.METRICS."""
    of_run = {"run": st.query_params["run"]} if "run" in st.query_params else {}
    st.page_link(script_path("glossary"), label="Which pairs each page counts", query_params={**of_run, "word": "pairs"})
    for name in names:
        # What a caller can do wrong is left out
        paragraphs = RAISES.sub("", METRICS[name].docstring).strip().split("\n\n")
        of_columns = [paragraph for paragraph in paragraphs if "\n    " in paragraph]
        for paragraph in paragraphs:
            if paragraph not in of_columns:
                st.text(" ".join(paragraph.split()))
        with st.expander("Columns and SQL, for programs"):
            for paragraph in of_columns:
                st.code(paragraph, language=None, wrap_lines=True)
            st.code(METRICS[name].sql, language="sql")


def server_commands(commands: str) -> None:
    """Lines for a terminal, behind a fold."""
    with st.expander("For the person who runs the server"):
        st.code(commands, language="bash", wrap_lines=True)


def counts(run: Run, template: str, **values: object) -> None:
    """A line under a chart with the counts behind it; a template of `say`."""
    st.caption(say(run, template, **values))


def footer(frame: pd.DataFrame, name: str, run: Run, *metrics: str) -> None:
    """A button that saves the frame as CSV, safe to open in a spreadsheet, and next to it how `metrics` are counted."""
    with st.container(horizontal=True):
        csv_button(frame, name, file_name(run, name), lambda: metric_frame(metrics[0], frame, run) if metrics else frame)
        if metrics:
            how_counted(*metrics)


def figure_frame(
    run: Run, key: str, frame: pd.DataFrame, name: str, *metrics: str, title: str = "",
    tabs: tuple[str, str] = ("Chart", "Table"),
) -> tuple[TabContainer, TabContainer]:  # fmt: skip
    """One frame for a figure: its finding, its chart and its table, where it comes from, and its file, as tabs.

    frame, name  what the CSV file has, and its stem;  metrics  how it is counted
    title        what the figure shows, in a sentence: plain text
    tabs         the titles of what the page fills where it is `open`; the first is seen first
    """
    with st.container(border=True, key=f"frame_{key}"):
        if title:
            st.markdown(f"**{escaped(title)}**")
        # A closed tab is neither computed nor sent
        names = [*tabs, "Source", "Download"]
        first, second, source, download = st.tabs(names, key=f"tabs_{key}_{tabs[0]}", on_change="rerun")
    if source.open:
        with source:
            st.caption(escaped(" ".join(filter(None, (current_notice(), current_source())))))
            definitions(*metrics)
    if download.open:
        with download:
            csv_button(frame, name, file_name(run, name), lambda: metric_frame(metrics[0], frame, run) if metrics else frame)
            st.caption("The camera on the chart saves it as a picture, with title, notice and source.")
    return first, second


def csv_button(frame: pd.DataFrame, key: str, name: str, written: Callable[[], pd.DataFrame] | None = None) -> None:
    """A button that saves the frame as the CSV file `name`, safe to open in a spreadsheet; or what `written` makes of it."""
    # Streamlit makes the file on the click, without the page around it
    notice, made = current_notice(), written or (lambda: frame)
    download_button(
        "Download CSV", data=lambda: csv_bytes(made(), notice), file_name=name, mime="text/csv", key=f"csv_{key}",
        icon=":material/download:",
    )  # fmt: skip


def chart(figure: Figure, key: str, alt: str, letters: int = LINE_LENGTH) -> None:
    """Draw a figure; `alt` describes it to screen readers and is a saved one's title; `letters` of a line of its notice."""
    _plot(figure, key, alt, letters=letters)


def clicked_point(figure: Figure, key: str, alt: str, title: str = "") -> Any | None:
    """Draw a figure and return the `customdata` of the clicked marker, None when none was clicked.

    title  of the saved picture, where it is not `alt`: what it shows
    """
    points = _plot(figure, key, alt, title, on_select="rerun", selection_mode="points")["selection"]["points"]
    return points[0].get("customdata") if points else None


def _plot(figure: Figure, key: str, alt: str, title: str = "", letters: int = LINE_LENGTH, **selection: Any) -> Any:
    narrow = is_phone()
    shown = narrowed(figure) if narrow else with_room_for_names(figure)
    with_words = with_notice(shown, current_notice(), PHONE_LETTERS if narrow else letters)
    noticed = with_caption(with_words, title or alt, current_source())
    drawn = to_dark_mode(noticed) if is_dark() else noticed  # charts are drawn for light pages
    config = {**CHART_CONFIG, "toImageButtonOptions": {"format": "svg", "filename": key, "width": SAVED_WIDTH}}
    # `theme=None`, because Streamlit's own theme would replace colours and fonts of the figure.
    # A chart of its own on a phone: drawn over the wide one, which comes first, it may keep that one's names beside its own.
    own_key = f"{key}_on_a_phone" if narrow else key
    return st.plotly_chart(drawn, width="stretch", key=own_key, config=config, alt=alt, theme=None, **selection)


def go_to(script: str, run: Run, **params: str | list[str]) -> None:
    """Open another page on the same run: `go_to("question", run, question="q1")`."""
    # This page's own parameters are passed along: the browser records the new address for this page before it opens the other,
    # so without them the Back button would return to a view without its filters.
    here = {name: st.query_params.get_all(name) for name in st.query_params}
    st.switch_page(script_path(script), query_params={**here, "run": run.key, **params})


def link(script: str, label: str, run: Run, /, icon: str | None = None, **params: str | list[str]) -> None:
    """A link to another page on the same run; `label` is a template of `say`."""
    st.page_link(script_path(script), label=say(run, label), icon=icon, query_params={"run": run.key, **params})


DECIMALS = 2  # of what is neither a share nor a count, unless a table asks for more
IN_SIGHT = 12  # rows before somebody asks for all
Columns = Sequence[Column] | Mapping[str, str]
"""Columns of a table specification (`TableSpec.pick`), or, for a table that no metric is behind, name -> heading."""


def table(
    frame: pd.DataFrame, key: str, columns: Columns, shares: Sequence[str] = (), rows: int = IN_SIGHT, digits: int = 1,
    decimals: int = DECIMALS,
) -> None:  # fmt: skip
    """A list of these columns that can be sorted and searched, `rows` rows in sight, five columns until all are asked for.

    Shares in [0, 1] are shown as percentages, coefficients as decimals, each with its 95 % interval where the frame has
    one (`<name>_low`, `<name>_high`); `digits` are those of a percentage, `decimals` those of a coefficient. `shares` names the
    shares where `columns` are only headings. Raises KeyError when a column is not there: a table never shrinks unseen.
    """
    _draw(frame, key, _specified(frame, columns, shares), rows, NumberForm(digits, decimals), {"links": None, "opens": False})


def clicked_row(frame: pd.DataFrame, key: str, columns: Columns, rows: int = IN_SIGHT) -> pd.Series | None:
    """The same, whose rows open something on the page: the row of `frame` that is open, None when none is."""
    drawn = {"links": None, "opens": True}
    place = _draw(frame, key, _specified(frame, columns, ()), rows, NumberForm(), drawn, opened="picked")
    return None if place is None else frame.iloc[place]


def linked_rows(
    run: Run, frame: pd.DataFrame, key: str, columns: Columns, script: str, params: Callable[[Row], Params],
    rows: int = IN_SIGHT, digits: int = 1,
) -> None:  # fmt: skip
    """The same, each row of which is a link to a page on the same run, with what `params` says of the row."""
    records = frame.to_dict("records")
    links = [_address(script, run, params(record)) for record in records]
    drawn = {"links": links, "opens": True}
    place = _draw(frame, key, _specified(frame, columns, ()), rows, NumberForm(digits), drawn, opened="followed")
    if place is not None:
        go_to(script, run, **params(records[place]))


def _address(script: str, run: Run, params: Params) -> str:
    """Of a page, from the page beside it: for a new tab, and to be copied."""
    return f"{PurePosixPath(script).name}?{urlencode({'run': run.key, **params}, doseq=True)}"


def _draw(
    frame: pd.DataFrame,
    key: str,
    columns: Sequence[Column],
    rows: int,
    form: NumberForm,
    drawn: Mapping[str, Any],
    opened: str = "",
) -> int | None:
    """Draw the list; the place of the row that is open (`picked`), or whose link was followed just now (`followed`)."""
    data = listing_data(frame, columns, columns[0].heading, rows, form)
    place = _place(_picked(key, opened), data) if opened else None
    callbacks = {f"on_{name}_change": lambda: None for name in ("picked", "followed")}
    draw_listing(key=key, data={**data, **drawn, "opened": place}, **callbacks)
    return place


def _picked(key: str, event: str) -> Any:
    return getattr(st.session_state.get(key), event, None)


def _place(picked: Any, data: Mapping[str, Any]) -> int | None:
    # What a browser sends is not believed: another tab, or the list before a filter, may have had other rows
    if not isinstance(picked, list) or len(picked) != 2 or picked[0] != data["version"]:
        return None
    return picked[1] if isinstance(picked[1], int) and 0 <= picked[1] < len(data["rows"]) else None


def _specified(frame: pd.DataFrame, columns: Columns, shares: Sequence[str]) -> list[Column]:
    if not isinstance(columns, Mapping):
        return list(columns)
    kinds = {name: ColumnKind.SHARE if name in shares else _kind(frame[name]) for name in columns}
    return [Column(name, heading, kind=kinds[name]) for name, heading in columns.items()]


def _kind(values: pd.Series) -> ColumnKind:
    if pd.api.types.is_integer_dtype(values):
        return ColumnKind.COUNT
    return ColumnKind.DECIMAL if pd.api.types.is_float_dtype(values) else ColumnKind.TEXT
