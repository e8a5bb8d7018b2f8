"""The drawings of a page: its ruling lines, the grids of cells that they draw, and what may be a bullet.

The lines come from the library that reads the page; the cells are found by pdfplumber's TableFinder, which needs nothing else.
"""

from __future__ import annotations

import ctypes
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice, pairwise
from types import SimpleNamespace
from typing import Any, NamedTuple

from audit.optional_imports import optional
from audit.pipeline.corpus.extraction.layout import Area

PURPOSE = "Reading a PDF"
# Points: a stroke may be slanted by as much, and shorter ones are parts of letters and pictures
STRAIGHT, MIN_LENGTH = 1.0, 4.0
# A white area this thin is a line between coloured cells; a larger one is the paper
THIN = 3.0
# A line through text is at most this thick
THICK = 4.0
WHITE = (255, 255, 255)
# Sides of a rectangle
RECTANGLE = 4
# A page with more is a drawing or a map
MAX_RULINGS, MAX_SEGMENTS = 1500, 20_000
# A path with more segments, of which most of the first so many are curves, is a picture
MAX_PATH, FIRST_SEGMENTS = 100, 40
# Of a page, areas that may cover text; of a path, sides that may be those of a thin area
MAX_COVERS, MAX_SIDES = 300, 60
Displayed = Callable[[float, float], tuple[float, float]]
Matrix = tuple[float, float, float, float, float, float]
IDENTITY: Matrix = (1, 0, 0, 1, 0, 0)
MAX_DEPTH = 4
# Points; a larger drawing is not a bullet
MAX_BULLET = 20.0
# Points: the width and height of an area that may have text of its own, at least
MIN_BOX = 40.0, 14.0
# As a share of the page's width
MIN_UPRIGHT, MIN_SEPARATOR = 36.0, 0.6
# Parallel lines nearer than this are one; lines that end this near to each other touch
SNAP, JOIN = 3.0, 5.0
MIN_COLUMN, MIN_ROW = 7.0, 5.0


class Box(NamedTuple):
    """A rectangle, in points from the upper left corner of the page."""

    x0: float
    top: float
    x1: float
    bottom: float

    def contains(self, x: float, y: float) -> bool:
        """Whether a point is inside."""
        return self.x0 <= x < self.x1 and self.top <= y < self.bottom


class Grid(NamedTuple):
    """Cells that touch: row by row, for each column the cell there; one that spans several is at each of its places."""

    box: Box
    rows: tuple[tuple[Box | None, ...], ...]


# -- lines -------------------------------------------------------------------------------------------------------------


class Drawings(NamedTuple):
    """The ruling lines of a page, the areas of its small drawings and pictures, which may be bullets, and its thin lines.

    borders  the sides of filled areas, which may be shades of cells or of lines of text
    lines    horizontal strokes and filled areas as thin as strokes, which may strike text through
    boxes    areas that are filled or framed and large enough for text of their own
    """

    rulings: tuple[Area, ...] = ()
    borders: tuple[Area, ...] = ()
    areas: tuple[Area, ...] = ()
    lines: tuple[Area, ...] = ()
    boxes: tuple[Area, ...] = ()


def pdfium_drawings(page: Any, displayed: Displayed) -> Drawings:
    """The drawings of a page of PDFium. `displayed` takes a position of the page to points from its upper left corner."""
    raw = optional("pypdfium2.raw", PURPOSE, "pipeline")
    rulings, areas, lines, fills, boxes = list[Area](), list[Area](), list[Area](), list[_Fill](), list[Area]()
    segments = 0
    for thing, kind, matrix in _things_on(raw, page, (raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE)):
        is_path = kind == raw.FPDF_PAGEOBJ_PATH
        is_picture = not is_path or _is_picture(raw, thing)
        segments += 1 if is_picture else raw.FPDFPath_CountSegments(thing)
        if segments > MAX_SEGMENTS or len(rulings) > MAX_RULINGS:
            return Drawings()
        if is_path and not _is_visible(raw, thing):
            continue
        areas.append(_area(raw, thing, matrix, displayed))
        if not is_picture:
            outlines = [sides for sides in _outlines_of(raw, thing, matrix, displayed) if sides]
            own = [side for sides in outlines for side in sides]
            lines += _lines_of(raw, thing, own)
            boxes += [areas[-1]] if _is_large(areas[-1]) else []
            if _modes(raw, thing)[1]:
                rulings += own
            else:
                fills += [_Fill(_around(sides), _fill_color(raw, thing), tuple(sides)) for sides in outlines]
    rulings += [side for fill in fills if not fill.is_rectangle for side in fill.sides]
    return Drawings(tuple(rulings), tuple(_borders(fills)), tuple(filter(_is_small, areas)), tuple(lines), tuple(boxes))


