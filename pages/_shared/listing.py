"""A frame as a list in the browser: what each cell says, what it is sorted by, and the interval that is drawn in it.

`listing.js` sorts it, searches it, moves through it and prints it. Texts reach the browser as data and are set as text, so
nothing in them is interpreted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Integral, Real
from typing import Any

import pandas as pd

from audit.charts.style import coefficient_interval, interval
from audit.formatting import fixed, printable
from audit.tables import HIGH, LOW, Column, ColumnKind
from audit.terms import RATE_SYMBOLS
from pages._blinded.templates import component

FEW = 5
"""Columns that are shown before somebody asks for all."""
TOO_WIDE = 0.5
"""An interval wider than this part of a scale from 0 to 1 says next to nothing: it is written, and not drawn."""
NO_INTERVAL = "no interval"
LETTERS = {"name": 24, "text": 14}
"""Letters of a column of texts from which on it is no wider."""

draw_listing = component("_shared/listing")

Cell = str | None | list[Any]
"""A text; None where the value is missing; of a number its text, itself, and of an interval its ends and its text."""


@dataclass(frozen=True)
class NumberForm:
    """How numbers are written: the digits of a percentage, and the decimals of a coefficient."""

    digits: int = 1
    decimals: int = 2


def listing_data(frame: pd.DataFrame, columns: Sequence[Column], name: str, in_sight: int, form: NumberForm) -> dict[str, Any]:
    """What the browser gets of a frame, without what its rows open.

    name      of the list, for screen readers
    in_sight  rows that are shown before somebody asks for all
    """
    cells = [_cells(frame, column, form) for column in columns]
    heads = [_head(frame, column, listed, place == 0) for place, (column, listed) in enumerate(zip(columns, cells, strict=True))]
    data = {"name": name, "columns": heads, "few": FEW, "inSight": in_sight, "rows": list(map(list, zip(*cells, strict=True)))}
    return {**data, "version": hashlib.sha256(json.dumps(data, ensure_ascii=False).encode()).hexdigest()[:16]}


def _head(frame: pd.DataFrame, column: Column, cells: Sequence[Cell], is_first: bool) -> dict[str, Any]:
    has_interval = column.has_interval(frame)
    kind = "text" if column.is_text or pd.api.types.is_object_dtype(frame[column.name]) else "number"
    heading = column.heading if column.unit in RATE_SYMBOLS.values() else column.label
    head = {"name": column.name, "heading": heading, "kind": kind, "spread": has_interval}
    drawn = [end for cell in cells if isinstance(cell, list) for end in cell[1:4] if end is not None]
    scale = {"from": min([0.0, *drawn]), "to": max([0.0, *drawn])} if has_interval else {}
    return {**head, **scale, "width": _width(kind, heading, cells, has_interval, is_first)}


def _width(kind: str, heading: str, cells: Sequence[Cell], has_interval: bool, is_first: bool) -> str:
    """The column's part of a row, as CSS; rows are laid out one by one, so it depends on no row."""
    if has_interval:
        return "minmax(6rem, 1fr)"
    texts = [str(cell[0] if isinstance(cell, list) else cell) for cell in cells if cell is not None]
    longest = max(map(len, texts), default=1)
    if kind == "number":
        return f"minmax({max(longest, *map(len, heading.split())) * 0.5 + 0.6:.1f}rem, 0.5fr)"
    most = LETTERS["name" if is_first else "text"]
    word = max((len(word) for text in texts for word in text.split()), default=1)
    least = max(min(longest, most) * 0.35, min(word, LETTERS["text"]) * 0.5)  # no short word is divided
    return f"minmax({least:.1f}rem, {min(max(longest / 20, 0.7), 3):.2f}fr)"


def _cells(frame: pd.DataFrame, column: Column, form: NumberForm) -> list[Cell]:
    values = frame[column.name]
    if not column.has_interval(frame):
        return [_cell(value, column, form) for value in values]
    ends = zip(values, frame[column.name + LOW], frame[column.name + HIGH], strict=True)
    return [_with_interval(_cell(value, column, form), low, high, column, form) for value, low, high in ends]


def _cell(value: Any, column: Column, form: NumberForm) -> Cell:
    if isinstance(value, str):
        return printable(column.display(value) if column.is_text else value)
    # A list of a thousand rows has mostly plain numbers, of which little is to be asked
    if type(value) not in (int, float) or value != value:
        if not pd.api.types.is_scalar(value):
            return printable(column.display(value))
        if pd.isna(value):
            return None
        if isinstance(value, bool) or not isinstance(value, Real):
            return printable(column.display(value))
    number = float(value)
    if column.kind is ColumnKind.SHARE:
        return [f"{fixed(100 * number, form.digits)} %", _number(100 * number)]
    if column.kind is ColumnKind.COUNT or (not isinstance(value, float) and isinstance(value, Integral)):
        count = round(number)
        return [fixed(count, 0), count]
    return [fixed(number, form.decimals), _number(number)]


def _with_interval(cell: Cell, low: Any, high: Any, column: Column, form: NumberForm) -> Cell:
    """The cell with its interval: not drawn where it is unknown, or too wide to say anything."""
    if cell is None or isinstance(cell, str):  # a count or a share that is not known
        return cell
    is_share = column.kind is ColumnKind.SHARE
    if pd.isna(low) or pd.isna(high):
        return [*cell, None, None, NO_INTERVAL]
    written = interval(low, high, form.digits) if is_share else coefficient_interval(low, high, form.decimals)
    scale = 100 if is_share else 1
    is_drawn = not is_share or high - low <= TOO_WIDE
    return [*cell, *([_number(scale * low), _number(scale * high)] if is_drawn else [None, None]), written]


def _number(value: float) -> float | None:
    number = round(float(value), 6)
    return (0.0 if number == 0 else number) if isfinite(number) else None
