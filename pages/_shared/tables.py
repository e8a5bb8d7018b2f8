"""Tables as a person reads them: percentages, thousands, one column per interval, a row that can be clicked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from audit.charts.style import NO_VALUE, interval, unsigned_zeros

ROW, HEADER = 35, 38
"""Pixels."""
MOST_IN_SIGHT = 6
"""A wider table scrolls sideways; its first column then stays in sight."""
DECIMALS = 2
"""Of what is neither a share nor a count."""


def table(
    frame: pd.DataFrame, key: str, headings: Mapping[str, str], shares: Sequence[str] = (), rows: int = 12, digits: int = 1
) -> None:
    """A sortable table of the columns in `headings` (name -> heading), at most `rows` of them in sight.

    Columns in `shares` hold shares in [0, 1], drawn as percentages, each followed by its 95 % interval where the frame
    has one (`<share>_low`, `<share>_high`). Raises KeyError when a column is not there: a table never shrinks unseen.
    """
    st.dataframe(
        _readable(frame, headings, shares, digits),
        key=key,
        **_options(frame, headings, shares, digits),
        height=_height(frame, rows),
    )


def clicked_row(
    frame: pd.DataFrame, key: str, headings: Mapping[str, str], shares: Sequence[str] = (), rows: int = 12
) -> pd.Series | None:
    """The same, returning the row of `frame` that was clicked, None when none was."""
    event = st.dataframe(
        _readable(frame, headings, shares, 1), key=key, **_options(frame, headings, shares, 1), height=_height(frame, rows),
        on_select="rerun", selection_mode="single-row",
    )  # fmt: skip
    picked = event["selection"]["rows"]
    return frame.iloc[picked[0]] if picked and picked[0] < len(frame) else None


def _readable(frame: pd.DataFrame, headings: Mapping[str, str], shares: Sequence[str], digits: int) -> pd.DataFrame:
    readable: dict[str, Any] = {}
    for name in headings:
        readable[name] = unsigned_zeros(frame[name] * 100, digits) if name in shares else _plain(frame[name])
        if name in shares and f"{name}_low" in frame:
            ends = zip(frame[f"{name}_low"], frame[f"{name}_high"], strict=True)
            readable[f"{name}_interval"] = [interval(low, high, digits) or NO_VALUE for low, high in ends]
    return pd.DataFrame(readable)


def _plain(values: pd.Series) -> pd.Series:
    return unsigned_zeros(values, DECIMALS) if pd.api.types.is_float_dtype(values) else values


def _options(frame: pd.DataFrame, headings: Mapping[str, str], shares: Sequence[str], digits: int) -> dict[str, Any]:
    first, *others = headings
    config: dict[str, Any] = {first: st.column_config.Column(headings[first], pinned=len(headings) > MOST_IN_SIGHT)}
    for name in others:
        config[name] = _column(frame[name], headings[name])
    for name in shares:
        config[name] = st.column_config.NumberColumn(headings[name], format=f"%.{digits}f %%")
        config[f"{name}_interval"] = "95 % interval"
    return {"column_config": config, "hide_index": True, "width": "stretch", "placeholder": NO_VALUE}


def _column(values: pd.Series, heading: str) -> Any:
    if pd.api.types.is_integer_dtype(values):
        return st.column_config.NumberColumn(heading, format="localized")
    return st.column_config.NumberColumn(heading, format=f"%.{DECIMALS}f") if pd.api.types.is_float_dtype(values) else heading


def _height(frame: pd.DataFrame, rows: int) -> int:
    return HEADER + ROW * max(1, min(len(frame), rows))
