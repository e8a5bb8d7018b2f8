"""The reading order of a page's lines: column by column, and pieces side by side as the cells of one line."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, groupby, pairwise
from math import ceil, floor
from statistics import median
from typing import NamedTuple

from audit.pipeline.corpus.extraction import bullets
from audit.pipeline.corpus.extraction.layout import NO_TAG, Area, Line, TextCell
from audit.pipeline.corpus.extraction.page_columns import are_cells, beside_rule, headed_columns
from audit.text.statements import CELL_SEPARATOR

Band = tuple[list[Line], list[list[Line]] | None]
"""Lines of a page from top to bottom, and their columns; None where they are no columns."""
MIN_COLUMN_LINES = 3
# Instead of a table: a line that is joined with none beside it
OPAQUE = (((),),)
# Of three columns or more: the space between them in points, their width as a share of two columns', and lines at one height
MIN_STRIP, MIN_SEVERAL, MAX_ALIGNED = 8.0, 0.6, 0.75
# Of two columns that neither fills: lines in each, and lines at one height
MIN_LINES_APART, MAX_ALIGNED_APART = 8, 0.6
# Running text in a column: characters of a line, its share of the column's width, and how many such lines there are
FULL_CHARACTERS, FULL_WIDTH, MIN_FULL_LINES = 30, 0.9, 5
# Lists beside each other that are at least this share of a band's rows are no columns of the page
MIN_LISTS = 0.6
# Lines of text fill at least this share of their column, in the median; the cells of a table seldom do
MIN_FILLED = 0.55
# As a share of the text's width
MIN_COLUMN_WIDTH = 0.2
# Text whose type is larger by this factor is no cell beside other text: a heading beside notes, a number in a picture
OTHER_TYPE = 1.25
# In type sizes: lines of a column that are farther apart leave room for a rule beside them to end it too
MIN_PAUSE = 3.0
# What the labels of a column stand before
VALUE = ": "
# Bullets and the numbers of lists and headings: a wide gap after them does not make them a cell
LABEL = re.compile(rf"{bullets.ONE_OF}|§|\(?(\d{{1,3}}|[a-zA-Z]|[ivxIVX]{{1,4}})[.)]|\d+(\.\d+)*\.?")


def in_reading_order(lines: list[Line], separators: Sequence[Area] = (), *, in_rows: bool = False) -> list[Line]:
    """The lines of a page column by column; pieces side by side within a column become one line of several cells.

    separators  rules across most of the page, which end the columns above them, and upright ones, which part columns
    in_rows     the page has no columns
    """
    if not lines:
        return []
    if in_rows:
        return list(_merge_rows(lines))
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    gutter = _gutter(lines, left, right) if len(lines) >= 2 * MIN_COLUMN_LINES else None
    ordered: list[Line] = []
    pending: list[Line] = []
    for band, columns in _bands(lines, gutter, separators, right - left):
        if columns is None:
            pending += band
            continue
        ordered += _in_rows(pending, separators)
        pending = []
        ordered += [line for column in columns for line in in_reading_order(column, separators)]
    return [*ordered, *_in_rows(pending, separators)]


def _in_rows(band: list[Line], separators: Sequence[Area]) -> list[Line]:
    """The lines of a band without columns, or with those that only an upright rule shows."""
    parts = beside_rule(band, [rule for rule in separators if not _is_level(rule)])
    return [line for part in parts for line in in_reading_order(part, separators)] if parts else list(_merge_rows(band))


def _is_level(rule: Area) -> bool:
    return rule.x1 - rule.x0 > rule.bottom - rule.top


def are_rows(lines: Sequence[Line]) -> bool:
    """Whether lines are the cells of rows: most stand beside others at their height, and they are short."""
    rows = list(_rows(list(lines)))
    beside = sum(len(row) for row in rows if len(row) > 1)
    return 2 * beside > len(lines) and median(len(line.text) for line in lines) < FULL_CHARACTERS


def _bands(lines: list[Line], gutter: float | None, separators: Sequence[Area], width: float) -> Iterator[Band]:
    """The lines between rows and rules that end columns, from top to bottom."""
    if gutter is None:
        yield lines, None
        return
    ends = _ends_of_columns(lines, gutter, separators)
    heights = sorted(rule.top for rule in filter(_is_level, separators))
    # A row that crosses the gutter (a title, a wide table) ends the columns above it; new ones may begin below.
    for (crosses, _), group in groupby(_rows(lines), key=lambda row: (_crosses(row, gutter), bisect(ends, row[0].baseline))):
        band = [line for row in group for line in row]
        # A row across the gutter belongs to no column
        columns = None if crosses else _columns(band, gutter, width)
        if crosses or columns is not None:
            yield band, columns
            continue
        # Where a rule within one column leaves no columns around it, it ends them as well
        for _, part in groupby(band, key=lambda line: bisect(heights, line.baseline)):
            between = list(part)
            yield between, _columns(between, gutter, width)


def _ends_of_columns(lines: list[Line], gutter: float, separators: Sequence[Area]) -> list[float]:
    """The heights at which rules end both columns: across the gutter, or in one column where the other pauses as well."""
    level = list(filter(_is_level, separators))
    return sorted(rule.top for rule in level if rule.x0 < gutter < rule.x1 or _pauses(_beside(lines, gutter, rule), rule.top))


def _beside(lines: list[Line], gutter: float, rule: Area) -> list[Line]:
    return [line for line in lines if (line.x0 >= gutter if rule.x1 <= gutter else line.x1 <= gutter)]


def _pauses(column: list[Line], height: float) -> bool:
    # A title beside the column's own, with a rule below it, is no column of its own
    above, below = ([line for line in column if (line.baseline <= height) is upper] for upper in (True, False))
    if len(above) < MIN_COLUMN_LINES or not below:
        return False
    last, first = max(above, key=lambda line: line.baseline), min(below, key=lambda line: line.baseline)
    return first.baseline - last.baseline > MIN_PAUSE * max(first.size, last.size)


def _crosses(row: list[Line], gutter: float) -> bool:
    return any(line.x0 < gutter < line.x1 for line in row)


def _rows(lines: list[Line]) -> Iterator[list[Line]]:
    by_position = sorted(lines, key=lambda line: (line.baseline, line.x0))
    return (list(group) for _, group in groupby(by_position, key=lambda line: line.baseline))


def _gutter(lines: list[Line], left: float, right: float) -> float | None:
    """The middle of the widest strip around the middle of the text that the fewest lines cross."""
    width = right - left
    first, end = int(left + MIN_COLUMN_WIDTH * width), int(right - MIN_COLUMN_WIDTH * width)
    if first >= end:
        return None
    # How many more lines are at each position than at the one before
    steps = [0] * (end - first + 1)
    for line in lines:
        start, stop = (min(max(x, first), end) - first for x in (floor(line.x0) + 1, ceil(line.x1)))
        if start < stop:
            steps[start] += 1
            steps[stop] -= 1
    crossings = list(zip(accumulate(steps[:-1]), range(first, end), strict=True))
    fewest = min(crossings)[0]
    strips = (list(group) for is_fewest, group in groupby(crossings, key=lambda pair: pair[0] == fewest) if is_fewest)
    widest = max(strips, key=len)
    return (widest[0][1] + widest[-1][1]) / 2


def _columns(band: list[Line], gutter: float, width: float) -> list[list[Line]] | None:
    """The columns of a band: two, one of text and the other of text or tables; or more, beside a narrow one for instance."""
    if _are_lists(band, gutter):
        return None
    if headed := headed_columns(band):
        return headed
    if are_cells(band):
        return None
    sides = _sides(band, gutter)
    if _are_values(*sides):
        return None
    rows = [list(_merge_rows(side)) for side in sides]
    if all(_fills_column(side, width) for side in rows) and any(
        _fills_column(side, width) and _is_worded(side) for side in sides
    ):
        return sides
    several = _several_columns(band, width)
    apart = _are_apart(sides, width) or all(_has_full_lines(side, width) for side in sides)
    return sides if several is None and apart else several


def _sides(lines: Sequence[Line], gutter: float) -> list[list[Line]]:
    return [[line for line in lines if line.x1 <= gutter], [line for line in lines if line.x0 >= gutter]]


def _are_values(labels: Sequence[Line], values: Sequence[Line]) -> bool:
    """Whether a side begins with colons at heights of lines of the other, its labels."""
    begins = {line.baseline for line in values if line.text.startswith(VALUE)}
    return bool(begins) and begins <= {line.baseline for line in labels}


def _is_worded(lines: list[Line]) -> bool:
    """Whether lines are text and not the figures of a table, which fill their column too."""
    text = "".join(line.text for line in lines)
    return sum(map(str.isalpha, text)) > sum(map(str.isdigit, text))


def _are_apart(sides: list[list[Line]], width: float) -> bool:
    """Whether the lines of two sides are at heights of their own, as the cells of rows never are: text beside pictures, for
    instance, which fills no column.
    """
    if min(map(len, sides)) < MIN_LINES_APART:
        return False
    wide = all(max(line.x1 for line in side) - min(line.x0 for line in side) >= MIN_COLUMN_WIDTH * width for side in sides)
    left, right = ({line.baseline for line in side} for side in sides)
    # Beside running text the short lines of a list may stand at its heights by chance
    most = MAX_ALIGNED if any(_has_full_lines(side, width) for side in sides) else MAX_ALIGNED_APART
    return wide and len(left & right) <= most * min(len(left), len(right))


def _has_full_lines(side: list[Line], width: float) -> bool:
    """Whether a side has running text beside what else is in it, such as a table: lines of text as wide as the column."""
    left, right = min((line.x0 for line in side), default=0.0), max((line.x1 for line in side), default=0.0)
    full = [line for line in side if len(line.text) >= FULL_CHARACTERS and line.x1 - line.x0 >= FULL_WIDTH * (right - left)]
    return right - left >= MIN_COLUMN_WIDTH * width and len(full) >= MIN_FULL_LINES


def _several_columns(band: list[Line], width: float) -> list[list[Line]] | None:
    """Three columns or more with nothing between them, most of them of text, whose lines are not the cells of rows."""
    columns: list[list[Line]] = []
    end = float("-inf")
    for line in sorted(band, key=lambda line: line.x0):
        if line.x0 - end > MIN_STRIP:
            columns.append([])
        columns[-1].append(line)
        end = max(end, line.x1)
    if len(columns) < 3 or sum(_fills_column(column, MIN_SEVERAL * width) for column in columns) < 2:
        return None
    heights = [{line.baseline for line in column} for column in columns]
    # The labels of rows stand beside lines of the next column; lines of separate columns do so by chance only
    aligned = (len(one & other) / min(len(one), len(other)) for one, other in pairwise(heights))
    return columns if min(aligned) <= MAX_ALIGNED else None


def _are_lists(band: list[Line], gutter: float) -> bool:
    """Whether most of a band are lists beside each other, whose heads would be lost in columns, and no columns go on below.

    Where there are several, what is between them stands to the left of all items: the lead of two columns of them.
    """
    rows = list(_rows(band))
    ends = [beside.end - start if (beside := lists_beside(rows, start)) else 0 for start in range(len(rows))]
    for start, size in enumerate(ends):
        if size >= MIN_LISTS * len(rows):
            if start and any(map(_items, rows[:start])) and _go_on(rows[start - 1], rows[start]):
                # A list of one column stands beside the head of the other
                return False
            below = _sides([line for row in rows[start + size :] for line in row], gutter)
            return min(map(len, below)) < MIN_COLUMN_LINES or not all(map(_is_worded, below))
    inside, outside, start = 0, list[Row](), 0
    while start < len(rows):
        inside += ends[start]
        outside += [] if ends[start] else [rows[start]]
        start += ends[start] or 1
    leftmost = min((line.x0 for row in rows for line in _items(row)), default=0.0)
    return inside >= MIN_LISTS * len(rows) and all(len(row) == 1 and row[0].x0 <= leftmost for row in outside)


def _go_on(above: Row, below: Row) -> bool:
    """Whether a line of a row is right above an item of its type in the next, as the last line of an item is."""
    return any(
        line.baseline - over.baseline <= TEXT_PITCH * line.size
        and (over.size, over.bold, over.color) == (line.size, line.bold, line.color)
        and line.x0 <= over.x0 < line.x1
        for over in above
        for line in _items(below)
    )


def _fills_column(lines: list[Line], page_width: float) -> bool:
    if len(lines) < MIN_COLUMN_LINES:
        return False
    width = max(line.x1 for line in lines) - min(line.x0 for line in lines)
    return width >= MIN_COLUMN_WIDTH * page_width and median(line.x1 - line.x0 for line in lines) >= MIN_FILLED * width


def _merge_rows(band: list[Line]) -> Iterator[Line]:
    rows = list(_rows(band))
    rows = list(map(_whole, [[], *rows], rows, [*rows[1:], []]))
    start = 0
    while start < len(rows):
        beside = lists_beside(rows, start)
        if beside:
            for lines in beside.columns:
                yield from in_reading_order(lines)
            start = beside.end
        else:
            yield from _merge_row(rows[start])
            start += 1


def _whole(above: Row, row: Row, below: Row) -> Row:
    """A row; where lines around it go through its gaps, which justified text has too, all of it is one line."""
    if len(row) < 2 or LABEL.fullmatch(row[0].text) or _items(row[1:]) or len({line.size for line in row}) > 1:
        return row
    near = [line for line in (*above, *below) if abs(line.baseline - row[0].baseline) <= TEXT_PITCH * row[0].size]
    through = [line for line in near if line.x0 < row[0].x1 and row[-1].x0 < line.x1]
    # The last line of a paragraph may end before the gap
    is_text = len(through) > 1 or any(abs(line.x1 - row[-1].x1) < 1 for line in through)
    if not is_text or max(len(above), len(below)) > 1 or any(line.table for line in (*above, *row, *below)):
        return row
    cell = TextCell(" ".join(line.text for line in row), row[0].x0, row[-1].x1)
    return [replace(row[0], cells=(cell,), bold=all(line.bold for line in row))]


def _merge_row(lines: list[Line]) -> Iterator[Line]:
    if len(lines) == 1 or any(line.table for line in lines):
        yield from lines
        return
    first, sizes = lines[0], [line.size for line in lines]
    if len(lines) == 2 and max(sizes) >= OTHER_TYPE * min(sizes) and (not LABEL.fullmatch(first.text) or _items(lines)):
        # A heading comes last: what is below it is its text
        yield from lines if _items(lines) else sorted(lines, key=lambda line: line.size)
        return
    cells = tuple(cell for line in lines for cell in line.cells)
    cells = (cells[0], *(replace(cell, text=cell.text.removeprefix(VALUE)) for cell in cells[1:]))
    # The number of a step may be in other type
    first = lines[1] if LABEL.fullmatch(first.text) else first
    bold = all(line.bold for line in lines)
    tag = first.tag if {line.tag.kind for line in lines} == {"head"} else NO_TAG
    color = first.color if len({line.color for line in lines}) == 1 else ()
    yield Line(first.page, first.baseline, first.size, bold, _join_label(cells), color=color, part=first.part, tag=tag)


def _join_label(cells: tuple[TextCell, ...]) -> tuple[TextCell, ...]:
    if len(cells) < 2 or not LABEL.fullmatch(cells[0].text):
        return cells
    label, first, *others = cells
    return (TextCell(f"{label.text} {first.text}", label.x0, first.x1), *others)


# -- lists beside each other ---------------------------------------------------------------------------------
# DO and DON'T, safe and not safe: found by their places on the page, and each read with its head.
#
# A head is a short line above a list, or a label to the left of all. No word decides, so that other languages and other heads
# (colours, "Limit") are read the same way.

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
        if _begins_labelled(rows[end], rows[first:end], starts):
            break
        end += 1
    above = [row for row in rows[start:first] if _are_own_heads(row, starts)]
    labels = [line for row in rows[start:end] for line in row if row not in above and _is_label(line, starts)]
    heads = [line for row in rows[start:first] for line in row if row in above or not _is_label(line, starts)]
    if end == first or len(starts) + bool(labels) < 2 or not _are_heads(heads, rows[start:first], starts, rows[first]):
        return None
    columns = [_lines_of(column, rows[first:end], heads, labels, starts) for column in range(len(starts))]
    return ListsBeside(columns, end) if all(columns) else None


def _items(row: Row) -> list[Line]:
    return [line for line in row if not line.table and line.text[:1] in bullets.SIGNS and line.text[1:2] == " "]


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


def _are_own_heads(row: Row, starts: list[float]) -> bool:
    """Whether a row has one line for each of several columns, where it begins: its head, however short."""
    near = [abs(line.x0 - start) <= HEAD_INDENT * line.size for line, start in zip(row, starts, strict=False)]
    return len(row) == len(starts) > 1 and all(near)


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


def _begins_labelled(row: Row, above: list[Row], starts: list[float]) -> bool:
    """Whether a row has a label and an item beside it, and there is a label above that it does not go on with."""
    labels = [line for other in above for line in other if _is_label(line, starts)]
    own = [line for line in row if _is_label(line, starts)]
    return bool(own and labels and _items(row)) and own[0].baseline - labels[-1].baseline > TEXT_PITCH * own[0].size


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
    # A title below them would be the lists' own
    falling = all(one.size >= other.size for one in heads for other in heads if one.baseline < other.baseline)
    plain = len(starts) > 1 or all(line.size <= MAX_HEAD_SIZE * item.size for line in heads for item in _items(items))
    near = all(step <= HEAD_PITCH * heads[0].size for step in steps)
    return falling and plain and short and inside and near and len(columns) == len(starts)


def _overlaps(line: Line, starts: list[float]) -> bool:
    column = _column_of(line, starts)
    return line.x1 > starts[column] - HEAD_INDENT * line.size * (len(starts) > 1) and (
        column + 1 == len(starts) or (line.x0 < starts[column + 1] and line.x1 < starts[column + 1] + 2)
    )


def _lines_of(column: int, rows: list[Row], heads: list[Line], labels: list[Line], starts: list[float]) -> list[Line]:
    """The lines of a column below their lead: the label of all columns and the column's own head. Larger type above that is a
    heading.
    """
    lines = [line for row in rows for line in row if not _is_label(line, starts) and _column_of(line, starts) == column]
    own = [line for line in heads if _column_of(line, starts) == column]
    below = [*own, *(line for line in lines[:1] if not _items([line]))]
    titles = [line for line in own if line.size > MAX_HEAD_SIZE * below[-1].size]
    own = [line for line in own if line not in titles]
    texts = [" ".join(line.text for line in part) for part in (labels, own)]
    text = CELL_SEPARATOR.join(filter(None, texts))
    if not text or not lines:
        return [*titles, *lines]
    first = (own or labels)[0]
    text = text if text.endswith((":", "?", "!")) else f"{text}:"
    # Just above the first item: a label may stand beside the middle of its list
    lead = replace(
        first, cells=(TextCell(text, lines[0].x0, lines[0].x1),), baseline=lines[0].baseline - lines[0].size, is_lead=True
    )
    return [*titles, lead, *lines]