def _is_picture(raw: Any, path: Any) -> bool:
    """Whether a path is drawn of many curves, as logos are, and encloses no text."""
    if raw.FPDFPath_CountSegments(path) <= MAX_PATH:
        return False
    kinds = (raw.FPDFPathSegment_GetType(raw.FPDFPath_GetPathSegment(path, number)) for number in range(FIRST_SEGMENTS))
    curves = sum(kind == raw.FPDF_SEGMENT_BEZIERTO for kind in kinds)
    return bool(2 * curves > FIRST_SEGMENTS)


class _Fill(NamedTuple):
    """A filled area, its color, and its upright and level sides."""

    area: Area
    color: tuple[int, ...]
    sides: tuple[Area, ...]

    @property
    def is_rectangle(self) -> bool:
        """Whether it is a rectangle and no line."""
        return len(self.sides) == RECTANGLE and min(self.area.x1 - self.area.x0, self.area.bottom - self.area.top) > THIN


def _around(sides: Sequence[Area]) -> Area:
    lefts, tops, rights, bottoms = zip(*sides, strict=True)
    return Area(min(lefts), min(tops), max(rights), max(bottoms))


def _borders(fills: Sequence[_Fill]) -> Iterator[Area]:
    """The sides of rectangles at which the color changes: a cell that is shaded line by line has no borders within it."""
    alike: defaultdict[tuple[int, ...], list[Area]] = defaultdict(list)
    for fill in fills:
        if fill.is_rectangle and len(alike[fill.color]) < MAX_COVERS:
            alike[fill.color].append(fill.area)
    for fill in fills:
        for side in fill.sides:
            yield from _seen(side, fill.area, alike[fill.color]) if fill.is_rectangle else ()


def _seen(side: Area, own: Area, alike: Sequence[Area]) -> Iterator[Area]:
    """The parts of a side that no other area of its color lies behind."""
    level = side.x1 - side.x0 >= side.bottom - side.top
    x, y = (side.x0 + side.x1) / 2, (side.top + side.bottom) / 2
    # Just outside
    behind = y + (THIN / 2 if 2 * y > own.top + own.bottom else -THIN / 2) if level else (
        x + (THIN / 2 if 2 * x > own.x0 + own.x1 else -THIN / 2)
    )  # fmt: skip
    over = sorted(
        (area.x0, area.x1) if level else (area.top, area.bottom)
        for area in alike
        if (area.top <= behind <= area.bottom if level else area.x0 <= behind <= area.x1)
    )
    start, end = (side.x0, side.x1) if level else (side.top, side.bottom)
    for low, high in [*over, (end, end)]:
        if min(low, end) - start >= MIN_LENGTH:
            yield Area(start, side.top, low, side.bottom) if level else Area(side.x0, start, side.x1, low)
        start = max(start, high)


def _lines_of(raw: Any, path: Any, rulings: Sequence[Area]) -> Iterator[Area]:
    """The horizontal lines among the rulings of a path: its strokes, or the two sides of a filled area that is as thin."""
    across = [area for area in rulings if area.x1 - area.x0 > area.bottom - area.top]
    width = ctypes.c_float()
    raw.FPDFPageObj_GetStrokeWidth(path, width)
    if _modes(raw, path)[1]:
        red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
        raw.FPDFPageObj_GetStrokeColor(path, red, green, blue, alpha)
        seen = alpha.value > 0 and (red.value, green.value, blue.value) != WHITE
        # With upright sides it is a frame, which may touch text
        yield from across if seen and width.value <= THICK and len(across) == len(rulings) else ()
        return
    for number, one in enumerate(across[:MAX_SIDES]):
        for other in across[number + 1 : MAX_SIDES]:
            if abs(one.top - other.top) <= THICK and abs(one.x0 - other.x0) + abs(one.x1 - other.x1) <= 2 * STRAIGHT:
                yield Area(one.x0, min(one.top, other.top), one.x1, max(one.bottom, other.bottom))


