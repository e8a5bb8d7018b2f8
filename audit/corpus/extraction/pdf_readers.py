"""The libraries that read the pages of a PDF: PDFium (by default) and pdfplumber.

PDFium is the library with which Chromium displays PDFs (pypdfium2; BSD-3-Clause and Apache-2.0). pdfplumber is built on
pdfminer.six (both MIT); it is slower and all of it is Python.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from audit.corpus.extraction.layout import OpenPdf, OutlineEntry, PdfPage, TextRun
from audit.errors import DocumentError
from audit.optional_imports import optional

PURPOSE = "Reading a PDF"
ENCRYPTED = "it is encrypted and needs a password: save a copy without one, for instance with qpdf --decrypt"
DAMAGED = "it is damaged, cut short, or has no pages: download it again, or print it to a new PDF"
BOLD = re.compile(r"bold|black|heavy|semi-?bold|demi", re.IGNORECASE)
BOLD_WEIGHT = 600
# A gap wider than this share of the type size ends a word
WORD_GAP = 0.2
# The codes that PDFium returns for a hyphen at the end of a line
LINE_END_HYPHENS = (2, 0xFFFE)
SURROGATES = range(0xD800, 0xE000)
# What pdfplumber writes for a glyph without a known character; on its own it is a bullet
UNKNOWN_GLYPH = re.compile(r"\(cid:\d+\)")
# Distance from the baseline to the bottom of a box, in type sizes: pdfplumber gives boxes, not baselines
DESCENT = 0.2


@contextmanager
def open_with_pdfium(pdf: Path) -> Iterator[OpenPdf]:
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
            width, height = page.get_size()
            yield PdfPage(index + 1, width, height, tuple(_PageText(page, text).runs()))
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


class _Glyph(NamedTuple):
    character: str
    x0: float
    x1: float
    baseline: float
    size: float
    bold: bool

    def is_followed_by(self, other: _Glyph) -> bool:
        """Whether the other glyph continues the same word in the same font."""
        # Kerning lets glyphs overlap, so the distance may be negative
        close = -self.size < other.x0 - self.x1 < WORD_GAP * self.size
        same_line = abs(other.baseline - self.baseline) <= 0.1 * self.size
        return close and same_line and (other.size, other.bold) == (self.size, self.bold)


class _PageText:
    """The glyphs of one PDFium page, put together as words."""

    def __init__(self, page: Any, text: Any) -> None:
        self.raw = optional("pypdfium2.raw", PURPOSE, "pipeline")
        self.text = text
        self.rotation = page.get_rotation()
        self.left, self.bottom, self.right, self.top = page.get_cropbox()
        # Type and weight are looked up once per text object: each call into the C library costs.
        self.styles: dict[int, tuple[float, bool]] = {}

    def runs(self) -> Iterator[TextRun]:
        """The words of the page, in the order of the file."""
        word: list[_Glyph] = []
        for glyph in self._glyphs():
            if word and (glyph is None or not word[-1].is_followed_by(glyph)):
                yield _run_of(word)
                word = []
            if glyph is not None:
                word.append(glyph)
        if word:
            yield _run_of(word)

    def _glyphs(self) -> Iterator[_Glyph | None]:
        """Each glyph; None for a space."""
        raw, text = self.raw, self.text.raw
        box, x, y = raw.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
        for index in range(raw.FPDFText_CountChars(text)):
            code = raw.FPDFText_GetUnicode(text, index)
            if (code <= 32 and code not in LINE_END_HYPHENS) or code == 0xA0:
                yield None
                continue
            raw.FPDFText_GetLooseCharBox(text, index, box)  # as wide as the glyph's advance, not as its ink
            raw.FPDFText_GetCharOrigin(text, index, x, y)
            start, baseline = self._displayed(box.left, y.value)
            end, _ = self._displayed(box.right, y.value)
            character = "-" if code in LINE_END_HYPHENS else "�" if code in SURROGATES else chr(code)
            yield _Glyph(character, min(start, end), max(start, end), baseline, *self._style(index))

    def _displayed(self, x: float, y: float) -> tuple[float, float]:
        """A position from the upper left corner of the page as it is displayed: pages may be rotated."""
        return (
            (x - self.left, self.top - y),
            (y - self.bottom, x - self.left),
            (self.right - x, y - self.bottom),
            (self.top - y, self.right - x),
        )[self.rotation // 90]

    def _style(self, index: int) -> tuple[float, bool]:
        raw, text = self.raw, self.text.raw
        text_object = ctypes.cast(raw.FPDFText_GetTextObject(text, index), ctypes.c_void_p).value or -1
        if text_object not in self.styles:
            matrix, flags, name = raw.FS_MATRIX(), ctypes.c_int(), ctypes.create_string_buffer(128)
            raw.FPDFText_GetMatrix(text, index, matrix)
            raw.FPDFText_GetFontInfo(text, index, name, 128, flags)
            size = raw.FPDFText_GetFontSize(text, index) * math.hypot(matrix.c, matrix.d)
            # Some fonts are bold only by their name: their weight is not set
            bold = raw.FPDFText_GetFontWeight(text, index) >= BOLD_WEIGHT or BOLD.search(name.value.decode("latin-1"))
            self.styles[text_object] = round(size, 1) or 1.0, bool(bold)
        return self.styles[text_object]


def _run_of(word: list[_Glyph]) -> TextRun:
    first = word[0]
    text = "".join(glyph.character for glyph in word)
    return TextRun(text, first.x0, max(glyph.x1 for glyph in word), first.baseline, first.size, first.bold)


@contextmanager
def open_with_pdfplumber(pdf: Path) -> Iterator[OpenPdf]:
    """The PDF, open until the block ends. Raises DocumentError, with the reason as a clause, where it cannot be opened."""
    library = optional("pdfplumber", PURPOSE, "pipeline")
    try:
        document = library.open(pdf)
    except Exception as error:  # two libraries raise many kinds of errors; each means that the file cannot be read
        encrypted = "Password" in f"{type(error).__name__} {error!r}"
        raise DocumentError(ENCRYPTED if encrypted else DAMAGED) from error
    with document:
        title = str(document.metadata.get("Title") or "").strip() or None
        yield OpenPdf(len(document.pages), _pdfplumber_pages(document), (), title)


def _pdfplumber_pages(document: Any) -> Iterator[PdfPage]:
    for page in document.pages:
        words = page.extract_words(extra_attrs=["fontname", "size"], keep_blank_chars=False, use_text_flow=False)
        yield PdfPage(page.page_number, float(page.width), float(page.height), tuple(map(_run_of_word, words)))
        page.close()


def _run_of_word(word: dict[str, Any]) -> TextRun:
    size = round(float(word["size"]), 1)
    text = "•" if UNKNOWN_GLYPH.fullmatch(word["text"]) else UNKNOWN_GLYPH.sub("�", word["text"])
    bold = BOLD.search(word["fontname"]) is not None
    return TextRun(text, word["x0"], word["x1"], word["bottom"] - DESCENT * size, size, bold)
