"""A table for any writer: a frame, its columns, the notes that define them, and how its numbers are written."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from audit.charts.style import NO_VALUE, Figure
from audit.formatting import fixed
from audit.metrics import METRICS
from audit.previews import COLUMN, PRELIMINARY
from audit.store.runs import Run
from audit.tables import HIGH, LOW, Column, ColumnKind, TableSpec
from audit.terms import fill

POPULATION, KIND = "95 % intervals speak of", "Kind of the 95 % intervals"
# A positive value below this would round to 0.000 or nearly so
SMALLEST = 0.001
# Below this, a value is 0 except for floating-point rounding: a kappa of 9e-16 is written 0.000
RESIDUE = 1e-12
SMALL_DIGITS = 5


@dataclass(frozen=True)
class Table:
    """One table with its values.

    name          the stem of its files
    title         one sentence
    frame         one row per line; a share is in [0, 1], what is not known is NaN or None
    columns       those shown, in order
    notes         footnotes: definitions, sources, what is left out
    n             the sample size, with its unit
    preview       the notice of a run that no model has read; empty for others
    population    the population of its intervals, in words; machine-readable files repeat it in a column
    printed_rows  how many of the first rows are printed on paper; None: all. Machine-readable files have every row
    """

    name: str
    title: str
    frame: pd.DataFrame
    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()
    n: str = ""
    printed_rows: int | None = None
    preview: str = ""
    population: str = ""

    def as_preview(self, notice: str, *, preliminary: bool = True) -> Table:
        """The table with the notice of a run that no model has read; `preliminary`: its figures depend on that."""
        if not notice:
            return self
        title = f"{self.title} ({PRELIMINARY})" if preliminary else self.title
        return replace(self, title=title, preview=notice, notes=(f"{notice}.", *self.notes))

    def noted(self, *notes: str) -> Table:
        """The table with further notes."""
        return replace(self, notes=(*self.notes, *(note for note in notes if note)))

    @property
    def has_units(self) -> bool:
        """Whether any column has a unit."""
        return any(column.unit for column in self.columns)

    def has_interval(self, column: Column) -> bool:
        """Whether the frame has the ends of an interval of this column."""
        return column.has_interval(self.frame)

    def for_print(self) -> Table:
        """The table for paper: the first rows of a long one, without columns of texts that are all empty."""
        if self.printed_rows is not None and len(self.frame) > self.printed_rows:
            cut = f"The first {self.printed_rows:,} of {len(self.frame):,} rows; {self.name}.csv, .xlsx and .json have all."
            return replace(self.noted(cut), frame=self.frame.head(self.printed_rows), printed_rows=None).for_print()
        # On paper a column that is empty in every row wastes space
        filled = tuple(column for column in self.columns if not column.is_text or any(self._texts(column)))
        return replace(self, columns=filled if len(self.frame) else self.columns)

    def lines(self) -> list[list[str]]:
        """Every cell as text, row by row, intervals next to their values; a table without rows has one row, 'none'."""
        if self.frame.empty:
            return [["none", *[""] * (len(self.columns) - 1)]]
        return [list(line) for line in zip(*(self._written(column) for column in self.columns), strict=True)]

    def _texts(self, column: Column) -> list[str]:
        return [column.display(value) if known(value) else "" for value in self.frame[column.name].tolist()]

    def _written(self, column: Column) -> list[str]:
        if column.is_text:
            return self._texts(column)
        values = self.frame[column.name].tolist()
        write = counts if column.kind is ColumnKind.COUNT else estimate
        if not self.has_interval(column):
            return [write(value, None, None) for value in values]
        ends = (self.frame[column.name + end].tolist() for end in (LOW, HIGH))
        return [write(*cells) for cells in zip(values, *ends, strict=True)]

    def typed(self) -> pd.DataFrame:
        """The columns under their labels, numbers as numbers, each interval as two columns of its own."""
        parts: dict[str, pd.Series] = {}
        for column in self.columns:
            parts[column.label] = self.values(column)
            if self.has_interval(column):
                parts |= {f"{column.label}, 95 % {end[1:]}": self.frame[column.name + end] for end in (LOW, HIGH)}
        # A dict keeps only one of two equal labels, so a column would silently vanish from every file.
        expected = sum(3 if self.has_interval(column) else 1 for column in self.columns)
        assert len(parts) == expected, f"{self.name}: two columns have the same label"
        kind = kinds_of(filter(self.has_interval, self.columns))
        typed = with_population_column(pd.DataFrame(parts), self.population if kind else "", kind)
        return with_notice_column(typed, self.preview)

    def values(self, column: Column) -> pd.Series:
        """The values of a column: texts (None where unknown), Int64 counts or floats."""
        if column.is_text:
            texts = [text or None for text in self._texts(column)]
            return pd.Series(texts, index=self.frame.index, dtype="object")
        # Int64 and not int64: a count may be unknown
        numbers = pd.to_numeric(self.frame[column.name]).astype(float)
        return numbers.round().astype("Int64") if column.kind is ColumnKind.COUNT else numbers


def kinds_of(columns: Iterable[Column]) -> str:
    """The kind of the intervals of these columns; which has which where they differ, and "" without a column."""
    kinds: dict[str, list[str]] = {}
    for column in columns:
        kinds.setdefault(column.interval, []).append(column.label)
    return "; ".join(f"{kind}: {', '.join(labels)}" for kind, labels in kinds.items()) if len(kinds) > 1 else "".join(kinds)


def with_population_column(frame: pd.DataFrame, population: str, kind: str) -> pd.DataFrame:
    """The frame with last columns that repeat the population and the kind of its intervals, each where it is not empty."""
    added = {name: text for name, text in ((POPULATION, population), (KIND, kind)) if text}
    return frame.assign(**{name: pd.Series(text, index=frame.index, dtype="object") for name, text in added.items()})


def metric_frame(name: str, frame: pd.DataFrame, run: Run) -> pd.DataFrame:
    """The frame of a metric as its CSV file has it: every column, and the population of its intervals.

    An interval with another population (`Column.alone`) is in another metric's file.
    """
    spec = METRICS[name].table
    exported = frame.drop(
        columns=[column.name + end for column in spec.columns if column.alone for end in (LOW, HIGH)], errors="ignore"
    )
    kind = kinds_of(column for column in spec.for_run(run).columns if column.has_interval(exported))
    return with_population_column(exported, fill(run, spec.population) if kind else "", kind)


def with_notice_column(frame: pd.DataFrame, notice: str) -> pd.DataFrame:
    """The frame with a last column that repeats the notice in each row; the frame itself where the notice is empty."""
    # An object column, as those of texts are: a workbook writes others as numbers
    return frame.assign(**{COLUMN: pd.Series(notice, index=frame.index, dtype="object")}) if notice else frame


@dataclass(frozen=True)
class Picture:
    """One figure: the stem of its files, what it shows in a sentence, and the chart."""

    name: str
    title: str
    figure: Figure


def table_of(name: str, spec: TableSpec, frame: pd.DataFrame, run: Run, n: str = "") -> Table:
    """A table by its specification, in the run's own words."""
    filled = spec.for_run(run)
    population = fill(run, spec.population)
    return Table(name, filled.title, frame, filled.columns, filled.notes, n, spec.printed_rows, population=population)


