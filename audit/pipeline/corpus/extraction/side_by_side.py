"""Lists beside each other (DO and DON'T, safe and not safe), found by their places on the page: each is read with its head.

A head is a short line above a list, or a label to the left of all. No word decides, so that other languages and other heads
(colours, "Limit") are read the same way.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from audit.pipeline.corpus.extraction.layout import BULLET_MARKS, Line, TextCell
from audit.text.statements import CELL_SEPARATOR

# Rows of heads above the first item, characters of a head and of a label, rows within which the columns are known
MAX_HEAD_ROWS, MAX_HEAD, MAX_LABEL, MAX_FIRST_ROWS = 3, 60, 32, 6
# In type sizes: how far a head is above its list and to the left of its items, and rows of items are apart
HEAD_PITCH, HEAD_INDENT, ITEM_PITCH, TEXT_PITCH = 4.0, 2.5, 4.0, 1.6
# Points: columns of items are at least as far apart; less is a list within a list
MIN_COLUMN = 60.0
# A larger head of a single list, or label, is a heading
MAX_HEAD_SIZE, MAX_LABEL_SIZE = 1.2, 1.5
Row = list[Line]


class ListsBeside(NamedTuple):
    """The lines of each list, its head first, and the number of the first row below the lists."""

    columns: list[list[Line]]
    end: int


def lists_beside(rows: list[Row], start: int) -> ListsBeside | None:
    """The lists beside each other, or beside a label, that begin with row `start`; None where none do.

    rows  the lines of each baseline, from left to right; all from top to bottom
    """
    first = next((number for number in range(start, min(start + MAX_HEAD_ROWS + 1, len(rows))) if _items(rows[number])), None)
    if first is None:
        return None
    starts = _column_starts(rows[first : first + MAX_FIRST_ROWS])
    end = first
    while end < len(rows) and _is_part(rows[end], starts, rows[end - 1] if end > first else None):
        end += 1
    labels = [line for row in rows[start:end] for line in row if _is_label(line, starts)]
    heads = [line for row in rows[start:first] for line in row if not _is_label(line, starts)]
    if end == first or len(starts) + bool(labels) < 2 or not _are_heads(heads, rows[start:first], starts, rows[first]):
        return None
    columns = [_lines_of(column, rows[first:end], heads, labels, starts) for column in range(len(starts))]
    return ListsBeside(columns, end) if all(columns) else None


def _items(row: Row) -> list[Line]:
    return [line for line in row if not line.table and line.text[:1] in BULLET_MARKS and line.text[1:2] == " "]


def _column_starts(rows: list[Row]) -> list[float]:
    """The left ends of the items of each column, as far as rows of items go on."""
    starts: list[float] = []
    for x0 in sorted(line.x0 for row in rows for line in _items(row)):
        if not starts or x0 - starts[-1] >= MIN_COLUMN:
            starts.append(x0)
    return starts


def _column_of(line: Line, starts: list[float]) -> int:
    """The column that a line begins in; a head may begin a little before its items."""
    return sum(line.x0 >= start - HEAD_INDENT * line.size for start in starts[1:])


def _is_label(line: Line, starts: list[float]) -> bool:
    beside = line.x1 < starts[0] - 1 and not line.table and not _items([line])
    return beside and len(line.text) <= MAX_LABEL and sum(map(str.isalpha, line.text)) > 2


def _is_part(row: Row, starts: list[float], before: Row | None) -> bool:
    """Whether a row has only labels and lines that stay in one of the columns, close enough below the row before."""
    lines = [line for line in row if not _is_label(line, starts)]
    if any(line.table or _leaves_column(line, starts) for line in lines):
        return False
    if before is None:
        return True
    step, size = row[0].baseline - before[0].baseline, max(row[0].size, before[0].size)
    if not lines:
        # A label on a line of its own; a larger one is a heading
        return step <= TEXT_PITCH * size and row[0].size <= MAX_LABEL_SIZE * min(line.size for line in before)
    # What stands at the left end of the items and has no mark is the text that follows
    follows = [line for line in lines if line.x0 <= starts[_column_of(line, starts)] + 1 and not _items([line])]
    continues = len(follows) < len(lines) and step <= TEXT_PITCH * size
    return step <= ITEM_PITCH * size and (not follows or continues)


def _leaves_column(line: Line, starts: list[float]) -> bool:
    column = _column_of(line, starts)
    beyond = column + 1 < len(starts) and line.x1 > starts[column + 1] + 2
    return beyond or line.x0 < starts[column] - 0.5 * line.size


def _are_heads(heads: list[Line], rows: list[Row], starts: list[float], items: Row) -> bool:
    """Whether the lines above the first items are heads: none at all, or a short one for every column, not far above."""
    if not heads:
        return not rows
    columns = {_column_of(line, starts) for line in heads}
    inside = all(_overlaps(line, starts) for line in heads)
    short = all(
        not line.table and not line.text.endswith((".", ",", ";")) and (len(line.text) <= MAX_HEAD or line.text.endswith(":"))
        for line in heads
    )
    rows_of_heads = [row for row in [*rows, items] if row]
    steps = [below[0].baseline - above[0].baseline for above, below in pairwise(rows_of_heads)]
    plain = len(starts) > 1 or all(line.size <= MAX_HEAD_SIZE * item.size for line in heads for item in _items(items))
    return (
        plain and short and inside and len(columns) == len(starts) and all(step <= HEAD_PITCH * heads[0].size for step in steps)
    )


def _overlaps(line: Line, starts: list[float]) -> bool:
    column = _column_of(line, starts)
    return line.x1 > starts[column] and (
        column + 1 == len(starts) or (line.x0 < starts[column + 1] and line.x1 < starts[column + 1] + 2)
    )


def _lines_of(column: int, rows: list[Row], heads: list[Line], labels: list[Line], starts: list[float]) -> list[Line]:
    """The lines of a column below their lead: the label of all columns and the column's own head."""
    lines = [line for row in rows for line in row if not _is_label(line, starts) and _column_of(line, starts) == column]
    own = [line for line in heads if _column_of(line, starts) == column]
    texts = [" ".join(line.text for line in part) for part in (labels, own)]
    text = CELL_SEPARATOR.join(filter(None, texts))
    if not text or not lines:
        return lines
    first = (own or labels)[0]
    text = text if text.endswith((":", "?", "!")) else f"{text}:"
    # Just above the first item: a label may stand beside the middle of its list
    lead = replace(
        first, cells=(TextCell(text, lines[0].x0, lines[0].x1),), baseline=lines[0].baseline - lines[0].size, is_lead=True
    )
    return [lead, *lines]
