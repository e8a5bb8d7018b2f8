"""Lines into paragraphs, lists and tables: what stands between two headings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from statistics import median
from typing import NamedTuple

from audit.pipeline.corpus.extraction.layout import Block, Line, TextCell
from audit.pipeline.corpus.extraction.line_breaks import line_pitch
from audit.pipeline.corpus.extraction.lists import MARK, Wording, text_blocks
from audit.pipeline.corpus.extraction.table_columns import (
    SAME_COLUMN,
    SAME_STEP,
    Columns,
    columns_between,
    is_figure,
    rows_by_space,
)
from audit.pipeline.corpus.extraction.tables import MAX_LABEL, NO_HEAD, Head, Row, table_blocks, texts_of_row

WORD = re.compile(r"\w+(?:-\w+)*")
# Points: by which the second line of a row's label is indented, at least
MIN_INDENT = 3.0
# The lines of a cell below its first are indented by at most this many type sizes
MAX_HANG = 2.5
# Lines of which at least this many, and most, are so indented show it of a table
MIN_HANGING = 2
# Lines closer than this many type sizes may belong to one row
MAX_ROW_PITCH = 1.5
# Lines closer than this many type sizes overlap
OVERLAP = 0.9
# Lines farther apart than this many type sizes are not in one table
MAX_TABLE_PITCH = 4.0
MIN_ROWS = 2
SENTENCE = re.compile(r"[.;]$")


def wording_of(lines: list[Line]) -> Wording:
    """The usual distance between a document's lines, and the words inside them."""
    return Wording(line_pitch(lines), words_inside_lines(lines))


def words_inside_lines(lines: Iterable[Line]) -> frozenset[str]:
    """Every word but the last of each line."""
    # They tell a line-end hyphen from one that belongs to the word; the last word of a line may be half a word.
    return frozenset(word.casefold() for line in lines for word in WORD.findall(line.text)[:-1])


class TableAbove(NamedTuple):
    """A table that what follows may go on with: the head of its columns, their left and right ends, its largest type, and whether
    it is the row of its head alone.
    """

    head: Head
    spans: tuple[tuple[float, float], ...]
    size: float
    is_row: bool = False

    def may_label(self, text: Sequence[Line]) -> bool:
        """Whether lines are the label of rows that go on below: short, in its first column, in type no larger than its own."""
        left, right = self.spans[0]
        inside = all(left - SAME_COLUMN < line.x0 < right and line.size <= self.size for line in text)
        label = " ".join(line.text for line in text)
        return inside and len(label) <= MAX_LABEL and not SENTENCE.search(label) and len({line.page for line in text}) == 1

    def is_under(self, label: Line) -> bool:
        """Whether a line is over several of its columns, in type no larger than its own: the label of rows, not of a section."""
        gaps = pairwise(self.spans)
        return label.size <= self.size and any(label.x0 < left[1] and label.x1 > right[0] for left, right in gaps)

    def has_columns(self, spans: Sequence[tuple[float, float]]) -> bool:
        """Whether other columns are below its own."""
        below = [[_share(one, other) for other in self.spans] for one in spans]
        return all(row == [number == column for column in range(len(self.spans))] for number, row in enumerate(below))


