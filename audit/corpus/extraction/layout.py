"""The layout of a page: runs of glyphs put together as lines, and lines put into reading order, column by column.

All positions are in points (1/72 inch) from the upper left corner of the page as it is displayed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median
from typing import Literal

CELL_SEPARATOR = " | "
PageProgress = Callable[[int, int], None]
"""Called with the number of pages read so far, and of all."""

# Two runs are on one baseline if theirs differ by less than this share of the type size, so that indices stay in the line
SAME_BASELINE = 0.35
# A gap of this many type sizes separates columns and cells; the spaces of justified text are narrower
COLUMN_GAP = 1.0
# A gap wider than this share of the type size is a space, even if the PDF has no space character there
SPACE = 0.12
CONTROL_CHARACTER = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")
LIGATURES = str.maketrans({"ﬁ": "fi", "ﬂ": "fl", "ﬀ": "ff", "ﬃ": "ffi", "ﬄ": "ffl", "\xa0": " ", "\xad": "-", "\u2011": "-"})
MIN_COLUMN_LINES = 3
# Lines of text fill at least this share of their column, in the median; the cells of a table seldom do
MIN_FILLED = 0.55
# As a share of the text's width
MIN_COLUMN_WIDTH = 0.2
# Bullets and the numbers of lists and headings: a wide gap after them does not make them a cell
LABEL = re.compile(r"[•·▪●○◦‣■□➢✓§*–—-]|\(?(\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4})[.)]|\d+(\.\d+)*\.?")


@dataclass(frozen=True, slots=True)
class TextRun:
    """A piece of text in one font on one baseline: one word or several."""

    text: str
    x0: float
    x1: float
    baseline: float
    size: float
    bold: bool


@dataclass(frozen=True, slots=True)
class PdfPage:
    """A page as a PDF library reads it; `number` counts from 1."""

    number: int
    width: float
    height: float
    runs: tuple[TextRun, ...]


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """An entry of a PDF's outline (its bookmarks); `level` counts from 1, `page` is None where it has no target."""

    level: int
    title: str
    page: int | None


@dataclass(frozen=True)
class OpenPdf:
    """An open PDF. `pages` can be iterated once, page by page, so that a long PDF needs little memory."""

    page_count: int
    pages: Iterator[PdfPage]
    outline: tuple[OutlineEntry, ...] = ()
    title: str | None = None


@dataclass(frozen=True, slots=True)
class TextCell:
    """Text on one baseline without a wide gap in it."""

    text: str
    x0: float
    x1: float


