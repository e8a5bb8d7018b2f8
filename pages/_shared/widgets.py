"""What a page writes and draws: text in the run's own terms, charts, tables, counts, downloads, links to other pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st
from markupsafe import Markup

from audit.charts.captions import SAVED_WIDTH, with_caption, with_notice, with_room_for_names
from audit.charts.dark_mode import to_dark_mode
from audit.charts.narrow import for_a_phone, is_rows_of_names
from audit.charts.style import NO_VALUE, Figure, coefficient_interval, interval, unsigned_zeros
from audit.exports.table_model import metric_frame
from audit.exports.text_writers import csv_bytes, file_name
from audit.formatting import fixed, isolated, printable
from audit.metrics import METRICS
from audit.store.runs import Run
from audit.tables import HIGH, LOW, Column, ColumnKind
from audit.terms import RATE_SYMBOLS, terms
from pages._blinded.file_widgets import download_button
from pages._blinded.frame import escaped, is_dark, is_phone
from pages._blinded.scripts import script_path
from pages._blinded.templates import rendered
from pages._shared.previews import current_notice, current_source

BEFORE_PERCENT = re.compile(r"(?<=\d) (?=\\?%)")


def say(run: Run, template: str, **values: object) -> str:
    """Markdown from one of our templates: `{handbooks}`, `{Organ}`, `{a_handbook}` are the run's terms; all values are escaped.

    A number and its percent sign stay on one line.
    """
    values_by_name = {**_escaped_terms(tuple(terms(run).items())), **{name: escaped(value) for name, value in values.items()}}
    return BEFORE_PERCENT.sub("\N{NO-BREAK SPACE}", template.format(**values_by_name))


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


def footer(frame: pd.DataFrame, name: str, run: Run, *metrics: str) -> None:
    """A button that saves the frame as CSV, safe to open in a spreadsheet, and next to it how `metrics` are counted."""
    with st.container(horizontal=True):
        csv_button(frame, name, file_name(run, name), lambda: metric_frame(metrics[0], frame, run) if metrics else frame)
        if metrics:
            how_counted(*metrics)


def csv_button(frame: pd.DataFrame, key: str, name: str, written: Callable[[], pd.DataFrame] | None = None) -> None:
    """A button that saves the frame as the CSV file `name`, safe to open in a spreadsheet; or what `written` makes of it."""
    # Streamlit makes the file on the click, without the page around it
    notice, made = current_notice(), written or (lambda: frame)
    download_button(
        "Download CSV", data=lambda: csv_bytes(made(), notice), file_name=name, mime="text/csv", key=f"csv_{key}",
        icon=":material/download:",
    )  # fmt: skip


def chart(figure: Figure, key: str, alt: str) -> None:
    """Draw a figure; `alt` describes it in a sentence for screen readers, and is its title where it is saved."""
    _plot(figure, key, alt)


def clicked_point(figure: Figure, key: str, alt: str) -> Any | None:
    """Draw a figure and return the `customdata` of the clicked marker, None when none was clicked."""
    points = _plot(figure, key, alt, on_select="rerun", selection_mode="points")["selection"]["points"]
    return points[0].get("customdata") if points else None


def _plot(figure: Figure, key: str, alt: str, **selection: Any) -> Any:
    fits = is_phone() and is_rows_of_names(figure)
    shown = for_a_phone(figure) if fits else with_room_for_names(figure)
    noticed = with_caption(with_notice(shown, current_notice()), alt, current_source())
    drawn = to_dark_mode(noticed) if is_dark() else noticed  # charts are drawn for light pages
    config = {**CHART_CONFIG, "toImageButtonOptions": {"format": "svg", "filename": key, "width": SAVED_WIDTH}}
    with st.container(key=f"{'fitted' if fits else 'drawn'}_{key}"):  # on a phone, what does not fit scrolls sideways
        # `theme=None`, because Streamlit's own theme would replace colours and fonts of the figure.
        # A chart of its own on a phone: drawn over the wide one, which comes first, it may keep that one's names beside its own.
        own_key = f"{key}_on_a_phone" if fits else key
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


_row_click = st.components.v2.component("row_click", js=Path(__file__).with_name("row_click.js").read_text(encoding="utf-8"))

# -- tables ------------------------------------------------------------------------------------------------------------

ROW, HEADER = 35, 38  # pixels
WRAPPED_ROW = 70  # Streamlit wraps texts in rows that are higher than 4 rem
MAX_IN_SIGHT = 6  # a wider table scrolls sideways; its first column then stays in sight
DECIMALS = 2  # of what is neither a share nor a count, unless a table asks for more
Columns = Sequence[Column] | Mapping[str, str]
"""Columns of a table specification (`TableSpec.pick`), or, for a table that no metric is behind, name -> heading."""


def table(
    frame: pd.DataFrame, key: str, columns: Columns, shares: Sequence[str] = (), rows: int = 12, digits: int = 1,
    decimals: int = DECIMALS,
) -> None:  # fmt: skip
    """A sortable table of these columns, at most `rows` rows in sight.

    Shares in [0, 1] are shown as percentages, coefficients as decimals, each followed by its 95 % interval where the frame has
    one (`<name>_low`, `<name>_high`); `digits` are those of a percentage, `decimals` those of a coefficient. `shares` names the
    shares where `columns` are only headings. Raises KeyError when a column is not there: a table never shrinks unseen.
    """
    _dataframe(frame, key, _specified(frame, columns, shares), rows, digits, decimals)


def clicked_row(frame: pd.DataFrame, key: str, columns: Columns, rows: int = 12, *, wrapped: bool = False) -> pd.Series | None:
    """The same, returning the row of `frame` that was clicked, None when none was; `wrapped` rows have room for long texts."""
    tall = {"row_height": WRAPPED_ROW} if wrapped else {}
    with st.container(key=f"opens_{key}"):
        selection: dict[str, Any] = {"on_select": "rerun", "selection_mode": "single-row", **tall}
        event = _dataframe(frame, key, _specified(frame, columns, ()), rows, **selection)
        _row_click(key=f"click_{key}", data={"header": HEADER}, height=1)
    picked = event["selection"]["rows"]
    # A selection outlives the rows: with another filter the table may have become shorter.
    return frame.iloc[picked[0]] if picked and picked[0] < len(frame) else None


def _dataframe(
    frame: pd.DataFrame,
    key: str,
    columns: Sequence[Column],
    rows: int,
    digits: int = 1,
    decimals: int = DECIMALS,
    **selection: Any,
) -> Any:
    options = _options(frame, columns, digits, decimals)
    height = HEADER + selection.get("row_height", ROW) * max(1, min(len(frame), rows))
    readable = _readable(frame, columns, digits, decimals)
    event = st.dataframe(readable, key=key, **options, height=height, **selection)
    if len(frame) > rows or len(readable.columns) > MAX_IN_SIGHT:  # the screen shows a part of it, which scrolls
        st.html(printed_table(readable, columns, digits, decimals))
    return event


def _specified(frame: pd.DataFrame, columns: Columns, shares: Sequence[str]) -> list[Column]:
    if not isinstance(columns, Mapping):
        return list(columns)
    kinds = {name: ColumnKind.SHARE if name in shares else _kind(frame[name]) for name in columns}
    return [Column(name, heading, kind=kinds[name]) for name, heading in columns.items()]


def _kind(values: pd.Series) -> ColumnKind:
    if pd.api.types.is_integer_dtype(values):
        return ColumnKind.COUNT
    return ColumnKind.DECIMAL if pd.api.types.is_float_dtype(values) else ColumnKind.TEXT


def _readable(frame: pd.DataFrame, columns: Sequence[Column], digits: int, decimals: int) -> pd.DataFrame:
    readable: dict[str, Any] = {}
    for column in columns:
        readable[column.name] = _values(frame[column.name], column, digits, decimals)
        if _has_interval(frame, column):
            ends = zip(frame[column.name + LOW], frame[column.name + HIGH], strict=True)
            readable[f"{column.name}_interval"] = [_written_interval(column, low, high, digits, decimals) for low, high in ends]
    return pd.DataFrame(readable)


def _has_interval(frame: pd.DataFrame, column: Column) -> bool:
    return column.kind is not ColumnKind.COUNT and column.has_interval(frame)


def _written_interval(column: Column, low: float, high: float, digits: int, decimals: int) -> str:
    if column.kind is ColumnKind.SHARE:
        return interval(low, high, digits) or NO_VALUE
    return coefficient_interval(low, high, decimals)


def _values(values: pd.Series, column: Column, digits: int, decimals: int) -> pd.Series:
    if column.kind is ColumnKind.SHARE:
        return unsigned_zeros(values * 100, digits)
    if column.is_text:
        # The grid draws its cells as a picture, in which a text has no attribute for its direction
        return values.map(lambda value: isolated(column.display(value)), na_action="ignore")
    if column.kind is ColumnKind.COUNT and not pd.api.types.is_integer_dtype(values):
        # One that is unknown somewhere is a column of floats
        return values.astype("Float64").round().astype("Int64")
    return unsigned_zeros(values, decimals) if pd.api.types.is_float_dtype(values) else values


def _options(frame: pd.DataFrame, columns: Sequence[Column], digits: int, decimals: int) -> dict[str, Any]:
    config: dict[str, Any] = {}
    for column in columns:
        config[column.name] = _column_config(frame[column.name], column, digits, decimals)
        if _has_interval(frame, column):
            config[f"{column.name}_interval"] = "95 % interval"
    first = columns[0]
    if first.is_text:
        config[first.name] = st.column_config.Column(_heading(first), pinned=len(columns) > MAX_IN_SIGHT)
    return {"column_config": config, "hide_index": True, "width": "stretch", "placeholder": NO_VALUE}


def _heading(column: Column) -> str:
    """Heading and unit; without the symbol of a rate, which a paper needs and a page explains in words."""
    return column.heading if column.unit in RATE_SYMBOLS.values() else column.label


def _column_config(values: pd.Series, column: Column, digits: int, decimals: int) -> Any:
    if column.kind is ColumnKind.SHARE:
        return st.column_config.NumberColumn(_heading(column), format=f"%.{digits}f %%")
    if column.kind is ColumnKind.COUNT:
        return st.column_config.NumberColumn(_heading(column), format="localized")
    if pd.api.types.is_float_dtype(values):
        return st.column_config.NumberColumn(_heading(column), format=f"%.{decimals}f")
    return _heading(column)


# -- A table on paper: all its rows in letters, where the screen shows a part that scrolls -------------------


MAX_ROWS = 300
"""More rows are for a file: they would take more than ten sheets."""


def printed_table(readable: pd.DataFrame, columns: Sequence[Column], digits: int, decimals: int) -> Markup:
    """The HTML of a table that only a printer sees, every text escaped.

    readable  as `pages._shared.widgets` shows it: shares in percent, an interval behind each column that has one
    columns   its columns, with their headings; an interval column is not among them
    """
    by_name = {column.name: column for column in columns}
    headings = [by_name[name].label if name in by_name else "95 % interval" for name in readable.columns]
    rows = [
        [_cell(value, by_name.get(str(name)), digits, decimals) for name, value in record.items()]
        for record in readable.head(MAX_ROWS).to_dict("records")
    ]
    return rendered("_shared/printed_table.html", headings=headings, rows=rows, total=len(readable))


def _cell(value: Any, column: Column | None, digits: int, decimals: int) -> tuple[str, bool]:
    """A value in letters, and whether it is a number."""
    if value is None or value is pd.NA or (isinstance(value, float) and pd.isna(value)):
        return NO_VALUE, False
    if isinstance(value, str) or not isinstance(value, int | float) or isinstance(value, bool):
        return printable(str(value)), False
    if column is not None and column.kind is ColumnKind.SHARE:
        return f"{fixed(value, digits)} %", True
    return f"{value:,}" if isinstance(value, int) else fixed(value, decimals), True
