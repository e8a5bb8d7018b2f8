"""Lists in columns beside each other that look like the rows of a table: without lines, heads or labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from audit.pipeline.corpus.extraction.layout import Line, TextCell
from audit.pipeline.corpus.extraction.lists import MARK
from audit.pipeline.corpus.extraction.paragraphs import split_tables
from audit.pipeline.corpus.extraction.table_columns import SAME_COLUMN, Columns, columns_between, is_figure
from audit.text.statements import ITEM_MARK

# Items in columns, and characters and share of the words of the shorter column
MIN_ITEMS, MAX_ITEM, ALIKE = 3, 50, 0.5
# A heading's type, as a factor of that of the items
TITLE_SIZE = 1.15
# A lead that ends in no colon is above so many columns at least: two may be labels and what they mean
MIN_COLUMNS = 3


def lists_in_columns(lines: Sequence[Line]) -> Iterator[Line]:
    """The lines of a page in reading order, those of such lists column by column and with bullets."""
    before: Line | None = None
    for stretch in split_tables(list(lines)):
        columns = None if any(line.table for line in stretch) else columns_between(stretch)
        items = None if columns is None else _items_of(stretch, columns, before)
        yield from items or stretch
        before = stretch[-1]


def cell_in_columns(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines of a table's cell, those of lists beside each other in it column by column, each below its head."""
    columns = columns_between(lines) if sum(len(line.cells) > 1 for line in lines) >= MIN_ITEMS else None
    if columns is None:
        return tuple(lines)
    pieces = _pieces(lines, columns)
    heads = [column[0] for column in pieces if not MARK.match(column[0].text)]
    # Either all columns have a head, or none has; what wraps is below an item
    if len(heads) not in (0, len(pieces)) or any(len(column) < 2 or not MARK.match(column[1].text) for column in pieces):
        return tuple(lines)
    return tuple(_led(line) if line in heads else line for column in pieces for line in column)


def _led(head: Line) -> Line:
    text = f"{head.text.removesuffix(':')}:"
    return replace(head, cells=(TextCell(text, head.x0, head.x1),))


def _pieces(lines: Sequence[Line], columns: Columns) -> list[list[Line]]:
    """The lines of each column."""
    pieces: list[list[Line]] = [[] for _ in columns.starts]
    for line in lines:
        for cell in line.cells:
            pieces[columns.of(cell)].append(replace(line, cells=(cell,)))
    return pieces


def _items_of(stretch: Sequence[Line], columns: Columns, before: Line | None) -> list[Line] | None:
    """The lines of the columns one after the other; None where they are no lists."""
    pieces = _pieces(stretch, columns)
    signs = {sign for column in pieces if (sign := _sign_of(column))}
    # A column with a single item goes on with the sign of the others
    if len(signs) == 1 and all(column and column[0].text.startswith(f"{min(signs)} ") for column in pieces):
        return [_with_mark(line, min(signs)) for column in pieces for line in column]
    lead = before is not None and before.page == stretch[0].page and _leads(before, stretch[0], len(columns.starts))
    if not lead or not _are_plain_items(pieces, columns):
        return None
    return [
        _as_item(line) if abs(line.x0 - start) < SAME_COLUMN / 2 and not _goes_on(line) else line
        for column, start in zip(pieces, columns.starts, strict=True)
        for line in column
    ]


def _sign_of(column: Sequence[Line]) -> str:
    """The sign that a column and most of its lines begin with and that no other list knows; "" without one."""
    if not column:
        return ""
    firsts = [line.text[0] for line in column if len(line.text) > 2 and line.text[1] == " "]
    sign = column[0].text[0]
    known = sign.isalnum() or MARK.match(column[0].text)
    return "" if known or Counter(firsts)[sign] < max(2, len(column) / 2) else sign


def _with_mark(line: Line, sign: str) -> Line:
    if not line.text.startswith(f"{sign} "):
        return line
    return replace(line, cells=(TextCell(f"{ITEM_MARK}{line.text[2:]}", line.x0, line.x1),))


def _leads(before: Line, first: Line, columns: int) -> bool:
    """Whether a line says what the items of lists below it are."""
    if len(before.cells) > 1 or before.table:
        return False
    is_heading = (before.bold and not first.bold) or before.size >= TITLE_SIZE * first.size
    return before.text.endswith(":") or (is_heading and len(before.text) <= MAX_ITEM and columns >= MIN_COLUMNS)


def _are_plain_items(pieces: Sequence[Sequence[Line]], columns: Columns) -> bool:
    """Whether columns are short words in one type, with nothing among them that is said of what is beside it."""
    lines = [line for column in pieces for line in column]
    # The words of a justified line are far apart too
    if any(not column or _goes_on(column[0]) for column in pieces):
        return False
    if len(lines) < MIN_ITEMS or not all(columns.aligned) or len({(line.bold, line.size, line.color) for line in lines}) > 1:
        return False
    if any(len(line.text) > MAX_ITEM or line.text.endswith((":", ".")) or is_figure(line.cells[0]) for line in lines):
        return False
    words = sorted(sum(len(line.text.split()) for line in column) / len(column) for column in pieces)
    return words[0] >= ALIKE * words[-1] and len({line.text.casefold() for line in lines}) == len(lines)


def _goes_on(line: Line) -> bool:
    return not line.text[:1].isupper() and not line.text[:1].isdigit()


def _as_item(line: Line) -> Line:
    # What goes on below it is further in than its bullet
    return replace(line, cells=(TextCell(f"{ITEM_MARK}{line.text}", line.x0 - line.size, line.x1),))
