"""Tables as rows that can be read: `Medicine | Dose | When`, a cell that runs over several lines put together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from audit.extract.layout import BETWEEN_CELLS, Cell, Line

NEAR = 6.0
"""Points: cells that start so near to each other stand in one column."""
TIGHT = 1.5
"""Lines closer than this many type sizes may belong to one row."""


def tables(lines: list[Line]) -> Iterator[list[Line]]:
    """Stretches of lines: each a table of at least two lines with cells, or a single line of text."""
    at = 0
    while at < len(lines):
        end = _end(lines, at)
        rows = sum(len(line.cells) > 1 for line in lines[at:end])
        if rows >= 2 or (rows == 1 and end - at == 1):
            yield lines[at:end]
        else:
            end = at + 1
            yield lines[at:end]
        at = end


def _end(lines: list[Line], at: int) -> int:
    """Where the table that starts at a line ends; the line itself may be part of the first row only."""
    starts: list[float] = []
    for ahead in lines[at : at + 3]:
        if len(ahead.cells) > 1:
            starts = [cell.x0 for cell in ahead.cells]
            break
    end = at
    while end < len(lines) and _belongs(lines[end], lines[end - 1] if end > at else None, starts):
        if len(lines[end].cells) > len(starts):
            starts = [cell.x0 for cell in lines[end].cells]
        end += 1
    while end > at + 1 and len(lines[end - 1].cells) == 1 and not _inside(lines[end - 1], starts):
        end -= 1
    return max(end, at + 1)


def _belongs(line: Line, before: Line | None, starts: list[float]) -> bool:
    if not starts or (before and _apart(before, line)):
        return False
    return (
        len(line.cells) > 1
        or _inside(line, starts)
        or (before is not None and _first_cell(line, starts) and _pitch(before, line) < TIGHT * line.size)
    )


def _apart(before: Line, line: Line) -> bool:
    """Another page or column, or far below."""
    return before.page != line.page or not 0 < _pitch(before, line) < 4 * line.size


def _inside(line: Line, starts: list[float]) -> bool:
    """A single cell that starts where a column other than the first does."""
    return any(abs(line.x0 - start) < NEAR for start in starts[1:])


def _first_cell(line: Line, starts: list[float]) -> bool:
    return len(starts) > 1 and abs(line.x0 - starts[0]) < NEAR and line.x1 < starts[1]


def _pitch(before: Line, line: Line) -> float:
    return line.baseline - before.baseline


def rows_of(table: list[Line]) -> list[str]:
    """The rows of a table in words."""
    starts = [cell.x0 for cell in max(table, key=lambda line: len(line.cells)).cells]
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
