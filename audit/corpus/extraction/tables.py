"""Tables as rows of text: `Medicine | Dose | When`, with the lines of a wrapped cell joined."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from audit.corpus.extraction.layout import CELL_SEPARATOR, Line, TextCell

SAME_COLUMN = 6.0
"""Points: cells whose left ends differ by less are in one column."""
MAX_ROW_PITCH = 1.5
"""Lines closer than this many type sizes may belong to one row."""
OVERLAP = 0.9
"""Lines closer than this many type sizes overlap."""
MAX_TABLE_PITCH = 4.0
"""Lines farther apart than this many type sizes are not in one table."""
MIN_ROWS = 2


def split_tables(lines: list[Line]) -> Iterator[list[Line]]:
    """The lines in stretches, each a table (at least two lines with cells) or a single line."""
    start = 0
    while start < len(lines):
        end = _table_end(lines, start)
        rows = sum(len(line.cells) > 1 for line in lines[start:end])
        end = end if rows >= MIN_ROWS else start + 1
        yield lines[start:end]
        start = end


def _table_end(lines: list[Line], first: int) -> int:
    # The first line may be only the upper part of a wrapped cell, so the columns may be known two lines later.
    columns = next((_column_starts(line) for line in lines[first : first + 3] if len(line.cells) > 1), [])
    end = first
    while end < len(lines) and columns and _belongs_to_table(lines, end, first, columns):
        columns = max(columns, _column_starts(lines[end]), key=len)
        end += 1
    return end


def _column_starts(line: Line) -> list[float]:
    return [cell.x0 for cell in line.cells]


def _belongs_to_table(lines: list[Line], number: int, first: int, columns: list[float]) -> bool:
    """Whether a line has cells, or is part of a wrapped cell next to or close to others."""
    line = lines[number]
    before = lines[number - 1] if number > first else None
    after = lines[number + 1] if number + 1 < len(lines) else None
    if before and (before.page != line.page or not 0 < _pitch(before, line) < MAX_TABLE_PITCH * line.size):
        return False
    if len(line.cells) > 1 or _overlap(before, line) or _overlap(line, after):
        return True
    close = (before and _pitch(before, line) < MAX_ROW_PITCH * line.size) or _is_above_cells(line, after)
    in_column = any(abs(line.x0 - start) < SAME_COLUMN for start in columns)
    return bool(close) and line.x1 < _next_column(line, columns) and in_column


def _overlap(line: Line | None, other: Line | None) -> bool:
    """Whether two lines overlap in height; only cells do that are centred in their row."""
    return bool(line and other and line.page == other.page and 0 < _pitch(line, other) < OVERLAP * other.size)


def _is_above_cells(line: Line, after: Line | None) -> bool:
    if after is None or len(after.cells) < 2 or after.page != line.page:
        return False
    return 0 < _pitch(line, after) < MAX_ROW_PITCH * line.size


def _next_column(line: Line, columns: list[float]) -> float:
    """The left end of the column after a line's own; a line of running text reaches beyond it."""
    return min((start for start in columns if start > line.x0 + SAME_COLUMN), default=float("inf"))


def _pitch(before: Line, line: Line) -> float:
    return line.baseline - before.baseline


def table_rows(table: list[Line]) -> list[str]:
    """The rows of a table, each as the texts of its cells."""
    columns = _column_starts(max(table, key=lambda line: len(line.cells)))
    for start in (start for line in table for start in _column_starts(line)):
        if all(abs(start - column) > 3 * SAME_COLUMN for column in columns):
            columns = sorted([*columns, start])
    return [CELL_SEPARATOR.join(text for text in row if text) for row in _rows_of_cells(table, columns)]


def _rows_of_cells(table: list[Line], columns: list[float]) -> list[list[str]]:
    rows: list[list[str]] = []
    spaced = any(_pitch(before, line) > MAX_ROW_PITCH * line.size for before, line in pairwise(table))
    before = None
    for line in table:
        if before is None or not _continues_row(line, before, columns, spaced):
            rows.append([""] * len(columns))
        for cell in line.cells:
            column = min(range(len(columns)), key=lambda number: abs(columns[number] - cell.x0))
            rows[-1][column] = f"{rows[-1][column]} {cell.text}".strip()
        before = line
    return rows


def _continues_row(line: Line, before: Line, columns: list[float], spaced: bool) -> bool:
    """In a table with space between its rows close lines are one row; in a dense one a new row has a first cell."""
    close = _pitch(before, line) < MAX_ROW_PITCH * line.size
    return close and (spaced or not _has_cell_at(line.cells, columns[0]))


def _has_cell_at(cells: tuple[TextCell, ...], start: float) -> bool:
    return any(abs(cell.x0 - start) < SAME_COLUMN for cell in cells)
