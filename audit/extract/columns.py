"""Reading order: columns are found by the white strip between them, and read one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from statistics import median

from audit.extract.layout import Cell, Line

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
    gutter = _gutter(page)
    ordered: list[Line] = []
    for crosses, group in groupby(page, key=lambda line: gutter is None or line.x0 < gutter < line.x1):
        band = list(group)
        parts = None if crosses or gutter is None else _columns(band, gutter)
        ordered += [line for part in parts for line in in_reading_order(part)] if parts else _side_by_side(band)
    return ordered


def _gutter(page: list[Line]) -> float | None:
    """The middle of the widest strip around the middle of the text that the fewest lines cross."""
    left, right = min(line.x0 for line in page), max(line.x1 for line in page)
    width = right - left
    places = range(int(left + NARROWEST * width), int(right - NARROWEST * width))
    crossed = [(sum(line.x0 < x < line.x1 for line in page), x) for x in places]
    if not crossed:
        return None
    fewest = min(crossed)[0]
    runs = (list(group) for least, group in groupby(crossed, key=lambda pair: pair[0] == fewest) if least)
    widest = max(runs, key=len)
    return (widest[0][1] + widest[-1][1]) / 2


def _columns(band: list[Line], gutter: float) -> tuple[list[Line], list[Line]] | None:
    """What stands left and right of the gutter, where both are columns of text."""
    left, right = [line for line in band if line.x1 <= gutter], [line for line in band if line.x0 >= gutter]
    return (left, right) if _is_column(left) and _is_column(right) else None


def _is_column(lines: list[Line]) -> bool:
    if len(lines) < LEAST_LINES:
        return False
    width = max(line.x1 for line in lines) - min(line.x0 for line in lines)
    return median(line.x1 - line.x0 for line in lines) >= FILLED * width


def _side_by_side(band: list[Line]) -> Iterator[Line]:
    for _, group in groupby(sorted(band, key=lambda line: (line.baseline, line.x0)), key=lambda line: line.baseline):
        lines = list(group)
        first = lines[0]
        cells = tuple(cell for line in lines for cell in line.cells)
        yield Line(first.page, first.baseline, first.size, all(line.bold for line in lines), _unlabelled(cells))


def _unlabelled(cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """Cells, a bullet or number in front joined to what it stands before."""
    if len(cells) < 2 or not LABEL.fullmatch(cells[0].text):
        return cells
    first, second, *others = cells
    return (Cell(f"{first.text} {second.text}", first.x0, second.x1), *others)