@dataclass(frozen=True, slots=True)
class Line:
    """The text on one baseline within a column: one cell, or several in a row of a table."""

    page: int
    baseline: float
    size: float
    bold: bool
    cells: tuple[TextCell, ...]

    @property
    def x0(self) -> float:
        """The left end."""
        return self.cells[0].x0

    @property
    def x1(self) -> float:
        """The right end."""
        return self.cells[-1].x1

    @property
    def text(self) -> str:
        """The text, with a separator between cells."""
        return CELL_SEPARATOR.join(cell.text for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Block:
    """A heading with its level (1 is outermost), a paragraph, or a row of a table.

    later_pages  (page, first character of its text) for each page after the first that the text continues on
    """

    kind: Literal["heading", "text", "row"]
    text: str
    page: int
    last_page: int
    level: int = 0
    later_pages: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class ExtractedBlocks:
    """The blocks of a PDF in reading order, the number of its pages, and the numbers of the pages without text."""

    blocks: tuple[Block, ...]
    page_count: int
    title: str | None = None
    pages_without_text: tuple[int, ...] = ()


def page_lines(page: PdfPage) -> list[Line]:
    """The lines of a page, each with one cell, from top to bottom and left to right."""
    return [_line(page.number, _row_baseline(row), runs) for row in _runs_by_row(page.runs) for runs in _split_at_gaps(row)]


def clean_text(text: str) -> str:
    """Text without control characters, ligatures and repeated spaces."""
    return " ".join(CONTROL_CHARACTER.sub("", text).translate(LIGATURES).split())


def _runs_by_row(runs: Iterable[TextRun]) -> Iterator[list[TextRun]]:
    row: list[TextRun] = []
    for run in sorted((run for run in runs if run.text.strip()), key=lambda run: (run.baseline, run.x0)):
        if row and run.baseline - row[0].baseline > SAME_BASELINE * max(run.size, row[0].size):
            yield row
            row = []
        row.append(run)
    if row:
        yield row


def _split_at_gaps(row: list[TextRun]) -> Iterator[list[TextRun]]:
    row = sorted(row, key=lambda run: run.x0)
    piece, end = [row[0]], row[0].x1
    for run in row[1:]:
        if run.x0 - end > COLUMN_GAP * max(run.size, piece[-1].size):
            yield piece
            piece = []
        piece.append(run)
        end = max(end, run.x1)
    yield piece


def _row_baseline(row: list[TextRun]) -> float:
    # That of the longest run: an index is lower than its line and may come first.
    return round(max(row, key=lambda run: len(run.text)).baseline, 1)


def _line(page: int, baseline: float, runs: list[TextRun]) -> Line:
    longest = max(runs, key=lambda run: len(run.text))
    letters = sum(len(run.text) for run in runs)
    # A bullet or an index in regular type does not make a bold line regular
    bold = sum(len(run.text) for run in runs if run.bold) > 0.9 * letters
    cell = TextCell(clean_text(_join_runs(runs)), runs[0].x0, max(run.x1 for run in runs))
    # To half points: scaled fonts have sizes such as 11.98 and 12.02, which must count as one style.
    return Line(page, baseline, round(2 * longest.size) / 2, bold, (cell,))


def _join_runs(runs: list[TextRun]) -> str:
    parts = [runs[0].text]
    for before, run in pairwise(runs):
        parts.append(" " + run.text if run.x0 - before.x1 > SPACE * run.size else run.text)
    return "".join(parts)


def in_reading_order(lines: list[Line]) -> list[Line]:
    """The lines of a page column by column; pieces side by side within a column become one line of several cells."""
    if not lines:
        return []
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    gutter = _gutter(lines, left, right) if len(lines) >= 2 * MIN_COLUMN_LINES else None
    ordered: list[Line] = []
    # A row that crosses the gutter (a title, a wide table) ends the columns above it; new ones may begin below.
    for crosses, group in groupby(
        _rows(lines), key=lambda row: gutter is None or any(line.x0 < gutter < line.x1 for line in row)
    ):
        band = [line for row in group for line in row]
        # A row across the gutter belongs to no column
        columns = None if crosses or gutter is None else _columns(band, gutter, right - left)
        ordered += [line for column in columns for line in in_reading_order(column)] if columns else _merge_rows(band)
    return ordered


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


def _columns(band: list[Line], gutter: float, width: float) -> tuple[list[Line], list[Line]] | None:
    """The lines left and right of the gutter where both sides are columns: one of text, the other of text or tables."""
    sides = [line for line in band if line.x1 <= gutter], [line for line in band if line.x0 >= gutter]
    rows = [list(_merge_rows(side)) for side in sides]
    if not all(_fills_column(side, width) for side in rows) or not any(_fills_column(side, width) for side in sides):
        return None
    return sides


def _fills_column(lines: list[Line], page_width: float) -> bool:
    if len(lines) < MIN_COLUMN_LINES:
        return False
    width = max(line.x1 for line in lines) - min(line.x0 for line in lines)
    return width >= MIN_COLUMN_WIDTH * page_width and median(line.x1 - line.x0 for line in lines) >= MIN_FILLED * width


def _merge_rows(band: list[Line]) -> Iterator[Line]:
    for lines in _rows(band):
        first = lines[0]
        cells = tuple(cell for line in lines for cell in line.cells)
        yield Line(first.page, first.baseline, first.size, all(line.bold for line in lines), _join_label(cells))


def _join_label(cells: tuple[TextCell, ...]) -> tuple[TextCell, ...]:
    if len(cells) < 2 or not LABEL.fullmatch(cells[0].text):
        return cells
    label, first, *others = cells
    return (TextCell(f"{label.text} {first.text}", label.x0, first.x1), *others)
