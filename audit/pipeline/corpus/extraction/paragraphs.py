"""Lines into paragraphs, lists and tables: what stands between two headings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from audit.pipeline.corpus.extraction.layout import Block, Line, TextCell
from audit.pipeline.corpus.extraction.line_breaks import line_pitch
from audit.pipeline.corpus.extraction.lists import Wording, text_blocks
from audit.pipeline.corpus.extraction.tables import NO_HEAD, Row, table_blocks, texts_of_row

WORD = re.compile(r"\w+(?:-\w+)*")
# Points: cells whose left ends differ by less are in one column
SAME_COLUMN = 6.0
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


def wording_of(lines: list[Line]) -> Wording:
    """The usual distance between a document's lines, and the words inside them."""
    return Wording(line_pitch(lines), words_inside_lines(lines))


def words_inside_lines(lines: Iterable[Line]) -> frozenset[str]:
    """Every word but the last of each line."""
    # They tell a line-end hyphen from one that belongs to the word; the last word of a line may be half a word.
    return frozenset(word.casefold() for line in lines for word in WORD.findall(line.text)[:-1])


def body_blocks(lines: list[Line], wording: Wording) -> Iterator[Block]:
    """The paragraphs, lists and tables of a stretch of lines without headings; `wording` is that of the whole document."""
    text: list[Line] = []
    open_head = NO_HEAD
    stretches = [(stretch, _table_of(stretch)) for stretch in split_tables(lines)]
    firsts = Counter(texts_of_row(rows[0], wording) for _, rows in stretches if rows)
    for stretch, rows in stretches:
        if not rows:
            text += stretch
            continue
        if text:
            open_head = NO_HEAD
        yield from text_blocks(text, wording)
        text = []
        continued = open_head if len(rows[0]) == len(open_head.texts) else NO_HEAD
        is_repeated = len(rows) > 1 and firsts[texts_of_row(rows[0], wording)] > 1 and sum(map(bool, rows[0])) > 1
        blocks, open_head = table_blocks(rows, wording, continued, is_repeated=is_repeated)
        yield from blocks
    yield from text_blocks(text, wording)


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
    if before and (
        (before.page, before.part) != (line.page, line.part) or not 0 < _pitch(before, line) < MAX_TABLE_PITCH * line.size
    ):
        return False
    if len(line.cells) > 1 or _overlap(before, line) or _overlap(line, after):
        return True
    above = before if before and _pitch(before, line) < MAX_ROW_PITCH * line.size else None
    close = above is not None or _is_above_cells(line, after)
    in_column = any(abs(line.x0 - start) < SAME_COLUMN for start in columns) or _hangs(line.cells[0], above, columns)
    return close and line.x1 < _next_column(line, columns) and in_column


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
    columns = _column_starts(max(table, key=lambda line: len(line.cells)))
    for before, line in zip([None, *table], table, strict=False):
        for cell in line.cells:
            apart = all(abs(cell.x0 - column) > 3 * SAME_COLUMN for column in columns)
            if apart and not _hangs(cell, before, columns):
                columns = sorted([*columns, cell.x0])
    return [tuple(map(tuple, row)) for row in _rows_of_cells(table, columns)]


def _rows_of_cells(table: list[Line], columns: list[float]) -> list[list[list[Line]]]:
    rows: list[list[list[Line]]] = []
    spaced, hanging = _has_spaced_rows(table, columns), _has_hanging_cells(table, columns)
    before = None
    for line in table:
        begins = hanging and _begins_hanging_row(line, columns)
        if before is None or begins or not _continues_row(line, before, columns, spaced):
            rows.append([[] for _ in columns])
        for cell in line.cells:
            column = min(range(len(columns)), key=lambda number: abs(columns[number] - cell.x0))
            rows[-1][column].append(replace(line, cells=(cell,)))
        before = line
    return rows


def _has_spaced_rows(table: list[Line], columns: list[float]) -> bool:
    """Whether space is between the rows of a table, and not only between its groups of close rows of figures."""
    steps = list(pairwise(table))
    close = [line for before, line in steps if _pitch(before, line) <= MAX_ROW_PITCH * line.size and len(line.cells) > 1]
    rows = [line for line in close if _has_cell_at(line.cells, columns[0]) and any(map(_is_figure, line.cells[1:]))]
    spaced = any(_pitch(before, line) > MAX_ROW_PITCH * line.size for before, line in steps)
    return spaced and (not rows or 2 * len(rows) <= len(close))


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


def _is_figure(cell: TextCell) -> bool:
    return any(map(str.isdigit, cell.text)) and 2 * sum(map(str.isalpha, cell.text)) < len(cell.text)


def _is_rest_of_label(line: Line, before: Line, columns: list[float]) -> bool:
    """Whether a line is the second line of a row's label, which is indented a little."""
    return len(line.cells) == 1 < len(before.cells) and MIN_INDENT <= line.x0 - columns[0] < SAME_COLUMN


def _continues_row(line: Line, before: Line, columns: list[float], spaced: bool) -> bool:
    # In a table with space between its rows close lines are one row; in a dense one a new row has a first cell.
    if _pitch(before, line) >= MAX_ROW_PITCH * line.size:
        return False
    starts_row = _has_cell_at(line.cells, columns[0]) and not _is_rest_of_label(line, before, columns)
    # A line of all columns below another is a row of its own, unless it goes on in the middle of a sentence
    whole = starts_row and len(line.cells) == len(before.cells) == len(columns)
    return not (whole and not line.text[:1].islower()) if spaced else not starts_row


def _has_cell_at(cells: tuple[TextCell, ...], start: float) -> bool:
    return any(abs(cell.x0 - start) < SAME_COLUMN for cell in cells)