def _share(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def body_blocks(lines: list[Line], wording: Wording) -> Iterator[Block]:
    """The paragraphs, lists and tables of a stretch of lines without headings; `wording` is that of the whole document."""
    yield from blocks_below(lines, wording, None)[0]


def blocks_below(lines: list[Line], wording: Wording, above: TableAbove | None) -> tuple[list[Block], TableAbove | None]:
    """The same below a label of the table above, if there is one; and the table that the stretch ends with."""
    blocks, text, table = list[Block](), list[Line](), above
    stretches = [(stretch, _table_of(stretch)) for stretch in split_tables(lines)]
    firsts = Counter(texts_of_row(rows[0], wording) for _, rows in stretches if rows)
    for stretch, rows in stretches:
        if not rows:
            text += stretch
            continue
        is_apart = table is above is not None or (table is not None and (text or table.is_row))
        if (text and not (table and table.may_label(text))) or (table and is_apart and not table.has_columns(_spans_of(rows))):
            table = None
        blocks += text_blocks(text, wording)
        text = []
        continued = table.head if table and len(rows[0]) == len(table.head.texts) else NO_HEAD
        is_repeated = len(rows) > 1 and firsts[texts_of_row(rows[0], wording)] > 1 and len(set(filter(None, rows[0]))) > 1
        own, head = table_blocks(rows, wording, continued, is_repeated=is_repeated)
        blocks += own
        # A row in bold between shades or rules of its own is the head of rows that have none
        is_row = len(rows) == 1 and all(cell and all(line.bold for line in cell) for cell in rows[0])
        head = Head(texts_of_row(rows[0], wording)) if is_row else head
        table = TableAbove(head, _spans_of(rows), max(line.size for row in rows for cell in row for line in cell), is_row)
    blocks += text_blocks(text, wording)
    return blocks, None if text else table


def _spans_of(rows: Sequence[Row]) -> tuple[tuple[float, float], ...]:
    """The left and right end of each column; of one without text of its own, nothing between them."""
    columns = [
        [line for row in rows for line in row[column] if sum(cell == row[column] for cell in row) == 1]
        for column in range(len(rows[0]))
    ]
    return tuple((min((x.x0 for x in own), default=0.0), max((x.x1 for x in own), default=0.0)) for own in columns)


def _table_of(stretch: list[Line]) -> list[Row]:
    """The rows of a stretch that is a table; none for a line of text."""
    first = stretch[0]
    if not first.table and len(stretch) == 1 and len(first.cells) == 1:
        return []
    return list(first.table) if first.table else table_rows(stretch)


# -- tables ------------------------------------------------------------------------------------------------------------


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
    if line.table:
        return False
    if before and (
        (before.page, before.part) != (line.page, line.part) or not 0 < _pitch(before, line) < MAX_TABLE_PITCH * line.size
    ):
        return False
    if len(line.cells) > 1 or _overlap(before, line) or _overlap(line, after):
        return True
    if before and after and _is_label_between(line, lines[first:number], after):
        return True
    above = (
        before if before and _pitch(before, line) < max(MAX_ROW_PITCH * line.size, _usual_pitch(lines[first:number])) else None
    )
    close = above is not None or _is_above_cells(line, after)
    in_column = any(abs(line.x0 - start) < SAME_COLUMN for start in columns) or _hangs(line.cells[0], above, columns)
    return close and line.x1 < _next_column(line, columns) and in_column


def _usual_pitch(rows: list[Line]) -> float:
    """A little more than the distance of rows with several cells; 0 where a table has too few."""
    steps = [_pitch(before, line) for before, line in pairwise(rows) if len(before.cells) == len(line.cells) > 1]
    return SAME_STEP * median(steps) if len(steps) >= MIN_ROWS else 0.0


def _is_label_between(line: Line, above: list[Line], after: Line) -> bool:
    """Whether a short line is the label of the rows below, whose cells are below those of a row above."""
    row = next((row for row in reversed(above) if len(row.cells) == len(after.cells) > 1), None)
    near = 0 < _pitch(line, after) < MAX_TABLE_PITCH * after.size
    if row is None or not near or len(line.text) > MAX_LABEL or SENTENCE.search(line.text):
        return False
    return all(cell.x0 < one.x1 and one.x0 < cell.x1 for cell, one in zip(row.cells, after.cells, strict=True))


def _hangs(cell: TextCell, before: Line | None, columns: list[float]) -> bool:
    """Whether a cell is further in than the one above it, with which it goes on, in a column other than the first."""
    column = max((start for start in columns[1:] if start < cell.x0), default=None)
    if before is None or column is None or cell.x0 - column > MAX_HANG * before.size:
        return False
    return any(above.x0 > column - SAME_COLUMN and above.x0 < cell.x1 and cell.x0 < above.x1 for above in before.cells)


def _overlap(line: Line | None, other: Line | None) -> bool:
    """Whether two lines overlap in height."""
    # Only cells do that, when they are centred in their row.
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


def table_rows(table: list[Line]) -> list[Row]:
    """The rows of a table, each as the lines of its cells."""
    columns = columns_between(table)
    return [tuple(map(tuple, row)) for row in _rows_of_cells(table, columns or _columns_that_begin_alike(table)) if any(row)]


def _columns_that_begin_alike(table: list[Line]) -> Columns:
    columns = _column_starts(max(table, key=lambda line: len(line.cells)))
    for before, line in zip([None, *table], table, strict=False):
        for cell in line.cells:
            apart = all(abs(cell.x0 - column) > 3 * SAME_COLUMN for column in columns)
            if apart and not _hangs(cell, before, columns):
                columns = sorted([*columns, cell.x0])
    return Columns(columns, [True] * len(columns))


def _rows_of_cells(table: list[Line], columns: Columns) -> Iterator[list[list[Line]]]:
    grouped, hanging = _has_grouped_figures(table, columns), _has_hanging_cells(table, columns.starts)
    firsts = [(before, line) for before, line in pairwise(table) if len(line.cells) > 1 and columns.has_first(line)]
    apart = sum(_pitch(before, line) > MAX_ROW_PITCH * line.size for before, line in firsts)
    spaced = not grouped and apart > 0 and 2 * apart >= len(firsts)
    for is_label, group in groupby(table, key=columns.is_over_all):
        lines = list(group)
        by_space = (
            None if is_label or hanging or grouped or _are_items(lines, columns) else rows_by_space(lines, columns, _with_cell)
        )
        labels = [[[line] for _ in columns.starts] for line in lines] if is_label else None
        yield from labels or by_space or _rows_by_labels(lines, columns, hanging=hanging, spaced=spaced)


def _are_items(lines: Sequence[Line], columns: Columns) -> bool:
    """Whether each line of the first column begins an item, and so a row, whatever space what is beside it leaves."""
    firsts = [cell.text for line in lines for cell in line.cells if columns.of(cell) == 0]
    return len(firsts) > MIN_ROWS and all(map(MARK.match, firsts))


def _rows_by_labels(lines: list[Line], columns: Columns, *, hanging: bool, spaced: bool) -> list[list[list[Line]]]:
    """The rows of lines, each of which begins with a cell of the first column, or after space."""
    rows: list[list[list[Line]]] = []
    before = None
    for line in lines:
        begins = hanging and _begins_hanging_row(line, columns.starts)
        if before is None or begins or not _continues_row(line, before, columns, spaced):
            rows.append([[] for _ in columns.starts])
        for cell in line.cells:
            for column in columns.all_of(cell) if before is None else [columns.of(cell)]:
                rows[-1][column].append(_with_cell(line, cell))
        before = line
    return rows


def _with_cell(line: Line, cell: TextCell) -> Line:
    return replace(line, cells=(cell,))


def _has_grouped_figures(table: list[Line], columns: Columns) -> bool:
    """Whether close rows of figures stand in groups, so that the space is between these and not between rows."""
    close = [
        line for before, line in pairwise(table) if _pitch(before, line) <= MAX_ROW_PITCH * line.size and len(line.cells) > 1
    ]
    rows = [line for line in close if columns.has_first(line) and any(map(is_figure, line.cells[1:]))]
    return bool(rows) and 2 * len(rows) > len(close)


def _has_hanging_cells(table: list[Line], columns: list[float]) -> bool:
    """Whether cells go on further in than they begin, so that a line which is not indented begins a row.

    The first line of each row has its label: one beside the middle of its row would seem to begin another.
    """
    below_space = (line for before, line in pairwise(table) if _pitch(before, line) >= MAX_ROW_PITCH * line.size)
    if not all(_has_cell_at(line.cells, columns[0]) for line in below_space):
        return False
    if any(indent > MAX_HANG * line.size for line in table for indent in _indents(line, columns)):
        return False
    others = [_indents(line, columns) for line in table if not _has_cell_at(line.cells, columns[0])]
    indented = [indents for indents in others if min(indents) > MIN_INDENT]
    return len(indented) >= MIN_HANGING and 2 * len(indented) > len(others)


def _begins_hanging_row(line: Line, columns: list[float]) -> bool:
    others = _indents(line, columns)
    return _has_cell_at(line.cells, columns[0]) and bool(others) and max(others) <= MIN_INDENT


def _indents(line: Line, columns: list[float]) -> list[float]:
    """How far the cells behind the first column begin behind the left end of their column."""
    cells = (cell.x0 for cell in line.cells if abs(cell.x0 - columns[0]) >= SAME_COLUMN)
    return [x0 - max((start for start in columns if start <= x0 + MIN_INDENT), default=0.0) for x0 in cells]


def _is_rest_of_label(line: Line, before: Line, columns: list[float]) -> bool:
    """Whether a line is the second line of a row's label, which is indented a little."""
    return len(line.cells) == 1 < len(before.cells) and MIN_INDENT <= line.x0 - columns[0] < SAME_COLUMN


def _continues_row(line: Line, before: Line, columns: Columns, spaced: bool) -> bool:
    # In a table with space between its rows close lines are one row; in a dense one a new row has a first cell.
    if _pitch(before, line) >= MAX_ROW_PITCH * line.size:
        return False
    starts_row = columns.has_first(line) and not _is_rest_of_label(line, before, columns.starts)
    # A line of all columns below another is a row of its own, unless it goes on in the middle of a sentence
    whole = starts_row and len(line.cells) == len(before.cells) == len(columns.starts)
    return not (whole and not line.text[:1].islower()) if spaced else not starts_row


def _has_cell_at(cells: tuple[TextCell, ...], start: float) -> bool:
    return any(abs(cell.x0 - start) < SAME_COLUMN for cell in cells)
