"""Columns that folds, upright rules or headings show; and rows of cells, which begin at common heights as no texts do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from audit.pipeline.corpus.extraction import bullets
from audit.pipeline.corpus.extraction.layout import Area, Line
from audit.pipeline.corpus.extraction.table_columns import strips_between

# Lines of a column, columns of a table and letters of a heading at least; in type sizes, lines of one paragraph
MIN_LINES, LINE_GAP = 3, 1.5
# Shares of the rows that have a cell in a column, and of the lines of the others that begin where the first's do, or go on
ALIGNED, ALIKE = 0.8, 0.85
# A heading of a column is larger than what is below it by this factor
LARGER_TYPE = 1.09
# Of a leaflet: its panels at most, how much wider it is than high, and how alike their margins are, in points
MAX_FOLDS, LANDSCAPE, SAME_MARGIN = 4, 1.15, 12.0
Columns = list[list[Line]]


def _begins(line: Line) -> bool:
    return not line.text[:1].islower()


def are_rows_beside(columns: Sequence[Sequence[Line]]) -> bool:
    """Whether the lines of columns are the cells of rows: where one of the first begins anew the others do, and nowhere else."""
    first, *others = columns
    rows = {line.baseline for line in first if _begins(line)}
    beside = [line for column in others for line in column]
    agree = sum(_begins(line) == (line.baseline in rows) for line in beside)
    aligned = all(sum(line.baseline in rows for line in column) >= ALIGNED * len(rows) for column in others)
    marked = sum(line.text[:1] in bullets.SIGNS for line in first)
    return aligned and agree >= ALIKE * len(beside) and 2 * marked < len(first)


def are_cells(band: Sequence[Line]) -> bool:
    """Whether a band is a table of several columns without lines between them."""
    _, columns = _in_strips(band)
    return len(columns) >= MIN_LINES and min(map(len, columns)) >= MIN_LINES and are_rows_beside(columns)


def headed_columns(band: Sequence[Line]) -> Columns | None:
    """The texts of a band beside each other, row by row, each below a heading of its own; None where they are none.

    A heading is larger than what is below it, or bold above text of several lines that is not.
    """
    above, columns = _in_strips(band)
    beside = [line for column in columns for line in column]
    plain = [line for line in beside if not line.bold]
    heads = [line for line in beside if line.size >= LARGER_TYPE * min(line.size for line in beside)]
    heads = heads or [line for line in beside if line.bold and 2 * sum(map(_begins, plain)) < len(plain)]
    heights = sorted(Counter(line.baseline for line in heads).items())
    # Each row of headings is whole, but for the last, which may have fewer
    whole = heights and all(count == len(columns) for _, count in heights[:-1] or heights)
    if not whole or min(map(len, columns)) < 2 or any(sum(map(str.isalpha, line.text)) < MIN_LINES for line in heads):
        return None
    rest = [line for line in beside if line not in heads]
    if heights[0][0] > beside[0].baseline or any(line.baseline == height for line in rest for height, _ in heights):
        return None
    if len(heights) == 1 and len({line.baseline for line in rest if _begins(line)}) >= MIN_LINES and are_rows_beside(columns):
        return None
    spans = pairwise([*(height for height, _ in heights), float("inf")])
    first, *cards = ([line for line in own if start <= line.baseline < end] for start, end in spans for own in columns)
    return [[*above, *first], *filter(None, cards)]


def _in_strips(band: Sequence[Line]) -> tuple[list[Line], Columns]:
    """The lines above the first that stand beside each other, and from there the columns with nothing between them, if any."""
    heights = Counter(line.baseline for line in band)
    first = min((height for height, count in heights.items() if count > 1), default=float("inf"))
    beside = sorted((line for line in band if line.baseline >= first), key=lambda line: line.baseline)
    strips = strips_between(line.cells[0] for line in beside)
    if strips is None or any(line.table for line in band):
        return [], []
    columns = [[line for line in beside if strips.of(line.cells[0]) == number] for number in range(len(strips.ends))]
    return [line for line in band if line.baseline < first], columns


def beside_rule(lines: Sequence[Line], rules: Sequence[Area]) -> Columns | None:
    """The lines above, on both sides of and below an upright rule that parts columns; None without one."""
    for rule in sorted(rules, key=lambda rule: rule.top - rule.bottom):
        beside = [line for line in lines if rule.top < line.baseline - 0.3 * line.size < rule.bottom]
        sides = [[line for line in beside if line.x1 <= rule.x0 + 1], [line for line in beside if line.x0 >= rule.x1 - 1]]
        if min(map(len, sides)) < MIN_LINES or sum(map(len, sides)) < len(beside) or are_rows_beside(sides):
            continue
        rest = [line for line in lines if line not in beside]
        lists = all(any(line.text[:1] in bullets.SIGNS for line in side) for side in sides)
        if not lists and not any(_are_of_one(line, other) for line in rest for other in beside):
            above, below = ([line for line in rest if (line.baseline < rule.top) is is_above] for is_above in (True, False))
            return [above, *sides, below]
    return None


def _are_of_one(line: Line, other: Line) -> bool:
    return line.x0 < other.x1 and other.x0 < line.x1 and abs(line.baseline - other.baseline) <= LINE_GAP * other.size


def folded(lines: Sequence[Line], width: float, height: float) -> Columns:
    """The lines of each panel of a leaflet: of a broad page, in points, whose folds nothing crosses and whose panels have one
    margin. Of other pages all lines are one panel.
    """
    for count in range(MAX_FOLDS if width >= LANDSCAPE * height else 1, 1, -1):
        folds = [width * number / count for number in range(count + 1)]
        panels = [[line for line in lines if left <= line.x0 and line.x1 <= right] for left, right in pairwise(folds)]
        full = [(min(line.x0 for line in own) - left) for left, own in zip(folds, panels, strict=False) if len(own) >= MIN_LINES]
        if sum(map(len, panels)) == len(lines) and len(full) > 1 and max(full) - min(full) <= SAME_MARGIN:
            return list(filter(None, panels))
    return [list(lines)]