def metric_table(name: str, frame: pd.DataFrame, run: Run) -> Table:
    """The frame of a metric as its own table; a frame without specified columns, such as a matrix, shows all it has."""
    table = table_of(name, METRICS[name].table, frame, run, f"{name} of {run.title} ({run.key})")
    if table.columns:
        return table
    index = str(frame.index.name or "handbook_id")
    texts = frame.rename_axis(index).reset_index().astype(str)
    return replace(table, frame=texts, columns=tuple(Column.text(name, name) for name in map(str, texts.columns)))


# -- numbers -----------------------------------------------------------------------------------------------------------
# Shares and coefficients have three decimals, two significant digits below 0.001 and one decimal from 10 on. An interval has the
# decimals of its value: `0.163 [0.151, 0.176]`. Counts have a comma at each thousand. The unknown is a dash, never a zero.


def known(value: object) -> bool:
    """Whether there is a value at all."""
    return not (value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)))


def count(value: object) -> str:
    """`5,743,365`; a dash where it is not known."""
    return fixed(round(float(str(value))), 0) if known(value) else NO_VALUE


def counts(value: object, low: float | None, high: float | None) -> str:
    """`12 [3, 20]`; without brackets if it has no interval."""
    ends = f" [{count(low)}, {count(high)}]" if known(value) and known(low) and known(high) else ""
    return count(value) + ends


def decimal(value: float | None) -> str:
    """`0.163`, `0.00044`, `12.5`; a dash where it is not known."""
    return fixed(value, decimals(value)) if value is not None and known(value) else NO_VALUE


def estimate(value: float | None, low: float | None, high: float | None) -> str:
    """`0.163 [0.151, 0.176]`; without brackets if it has no interval."""
    if value is None or low is None or high is None or not (known(value) and known(low) and known(high)):
        return decimal(value)
    # An end above 0 is not written as 0
    digits = max(decimals(value), min(decimals(low), SMALL_DIGITS)) if low > 0 else decimals(value)
    return f"{fixed(value, digits)} [{fixed(low, digits)}, {fixed(high, digits)}]"


def decimals(value: float | None) -> int:
    """How many decimals a value is written with."""
    if value is None or not known(value) or abs(value) < RESIDUE or math.isinf(value):
        return 3
    size = abs(value)
    if size < SMALLEST:
        return 1 - math.floor(math.log10(size))
    return 3 if size < 10 else 1


# -- Long frames as wide tables: one row per system and measure, one column per share of signal or per measure


ENDS = ("", LOW, HIGH)


def pivoted(frame: pd.DataFrame, rows: Sequence[str], by: str, value: str) -> pd.DataFrame:
    """One row per combination of `rows`, in the order of the frame; of each value x of `by` the columns `x`, `x_low`, `x_high`.

    `value` (with `value_low`, `value_high`) is NaN where the frame has no row: not measured, which is different from zero.
    """
    order = frame[list(rows)].drop_duplicates()
    wide = frame.pivot(index=list(rows), columns=by, values=[value + end for end in ENDS])
    columns = {f"{name}{end}": wide[value + end][name] for name in dict.fromkeys(frame[by]) for end in ENDS}
    return order.merge(pd.DataFrame(columns).reset_index(), how="left", on=list(rows))
