"""A table on paper: all its rows in letters, where the screen shows a part that scrolls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from markupsafe import Markup

from audit.charts.style import NO_VALUE
from audit.formatting import fixed, printable
from audit.tables import Column, ColumnKind
from pages._blinded.templates import rendered

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
