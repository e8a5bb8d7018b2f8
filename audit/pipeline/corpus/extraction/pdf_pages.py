"""The pages of a PDF as PDFium reads them: words with their places, ruling lines, and the outline.

PDFium is the library with which Chromium displays PDFs (pypdfium2; BSD-3-Clause and Apache-2.0).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from audit.errors import DocumentError
from audit.optional_imports import optional
from audit.pipeline.corpus.extraction.annotations import FormField, annotations_of, field_runs
from audit.pipeline.corpus.extraction.drawings import pdfium_drawings
from audit.pipeline.corpus.extraction.glyphs import (
    MAX_LETTER_GAP,
    PURPOSE,
    SURROGATES,
    Character,
    Display,
    Glyph,
    GlyphReader,
    words,
)
from audit.pipeline.corpus.extraction.layout import Area, LeftOut, OpenPdf, OutlineEntry, PdfPage, TextRun
from audit.pipeline.corpus.extraction.panels import is_in
from audit.pipeline.corpus.extraction.tags import tags_of
from audit.pipeline.corpus.extraction.visibility import Sight, sights
from audit.text.documents import HIDDEN, STRUCK, UNREAD

ENCRYPTED = "it is encrypted and needs a password: save a copy without one, for instance with qpdf --decrypt"
DAMAGED = "it is damaged, cut short, or has no pages: download it again, or print it to a new PDF"
# A line through text is above its baseline by these shares of the type size: below is an underline, above a rule
STRIKE = (0.12, 0.55)
# It goes through this share of a word, or ends where a part of the word does, within this share of the type size
MOST, EDGE = 0.6, 0.12
# Type of a watermark, as a factor of the usual one, the height of its letters in type sizes, and lines that go through it
WATERMARK, CAPITAL, MIN_LINES_THROUGH = 2.5, 0.7, 2
# Points: a drawn annotation as flat as this may be a line through text
FLAT = 8.0
# Fewer letters in a picture's text layer are stray marks
MIN_PICTURED = 10


@contextmanager
def open_pdf(pdf: Path) -> Iterator[OpenPdf]:
    """The PDF, open until the block ends. Raises DocumentError, with the reason as a clause, where it cannot be opened."""
    pdfium = optional("pypdfium2", PURPOSE, "pipeline")
    try:
        document = pdfium.PdfDocument(pdf)
    except pdfium.PdfiumError as error:
        needs_password = optional("pypdfium2.raw", PURPOSE, "pipeline").FPDF_ERR_PASSWORD
        raise DocumentError(ENCRYPTED if getattr(error, "err_code", None) == needs_password else DAMAGED) from error
    try:
        # The values of form fields can be read only in a form that was opened before the pages
        document.init_forms()
        title = document.get_metadata_dict().get("Title", "").strip() or None
        yield OpenPdf(len(document), _pdfium_pages(document), tuple(_outline(document)), title)
    finally:
        document.close()


def _outline(document: Any) -> Iterator[OutlineEntry]:
    for bookmark in document.get_toc():
        target = bookmark.get_dest()
        index = target.get_index() if target else None
        yield OutlineEntry(bookmark.level + 1, bookmark.get_title(), None if index is None else index + 1)


def _pdfium_pages(document: Any) -> Iterator[PdfPage]:
    form = document.formenv.raw if document.formenv else None
    bold = dict[tuple[str, int], bool]()
    for index in range(len(document)):
        page, text = _load_page(document, index)
        try:
            yield _PageReader(page, text, form, bold).page(index + 1)
        finally:
            # The C library frees nothing by itself: the pages of a long PDF would fill the memory
            text.close()
            page.close()


def _load_page(document: Any, index: int) -> tuple[Any, Any]:
    try:
        page = document[index]
        return page, page.get_textpage()
    except optional("pypdfium2", PURPOSE, "pipeline").PdfiumError as error:
        raise DocumentError(f"page {index + 1} of {len(document):,} cannot be read: the file is damaged or cut short") from error


class _PageReader:
    """One PDFium page: the text in each direction, and what is left out of it."""

    def __init__(self, page: Any, text: Any, form: Any, bold: dict[tuple[str, int], bool]) -> None:
        self.source = page
        self.display = _display(page)
        self.reader = GlyphReader(text, self.display, tags_of(page), bold)
        self.annotations = annotations_of(page, form)
        self.left_out: defaultdict[str, list[str]] = defaultdict(list)

    def page(self, number: int) -> PdfPage:
        """The page turned so that most of its text is upright; text in other directions is in `others`."""
        characters = self.reader.characters()
        self.sights = sights(self.source, characters, self.reader.owners, self.display)
        seen = list(zip(characters, self.sights.kinds, strict=True))
        pictured = sum(chr(each.code).isalpha() for each, sight in seen if each and sight is Sight.PICTURED)
        kept = [None if sight is Sight.HIDDEN else each for each, sight in seen]
        self.hidden = [each for each, sight in seen if each and sight is Sight.HIDDEN]
        self._leave_out(HIDDEN, self.hidden)
        self._leave_out(UNREAD, [each for each in kept if each and each.style.turn is None])
        turns = [turn for turn, _ in Counter(each.style.turn for each in kept if each).most_common() if turn is not None] or [0]
        # A page that is turned as a whole has its fields in its own direction
        upright = 0 if 0 in turns else turns[0]
        first, *others = [self._view(number, kept, turn, self.annotations.fields if turn == upright else ()) for turn in turns]
        self.left_out[UNREAD] += self.annotations.notes
        self.left_out[HIDDEN] += self.annotations.hidden
        left_out = tuple(LeftOut(kind, text) for kind, texts in self.left_out.items() for text in texts if text.strip())
        return replace(
            first,
            others=tuple(others),
            free_text=self.annotations.free_text,
            left_out=left_out,
            is_pictured=pictured >= MIN_PICTURED,
        )

    def _view(self, number: int, characters: Sequence[Character | None], turn: int, fields: Iterable[FormField]) -> PdfPage:
        """The text in one direction, on the page turned so that it is upright."""
        display = self.display.turned(turn)
        own = [each for each in characters if each is None or each.style.turn == turn]
        glyphs = list(self.reader.glyphs(own, display))
        drawings = pdfium_drawings(self.source, display)
        noted = [*_flat(display.area(*box) for box in self.annotations.drawn)]

        def shows(line: Area) -> bool:
            # What annotations draw is not on the page without its text
            return any(line.top == note.top and note.x0 <= line.x0 <= note.x1 for note in noted) or self.sights.shows_line(
                self.display.area(*display.back(line))
            )

        struck = list(
            _are_struck(glyphs, [*drawings.lines, *noted], [display.area(*box) for box in self.annotations.struck], shows)
        )
        self._leave_out(STRUCK, [each for each, out in zip(own, struck, strict=True) if each and out])
        runs = list(words([glyph for glyph, out in zip(glyphs, struck, strict=True) if not out]))
        runs, marks = _without_watermarks(runs)
        self.left_out[UNREAD] += marks
        hidden = self.reader.glyphs([each for each in self.hidden if each.style.turn == turn], display)
        runs = _closed(runs, words([*(glyph for glyph, out in zip(glyphs, struck, strict=True) if out), None, *hidden]))
        runs += field_runs(fields, runs, display)
        links = [display.area(*box) for box in self.annotations.links]
        runs = [replace(run, linked=True) if any(is_in(link, run) for link in links) else run for run in runs] if links else runs
        return PdfPage(
            number, *display.size, tuple(runs), drawings.rulings, drawings.borders, drawings.areas, turn, boxes=drawings.boxes
        )

    def _leave_out(self, kind: str, characters: Sequence[Character]) -> None:
        """Note characters that are left out as one text: where their numbers jump, there is something between them."""
        text = "".join(
            f" {chr(each.code)}" if before and each.number != before.number + 1 else chr(each.code)
            for before, each in zip([None, *characters], characters, strict=False)
            if each.code not in SURROGATES
        )
        self.left_out[kind].append(" ".join(text.split()))


def _display(page: Any) -> Display:
    """The page as displayed: its crop box, as far as it is on its paper."""
    raw = optional("pypdfium2.raw", PURPOSE, "pipeline")
    box = raw.FS_RECTF()
    raw.FPDF_GetPageBoundingBox(page.raw, box)
    return Display((box.left, box.bottom, box.right, box.top), page.get_rotation() // 90)


def _without_watermarks(runs: list[TextRun]) -> tuple[list[TextRun], list[str]]:
    """The words, without those in much larger type that lines of others go through; and these."""
    usual = median([run.size for run in runs]) if runs else 0.0
    large = [run for run in runs if run.size >= WATERMARK * usual]
    marks = [run for run in large if len({other.baseline for other in runs if _goes_through(other, run)}) >= MIN_LINES_THROUGH]
    return [run for run in runs if run not in marks], [" ".join(run.text for run in marks)] if marks else []


def _goes_through(run: TextRun, large: TextRun) -> bool:
    inside = large.baseline - CAPITAL * large.size < run.baseline < large.baseline
    return inside and run.size < large.size and run.x0 < large.x1 - run.size and run.x1 > large.x0 + run.size


# -- text that is struck through ---------------------------------------------------------------------------------------


def _flat(areas: Iterable[Area]) -> Iterator[Area]:
    """The lines that flat drawings are."""
    for area in areas:
        if area.bottom - area.top <= min(FLAT, area.x1 - area.x0):
            middle = (area.top + area.bottom) / 2
            yield Area(area.x0, middle, area.x1, middle)


def _are_struck(
    glyphs: Sequence[Glyph | None], lines: Iterable[Area], areas: Sequence[Area], shows: Callable[[Area], bool]
) -> Iterator[bool]:
    """Whether a line goes through the middle of each glyph, and its word or just this part of it, or it is in an area that is
    struck. `shows` tells of a part of a line whether it is seen.
    """
    heights = sorted(((line.top + line.bottom) / 2, line) for line in lines)
    for word in _words_of(glyphs):
        own = [glyph for number in word for glyph in [glyphs[number]] if glyph]
        if not areas and not _has_lines_near(own, heights):
            yield from [False] * len(word)
            continue
        x0, x1 = min((glyph.x0 for glyph in own), default=0.0), max((glyph.x1 for glyph in own), default=0.0)
        through = {line for glyph in own for line in _lines_through(glyph, heights)}
        # A line may go on below a box that covers it
        seen = {line for line in through if shows(line._replace(x0=max(line.x0, x0), x1=min(line.x1, x1)))}
        striking = [seen.intersection(_lines_through(glyph, heights)) for glyph in own]
        most = len(own) * MOST <= sum(map(bool, striking))
        whole = {line for line in seen if _is_as_long(line, [each for each, by in zip(own, striking, strict=True) if line in by])}
        for glyph, by in zip(own, striking, strict=True):
            yield (most and bool(by)) or bool(by & whole) or _is_inside(glyph, areas)
        yield from [False] * (len(word) - len(own))


def _closed(runs: list[TextRun], left_out: Iterable[TextRun]) -> list[TextRun]:
    """The words, each as far as to the end of the words left out behind it: so that the place of these is no column's gap."""
    runs = list(runs)
    for out in sorted(left_out, key=lambda run: run.x0):
        for number, run in enumerate(runs):
            if run.baseline == out.baseline and -1 <= out.x0 - run.x1 <= run.size:
                runs[number] = replace(run, x1=out.x1, space_after=True)
    return runs


