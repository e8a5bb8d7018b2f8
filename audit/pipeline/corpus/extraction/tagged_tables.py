"""Tables whose rows and cells the maker of a tagged PDF named, with lines or without."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from audit.pipeline.corpus.extraction.drawings import Box, Grid
from audit.pipeline.corpus.extraction.layout import CellPlace, TextRun

# Rows with several cells
MIN_FULL = 2
# Points: cells may overlap by as much; a drawn bullet stands before the text of its cell by as much at most
SLACK, BULLET = 2.0, 20.0


def tagged_grids(runs: Iterable[TextRun]) -> Iterator[Grid]:
    """The tagged tables of a page whose cells stand below and beside each other as their tags say: other tags are of no use."""
    tables: defaultdict[int, defaultdict[CellPlace, list[TextRun]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        # A caption is in no row
        if run.tag.place is not None and run.tag.place.row and run.text.strip():
            tables[run.tag.place.table][run.tag.place].append(run)
    for cells in tables.values():
        boxes = _by_strips({place: _box(cells[place]) for place in sorted(cells)})
        rows = _rows(boxes)
        if sum(len(row) > 1 for row in rows) >= MIN_FULL and _are_in_place(rows, boxes):
            yield _grid(_with_bullets(rows, boxes))


def _by_strips(boxes: Mapping[CellPlace, Box]) -> dict[CellPlace, Box]:
    """The cells by their places. Makers leave empty cells out, so that in rows of fewer cells the column is that of the strip
    which a cell is in: of those in rows of all columns. Empty where two columns share a strip.
    """
    width = max((place.column + place.columns for place in boxes), default=0)
    full = {place.row for row in _rows(boxes) if sum(place.columns for place in row) == width for place in row}
    ends: defaultdict[int, list[float]] = defaultdict(list)
    for place, box in boxes.items():
        if place.row in full and place.columns == 1:
            ends[place.column] += [box.x0, box.x1]
    strips = {column: (min(own), max(own)) for column, own in sorted(ends.items())}
    if any(left[1] > right[0] + SLACK for left, right in pairwise(strips.values())):
        return {}
    placed = {
        place if place.row in full or place.columns > 1 else place._replace(column=_nearest(box, strips, place.column)): box
        for place, box in boxes.items()
    }
    return dict(sorted(placed.items())) if len(placed) == len(boxes) else {}


def _nearest(box: Box, strips: Mapping[int, tuple[float, float]], column: int) -> int:
    middle = (box.x0 + box.x1) / 2
    return min(strips, key=lambda number: max(strips[number][0] - middle, middle - strips[number][1], 0.0), default=column)


def _box(runs: Sequence[TextRun]) -> Box:
    tops, bottoms = [run.baseline - 0.8 * run.size for run in runs], [run.baseline + 1 for run in runs]
    return Box(min(run.x0 for run in runs), min(tops), max(run.x1 for run in runs) + 0.1, max(bottoms))


def _rows(boxes: Mapping[CellPlace, Box]) -> list[list[CellPlace]]:
    """The cells that begin in each row, from left to right."""
    rows: defaultdict[int, list[CellPlace]] = defaultdict(list)
    for place in boxes:
        rows[place.row].append(place)
    return list(rows.values())


def _are_in_place(rows: Sequence[Sequence[CellPlace]], boxes: Mapping[CellPlace, Box]) -> bool:
    """Whether each cell is behind the one before it in its row, and below those of its columns in the rows above."""
    bottoms: dict[int, float] = {}
    for row in rows:
        right = float("-inf")
        for place in row:
            box, columns = boxes[place], range(place.column, place.column + place.columns)
            if box.x0 < right - SLACK or any(box.top < bottoms.get(column, 0.0) - SLACK for column in columns):
                return False
            right = box.x1
            bottoms |= dict.fromkeys(columns, box.bottom)
    return True


def _with_bullets(rows: Sequence[Sequence[CellPlace]], boxes: Mapping[CellPlace, Box]) -> dict[CellPlace, Box]:
    """The boxes of the cells, each as far to the left as what may be drawn before its text."""
    wider: dict[CellPlace, Box] = {}
    for row in rows:
        right = float("-inf")
        for place in row:
            box = boxes[place]
            wider[place] = box._replace(x0=max(min(right, box.x0), box.x0 - BULLET))
            right = box.x1
    return wider


def _grid(boxes: Mapping[CellPlace, Box]) -> Grid:
    """The cells at each of their places."""
    lefts, tops, rights, bottoms = zip(*boxes.values(), strict=True)
    at = {
        (row, column): box
        for place, box in boxes.items()
        for row in range(place.row, place.row + place.rows)
        for column in range(place.column, place.column + place.columns)
    }
    numbers, width = sorted({place.row for place in boxes}), 1 + max(column for _, column in at)
    rows = tuple(tuple(at.get((row, column)) for column in range(width)) for row in numbers)
    return Grid(Box(min(lefts), min(tops), max(rights), max(bottoms)), rows)
