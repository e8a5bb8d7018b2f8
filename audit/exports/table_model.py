"""A table that can be typeset: what it shows, of how many, in which columns, and the notes that define them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import pandas as pd

from audit.charts.style import Figure
from audit.exports.numbers import counts, estimate, known

LOW, HIGH = "_low", "_high"


class Kind(StrEnum):
    """What a column holds."""

    TEXT = "text"
    COUNT = "count"
    DECIMAL = "decimal"


@dataclass(frozen=True)
class Column:
    """One column of a table.

    name    the column of the frame; where the frame has `name_low` and `name_high` too, they are its 95 % interval
    header  what stands above it
    unit    what a count counts, or what a share is a share of; may be empty
    kind    how its values are written
    """

    name: str
    header: str
    unit: str = ""
    kind: Kind = Kind.TEXT


@dataclass(frozen=True)
class Table:
    """One table.

    name     the stem of its files
    title    one sentence
    frame    one row per line; a share is in [0, 1], what is not known is NaN or None
    columns  those shown, in order
    notes    footnotes: definitions, sources, what is left out
    n        how many of what stand behind it
    on_paper rows that are typeset, the first; None: all. Files for machines hold every row
    """

    name: str
    title: str
    frame: pd.DataFrame
    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()
    n: str = ""
    on_paper: int | None = None

    def noted(self, *notes: str) -> Table:
        """The same with further notes."""
        return replace(self, notes=(*self.notes, *(note for note in notes if note)))

    @property
    def has_units(self) -> bool:
        """Whether any column tells a unit."""
        return any(column.unit for column in self.columns)

    def spans(self, column: Column) -> bool:
        """Whether the column has an interval."""
        return column.kind is not Kind.TEXT and column.name + LOW in self.frame and column.name + HIGH in self.frame

    def typeset(self) -> Table:
        """The table for paper: the first rows of a long one, without columns of texts that hold none."""
        if self.on_paper is not None and len(self.frame) > self.on_paper:
            cut = f"The first {self.on_paper:,} of {len(self.frame):,} rows; {self.name}.csv, .xlsx and .json hold all."
            return replace(self.noted(cut), frame=self.frame.head(self.on_paper), on_paper=None).typeset()
        held = tuple(column for column in self.columns if column.kind is not Kind.TEXT or self._says(column))
        return replace(self, columns=held if len(self.frame) else self.columns)

    def _says(self, column: Column) -> bool:
        return any(known(value) and value != "" for value in self.frame[column.name].tolist())

    def lines(self) -> list[list[str]]:
        """Every cell as text, row by row, intervals beside their values; of a table without a row, one that says so."""
        if self.frame.empty:
            return [["none", *[""] * (len(self.columns) - 1)]]
        return [list(line) for line in zip(*(self._written(column) for column in self.columns), strict=True)]

    def _written(self, column: Column) -> list[str]:
        values = self.frame[column.name].tolist()
        if column.kind is Kind.TEXT:
            return [str(value) if known(value) else "" for value in values]
        write = counts if column.kind is Kind.COUNT else estimate
        if not self.spans(column):
            return [write(value, None, None) for value in values]
        ends = (self.frame[column.name + end].tolist() for end in (LOW, HIGH))
        return [write(*found) for found in zip(values, *ends, strict=True)]

    def typed(self) -> pd.DataFrame:
        """The columns under their headers, numbers as numbers, each interval as two columns of its own."""
        parts: dict[str, pd.Series] = {}
        for column in self.columns:
            head = f"{column.header} ({column.unit})" if column.unit else column.header
            parts[head] = self._values(column.name, column.kind)
            if self.spans(column):
                parts |= {f"{head}, 95 % {end[1:]}": self.frame[column.name + end] for end in (LOW, HIGH)}
        assert len(parts) == sum(3 if self.spans(column) else 1 for column in self.columns), f"{self.name}: two heads alike"
        return pd.DataFrame(parts)

    def _values(self, name: str, kind: Kind) -> pd.Series:
        values = self.frame[name]
        if kind is Kind.TEXT:
            return values.map(lambda value: str(value) if known(value) else None).astype("object")
        numbers = pd.to_numeric(values).astype(float)
        return numbers.round().astype("Int64") if kind is Kind.COUNT else numbers


@dataclass(frozen=True)
class Picture:
    """One figure: the stem of its files, what it shows in a sentence, and the chart."""

    name: str
    title: str
    figure: Figure
