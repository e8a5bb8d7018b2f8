"""A table on paper: all its rows in letters, where the screen shows a part that scrolls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from audit.charts.style import NO_VALUE
from audit.formatting import fixed, printable
from audit.tables import Column, ColumnKind

MAX_ROWS = 300
"""More rows are for a file: they would take more than ten sheets."""


def printed_table(readable: pd.DataFrame, columns: Sequence[Column], digits: int, decimals: int) -> str:
    """The HTML of a table that only a printer sees, every text escaped.

    readable  as `pages._shared.widgets` shows it: shares in percent, an interval behind each column that has one
    columns   its columns, with their headings; an interval column is not among them
    """
    by_name = {column.name: column for column in columns}
    headings = [by_name[name].label if name in by_name else "95 % interval" for name in readable.columns]
    shown = readable.head(MAX_ROWS)
    rows = [_row(record, by_name, digits, decimals) for record in shown.to_dict("records")]
    left_out = f"{MAX_ROWS:,} of {len(readable):,} rows. The CSV file has all of them."
    foot = f'<tfoot><tr><td colspan="{len(headings)}">{left_out}</td></tr></tfoot>' if len(readable) > MAX_ROWS else ""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    return f'<table class="printed"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody>{foot}</table>'


def _row(record: Mapping[Any, Any], columns: Mapping[str, Column], digits: int, decimals: int) -> str:
    return f"<tr>{''.join(_cell(value, columns.get(name), digits, decimals) for name, value in record.items())}</tr>"


def _cell(value: Any, column: Column | None, digits: int, decimals: int) -> str:
    if value is None or value is pd.NA or (isinstance(value, float) and pd.isna(value)):
        return f"<td>{NO_VALUE}</td>"
    if isinstance(value, str) or not isinstance(value, int | float) or isinstance(value, bool):
        return f"<td>{escape(printable(str(value)))}</td>"
    if column is not None and column.kind is ColumnKind.SHARE:
        return f'<td class="number">{fixed(value, digits)} %</td>'
    return f'<td class="number">{value:,}</td>' if isinstance(value, int) else f'<td class="number">{fixed(value, decimals)}</td>'
