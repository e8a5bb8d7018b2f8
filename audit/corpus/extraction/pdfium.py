"""Reading a PDF with PDFium, the library that Chromium shows PDFs with (pypdfium2; BSD-3-Clause and Apache-2.0)."""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from audit.corpus.extraction.layout import Mark, Opened, Run, Sheet
from audit.errors import DocumentError
from audit.optional_imports import optional

PURPOSE = "Reading a PDF"
LOCKED = "it is encrypted and asks for a password: save a copy without one, for instance with qpdf --decrypt"
DAMAGED = "it is damaged, cut short, or has no pages: fetch it anew, or print it to a new PDF"
BOLD = re.compile(r"bold|black|heavy|semi-?bold|demi", re.IGNORECASE)
BOLD_WEIGHT = 600
WORD_GAP = 0.2
"""Of the type size: a wider gap ends a word."""
HYPHENS = (2, 0xFFFE)
"""What PDFium makes of a hyphen at the end of a line."""
SURROGATES = range(0xD800, 0xE000)


@contextmanager
def opened(pdf: Path) -> Iterator[Opened]:
    """The PDF, open until the block ends. Raises DocumentError, saying why, where it cannot be opened."""
    pdfium = optional("pypdfium2", PURPOSE, "pipeline")
    try:
        document = pdfium.PdfDocument(pdf)
    except pdfium.PdfiumError as error:
        raise DocumentError(_why(error)) from error
    try:
        title = document.get_metadata_dict().get("Title", "").strip() or None
        yield Opened(len(document), _sheets(document), tuple(_marks(document)), title)
    finally:
        document.close()


def _why(error: Exception) -> str:
    code = getattr(error, "err_code", None)
    locked = optional("pypdfium2.raw", PURPOSE, "pipeline").FPDF_ERR_PASSWORD
    return LOCKED if code == locked else DAMAGED


def _marks(document: Any) -> Iterator[Mark]:
    for bookmark in document.get_toc():
        place = bookmark.get_dest()
        index = place.get_index() if place else None
        yield Mark(bookmark.level + 1, bookmark.get_title(), None if index is None else index + 1)


def _sheets(document: Any) -> Iterator[Sheet]:
    for index in range(len(document)):
        page, text = _page(document, index)
        try:
            width, height = page.get_size()
            yield Sheet(index + 1, width, height, tuple(_Glyphs(page, text).runs()))
        finally:
            text.close()
            page.close()


def _page(document: Any, index: int) -> tuple[Any, Any]:
    try:
        page = document[index]
        return page, page.get_textpage()
    except optional("pypdfium2", PURPOSE, "pipeline").PdfiumError as error:
        raise DocumentError(f"page {index + 1} of {len(document):,} cannot be read, so it is damaged or cut short") from error


class _Glyphs:
    """The glyphs of one page, put together as words. What they share is asked once per text object: calls cost."""

    def __init__(self, page: Any, text: Any) -> None:
        self.raw = optional("pypdfium2.raw", PURPOSE, "pipeline")
        self.text = text
        self.turned = page.get_rotation()
        left, bottom, right, top = page.get_cropbox()
        self.corners = left, bottom, right, top
        self.styles: dict[int, tuple[float, bool]] = {}

    def runs(self) -> Iterator[Run]:
        """The words of the page, in the order of the file."""
        word: list[tuple[str, float, float, float, float, bool]] = []
        for glyph in self._glyphs():
            if word and (glyph is None or self._parts(word[-1], glyph)):
                yield _run(word)
                word = []
            if glyph is not None:
                word.append(glyph)
        if word:
            yield _run(word)

    @staticmethod
    def _parts(before: tuple[str, float, float, float, float, bool], glyph: tuple[str, float, float, float, float, bool]) -> bool:
        _, _, end, baseline, size, bold = before
        _, start, _, at, high, heavy = glyph
        return not -size < start - end < WORD_GAP * size or abs(at - baseline) > 0.1 * size or (high, heavy) != (size, bold)

    def _glyphs(self) -> Iterator[tuple[str, float, float, float, float, bool] | None]:
        """Each glyph with its ends, baseline, size and weight; None where there is a space."""
        raw, text = self.raw, self.text.raw
        box, x, y = raw.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
        for index in range(raw.FPDFText_CountChars(text)):
            code = raw.FPDFText_GetUnicode(text, index)
            if (code <= 32 and code not in HYPHENS) or code == 0xA0:
                yield None
                continue
            raw.FPDFText_GetLooseCharBox(text, index, box)  # as wide as the glyph advances, not as its ink
            raw.FPDFText_GetCharOrigin(text, index, x, y)
            size, bold = self._style(index)
            start, baseline = self._shown(box.left, y.value)
            end, _ = self._shown(box.right, y.value)
            character = "-" if code in HYPHENS else "�" if code in SURROGATES else chr(code)
            yield character, min(start, end), max(start, end), baseline, size, bold

    def _shown(self, x: float, y: float) -> tuple[float, float]:
        """A place as the page is shown, from its upper left corner: pages may be turned."""
        left, bottom, right, top = self.corners
        return ((x - left, top - y), (y - bottom, x - left), (right - x, y - bottom), (top - y, right - x))[self.turned // 90]

    def _style(self, index: int) -> tuple[float, bool]:
        raw, text = self.raw, self.text.raw
        drawn = ctypes.cast(raw.FPDFText_GetTextObject(text, index), ctypes.c_void_p).value or -1
        if drawn not in self.styles:
            matrix, flags, name = raw.FS_MATRIX(), ctypes.c_int(), ctypes.create_string_buffer(128)
            raw.FPDFText_GetMatrix(text, index, matrix)
            raw.FPDFText_GetFontInfo(text, index, name, 128, flags)
            size = raw.FPDFText_GetFontSize(text, index) * math.hypot(matrix.c, matrix.d)
            heavy = raw.FPDFText_GetFontWeight(text, index) >= BOLD_WEIGHT
            self.styles[drawn] = round(size, 1) or 1.0, heavy or BOLD.search(name.value.decode("latin-1")) is not None
        return self.styles[drawn]


def _run(word: list[tuple[str, float, float, float, float, bool]]) -> Run:
    text = "".join(glyph[0] for glyph in word)
    _, x0, _, baseline, size, bold = word[0]
    return Run(text, x0, max(glyph[2] for glyph in word), baseline, size, bold)
