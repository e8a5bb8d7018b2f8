"""The pages of a PDF as PDFium reads them: words with their places, ruling lines, and the outline.

PDFium is the library with which Chromium displays PDFs (pypdfium2; BSD-3-Clause and Apache-2.0).
"""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from audit.errors import DocumentError
from audit.optional_imports import optional
from audit.pipeline.corpus.extraction.drawings import pdfium_drawings
from audit.pipeline.corpus.extraction.layout import Color, OpenPdf, OutlineEntry, PdfPage, TextRun
from audit.pipeline.corpus.extraction.repair import CONTROL_LIGATURES, UNKNOWN, from_font

PURPOSE = "Reading a PDF"
ENCRYPTED = "it is encrypted and needs a password: save a copy without one, for instance with qpdf --decrypt"
DAMAGED = "it is damaged, cut short, or has no pages: download it again, or print it to a new PDF"
BOLD = re.compile(r"bold|black|heavy|semi-?bold|demi", re.IGNORECASE)
BOLD_WEIGHT = 600
# A gap wider than this share of the type size, beyond the font's usual distance between letters, ends a word
WORD_GAP = 0.12
# Letters farther apart than this share of the type size are words
MAX_LETTER_GAP = 0.3
# Degrees; text in another direction (a tab at the edge, a watermark) is no part of the page's text
MAX_SLANT = 8
# The codes that PDFium returns for a hyphen at the end of a line
LINE_END_HYPHENS = (2, 0xFFFE)
SURROGATES = range(0xD800, 0xE000)


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
    for index in range(len(document)):
        page, text = _load_page(document, index)
        try:
            yield _PageText(page, text).page(index + 1)
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


class _Style(NamedTuple):
    """The style of a text object; `turn` is its direction on the page as displayed, in quarter turns, None where slanted."""

    size: float
    bold: bool
    turn: int | None
    font: str
    color: Color


class _Glyph(NamedTuple):
    character: str
    x0: float
    x1: float
    baseline: float
    style: _Style

    def is_followed_by(self, other: _Glyph, letter_gap: float) -> bool:
        """Whether the other glyph continues the same word in the same font; `letter_gap` is usual there, in type sizes."""
        size = self.style.size
        # Kerning lets glyphs overlap, so the distance may be negative
        close = -size < other.x0 - self.x1 < (WORD_GAP + letter_gap) * size
        same_line = abs(other.baseline - self.baseline) <= 0.1 * size
        return close and same_line and (other.style.size, other.style.bold) == (size, self.style.bold)


