"""Tables as rows that can be read: `Medicine | Dose | When`, a cell that runs over several lines put together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from audit.corpus.extraction.layout import BETWEEN_CELLS, Cell, Line

NEAR = 6.0
"""Points: cells that start so near to each other stand in one column."""
TIGHT = 1.5
"""Lines closer than this many type sizes may belong to one row."""
OVERLAP = 0.9
"""Lines closer than this overlap."""
FAR = 4.0
"""Lines farther apart than this many type sizes are not of one table."""


def tables(lines: list[Line]) -> Iterator[list[Line]]:
    """Stretches of lines: each a table of at least two lines with cells, or a single line."""
    at = 0
    while at < len(lines):
        end = _end(lines, at)
        rows = sum(len(line.cells) > 1 for line in lines[at:end])
        end = end if rows >= 2 else at + 1
        yield lines[at:end]
        at = end


def _end(lines: list[Line], at: int) -> int:
    """Where the table that starts at a line ends; its first line may be the upper part of a cell only."""
    starts = next((_starts(line) for line in lines[at : at + 3] if len(line.cells) > 1), [])
    end = at
    while end < len(lines) and starts and _belongs(lines, end, at, starts):
        starts = max(starts, _starts(lines[end]), key=len)
        end += 1
    return end


def _starts(line: Line) -> list[float]:
    return [cell.x0 for cell in line.cells]


def _belongs(lines: list[Line], place: int, first: int, starts: list[float]) -> bool:
    """Whether a line is of the table: it has cells, or is a part of a cell beside or close to others."""
    line = lines[place]
    before = lines[place - 1] if place > first else None
    after = lines[place + 1] if place + 1 < len(lines) else None
    if before and (before.page != line.page or not 0 < _pitch(before, line) < FAR * line.size):
        return False
    if len(line.cells) > 1 or _beside(before, line) or _beside(line, after):
        return True
    close = (before and _pitch(before, line) < TIGHT * line.size) or _above_cells(line, after)
    return bool(close) and line.x1 < _next_start(line, starts) and any(abs(line.x0 - start) < NEAR for start in starts)


def _beside(line: Line | None, other: Line | None) -> bool:
    """Whether two lines overlap in height, as only cells do that are set in the middle of their row."""
    return bool(line and other and line.page == other.page and 0 < _pitch(line, other) < OVERLAP * other.size)


def _above_cells(line: Line, after: Line | None) -> bool:
    return bool(after and len(after.cells) > 1 and after.page == line.page and 0 < _pitch(line, after) < TIGHT * line.size)


def _next_start(line: Line, starts: list[float]) -> float:
    """Where the column after a line's own starts; a line of text reaches into it."""
    return min((start for start in starts if start > line.x0 + NEAR), default=float("inf"))


def _pitch(before: Line, line: Line) -> float:
    return line.baseline - before.baseline


def rows_of(table: list[Line]) -> list[str]:
    """The rows of a table in words."""
    starts = _starts(max(table, key=lambda line: len(line.cells)))
    for start in (start for line in table for start in _starts(line)):
        if all(abs(start - known) > 3 * NEAR for known in starts):
            starts = sorted([*starts, start])
    return [BETWEEN_CELLS.join(text for text in row if text) for row in _rows(table, starts)]


def _rows(table: list[Line], starts: list[float]) -> list[list[str]]:
    rows: list[list[str]] = []
    roomy = any(_pitch(before, line) > TIGHT * line.size for before, line in pairwise(table))
    before = None
    for line in table:
        if before is None or not _continues(line, before, starts, roomy):
            rows.append([""] * len(starts))
        for cell in line.cells:
            place = min(range(len(starts)), key=lambda column: abs(starts[column] - cell.x0))
            rows[-1][place] = f"{rows[-1][place]} {cell.text}".strip()
        before = line
    return rows


def _continues(line: Line, before: Line, starts: list[float], roomy: bool) -> bool:
    """In a table with room between its rows close lines are one row; in a tight one a row has something in its first cell."""
    close = _pitch(before, line) < TIGHT * line.size
    return close and (roomy or not _has(line.cells, starts[0]))


def _has(cells: tuple[Cell, ...], start: float) -> bool:
    return any(abs(cell.x0 - start) < NEAR for cell in cells)
