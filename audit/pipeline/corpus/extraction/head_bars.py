"""Tables of which only the head has a shade: a bar above rows that neither lines nor shades part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from audit.pipeline.corpus.extraction.layout import Area, Line, Tag, TextCell
from audit.pipeline.corpus.extraction.paragraphs import MAX_ROW_PITCH, MAX_TABLE_PITCH
from audit.pipeline.corpus.extraction.reading_order import Row, rows_of
from audit.pipeline.corpus.extraction.table_columns import SAME_COLUMN, Strips, is_figure, strips_between

# Heights of a bar's lines at most, rows of several cells at least, and bars of a page that is no drawing
MAX_HEIGHTS, MIN_ROWS, MAX_BARS = 4, 3, 150
HEAD = Tag("head", 0, 0)
Cells = tuple[tuple[Line, ...], ...]


def with_bar_heads(lines: list[Line], boxes: Sequence[Area]) -> list[Line]:
    """The lines of a page, each bar with the rows below it as a table."""
    bars = list(_bars(boxes))
    for bar in bars if len(bars) <= MAX_BARS else ():
        head = [line for line in lines if _is_in(bar, line)]
        if not head or any(line.table for line in head) or len({line.baseline for line in head}) > MAX_HEIGHTS:
            continue
        rows, strips = _rows_below(bar, lines, bars)
        if strips and _is_head(head, strips) and not _goes_on(bar, lines):
            own = [*head, *(line for row in rows for line in row)]
            table = (*_heads(head, strips), *(_cells(row, strips) for row in rows))
            cell = TextCell(" ".join(line.text for line in own), bar.x0, bar.x1)
            first = replace(head[0], cells=(cell,), bold=False, part=rows[-1][0].part, table=table)
            lines = sorted([first, *(line for line in lines if line not in own)], key=lambda line: (line.baseline, line.x0))
    return lines


def _bars(boxes: Sequence[Area]) -> Iterator[Area]:
    """The boxes, those of the cells of one bar together, from top to bottom, the highest of one top first."""
    by_height = sorted(set(boxes), key=lambda box: (round(box.top), -round(box.bottom)))
    for _, group in groupby(by_height, key=lambda box: (round(box.top), round(box.bottom))):
        beside = list(group)
        yield Area(min(box.x0 for box in beside), beside[0].top, max(box.x1 for box in beside), beside[0].bottom)


def _is_in(box: Area, line: Line) -> bool:
    return box.x0 - 1 <= line.x0 and line.x1 <= box.x1 + 1 and box.top < line.baseline - 0.3 * line.size < box.bottom


def _rows_below(bar: Area, lines: Sequence[Line], bars: Sequence[Area]) -> tuple[list[Row], Strips | None]:
    """The rows below a bar, each a line high, as far as a row has several cells; and their columns, None without."""
    below, height = list[Row](), bar.bottom
    for row in rows_of([line for line in lines if line.baseline > bar.bottom and bar.x0 <= line.x0 and line.x1 <= bar.x1]):
        step, size = row[0].baseline - height, row[0].size
        # What has several cells in another shade than the first row is none of its own
        shades = [bar for bar in bars if below and len(row) > 1 and all(_is_in(bar, line) for line in row)]
        other = not all(_is_in(shade, below[0][0]) for shade in shades)
        if other or any(line.table for line in row) or step > MAX_TABLE_PITCH * size or (below and step < MAX_ROW_PITCH * size):
            break
        below.append(row)
        height = row[0].baseline
    full = [row for row in below if len(row) > 1]
    strips = strips_between(line.cells[0] for row in full for line in row)
    if strips is None or len(full) < MIN_ROWS:
        return [], None
    rows = below[: below.index(full[-1]) + 1]
    alone = all(strips.holds(line) for row in rows for line in row) and len({line.part for row in full for line in row}) == 1
    return (rows, strips) if alone and 2 * len(full) > len(rows) else ([], None)


def _is_head(head: Sequence[Line], strips: Strips) -> bool:
    """Whether each column but the first has words in the bar, and none goes on with a sentence."""
    columns = {strips.of(line) for line in head}
    words = not any(is_figure(line.cells[0]) or line.text.endswith((".", ",", ":")) for line in head)
    over = all(_is_over(line, *strips.ends[strips.of(line)]) for line in head)
    return words and over and columns >= set(range(1, len(strips.ends)))


def _is_over(line: Line, left: float, right: float) -> bool:
    """Whether a line begins, ends or has its middle where a column does."""
    return min(abs(line.x0 - left), abs(line.x1 - right), abs(line.x0 + line.x1 - left - right) / 2) < SAME_COLUMN


def _goes_on(bar: Area, lines: Sequence[Line]) -> bool:
    """Whether a row of several cells is right above a bar, which is then a row of its table in another shade."""
    above = list(rows_of([line for line in lines if line.baseline < bar.top and bar.x0 <= line.x0 and line.x1 <= bar.x1]))
    return bool(above) and len(above[-1]) > 1 and bar.top - above[-1][0].baseline < MAX_ROW_PITCH * above[-1][0].size


def _heads(head: Sequence[Line], strips: Strips) -> Iterator[Cells]:
    """The row of the head, and those in its bar that are apart from it: the labels of what is below."""
    rows = list[Row]()
    for row in rows_of(head):
        if not rows or row[0].baseline - rows[-1][-1].baseline > MAX_ROW_PITCH * row[0].size:
            rows.append([])
        rows[-1] += row
    yield _cells([replace(line, tag=HEAD) for line in rows[0]], strips)
    yield from (_cells(row, strips) for row in rows[1:])


def _cells(row: Row, strips: Strips) -> Cells:
    return tuple(tuple(line for line in row if strips.of(line) == column) for column in range(len(strips.ends)))
