"""Tables whose rows are divided by lines or shades and whose columns are not: what is between two lines is a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from audit.pipeline.corpus.extraction.drawings import JOIN, MIN_ROW, SNAP, Box
from audit.pipeline.corpus.extraction.layout import Area, Line, TextCell, TextRun, lines_of
from audit.pipeline.corpus.extraction.table_columns import Strips, strips_between

# Rows between lines, with labels in bold and without, and the share of them that has several cells
MIN_LABELLED, MIN_BANDS, MIN_FULL = 2, 3, 0.5
# Points: a shorter line divides no rows
MIN_WIDTH = 100.0
# Lines of a cell in the median; more is text in columns between rules
MAX_LINES = 6
# In type sizes: a row without a line above or below it is this near to the others, and the lines of a cell to each other
NEAR, MAX_PITCH = 2.5, 1.5


class Banded(NamedTuple):
    """The place of a table and the runs of its rows, column by column."""

    box: Box
    rows: list[list[list[TextRun]]]


def banded_tables(lines: Iterable[Area], runs: Sequence[TextRun]) -> Iterator[Banded]:
    """The tables that level lines of one width divide into rows, from top to bottom."""
    for box, heights in ladders(lines):
        inside = [run for run in runs if box.contains((run.x0 + run.x1) / 2, run.middle)]
        bands = [[run for run in inside if top <= run.middle < bottom] for top, bottom in pairwise(heights)]
        bands = [band for band in bands if band]
        table = _table(box, bands, [run for run in runs if box.x0 - SNAP <= run.x0 and run.x1 <= box.x1 + SNAP])
        if table:
            yield table


def ladders(lines: Iterable[Area]) -> Iterator[tuple[Box, list[float]]]:
    """The places where level lines of one width are below each other, and their heights."""
    groups: list[list[Area]] = []
    for rule in _joined(line for line in lines if line.x1 - line.x0 > line.bottom - line.top):
        if rule.x1 - rule.x0 >= MIN_WIDTH:
            own = next((group for group in groups if abs(group[0].x0 - rule.x0) + abs(group[0].x1 - rule.x1) <= 2 * SNAP), None)
            if own is None:
                groups.append([rule])
            else:
                own.append(rule)
    for group in groups:
        heights = [group[0].top, *(below.top for above, below in pairwise(group) if below.top - above.top >= MIN_ROW)]
        if len(heights) > MIN_LABELLED:
            yield Box(group[0].x0, heights[0], group[0].x1, heights[-1]), heights


def _joined(lines: Iterable[Area]) -> list[Area]:
    """Level lines from top to bottom, the parts of one joined."""
    joined: list[Area] = []
    for line in sorted(lines, key=lambda line: (round(line.top / SNAP), line.x0)):
        last = joined[-1] if joined else None
        if last is not None and abs(last.top - line.top) < SNAP and line.x0 <= last.x1 + JOIN:
            joined[-1] = last._replace(x1=max(last.x1, line.x1))
        else:
            joined.append(line)
    return sorted(joined, key=lambda line: line.top)


def _table(box: Box, bands: list[list[TextRun]], runs: Sequence[TextRun]) -> Banded | None:
    pieces = [lines_of(band, 0) for band in bands]
    divided = [lines for lines in pieces if len(lines) > 1]
    strips = strips_between([line.cells[0] for lines in divided for line in lines])
    if len(divided) < MIN_LABELLED or strips is None:
        return None
    cells = [
        [[line for line in lines if strips.of(line.cells[0]) == column] for column in range(len(strips.ends))]
        for lines in divided
    ]
    if sum(sum(map(bool, row)) > 1 for row in cells) < MIN_FULL * len(bands) or not (_are_labelled(cells) or _are_rows(cells)):
        return None
    below = _last_row(box, runs, strips)
    above, strips = _heads_above(box, runs, strips)
    rows = [_row(band, strips) for band in [*above, *bands, *below]]
    heights = [run.baseline for row in rows for cell in row for run in cell]
    return Banded(Box(box.x0, min(box.top, min(heights) - 1), box.x1, max(box.bottom, max(heights) + 1)), rows)


def _row(band: list[TextRun], strips: Strips) -> list[list[TextRun]]:
    """The runs of each cell; what is alone over several columns is in all of them."""
    lines = lines_of(band, 0)
    if len(lines) == 1 and not strips.holds(lines[0].cells[0]):
        return [band for _ in strips.ends]
    return [[run for run in band if strips.of(run) == column] for column in range(len(strips.ends))]


def _are_labelled(rows: Sequence[Sequence[Sequence[Line]]]) -> bool:
    """Whether each row begins with a label in bold and has plain text beside it, however long that is."""
    return all(
        len(row) > 1
        and row[0]
        and row[1]
        and all(line.bold for line in row[0])
        and not any(cell[0].bold for cell in row[1:] if cell)
        and abs(row[0][0].baseline - row[1][0].baseline) < row[0][0].size
        for row in rows
    )


def _are_rows(rows: Sequence[Sequence[Sequence[Line]]]) -> bool:
    return len(rows) >= MIN_BANDS and not _are_texts(rows) and not _are_several_rows(rows)


def _are_texts(rows: Sequence[Sequence[Sequence[Line]]]) -> bool:
    """Whether what is between the lines is columns of text."""
    counts = sorted(len(cell) for row in rows for cell in row if cell)
    return counts[len(counts) // 2] > MAX_LINES


def _are_several_rows(rows: Sequence[Sequence[Sequence[Line]]]) -> bool:
    """Whether several rows stand between two lines: most cells have as many lines as those beside them."""
    longer = [row for row in rows if max(map(len, row)) > 1 and sum(map(bool, row)) > 1]
    alike = sum(len({len(cell) for cell in row}) == 1 for row in longer)
    return 2 * alike > len(longer)


def _heads_above(box: Box, runs: Sequence[TextRun], strips: Strips) -> tuple[list[list[TextRun]], Strips]:
    """The row above the first line, and the strips with it, which may be wider than those of what is below.

    Its cells may be of several lines: close lines in one type are of the row as far as they keep columns apart.
    """
    beyond = sorted(lines_of([run for run in runs if run.middle < box.top], 0), key=lambda line: -line.baseline)
    heights, columns, wider = list[float](), set[int](), strips
    for line in beyond:
        first, last = beyond[0], heights[-1] if heights else beyond[0].baseline
        is_near = last - line.baseline <= MAX_PITCH * line.size and box.top - first.baseline <= NEAR * first.size
        joined = strips_between([*(TextCell("", *ends) for ends in wider.ends), line])
        alike = (line.size, line.bold) == (first.size, first.bold)
        if not (is_near and alike and joined and len(joined.ends) == len(strips.ends)):
            break
        wider = joined
        columns.add(wider.of(line))
        heights += [line.baseline] if line.baseline not in heights else []
    row = [run for run in runs if any(abs(run.baseline - height) < 1 for height in heights)]
    return ([row], wider) if len(columns) > 1 and len(heights) <= MAX_LINES else ([], strips)


def _last_row(box: Box, runs: Sequence[TextRun], strips: Strips) -> list[list[TextRun]]:
    """The last row, which needs no line below it: the rows between shades."""
    beyond = lines_of([run for run in runs if run.middle > box.bottom], 0)
    nearest = min(beyond, key=lambda line: line.baseline, default=None)
    if nearest is None or nearest.baseline - box.bottom > NEAR * nearest.size:
        return []
    beside = [line for line in beyond if line.baseline == nearest.baseline]
    if len(beside) < 2 or not all(strips.holds(line.cells[0]) for line in beside):
        return []
    return [[run for run in runs if abs(run.baseline - nearest.baseline) < 1]]