class _PageText:
    """The glyphs of one PDFium page, put together as words. Text in another direction than most is left out."""

    def __init__(self, page: Any, text: Any) -> None:
        self.raw = optional("pypdfium2.raw", PURPOSE, "pipeline")
        self.source, self.text = page, text
        self.rotation = page.get_rotation() // 90
        self.box = page.get_cropbox()
        # Type and weight are looked up once per text object: each call into the C library costs.
        self.styles: dict[int, _Style] = {}

    def page(self, number: int) -> PdfPage:
        """The page with its words and ruling lines, turned so that most of its text is upright."""
        codes = list(self._codes())
        turns = Counter(style.turn for _, code, style in codes if code > 32 and style.turn is not None)
        turn = turns.most_common(1)[0][0] if turns else 0
        self.rotation = (self.rotation + turn) % 4
        left, bottom, right, top = self.box
        width, height = (right - left, top - bottom) if self.rotation % 2 == 0 else (top - bottom, right - left)
        runs = tuple(_words(list(self._glyphs(codes, turn))))
        return PdfPage(number, width, height, runs, *pdfium_drawings(self.source, self.displayed))

    def _codes(self) -> Iterator[tuple[int, int, _Style]]:
        """The number, the code and the style of each character."""
        for index in range(self.raw.FPDFText_CountChars(self.text.raw)):
            yield index, self.raw.FPDFText_GetUnicode(self.text.raw, index), self._style(index)

    def _glyphs(self, codes: list[tuple[int, int, _Style]], turn: int) -> Iterator[_Glyph | None]:
        """Each upright glyph; None for a space."""
        raw, text = self.raw, self.text.raw
        box, x, y = raw.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
        for index, code, style in codes:
            if self._is_space(index, code):
                # PDFium adds spaces of its own, wrong ones in text that is upside down: the distance decides there
                if not raw.FPDFText_IsGenerated(text, index):
                    yield None
            elif style.turn == turn:
                raw.FPDFText_GetLooseCharBox(text, index, box)  # as wide as the glyph's advance, not as its ink
                raw.FPDFText_GetCharOrigin(text, index, x, y)
                start, _ = self.displayed(box.left, box.bottom)
                end, _ = self.displayed(box.right, box.top)
                _, baseline = self.displayed(x.value, y.value)
                yield _Glyph(_character(code, style.font), min(start, end), max(start, end), baseline, style)

    def _is_space(self, index: int, code: int) -> bool:
        if code in CONTROL_LIGATURES and not self.raw.FPDFText_IsGenerated(self.text.raw, index):
            return False
        return (code <= 32 and code not in LINE_END_HYPHENS) or code == 0xA0

    def displayed(self, x: float, y: float) -> tuple[float, float]:
        """A position from the upper left corner of the page as it is displayed: pages may be rotated."""
        left, bottom, right, top = self.box
        return ((x - left, top - y), (y - bottom, x - left), (right - x, y - bottom), (top - y, right - x))[self.rotation]

    def _style(self, index: int) -> _Style:
        raw, text = self.raw, self.text.raw
        text_object = ctypes.cast(raw.FPDFText_GetTextObject(text, index), ctypes.c_void_p).value or -1
        if text_object not in self.styles:
            matrix, flags, name = raw.FS_MATRIX(), ctypes.c_int(), ctypes.create_string_buffer(128)
            raw.FPDFText_GetMatrix(text, index, matrix)
            raw.FPDFText_GetFontInfo(text, index, name, 128, flags)
            font = name.value.decode("latin-1")
            size = raw.FPDFText_GetFontSize(text, index) * math.hypot(matrix.c, matrix.d)
            # Some fonts are bold only by their name: their weight is not set
            bold = raw.FPDFText_GetFontWeight(text, index) >= BOLD_WEIGHT or BOLD.search(font) is not None
            self.styles[text_object] = _Style(
                round(size, 1) or 1.0, bold, self._turn(matrix.a, matrix.b), font, self._color(index)
            )
        return self.styles[text_object]

    def _color(self, index: int) -> Color:
        red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
        self.raw.FPDFText_GetFillColor(self.text.raw, index, red, green, blue, alpha)
        return red.value, green.value, blue.value

    def _turn(self, a: float, b: float) -> int | None:
        angle = math.degrees(math.atan2(b, a)) % 360
        quarter = round(angle / 90)
        # A page's own rotation is clockwise, a text's angle is not
        return (quarter - self.rotation) % 4 if abs(angle - 90 * quarter) <= MAX_SLANT else None


def _character(code: int, font: str) -> str:
    if code in LINE_END_HYPHENS:
        return "-"
    return UNKNOWN if code in SURROGATES else from_font(chr(code), font)


def _words(glyphs: list[_Glyph | None]) -> Iterator[TextRun]:
    gaps = _letter_gaps(glyphs)
    word: list[_Glyph] = []
    for glyph in [*glyphs, None]:
        if word and (glyph is None or not word[-1].is_followed_by(glyph, gaps[glyph.style.size, glyph.style.bold])):
            yield _run_of(word, space_after=glyph is None)
            word = []
        if glyph is not None:
            word.append(glyph)


def _letter_gaps(glyphs: list[_Glyph | None]) -> dict[tuple[float, bool], float]:
    """The usual distance between the letters of a word, in type sizes, for each size and weight: widely set text has more."""
    gaps: dict[tuple[float, bool], list[float]] = {}
    for before, glyph in pairwise(glyphs):
        if before and glyph and before.style == glyph.style and abs(glyph.baseline - before.baseline) < 0.1 * glyph.style.size:
            gaps.setdefault((glyph.style.size, glyph.style.bold), []).append((glyph.x0 - before.x1) / glyph.style.size)
    usual = {style: max(0.0, min(median(distances), MAX_LETTER_GAP)) for style, distances in gaps.items()}
    return defaultdict(float, usual)


def _run_of(word: list[_Glyph], *, space_after: bool) -> TextRun:
    first = word[0]
    text = "".join(glyph.character for glyph in word)
    end = max(glyph.x1 for glyph in word)
    style = first.style
    return TextRun(text, first.x0, end, first.baseline, style.size, style.bold, space_after, color=style.color)