def pictures(page: Any, displayed: Displayed) -> list[Area]:
    """The areas of the pictures of a page."""
    raw = optional("pypdfium2.raw", PURPOSE, "pipeline")
    return [_area(raw, thing, matrix, displayed) for thing, _, matrix in _things_on(raw, page, (raw.FPDF_PAGEOBJ_IMAGE,))]


def painted_over(page: Any, displayed: Displayed) -> set[int]:
    """The addresses of the text objects that an area or a picture painted later may cover."""
    raw = optional("pypdfium2.raw", PURPOSE, "pipeline")
    text = raw.FPDF_PAGEOBJ_TEXT
    kinds = (text, raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_SHADING)
    things = list(islice(_things_on(raw, page, kinds), MAX_SEGMENTS))
    covering, covered = list[Area](), set[int]()
    # Backwards, so that what is painted later comes first
    for thing, kind, matrix in reversed(things):
        if kind != text:
            if kind == raw.FPDF_PAGEOBJ_PATH and not _is_filled(raw, thing):
                continue
            area = _area(raw, thing, matrix, displayed)
            covering += [area] if min(area.x1 - area.x0, area.bottom - area.top) > THIN and len(covering) < MAX_COVERS else []
        elif covering and any(_covers(over, area) for area in [_area(raw, thing, matrix, displayed)] for over in covering):
            covered.add(_address(thing))
    return covered


def _address(thing: Any) -> int:
    return ctypes.cast(thing, ctypes.c_void_p).value or 0


def _is_filled(raw: Any, path: Any) -> bool:
    return _modes(raw, path)[0]


def _modes(raw: Any, path: Any) -> tuple[bool, bool]:
    """Whether a path is filled, and whether it is stroked."""
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(path, fill, stroke)
    return bool(fill.value), bool(stroke.value)


def _fill_color(raw: Any, path: Any) -> tuple[int, ...]:
    """Red, green, blue and opacity, each 0 to 255."""
    channels = tuple(ctypes.c_uint() for _ in range(4))
    raw.FPDFPageObj_GetFillColor(path, *channels)
    return tuple(channel.value for channel in channels)


def _covers(over: Area, area: Area) -> bool:
    return over.x0 < area.x1 and area.x0 < over.x1 and over.top < area.bottom and area.top < over.bottom


def _is_small(area: Area) -> bool:
    return max(area.x1 - area.x0, area.bottom - area.top) <= MAX_BULLET


def _is_large(area: Area) -> bool:
    return area.x1 - area.x0 >= MIN_BOX[0] and area.bottom - area.top >= MIN_BOX[1]


