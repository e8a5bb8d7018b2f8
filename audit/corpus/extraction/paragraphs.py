"""Lines into paragraphs and rows of tables: words hyphenated at a line's end and wrapped cells are joined."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from statistics import median

from audit.corpus.extraction.headings import BULLET
from audit.corpus.extraction.layout import CELL_SEPARATOR, Block, Line, TextCell

# A new paragraph is farther below the last line than lines usually are, by this factor
PARAGRAPH_GAP = 1.25
DEFAULT_PITCH = 1.2
LIST_ITEM = re.compile(rf"{BULLET.pattern}|\(?\d{{1,2}}[.)]\s")
HYPHENATED = re.compile(r"(\w+)-$")
WORD = re.compile(r"\w+(?:-\w+)*")
SENTENCE_END = re.compile(r"[.?!:;][\"'”’)]*$")
# Points: cells whose left ends differ by less are in one column
SAME_COLUMN = 6.0
# Lines closer than this many type sizes may belong to one row
MAX_ROW_PITCH = 1.5
# Lines closer than this many type sizes overlap
OVERLAP = 0.9
# Lines farther apart than this many type sizes are not in one table
MAX_TABLE_PITCH = 4.0
MIN_ROWS = 2


def words_inside_lines(lines: Iterable[Line]) -> frozenset[str]:
    """Every word but the last of each line."""
    # They tell a line-end hyphen from one that belongs to the word; the last word of a line may be half a word.
    return frozenset(word.casefold() for line in lines for word in WORD.findall(line.text)[:-1])


def line_pitch(lines: list[Line]) -> float:
    """The usual distance between lines, in type sizes."""
    steps = [
        (line.baseline - before.baseline) / line.size
        for before, line in pairwise(lines)
        if line.size and line.page == before.page
    ]
    # Smaller steps are cells side by side, larger ones the gaps between paragraphs
    usual = [step for step in steps if 0.8 < step < 2.2]
    return median(usual) if usual else DEFAULT_PITCH


def body_blocks(lines: list[Line], pitch: float, words: frozenset[str]) -> Iterator[Block]:
    """The paragraphs and table rows of a stretch of lines without headings.

    pitch, words  of the whole document, by `line_pitch` and `words_inside_lines`
    """
    text: list[Line] = []
    for stretch in split_tables(lines):
        if len(stretch) == 1 and len(stretch[0].cells) == 1:
            text += stretch
            continue
        yield from _paragraphs(text, pitch, words)
        text = []
        yield from (Block("row", row, stretch[0].page, stretch[-1].page) for row in table_rows(stretch))
    yield from _paragraphs(text, pitch, words)


def _paragraphs(lines: list[Line], pitch: float, words: frozenset[str]) -> Iterator[Block]:
    paragraph: list[Line] = []
    for line in lines:
        if paragraph and _begins_paragraph(paragraph[-1], line, pitch):
            yield _paragraph_block(paragraph, words)
            paragraph = []
        paragraph.append(line)
    if paragraph:
        yield _paragraph_block(paragraph, words)


def _begins_paragraph(before: Line, line: Line, pitch: float) -> bool:
    if LIST_ITEM.match(line.text):
        return True
    step = line.baseline - before.baseline
    # At the top of a column or page the distance tells nothing, so only a finished sentence ends the paragraph before.
    if line.page != before.page or step <= 0:
        return SENTENCE_END.search(before.text) is not None
    return step > PARAGRAPH_GAP * pitch * max(line.size, before.size)


def _paragraph_block(lines: list[Line], words: frozenset[str]) -> Block:
    text = lines[0].text
    later_pages: list[tuple[int, int]] = []
    for before, line in pairwise(lines):
        text = _join_lines(text, line.text, words)
        if line.page != before.page:
            # Counted from the end: joining may have dropped a hyphen
            later_pages.append((line.page, len(text) - len(line.text)))
    return Block("text", text, lines[0].page, lines[-1].page, later_pages=tuple(later_pages))


def _join_lines(text: str, following: str, words: frozenset[str]) -> str:
    """Two lines as one; a hyphen at the end stays if the document writes the word with it elsewhere."""
    hyphenated = HYPHENATED.search(text)
    if not hyphenated or not following[:1].islower():
        return f"{text} {following}"
    second_half = re.match(r"\w+", following)
    with_hyphen = f"{hyphenated[1]}-{second_half[0] if second_half else ''}".casefold()
    without_hyphen = with_hyphen.replace("-", "")
    keep_hyphen = with_hyphen in words and without_hyphen not in words
    return text + following if keep_hyphen else text[:-1] + following


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
    if before and (before.page != line.page or not 0 < _pitch(before, line) < MAX_TABLE_PITCH * line.size):
        return False
    if len(line.cells) > 1 or _overlap(before, line) or _overlap(line, after):
        return True
    close = (before and _pitch(before, line) < MAX_ROW_PITCH * line.size) or _is_above_cells(line, after)
    in_column = any(abs(line.x0 - start) < SAME_COLUMN for start in columns)
    return bool(close) and line.x1 < _next_column(line, columns) and in_column


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
    # In a table with space between its rows close lines are one row; in a dense one a new row has a first cell.
    close = _pitch(before, line) < MAX_ROW_PITCH * line.size
    return close and (spaced or not _has_cell_at(line.cells, columns[0]))


def _has_cell_at(cells: tuple[TextCell, ...], start: float) -> bool:
    return any(abs(cell.x0 - start) < SAME_COLUMN for cell in cells)
