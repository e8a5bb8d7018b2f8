"""The layout of a page: runs of glyphs put together as lines.

All positions are in points (1/72 inch) from the upper left corner of the page as it is displayed.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, NamedTuple

from audit.pipeline.corpus.extraction import bullets
from audit.pipeline.corpus.extraction.characters import lowered, raised
from audit.pipeline.corpus.extraction.repair import clean_text
from audit.text.documents import Corrected, Doubt, Loss
from audit.text.statements import CELL_SEPARATOR

Color = tuple[float, ...]
PageProgress = Callable[[int, int], None]
"""Called with the number of pages read so far, and of all."""

# Two runs are on one baseline if theirs differ by less than this share of the type size, so that indices stay in the line
SAME_BASELINE = 0.4
# A gap of this many type sizes separates columns and cells; the spaces of justified text are narrower
COLUMN_GAP = 1.0
# Type that is larger by this factor belongs to other text
OTHER_TYPE = 1.2
# A gap wider than this share of the type size is a space, even if the PDF has no space character there
SPACE = 0.12
# A capital nearer than this share of its size to letters behind it begins their word, where the file has no space between
CAPITAL_GAP = 0.22
# Smaller type beside a word, its baseline higher by these shares of the word's size, is raised: a power, a sign, a note
RAISED_SIZE, RAISED_BY, RAISED_DISTANCE, MAX_RAISED = 0.85, (0.12, 0.8), 0.45, 4
# Numbers of notes may be more, and in type as large as that of the word that they are close behind
NOTES = re.compile(r"\d{1,3}(?:[,–-]\d{1,3}){0,5}")
NOTES_BY, NOTES_DISTANCE = 0.2, 0.15
# A number this much lower than the one before it, as a share of the type size, is an index and no more digits of it
LOWERED_BY = 0.08
# Figures that are lower by more stand on the next line
MAX_DROP = 0.6
# Bullets of another font may be higher or lower than the text by this share of the type size
BULLET_DROP = 0.6


class CellPlace(NamedTuple):
    """Where a tagged cell is: its table by number, its row from 1 and column from 0; how many columns and rows it is over.

    Its row is 0 where a text is tagged as in a table, but not in a row of it.
    """

    table: int
    row: int = 0
    column: int = 0
    columns: int = 1
    rows: int = 1


class Tag(NamedTuple):
    """What the PDF says that a text is; `kind` is "heading", "item", "cell", "head" (of a column or row of a
    table), "paragraph", "other", or "" where it says nothing.

    level    of a heading, from 1
    element  the number of the heading, item, cell, head or paragraph on its page
    place    of the innermost cell that it is in; None outside of tables
    """

    kind: str
    level: int
    element: int
    place: CellPlace | None = None


NO_TAG = Tag("", 0, 0)


@dataclass(frozen=True, slots=True)
class TextRun:
    """A piece of text in one font on one baseline: one word or several.

    space_after  the file has a space behind it
    is_raised    a power, a note or a sign above the baseline of its line, which `baseline` is
    color        as the library gives it: only equal ones are compared
    linked       it is or begins a link
    """

    text: str
    x0: float
    x1: float
    baseline: float
    size: float
    bold: bool
    space_after: bool = False
    is_raised: bool = False
    color: Color = ()
    tag: Tag = NO_TAG
    linked: bool = False

    @property
    def middle(self) -> float:
        """The height of the middle of its letters."""
        return self.baseline - 0.3 * self.size


class Area(NamedTuple):
    """A rectangle: around a drawing, or a ruling line, which has hardly any height or width."""

    x0: float
    top: float
    x1: float
    bottom: float


class LeftOut(NamedTuple):
    """Text of a page that is not read; `kind` is one of `audit.text.documents.LOSSES`."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class PdfPage:
    """A page as a PDF library reads it; `number` counts from 1. Its runs are upright.

    rulings    horizontal and vertical strokes
    borders    the sides of filled areas
    areas      those of small drawings and pictures, which may be bullets
    boxes      filled and framed areas that are large enough for text of their own
    turn       by how many quarters it is turned from how it is displayed
    others     its text in other directions, as pages turned so that it is upright
    free_text  what annotations write on it
    left_out   what of it is not read
    is_pictured  its text, or some of it, is the text layer of a picture
    """

    number: int
    width: float
    height: float
    runs: tuple[TextRun, ...]
    rulings: tuple[Area, ...] = ()
    borders: tuple[Area, ...] = ()
    areas: tuple[Area, ...] = ()
    turn: int = 0
    others: tuple[PdfPage, ...] = ()
    free_text: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    is_pictured: bool = False
    boxes: tuple[Area, ...] = ()


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
    """The text on one baseline within a column: one cell, or several in a row of a table; or a ruled table as a whole.

    color    of all its text; () where it has several
    is_lead  the head of a column beside others ("DO", "DON'T"), which leads what is below it
    table    row by row the lines of each cell; one that spans several places is at each of them. () for a line of text
    part     lines of different parts of a page, which are boxes or have different directions, belong to no common paragraph
    pitch    the usual distance between the lines of its page, in type sizes; 0: that of the document
    ends_early  the first word of the next line would have had room behind it
    tag, linked  those of all of it
    """

    page: int
    baseline: float
    size: float
    bold: bool
    cells: tuple[TextCell, ...]
    is_lead: bool = False
    color: Color = ()
    table: tuple[tuple[tuple[Line, ...], ...], ...] = ()
    part: int = 0
    pitch: float = 0.0
    ends_early: bool = False
    tag: Tag = NO_TAG
    linked: bool = False

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
    panel        of a heading, the number of the panel that it heads; 0: it heads what follows
    """

    kind: Literal["heading", "text", "row"]
    text: str
    page: int
    last_page: int
    level: int = 0
    later_pages: tuple[tuple[int, int], ...] = ()
    panel: int = 0


@dataclass(frozen=True)
class ExtractedBlocks:
    """The blocks of a PDF in reading order, and what was left out.

    pages_without_text, pictured_pages  the numbers of the pages without text, and of those with the text layer of a picture
    letters, doubts, corrections  as in a document
    """

    blocks: tuple[Block, ...]
    page_count: int
    title: str | None = None
    pages_without_text: tuple[int, ...] = ()
    pictured_pages: tuple[int, ...] = ()
    lost: tuple[Loss, ...] = ()
    letters: int | None = None
    doubts: tuple[Doubt, ...] = ()
    corrections: Corrected | None = None


def lines_of(runs: Iterable[TextRun], page: int) -> list[Line]:
    """The lines of the runs, each with one cell, from top to bottom and left to right."""
    rows = _runs_by_row(_on_baseline(_whole_words([run for run in runs if run.text.strip()])))
    return [_line(page, _row_baseline(row), piece) for row in rows for piece in _split_at_gaps(row)]


def _whole_words(runs: list[TextRun]) -> list[TextRun]:
    """The runs, a capital joined with the rest of its word: "T" and "ips", which designers set apart or in two sizes.

    Only where the file writes its spaces: elsewhere a gap may be all there is between two words. What is a word of the page
    elsewhere stays one.
    """
    if 2 * sum(run.space_after for run in runs) < len(runs):
        return runs
    pairs = {number for number, (one, rest) in enumerate(pairwise(runs), start=1) if _is_rest_of_word(one, rest)}
    known = {run.text for number, run in enumerate(runs) if number not in pairs}
    joined = list[TextRun]()
    for number, run in enumerate(runs):
        if number in pairs and run.text not in known:
            joined[-1] = replace(run, text=joined[-1].text + run.text, x0=joined[-1].x0)
        else:
            joined.append(run)
    return joined


def _is_rest_of_word(capital: TextRun, rest: TextRun) -> bool:
    """Whether a run goes on with the word that a single capital begins."""
    single = len(capital.text) == 1 and capital.text.isupper() and not capital.space_after
    close = -0.1 * rest.size < rest.x0 - capital.x1 < CAPITAL_GAP * capital.size and abs(rest.baseline - capital.baseline) < 1
    return single and close and rest.text[:1].isalpha() and (rest.text[:1].islower() or rest.size < capital.size)


def _on_baseline(runs: list[TextRun]) -> Iterator[TextRun]:
    """The runs: raised ones on the baseline of the word that they belong to, bullets on that of the text behind them."""
    largest = max((run.size for run in runs), default=0.0)
    by_height = sorted(range(len(runs)), key=lambda number: runs[number].baseline)
    heights = [runs[number].baseline for number in by_height]
    reach, aside = max(*RAISED_BY, BULLET_DROP) * largest, bullets.GAP * largest

    def near(run: TextRun) -> Iterator[TextRun]:
        """The words that are not farther above or below than any may be that belongs to it."""
        numbers = by_height[bisect_left(heights, run.baseline - reach) : bisect_right(heights, run.baseline + reach)]
        return (runs[number] for number in sorted(numbers))

    def around(run: TextRun) -> Iterator[TextRun]:
        left, right = run.x0 - aside, run.x1 + aside
        return (other for other in near(run) if other.x0 <= right and left <= other.x1)

    for run in runs:
        if _is_bullet([run]):
            behind = [word for word in around(run) if _is_behind_bullet(word, run)]
            nearest = min(behind, key=lambda word: abs(word.baseline - run.baseline), default=run)
            yield replace(run, baseline=nearest.baseline, size=nearest.size)
        elif (len(run.text) <= MAX_RAISED and run.size <= RAISED_SIZE * largest) or NOTES.fullmatch(run.text):
            # The word before comes first: a sign behind it is its own
            words = [word for word in around(run) if _is_raised_beside(run, word)]
            word = min(words, key=lambda word: abs(run.x0 - word.x1), default=None)
            yield replace(run, baseline=word.baseline, is_raised=True) if word else run
        else:
            yield run


def _is_behind_bullet(word: TextRun, bullet: TextRun) -> bool:
    near = -0.1 * word.size < word.x0 - bullet.x1 < bullets.GAP * word.size
    return near and abs(word.baseline - bullet.baseline) < BULLET_DROP * max(word.size, bullet.size)


def _is_raised_beside(run: TextRun, word: TextRun) -> bool:
    low, high = RAISED_BY
    if run.size > RAISED_SIZE * word.size:
        close = -NOTES_DISTANCE <= (run.x0 - word.x1) / word.size <= NOTES_DISTANCE
        raised_by = (word.baseline - run.baseline) / word.size
        return run.size <= word.size and close and NOTES_BY < raised_by < high and NOTES.fullmatch(run.text) is not None
    near = min(abs(run.x0 - word.x1), abs(word.x0 - run.x1)) <= RAISED_DISTANCE * word.size
    return near and low * word.size < word.baseline - run.baseline < high * word.size


def _runs_by_row(runs: Iterable[TextRun]) -> Iterator[list[TextRun]]:
    row: list[TextRun] = []
    for run in sorted(runs, key=lambda run: (run.baseline, run.x0)):
        if row and run.baseline - row[0].baseline > SAME_BASELINE * _height(row[0], run):
            yield row
            row = []
        row.append(run)
    if row:
        yield row


def _height(one: TextRun, other: TextRun) -> float:
    """The type size that decides whether two runs are on one baseline: the larger for an index, the smaller for words."""
    small, large = sorted((one, other), key=lambda run: run.size)
    index = len(small.text) <= MAX_RAISED and small.text.isdigit()
    if index and small.baseline > large.baseline:
        return large.size * MAX_DROP / SAME_BASELINE
    return large.size if index or small.size > RAISED_SIZE * large.size else small.size


def _split_at_gaps(row: list[TextRun]) -> Iterator[list[TextRun]]:
    row = sorted(row, key=lambda run: run.x0)
    piece, end = [row[0]], row[0].x1
    for run in row[1:]:
        sizes = run.size, piece[-1].size
        # Between text and larger type there is no space of words
        size = min(sizes) if max(sizes) >= OTHER_TYPE * min(sizes) else max(sizes)
        # A bullet begins an item, unless it stands between words as a separator does
        begins_item = run.text in bullets.SIGNS and run.x0 - end > 0.5 * size and _gap_behind(run, row) < run.x0 - end
        if begins_item or run.x0 - end > (bullets.GAP if _is_bullet(piece) else COLUMN_GAP) * size:
            yield piece
            piece = []
        piece.append(run)
        end = max(end, run.x1)
    yield piece


def _gap_behind(run: TextRun, row: list[TextRun]) -> float:
    return min((other.x0 - run.x1 for other in row if other.x0 > run.x0), default=0.0)


def _is_bullet(piece: list[TextRun]) -> bool:
    mark = piece[0].text.strip()
    return len(piece) == 1 and (bullets.is_sign(mark) or mark in bullets.LETTERS)


def _row_baseline(row: list[TextRun]) -> float:
    # That of the longest run: an index is lower than its line and may come first.
    return round(max(row, key=lambda run: len(run.text)).baseline, 1)


def _line(page: int, baseline: float, runs: list[TextRun]) -> Line:
    longest = max(runs, key=lambda run: len(run.text))
    letters = sum(len(run.text) for run in runs)
    # A bullet or an index in regular type does not make a bold line regular
    bold = sum(len(run.text) for run in runs if run.bold) > 0.9 * letters
    cell = TextCell(clean_text(_join_runs(runs)), runs[0].x0, max(run.x1 for run in runs))
    colors = {run.color for run in runs if not run.is_raised}
    color = longest.color if len(colors) == 1 else ()
    # Of small capitals the first letters, which are set in the size of the words around
    capitals = [run.size for run in runs if not run.is_raised] if cell.text.isupper() else []
    size = max(capitals, default=longest.size)
    tags = {run.tag for run in runs if not run.is_raised}
    tag = longest.tag if len(tags) == 1 else NO_TAG
    linked = sum(len(run.text) for run in runs if run.linked) > 0.9 * letters
    # To half points: scaled fonts have sizes such as 11.98 and 12.02, which must count as one style.
    return Line(page, baseline, round(2 * size) / 2, bold, (cell,), color=color, tag=tag, linked=linked)


def _join_runs(runs: list[TextRun]) -> str:
    text, before = "", None
    largest = max(runs, key=lambda run: run.size)
    space = CAPITAL_GAP if _are_small_capitals(runs) else SPACE
    for number, run in enumerate(runs):
        words = _bullet(run, runs[number + 1]) if number == 0 and len(runs) > 1 else run.text
        is_index = before is not None and (text[-1:].isalnum() or text[-1:] == "/") and _is_lowered(run, largest)
        is_below = is_index and before is not None and before.is_raised and run.x0 < before.x1
        if before and (before.space_after or run.x0 - before.x1 > space * run.size) and not run.is_raised and not is_below:
            text += " "
        # A raised number above a lowered one is a fraction
        text += raised(words, text) if run.is_raised else f"{'⁄' * is_below}{lowered(words)}" if is_index else words
        before = run
    return text


def _are_small_capitals(runs: list[TextRun]) -> bool:
    """Whether words begin with a letter that is larger than the rest of them."""
    first = [
        one for one, rest in pairwise(runs) if one.size * RAISED_SIZE >= rest.size and 0 <= rest.x0 - one.x1 < SPACE * one.size
    ]
    return bool(first) and all(one.text.isupper() and len(one.text) == 1 for one in first)


def _is_lowered(run: TextRun, word: TextRun) -> bool:
    return run.text.isdigit() and run.size <= RAISED_SIZE * word.size and run.baseline - word.baseline > LOWERED_BY * word.size


def _bullet(run: TextRun, following: TextRun) -> str:
    bullet = bullets.written(run.text.strip(), (following.x0 - run.x1) / run.size)
    return f"{bullet} " if bullet else run.text
