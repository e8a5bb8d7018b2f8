"""Tables as a person reads them: percentages, thousands, one column per interval, a row that can be clicked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from audit.charts.style import NO_VALUE, coefficient_interval, interval, unsigned_zeros
from audit.tables import HIGH, LOW, Column, ColumnKind

ROW, HEADER = 35, 38
"""Pixels."""
MAX_IN_SIGHT = 6
"""A wider table scrolls sideways; its first column then stays in sight."""
DECIMALS = 2
"""Of what is neither a share nor a count, unless a table asks for more."""


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
    specified = _specified(frame, columns, shares)
    options = _options(frame, specified, digits, decimals)
    st.dataframe(_readable(frame, specified, digits, decimals), key=key, **options, height=_height(frame, rows))


def clicked_row(frame: pd.DataFrame, key: str, columns: Columns, shares: Sequence[str] = (), rows: int = 12) -> pd.Series | None:
    """The same, returning the row of `frame` that was clicked, None when none was."""
    specified = _specified(frame, columns, shares)
    event = st.dataframe(
        _readable(frame, specified), key=key, **_options(frame, specified), height=_height(frame, rows),
        on_select="rerun", selection_mode="single-row",
    )  # fmt: skip
    picked = event["selection"]["rows"]
    return frame.iloc[picked[0]] if picked and picked[0] < len(frame) else None


def _specified(frame: pd.DataFrame, columns: Columns, shares: Sequence[str]) -> list[Column]:
    if not isinstance(columns, Mapping):
        return list(columns)
    kinds = {name: ColumnKind.SHARE if name in shares else _kind(frame[name]) for name in columns}
    return [Column(name, heading, kind=kinds[name]) for name, heading in columns.items()]


def _kind(values: pd.Series) -> ColumnKind:
    if pd.api.types.is_integer_dtype(values):
        return ColumnKind.COUNT
    return ColumnKind.DECIMAL if pd.api.types.is_float_dtype(values) else ColumnKind.TEXT


def _readable(frame: pd.DataFrame, columns: Sequence[Column], digits: int = 1, decimals: int = DECIMALS) -> pd.DataFrame:
    readable: dict[str, Any] = {}
    for column in columns:
        readable[column.name] = _values(frame[column.name], column, digits, decimals)
        if _has_interval(frame, column):
            ends = zip(frame[column.name + LOW], frame[column.name + HIGH], strict=True)
            readable[f"{column.name}_interval"] = [_written_interval(column, low, high, digits, decimals) for low, high in ends]
    return pd.DataFrame(readable)


def _has_interval(frame: pd.DataFrame, column: Column) -> bool:
    return column.kind in (ColumnKind.SHARE, ColumnKind.DECIMAL) and column.name + LOW in frame


def _written_interval(column: Column, low: float, high: float, digits: int, decimals: int) -> str:
    if column.kind is ColumnKind.SHARE:
        return interval(low, high, digits) or NO_VALUE
    return coefficient_interval(low, high, decimals)


def _values(values: pd.Series, column: Column, digits: int, decimals: int) -> pd.Series:
    if column.kind is ColumnKind.SHARE:
        return unsigned_zeros(values * 100, digits)
    if column.is_text:
        return values.map(column.display, na_action="ignore")
    return unsigned_zeros(values, decimals) if pd.api.types.is_float_dtype(values) else values


def _options(frame: pd.DataFrame, columns: Sequence[Column], digits: int = 1, decimals: int = DECIMALS) -> dict[str, Any]:
    config: dict[str, Any] = {}
    for column in columns:
        config[column.name] = _column_config(frame[column.name], column, digits, decimals)
        if _has_interval(frame, column):
            config[f"{column.name}_interval"] = "95 % interval"
    first = columns[0]
    config[first.name] = st.column_config.Column(first.label, pinned=len(columns) > MAX_IN_SIGHT)
    return {"column_config": config, "hide_index": True, "width": "stretch", "placeholder": NO_VALUE}


def _column_config(values: pd.Series, column: Column, digits: int, decimals: int) -> Any:
    if column.kind is ColumnKind.SHARE:
        return st.column_config.NumberColumn(column.label, format=f"%.{digits}f %%")
    if pd.api.types.is_integer_dtype(values):
        return st.column_config.NumberColumn(column.label, format="localized")
    if pd.api.types.is_float_dtype(values):
        return st.column_config.NumberColumn(column.label, format=f"%.{decimals}f")
    return column.label


def _height(frame: pd.DataFrame, rows: int) -> int:
    return HEADER + ROW * max(1, min(len(frame), rows))
