"""The columns and rows of a table without upright lines: the strips of the page that its cells keep to, and its rows by space."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

from audit.pipeline.corpus.extraction.layout import Line, TextCell

# Points: cells whose left ends differ by less are in one column
SAME_COLUMN = 6.0
# As a share of the cells of a column: so many begin at its left end where it is not centred
ALIGNED = 0.6
# Lines of rows are farther apart than those of a cell by this factor
SAME_STEP = 1.12
# In type sizes: lines that are nearer than this overlap
OVERLAP = 0.9
# Points
TOLERANCE = 0.1


class Place(Protocol):
    """What has a left and a right end on the page, in points."""

    @property
    def x0(self) -> float:
        """The left end."""

    @property
    def x1(self) -> float:
        """The right end."""


class Strips(NamedTuple):
    """Strips of the page, from left to right, each with its ends and what is in it; between two of them there is nothing."""

    ends: list[tuple[float, float]]

    @property
    def between(self) -> list[float]:
        """The middle of the space between any two."""
        return [(left[1] + right[0]) / 2 for left, right in pairwise(self.ends)]

    def of(self, place: Place) -> int:
        """The number of the strip that the middle of something is in."""
        return sum(middle < (place.x0 + place.x1) / 2 for middle in self.between)

    def holds(self, place: Place) -> bool:
        """Whether something is in one strip only."""
        return not any(place.x0 < middle < place.x1 for middle in self.between)


def strips_between(places: Iterable[Place]) -> Strips | None:
    """The strips that hold something; None where there is only one."""
    ends: list[tuple[float, float]] = []
    for place in sorted(places, key=lambda place: place.x0):
        if ends and place.x0 <= ends[-1][1]:
            ends[-1] = (ends[-1][0], max(ends[-1][1], place.x1))
        else:
            ends.append((place.x0, place.x1))
    return Strips(ends) if len(ends) > 1 else None


class Columns(NamedTuple):
    """The columns of a table from left to right.

    starts   where the cells of each usually begin, in points
    aligned  whether they do, or are centred or at the right end
    strips   those that the cells keep to; None where they keep to none, and only begin alike
    """

    starts: list[float]
    aligned: list[bool]
    strips: Strips | None = None

    def of(self, cell: TextCell) -> int:
        """The number of the column that a cell is in."""
        if self.strips is None:
            return min(range(len(self.starts)), key=lambda number: abs(self.starts[number] - cell.x0))
        return self.strips.of(cell)

    def all_of(self, cell: TextCell) -> list[int]:
        """The numbers of the columns that a cell is over, a head over several for instance."""
        if self.strips is None or self.strips.holds(cell):
            return [self.of(cell)]
        return [number for number, (x0, x1) in enumerate(self.strips.ends) if cell.x0 < x1 and x0 < cell.x1]

    def is_over_all(self, line: Line) -> bool:
        """Whether a line is a label over all columns: it crosses the space between two, or begins before the one it is in."""
        if self.strips is None or len(line.cells) > 1 or is_figure(line.cells[0]):
            return False
        column = self.of(line.cells[0])
        before = self.aligned[column] and line.x0 < self.starts[column] - SAME_COLUMN
        return before or not self.strips.holds(line.cells[0])

    def has_first(self, line: Line) -> bool:
        """Whether a line has a cell at the beginning of the first column, or anywhere in it where that is centred."""
        if self.aligned[0]:
            return any(abs(cell.x0 - self.starts[0]) < SAME_COLUMN for cell in line.cells)
        return any(self.of(cell) == 0 for cell in line.cells)


def is_figure(cell: TextCell) -> bool:
    """Whether a cell is a figure, not words."""
    return any(map(str.isdigit, cell.text)) and 2 * sum(map(str.isalpha, cell.text)) < len(cell.text)


def columns_between(table: Iterable[Line]) -> Columns | None:
    """The columns with an empty strip between any two of them; None where there are fewer than a line has cells."""
    rows = [line for line in table if len(line.cells) > 1]
    most = max((len(line.cells) for line in rows), default=0)
    cells = [cell for line in rows if len(line.cells) == most or line is not rows[0] for cell in line.cells]
    strips = strips_between(cells)
    if strips is None or len(strips.ends) < most:
        return None
    columns = [[cell for cell in cells if strips.of(cell) == column] for column in range(len(strips.ends))]
    # A gap that chance left between the words of a few lines is no column
    if len(strips.ends) > most and min(map(len, columns)) < 2:
        return None
    starts = [_usual_start(column) for column in columns]
    at_start = [sum(abs(cell.x0 - start) < SAME_COLUMN for cell in column) for start, column in zip(starts, columns, strict=True)]
    aligned = [count >= ALIGNED * len(column) for count, column in zip(at_start, columns, strict=True)]
    return Columns(starts, aligned, strips)


def _usual_start(zone: Sequence[TextCell]) -> float:
    """The left end that most cells share; of several the leftmost."""
    return max((cell.x0 for cell in zone), key=lambda x0: (sum(abs(cell.x0 - x0) < SAME_COLUMN for cell in zone), -x0))


class _Part(NamedTuple):
    """Lines of one column below each other without space between them."""

    column: int
    lines: list[Line]

    @property
    def top(self) -> float:
        return self.lines[0].baseline - OVERLAP * self.lines[0].size

    @property
    def bottom(self) -> float:
        return self.lines[-1].baseline


def rows_by_space(
    table: Sequence[Line], columns: Columns, cut: Callable[[Line, TextCell], Line]
) -> list[list[list[Line]]] | None:
    """The rows of a table with more space between rows than within its cells, wherever these stand in their rows.

    None where it has not: where all lines are as far apart, or two cells of a column stand beside one of another.
    cut  a line with one of its cells
    """
    in_column: list[list[Line]] = [[] for _ in columns.starts]
    for line in table:
        for cell in line.cells:
            in_column[columns.of(cell)].append(cut(line, cell))
    steps = sorted((below.baseline - line.baseline) / below.size for lines in in_column for line, below in pairwise(lines))
    tried = (_rows_apart(in_column, low) for low, high in pairwise(steps) if low >= OVERLAP and high > SAME_STEP * low)
    found = [rows for rows in tried if rows]
    # Space within a cell, between its paragraphs, is less than between rows
    return next((rows for rows in found if all(row[0] for row in rows[1:])), found[0] if found else None)


def _rows_apart(in_column: Sequence[Sequence[Line]], least: float) -> list[list[list[Line]]] | None:
    """The rows, if lines of a cell are at most so many type sizes apart; None where two cells of a column are beside another."""
    parts = [part for column, lines in enumerate(in_column) for part in _parts(column, lines, least)]
    rows = list(_beside(sorted(parts, key=lambda part: part.top)))
    if len(rows) < 2 or any(len({part.column for part in row}) < len(row) for row in rows):
        return None
    by_column = ({part.column: part.lines for part in row} for row in rows)
    return [[row.get(column, []) for column in range(len(in_column))] for row in by_column]


def _parts(column: int, lines: Sequence[Line], least: float) -> Iterator[_Part]:
    part: list[Line] = []
    for line in lines:
        if part and line.baseline - part[-1].baseline > least * line.size + TOLERANCE:
            yield _Part(column, part)
            part = []
        part.append(line)
    if part:
        yield _Part(column, part)


def _beside(parts: Iterable[_Part]) -> Iterator[list[_Part]]:
    """The parts from top to bottom, those that stand beside each other together."""
    row: list[_Part] = []
    for part in parts:
        if row and part.top >= max(other.bottom for other in row):
            yield row
            row = []
        row.append(part)
    if row:
        yield row
