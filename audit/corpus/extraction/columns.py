"""Reading order: columns are found by the white strip between them, and read one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from statistics import median

from audit.corpus.extraction.layout import Cell, Line

LEAST_LINES = 3
"""Fewer lines beside each other are no columns."""
FILLED = 0.55
"""Lines of text fill their column to this share at least, in the median; the cells of a table seldom do."""
NARROWEST = 0.2
"""A column is at least this share of the text's width."""
LABEL = re.compile(r"[•·▪●○◦‣■□➢✓§*–—-]|\(?(\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4})[.)]|\d+(\.\d+)*\.?")
"""What stands before a wide gap without being a cell: bullets and the numbers of lists and headings."""


def in_reading_order(page: list[Line]) -> list[Line]:
    """The lines of a page, columns one after the other, and what stands side by side in a column as one line of cells."""
    if not page:
        return []
    left, right = min(line.x0 for line in page), max(line.x1 for line in page)
    gutter = _gutter(page, left, right) if len(page) >= 2 * LEAST_LINES else None
    ordered: list[Line] = []
    for crosses, group in groupby(_rows(page), key=lambda row: gutter is None or any(line.x0 < gutter < line.x1 for line in row)):
        band = [line for row in group for line in row]
        parts = None if crosses or gutter is None else _columns(band, gutter, right - left)
        ordered += [line for part in parts for line in in_reading_order(part)] if parts else _side_by_side(band)
    return ordered


def _rows(page: list[Line]) -> Iterator[list[Line]]:
    """What stands on the same baseline, from top to bottom."""
    placed = sorted(page, key=lambda line: (line.baseline, line.x0))
    return (list(group) for _, group in groupby(placed, key=lambda line: line.baseline))


def _gutter(page: list[Line], left: float, right: float) -> float | None:
    """The middle of the widest strip around the middle of the text that the fewest lines cross."""
    width = right - left
    places = range(int(left + NARROWEST * width), int(right - NARROWEST * width))
    crossed = [(sum(line.x0 < x < line.x1 for line in page), x) for x in places]
    if not crossed:
        return None
    fewest = min(crossed)[0]
    runs = (list(group) for least, group in groupby(crossed, key=lambda pair: pair[0] == fewest) if least)
    widest = max(runs, key=len)
    return (widest[0][1] + widest[-1][1]) / 2


def _columns(band: list[Line], gutter: float, width: float) -> tuple[list[Line], list[Line]] | None:
    """What stands left and right of the gutter, where both are columns: one of text, the other of text or of tables."""
    sides = [line for line in band if line.x1 <= gutter], [line for line in band if line.x0 >= gutter]
    rows = [list(_side_by_side(side)) for side in sides]
    if not all(_fills(side, width) for side in rows) or not any(_fills(side, width) for side in sides):
        return None
    return sides


def _fills(lines: list[Line], page_width: float) -> bool:
    """Whether the lines are as wide as what they stand in, which is as wide as a column."""
    if len(lines) < LEAST_LINES:
        return False
    width = max(line.x1 for line in lines) - min(line.x0 for line in lines)
    return width >= NARROWEST * page_width and median(line.x1 - line.x0 for line in lines) >= FILLED * width


def _side_by_side(band: list[Line]) -> Iterator[Line]:
    for lines in _rows(band):
        first = lines[0]
        cells = tuple(cell for line in lines for cell in line.cells)
        yield Line(first.page, first.baseline, first.size, all(line.bold for line in lines), _unlabelled(cells))


def _unlabelled(cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """Cells, a bullet or number in front joined to what it stands before."""
    if len(cells) < 2 or not LABEL.fullmatch(cells[0].text):
        return cells
    first, second, *others = cells
    return (Cell(f"{first.text} {second.text}", first.x0, second.x1), *others)