def _words_of(glyphs: Sequence[Glyph | None]) -> Iterator[list[int]]:
    """The numbers of the glyphs of each word, and of each space alone."""
    word: list[int] = []
    for number, glyph in enumerate(glyphs):
        before = glyphs[word[-1]] if word else None
        if word and not (before and glyph and before.is_followed_by(glyph, MAX_LETTER_GAP)):
            yield word
            word = []
        word.append(number)
    if word:
        yield word


def _has_lines_near(word: Sequence[Glyph], heights: list[tuple[float, Area]]) -> bool:
    """Whether there are lines at the height of a word's letters, on whatever side of it."""
    if not word or not heights:
        return False
    top = min(glyph.baseline - STRIKE[1] * glyph.style.size for glyph in word)
    bottom = max(glyph.baseline - STRIKE[0] * glyph.style.size for glyph in word)
    return bisect_left(heights, (top,)) < bisect_left(heights, (bottom,))


def _lines_through(glyph: Glyph, heights: list[tuple[float, Area]]) -> list[Area]:
    x, size = (glyph.x0 + glyph.x1) / 2, glyph.style.size
    low, high = STRIKE
    first = bisect_left(heights, (glyph.baseline - high * size,))
    last = bisect_left(heights, (glyph.baseline - low * size,))
    return [line for _, line in heights[first:last] if line.x0 <= x <= line.x1]


def _is_as_long(line: Area, under: Sequence[Glyph]) -> bool:
    """Whether a line begins and ends where the glyphs do that it goes through: a decoration ends anywhere."""
    slack = EDGE * max(glyph.style.size for glyph in under)
    return abs(line.x0 - min(glyph.x0 for glyph in under)) <= slack and abs(line.x1 - max(glyph.x1 for glyph in under)) <= slack


def _is_inside(glyph: Glyph, areas: Iterable[Area]) -> bool:
    x, y = (glyph.x0 + glyph.x1) / 2, glyph.baseline - 0.3 * glyph.style.size
    return any(area.x0 <= x <= area.x1 and area.top <= y <= area.bottom for area in areas)
