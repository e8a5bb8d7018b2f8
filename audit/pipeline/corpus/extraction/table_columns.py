"""The columns and rows of a table without upright lines: the strips of the page that its cells keep to, and its rows by space."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from audit.pipeline.corpus.extraction.layout import Line, TextCell

# Points: cells whose left ends differ by less are in one column
SAME_COLUMN = 6.0
# As a share of the cells of a column: so many begin at its left end where it is not centred
ALIGNED = 0.6
# Lines of one cell are below each other by the least distance, or by this factor more
SAME_STEP = 1.12
# In type sizes: lines that are nearer than this overlap
OVERLAP = 0.9


class Columns(NamedTuple):
    """The columns of a table from left to right.

    starts   where the cells of each usually begin, in points
    between  the middle of the space between two columns; None where cells are in none but their places begin alike
    """

    starts: list[float]
    between: list[float] | None = None
    is_aligned: bool = True

    def of(self, cell: TextCell) -> int:
        """The number of the column that a cell is in."""
        if self.between is None:
            return min(range(len(self.starts)), key=lambda number: abs(self.starts[number] - cell.x0))
        return sum(middle < (cell.x0 + cell.x1) / 2 for middle in self.between)

    def has_first(self, line: Line) -> bool:
        """Whether a line has a cell at the beginning of the first column, or anywhere in it where that is centred."""
        if self.is_aligned:
            return any(abs(cell.x0 - self.starts[0]) < SAME_COLUMN for cell in line.cells)
        return any(self.of(cell) == 0 for cell in line.cells)


def strips(table: Iterable[Line]) -> Columns | None:
    """The columns with an empty strip between any two of them; None where there are fewer than a line has cells."""
    rows = [line for line in table if len(line.cells) > 1]
    zones: list[list[TextCell]] = []
    end = float("-inf")
    for cell in sorted((cell for line in rows for cell in line.cells), key=lambda cell: cell.x0):
        if cell.x0 > end:
            zones.append([])
        zones[-1].append(cell)
        end = max(end, cell.x1)
    most = max((len(line.cells) for line in rows), default=0)
    # A gap that chance left between the words of a few lines is no column
    if len(zones) < max(most, 2) or (len(zones) > most and min(map(len, zones)) < 2):
        return None
    between = [(max(cell.x1 for cell in left) + right[0].x0) / 2 for left, right in pairwise(zones)]
    starts = [_usual_start(zone) for zone in zones]
    aligned = sum(abs(cell.x0 - starts[0]) < SAME_COLUMN for cell in zones[0])
    return Columns(starts, between, aligned >= ALIGNED * len(zones[0]))


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
    steps = [(below.baseline - line.baseline) / below.size for lines in in_column for line, below in pairwise(lines)]
    least = min((step for step in steps if step >= OVERLAP), default=0.0)
    if not least or max(steps) <= SAME_STEP * least:
        return None
    parts = [part for column, lines in enumerate(in_column) for part in _parts(column, lines, least)]
    rows = list(_beside(sorted(parts, key=lambda part: part.top)))
    if len(rows) < 2 or any(len({part.column for part in row}) < len(row) for row in rows):
        return None
    by_column = ({part.column: part.lines for part in row} for row in rows)
    return [[row.get(column, []) for column in range(len(columns.starts))] for row in by_column]


def _parts(column: int, lines: Sequence[Line], least: float) -> Iterator[_Part]:
    part: list[Line] = []
    for line in lines:
        if part and line.baseline - part[-1].baseline > SAME_STEP * least * line.size:
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
