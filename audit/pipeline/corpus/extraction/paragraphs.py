"""Lines into paragraphs, lists and tables: what stands between two headings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from statistics import median
from typing import NamedTuple

from audit.pipeline.corpus.extraction.layout import Block, Line, TextCell
from audit.pipeline.corpus.extraction.lists import Part, Wording, block_of, joined_text, paragraphs, text_blocks
from audit.text.statements import CELL_SEPARATOR, INDENT, ITEM_MARK

DEFAULT_PITCH = 1.2
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


def body_blocks(lines: list[Line], wording: Wording) -> Iterator[Block]:
    """The paragraphs, lists and tables of a stretch of lines without headings; `wording` is that of the whole document."""
    text: list[Line] = []
    open_head = NO_HEAD
    for stretch in split_tables(lines):
        first = stretch[0]
        if not first.table and len(stretch) == 1 and len(first.cells) == 1:
            text.append(first)
            continue
        if text:
            open_head = NO_HEAD
        yield from text_blocks(text, wording)
        text = []
        rows = list(first.table) if first.table else table_rows(stretch)
        continued = open_head if len(rows[0]) == len(open_head.texts) else NO_HEAD
        blocks, open_head = table_blocks(rows, wording, continued)
        yield from blocks
    yield from text_blocks(text, wording)


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


# -- tables --------------------------------------------------------------------------------------------------
# Rows with their column's head in each cell, and lists where a cell or a column is one.
#
# A row can be read alone: `Medicine: Ibuprofen | Allowed: no`; the first column's head may be what matters most ("Do not give").
# Columns of lists beside each other (DO and DON'T) become one list each, led by the column's head, so that nothing of one column
# stands in the other's.

Cell = tuple[Line, ...]
Row = tuple[Cell, ...]
# A head, and the label of a group of rows, has at most this many characters
MAX_HEAD, MAX_LABEL = 100, 80
# Words of a cell in the median: in two columns of whole advice the first is no label of the second
ADVICE_WORDS, HEAD_WORDS = 3, 3
LEAD_IN_SENTENCES = re.compile(r"[.!?]\s+\S[^.!?]*:$")


class Head(NamedTuple):
    """The texts above the columns of a table, and whether its own line is still to be written."""

    texts: tuple[str, ...] = ()

    def of(self, column: int) -> str:
        """The head of a column; "" without one."""
        return self.texts[column] if column < len(self.texts) else ""


NO_HEAD = Head()


def table_blocks(rows: Sequence[Row], wording: Wording, before: Head = NO_HEAD) -> tuple[list[Block], Head]:
    """The blocks of a table, and its head, which a table that continues it on the next page takes over as `before`."""
    rows = list(rows)
    head = before
    blocks: list[Block] = []
    if before.texts and tuple(joined_text(cell, wording) for cell in rows[0]) == before.texts:
        # The head, repeated on the next page
        rows = rows[1:]
    title = _title(rows)
    if title:
        rows = rows[1:]
    if _has_head(rows):
        head = Head(tuple(joined_text(cell, wording) for cell in rows[0]))
        if not _are_columns(rows[1:], head, wording):
            blocks.append(_row_block(rows[0], NO_HEAD, wording))
        rows = rows[1:]
    label = title
    for is_label, group in groupby(rows, key=_is_label):
        if is_label:
            *others, label = group
            blocks += [_row_block(row, NO_HEAD, wording) for row in others] if others else []
            continue
        members = list(group)
        blocks += _group_blocks(members, head, label, wording)
        label = None
    if label is not None:
        blocks += _texts_of(label, wording)
    return list(_joined(blocks)), head


def _joined(blocks: list[Block]) -> Iterator[Block]:
    """Rows below each other as one block."""
    for are_rows, group in groupby(blocks, key=lambda block: block.kind == "row"):
        members = list(group)
        if are_rows:
            yield Block("text", "\n".join(row.text for row in members), members[0].page, members[-1].page)
        else:
            yield from members


def _title(rows: list[Row]) -> Row | None:
    return rows[0] if len(rows) > 1 and _is_label(rows[0]) else None


def _is_label(row: Row) -> bool:
    """Whether a row has one cell over all columns: the label of the rows below, or a text."""
    return len(row) > 1 and bool(row[0]) and not any(row[1:])


def _has_head(rows: Sequence[Row]) -> bool:
    """Whether the first row is a head: bold where the others are not, or with an empty corner."""
    if len(rows) < 2 or sum(map(bool, rows[0])) < 2:
        return False
    first, others = rows[0], [cell for row in rows[1:] for cell in row[1:] if cell]
    short = all(sum(len(line.text) for line in cell) <= MAX_HEAD for cell in first)
    bold = all(line.bold for cell in first for line in cell)
    plain = sum(not all(line.bold for line in cell) for cell in others) > len(others) / 2
    corner = not first[0] and all(row[0] for row in rows[1:])
    return short and ((bold and plain) or corner)


def _group_blocks(rows: list[Row], head: Head, label: Row | None, wording: Wording) -> Iterator[Block]:
    """The rows below one label, which leads them."""
    if label is not None and not _is_short(label):
        yield from _texts_of(label, wording)
        label = None
    lead = [Part("", list(label[0]))] if label is not None else []
    if _are_columns(rows, head, wording):
        if lead and not any(head.texts) and all(_leads_itself(parts) for parts in _columns(rows, wording)):
            yield block_of(lead, wording)
            lead = []
        yield from _column_blocks(rows, head, lead, wording)
        return
    if lead:
        yield Block("row", block_of(lead, wording).text, lead[0].lines[0].page, lead[-1].lines[-1].page)
    for row in rows:
        yield from _row_or_lists(row, head, wording)


def _is_short(row: Row) -> bool:
    return sum(len(line.text) for line in row[0]) <= MAX_LABEL and len(row[0]) <= 2


def _texts_of(row: Row, wording: Wording) -> Iterator[Block]:
    return (block_of(parts, wording) for cell in row if cell for parts in paragraphs(cell, wording.pitch))


def _are_columns(rows: Sequence[Row], head: Head, wording: Wording) -> bool:
    """Whether the columns are lists, not rows: the first has items, or the heads are short above whole advice."""
    firsts = [row[0] for row in rows if row[0]]
    if any(_has_items(cell, wording) for cell in firsts) or (firsts and all(_has_mark(cell) for cell in firsts)):
        return True
    if len(head.texts) != 2 or any(not text or len(text.split()) > HEAD_WORDS for text in head.texts):
        return False
    words = [sorted(sum(len(line.text.split()) for line in row[column]) for row in rows if row[column]) for column in (0, 1)]
    first, second = (counts[len(counts) // 2] if counts else 0 for counts in words)
    return first >= ADVICE_WORDS and second >= ADVICE_WORDS and max(first, second) <= 2 * min(first, second)


def _is_list(cell: Cell, wording: Wording) -> bool:
    """Whether a cell has several items or paragraphs."""
    blocks = list(paragraphs(cell, wording.pitch))
    return len(blocks) > 1 or sum(part.is_item for parts in blocks for part in parts) > 1


def _has_items(cell: Cell, wording: Wording) -> bool:
    return sum(part.is_item for parts in paragraphs(cell, wording.pitch) for part in parts) > 1


def _has_mark(cell: Cell) -> bool:
    return any(part.is_item for parts in paragraphs(cell[:1], 1.2) for part in parts)


def _column_blocks(rows: Sequence[Row], head: Head, lead: list[Part], wording: Wording) -> Iterator[Block]:
    for column, parts in enumerate(_columns(rows, wording)):
        own_lead = _lead_of(lead, head.of(column), parts[0].lines[0]) if parts else []
        if parts:
            yield block_of([*own_lead, *parts] if own_lead or not _leads_itself(parts) else _below_first(parts), wording)


def _columns(rows: Sequence[Row], wording: Wording) -> Iterator[list[Part]]:
    """The items of each column."""
    for column in range(max(map(len, rows))):
        cells = [row[column] for row in rows if column < len(row)]
        yield [part for cell in cells for part in _as_items(cell, wording, 0)]


def _leads_itself(parts: list[Part]) -> bool:
    """Whether a column says in whole sentences what its items are: "Some foods are safe. They include:"."""
    # A mere "Fruits, such as:" could mean the opposite without the label above ("Do not eat")
    if not parts:
        return True
    text = " ".join(line.text for line in parts[0].lines)
    return len(parts) > 1 and LEAD_IN_SENTENCES.search(text) is not None and all(map(_is_nested, parts[1:]))


def _is_nested(part: Part) -> bool:
    return part.prefix.startswith(" " * INDENT)


def _below_first(parts: list[Part]) -> list[Part]:
    first, *items = parts
    return [Part("", first.lines), *(item._replace(prefix=item.prefix[INDENT:]) for item in items)]


def _lead_of(lead: list[Part], head: str, near: Line) -> list[Part]:
    """The line above a column's items: the label of the group and the column's head."""
    texts = [" ".join(line.text for part in lead for line in part.lines), head]
    text = CELL_SEPARATOR.join(filter(None, texts))
    return [Part("", [_line_like(near, _with_colon(text))])] if text else []


def _with_colon(text: str) -> str:
    return text if text.endswith((":", "?", "!", ".")) else f"{text}:"


def _line_like(near: Line, text: str) -> Line:
    return Line(near.page, near.baseline, near.size, near.bold, (TextCell(text, near.x0, near.x1),))


def _as_items(cell: Cell, wording: Wording, depth: int) -> Iterator[Part]:
    """The paragraphs of a cell as items, those of its lists below their leads."""
    for parts in paragraphs(cell, wording.pitch):
        led = not parts[0].is_item and len(parts) > 1
        ends_open = not led and not parts[0].is_item and parts[0].lines[-1].text.endswith(":")
        for number, part in enumerate(parts):
            deeper = depth + (1 if led and number else 0)
            prefix = part.prefix if part.is_item else ITEM_MARK
            yield Part(" " * INDENT * deeper + prefix, part.lines)
        # "They include:" leads what follows in its cell, however far below it stands
        depth += ends_open


def _row_or_lists(row: Row, head: Head, wording: Wording) -> Iterator[Block]:
    """A row on one line; each of its cells that is a list as a block of its own, led by the row's label and the column's head."""
    lists = [column for column, cell in enumerate(row) if column and _is_list(cell, wording)]
    plain = tuple(() if column in lists else cell for column, cell in enumerate(row))
    if sum(map(bool, plain)) > 1 or not lists:
        yield _row_block(plain, head, wording)
    for column in lists:
        label = [Part("", list(row[0]))] if row[0] and 0 not in lists else []
        parts = list(_as_items(row[column], wording, 0))
        yield block_of([*_lead_of(label, head.of(column), parts[0].lines[0]), *parts], wording)


def _row_block(row: Row, head: Head, wording: Wording) -> Block:
    texts = [(column, joined_text(cell, wording)) for column, cell in enumerate(row) if cell]
    cells = (f"{head.of(column).removesuffix(':')}: {text}" if head.of(column) else text for column, text in texts)
    lines = [line for cell in row for line in cell]
    return Block("row", CELL_SEPARATOR.join(cells), lines[0].page, lines[-1].page)