def _area(raw: Any, thing: Any, matrix: Matrix, displayed: Displayed) -> Area:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    raw.FPDFPageObj_GetBounds(thing, left, bottom, right, top)
    corners = ((left.value, bottom.value), (right.value, top.value))
    (x0, y0), (x1, y1) = (displayed(*_moved(x, y, matrix)) for x, y in corners)
    return Area(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


def _moved(x: float, y: float, matrix: Matrix) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def _things_on(raw: Any, page: Any, kinds: Collection[int]) -> Iterator[tuple[object, int, Matrix]]:
    for thing, kind, matrix in _things(raw, page.raw, raw.FPDFPage_CountObjects, raw.FPDFPage_GetObject, IDENTITY, 0):
        if kind in kinds:
            yield thing, kind, matrix


def _things(raw: Any, parent: Any, count: Any, get: Any, matrix: Matrix, depth: int) -> Iterator[tuple[object, int, Matrix]]:
    """The objects of a page or a form, those of its forms included, with the matrix that takes them to the page."""
    for index in range(count(parent)):
        thing = get(parent, index)
        kind = raw.FPDFPageObj_GetType(thing)
        if kind != raw.FPDF_PAGEOBJ_FORM:
            yield thing, kind, matrix
        elif depth < MAX_DEPTH:
            inner = _product(_matrix_of(raw, thing), matrix)
            yield from _things(raw, thing, raw.FPDFFormObj_CountObjects, raw.FPDFFormObj_GetObject, inner, depth + 1)


def _matrix_of(raw: Any, thing: Any) -> Matrix:
    own = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(thing, own)
    return own.a, own.b, own.c, own.d, own.e, own.f


def _product(first: Matrix, second: Matrix) -> Matrix:
    a, b, c, d, e, f = first
    p, q, r, s, t, u = second
    return a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u


def _is_visible(raw: Any, path: Any) -> bool:
    """Whether a path is drawn at all and is no white area, which nobody sees on the paper."""
    is_filled, is_stroked = _modes(raw, path)
    if is_stroked or not is_filled:
        return is_stroked
    *color, alpha = _fill_color(raw, path)
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    raw.FPDFPageObj_GetBounds(path, left, bottom, right, top)
    thin = min(right.value - left.value, top.value - bottom.value) <= THIN
    return alpha > 0 and (thin or tuple(color) != WHITE)


def _outlines_of(raw: Any, path: Any, matrix: Matrix, displayed: Displayed) -> Iterator[list[Area]]:
    """The upright and level sides of each outline of a path."""
    to_page = _product(_matrix_of(raw, path), matrix)
    x, y = ctypes.c_float(), ctypes.c_float()
    start = last = None
    sides = list[Area]()
    for index in range(raw.FPDFPath_CountSegments(path)):
        segment = raw.FPDFPath_GetPathSegment(path, index)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        point = displayed(*_moved(x.value, y.value, to_page))
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            yield sides
            start, sides = point, []
        elif kind == raw.FPDF_SEGMENT_LINETO and last:
            sides += _ruling(last, point)
        if raw.FPDFPathSegment_GetClose(segment) and start:
            sides += _ruling(point, start)
        last = point
    yield sides


def _ruling(one: tuple[float, float], other: tuple[float, float]) -> Iterator[Area]:
    (x0, x1), (top, bottom) = sorted((one[0], other[0])), sorted((one[1], other[1]))
    if min(x1 - x0, bottom - top) <= STRAIGHT and max(x1 - x0, bottom - top) >= MIN_LENGTH:
        yield Area(x0, top, x1, bottom)


def separators(rulings: Iterable[Area], width: float) -> list[Area]:
    """The rules across most of a page of this width, and the upright ones."""
    wide = (area for area in rulings if area.x1 - area.x0 >= MIN_SEPARATOR * width or area.bottom - area.top >= MIN_UPRIGHT)
    return [area for area in wide if min(area.x1 - area.x0, area.bottom - area.top) <= THIN]


# -- grids -------------------------------------------------------------------------------------------------------------


def grids(rulings: Sequence[Area], borders: Sequence[Area] = ()) -> list[Grid]:
    """The grids that the lines and the borders of shades draw, each of at least two cells, from top to bottom."""
    if not borders:
        return _grids_of(rulings)
    drawn = [grid.box for grid in _grids_of(rulings) if len(grid.rows) > 1 and len(grid.rows[0]) > 1]
    return _grids_of([*rulings, *(border for border in borders if _divides(border, drawn, [*rulings, *borders]))])


def _divides(border: Area, drawn: Iterable[Box], lines: Sequence[Area]) -> bool:
    """Whether the border of a shade may divide cells: in a table with lines of its own, only where it goes through all of it."""
    x, y = (border.x0 + border.x1) / 2, (border.top + border.bottom) / 2
    box = next((box for box in drawn if box.x0 - SNAP < x < box.x1 + SNAP and box.top - SNAP < y < box.bottom + SNAP), None)
    if box is None:
        return True
    if border.x1 - border.x0 >= border.bottom - border.top:
        beside = [(line.x0, line.x1) for line in lines if line.x1 > line.x0 and abs(line.top - y) < SNAP > abs(line.bottom - y)]
        return _covered(beside, box.x0, box.x1)
    below = [(line.top, line.bottom) for line in lines if line.bottom > line.top and abs(line.x0 - x) < SNAP > abs(line.x1 - x)]
    return _covered(below, box.top, box.bottom)


def _covered(parts: Iterable[tuple[float, float]], start: float, end: float) -> bool:
    """Whether parts of a line leave no gap from start to end."""
    for low, high in sorted(parts):
        if low > start + JOIN:
            return False
        start = max(start, high)
    return start >= end - JOIN


def _grids_of(rulings: Sequence[Area]) -> list[Grid]:
    edges = [_edge(ruling) for ruling in rulings]
    if len({edge["orientation"] for edge in edges}) < 2 or len(edges) > MAX_RULINGS:
        return []
    library = optional("pdfplumber.table", PURPOSE, "pipeline")
    merged = library.merge_edges(edges, SNAP, SNAP, JOIN, JOIN)
    settings = {"snap_tolerance": SNAP, "join_tolerance": JOIN, "intersection_tolerance": JOIN}
    finder = library.TableFinder(SimpleNamespace(edges=[*merged, *_open_sides(merged)]), settings)
    grids = (_grid([Box(*cell) for cell in table.cells]) for table in finder.tables)
    # Double lines alone, as in a drawing, leave no cell
    return [grid for grid in grids if grid.rows and grid.rows[0]]


def _open_sides(edges: list[dict[str, Any]]) -> Iterator[dict[str, object]]:
    """The left and right sides of tables that have none: where the rules between their rows begin and end."""
    across = sorted((edge for edge in edges if edge["orientation"] == "h"), key=lambda edge: edge["top"])
    upright = [edge for edge in edges if edge["orientation"] == "v"]
    for number, rule in enumerate(across):
        below = next((other for other in across[number + 1 :] if _are_as_wide(rule, other)), None)
        if below is not None:
            middle = (rule["top"] + below["top"]) / 2
            # Without a line between columns, what is between two rules is text
            left, right = rule["x0"] + MIN_COLUMN, rule["x1"] - MIN_COLUMN
            if any(left < line["x0"] < right and line["top"] < middle < line["bottom"] for line in upright):
                yield from (_edge(Area(x, rule["top"], x, below["top"])) for x in (rule["x0"], rule["x1"]))


def _are_as_wide(rule: dict[str, float], other: dict[str, float]) -> bool:
    return max(abs(rule["x0"] - other["x0"]), abs(rule["x1"] - other["x1"])) < SNAP


def _edge(ruling: Area) -> dict[str, Any]:
    x0, top, x1, bottom = ruling
    if x1 - x0 >= bottom - top:
        top = bottom = (top + bottom) / 2
    else:
        x0 = x1 = (x0 + x1) / 2
    return {
        "x0": x0, "x1": x1, "top": top, "bottom": bottom, "doctop": top, "width": x1 - x0, "height": bottom - top,
        "orientation": "h" if top == bottom else "v", "object_type": "line",
    }  # fmt: skip


def _grid(cells: list[Box]) -> Grid:
    columns = _intervals({x for cell in cells for x in (cell.x0, cell.x1)}, MIN_COLUMN)
    rows = _intervals({y for cell in cells for y in (cell.top, cell.bottom)}, MIN_ROW)
    places = [tuple(smallest_at(cells, x, y) for x in columns) for y in rows]
    different = tuple(row for number, row in enumerate(places) if number == 0 or row != places[number - 1])
    left, top, right, bottom = zip(*cells, strict=True)
    return Grid(Box(min(left), min(top), max(right), max(bottom)), different)


def _intervals(edges: Iterable[float], least: float) -> list[float]:
    """The middle of each stretch between neighbouring edges. Narrow ones are double lines, not columns or rows."""
    return [(low + high) / 2 for low, high in pairwise(sorted(edges)) if high - low >= least]


def smallest_at(cells: Iterable[Box], x: float, y: float) -> Box | None:
    """The smallest cell at a place: a rule above a table may make one that is around others."""
    own = [cell for cell in cells if cell.contains(x, y)]
    return min(own, key=lambda cell: (cell.x1 - cell.x0) * (cell.bottom - cell.top), default=None)
