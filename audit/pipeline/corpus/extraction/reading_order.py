"""The reading order of a page's lines: column by column, and pieces side by side as the cells of one line."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from statistics import median

from audit.pipeline.corpus.extraction.layout import Area, Line, TextCell
from audit.pipeline.corpus.extraction.side_by_side import lists_beside

Band = tuple[list[Line], list[list[Line]] | None]
"""Lines of a page from top to bottom, and their columns; None where they are no columns."""
MIN_COLUMN_LINES = 3
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
# In type sizes: lines of a column that are farther apart leave room for a rule beside them to end it too
MIN_PAUSE = 3.0
# Bullets and the numbers of lists and headings: a wide gap after them does not make them a cell
LABEL = re.compile(r"[•·▪●○◦‣■□➢✓§*–—-]|\(?(\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4})[.)]|\d+(\.\d+)*\.?")


def in_reading_order(lines: list[Line], separators: Sequence[Area] = ()) -> list[Line]:
    """The lines of a page column by column; pieces side by side within a column become one line of several cells.

    separators  rules across most of the page, which end the columns above them
    """
    if not lines:
        return []
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    gutter = _gutter(lines, left, right) if len(lines) >= 2 * MIN_COLUMN_LINES else None
    ordered: list[Line] = []
    pending: list[Line] = []
    for band, columns in _bands(lines, gutter, separators, right - left):
        if columns is None:
            pending += band
            continue
        ordered += _merge_rows(pending)
        pending = []
        ordered += [line for column in columns for line in in_reading_order(column, separators)]
    return [*ordered, *_merge_rows(pending)]


def _bands(lines: list[Line], gutter: float | None, separators: Sequence[Area], width: float) -> Iterator[Band]:
    """The lines between rows and rules that end columns, from top to bottom."""
    if gutter is None:
        yield lines, None
        return
    ends = _ends_of_columns(lines, gutter, separators)
    heights = sorted(rule.top for rule in separators)
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
    return sorted(
        rule.top for rule in separators if rule.x0 < gutter < rule.x1 or _pauses(_beside(lines, gutter, rule), rule.top)
    )


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
    positions = range(int(left + MIN_COLUMN_WIDTH * width), int(right - MIN_COLUMN_WIDTH * width))
    crossings = [(sum(line.x0 < x < line.x1 for line in lines), x) for x in positions]
    if not crossings:
        return None
    fewest = min(crossings)[0]
    strips = (list(group) for is_fewest, group in groupby(crossings, key=lambda pair: pair[0] == fewest) if is_fewest)
    widest = max(strips, key=len)
    return (widest[0][1] + widest[-1][1]) / 2


def _columns(band: list[Line], gutter: float, width: float) -> list[list[Line]] | None:
    """The columns of a band: two, one of text and the other of text or tables; or more, beside a narrow one for instance."""
    if _are_lists(band):
        return None
    sides = [[line for line in band if line.x1 <= gutter], [line for line in band if line.x0 >= gutter]]
    rows = [list(_merge_rows(side)) for side in sides]
    if all(_fills_column(side, width) for side in rows) and any(
        _fills_column(side, width) and _is_worded(side) for side in sides
    ):
        return sides
    several = _several_columns(band, width)
    apart = _are_apart(sides, width) or all(_has_full_lines(side, width) for side in sides)
    return sides if several is None and apart else several


def _is_worded(lines: list[Line]) -> bool:
    """Whether lines are text and not the figures of a table, which fill their column too."""
    text = "".join(line.text for line in lines)
    return sum(map(str.isalpha, text)) > sum(map(str.isdigit, text))


def _are_apart(sides: list[list[Line]], width: float) -> bool:
    """Whether the lines of two sides are at heights of their own, as the cells of rows never are: text beside pictures, for
    instance, which fills no column.
    """
    if min(map(len, sides)) < MIN_LINES_APART or any(line.table for side in sides for line in side):
        return False
    wide = all(max(line.x1 for line in side) - min(line.x0 for line in side) >= MIN_COLUMN_WIDTH * width for side in sides)
    left, right = ({line.baseline for line in side} for side in sides)
    return wide and len(left & right) <= MAX_ALIGNED_APART * min(len(left), len(right))


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


def _are_lists(band: list[Line]) -> bool:
    """Whether most of a band are lists beside each other, whose heads would be lost in columns."""
    rows = list(_rows(band))
    ends = (lists_beside(rows, start) for start in range(len(rows)))
    return any(beside.end - start >= MIN_LISTS * len(rows) for start, beside in enumerate(ends) if beside)


def _fills_column(lines: list[Line], page_width: float) -> bool:
    if len(lines) < MIN_COLUMN_LINES:
        return False
    width = max(line.x1 for line in lines) - min(line.x0 for line in lines)
    return width >= MIN_COLUMN_WIDTH * page_width and median(line.x1 - line.x0 for line in lines) >= MIN_FILLED * width


def _merge_rows(band: list[Line]) -> Iterator[Line]:
    rows = list(_rows(band))
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


def _merge_row(lines: list[Line]) -> Iterator[Line]:
    if len(lines) == 1 or any(line.table for line in lines):
        yield from lines
        return
    first = lines[0]
    cells = tuple(cell for line in lines for cell in line.cells)
    yield Line(first.page, first.baseline, first.size, all(line.bold for line in lines), _join_label(cells))


def _join_label(cells: tuple[TextCell, ...]) -> tuple[TextCell, ...]:
    if len(cells) < 2 or not LABEL.fullmatch(cells[0].text):
        return cells
    label, first, *others = cells
    return (TextCell(f"{label.text} {first.text}", label.x0, first.x1), *others)
