"""Pages of a PDF that say something only in a picture: scanned pages, above all. An empty page loses nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from audit.optional_imports import optional
from audit.pipeline.corpus.extraction.layout import ExtractedBlocks

# Fewer letters on a page are stray marks
MIN_LETTERS = 10
# A stamp, a header and a footer on a scanned page have fewer letters; a table of contents, which is left out too, has more
MAX_STAMP = 60
# Letters drawn as outlines, without a font, are many paths; a frame or a ruled line is a few
MIN_PATHS = 40


def silent_pages(pdf: Path, extracted: ExtractedBlocks) -> tuple[int, ...]:
    """The numbers, from 1, of the pages with pictures or outlines and without text."""
    letters: Counter[int] = Counter()
    for block in extracted.blocks:
        # A paragraph that runs over a page is text of every page it touches
        letters.update(dict.fromkeys(range(block.page, block.last_page + 1), sum(map(str.isalpha, block.text))))
    candidates = [page for page in range(1, extracted.page_count + 1) if letters[page] < MIN_LETTERS]
    return tuple(_drawn_on(pdf, candidates)) if candidates else ()


def _drawn_on(pdf: Path, pages: Iterable[int]) -> Iterator[int]:
    pdfium = optional("pypdfium2", "Reading a PDF", "pipeline")
    document = pdfium.PdfDocument(pdf)
    try:
        for number in pages:
            page = document[number - 1]
            try:
                if _is_drawn_on(page) and _letters(page) <= MAX_STAMP:
                    yield number
            finally:
                page.close()
    finally:
        document.close()


def _letters(page: Any) -> int:
    text = page.get_textpage()
    try:
        return sum(map(str.isalpha, text.get_text_bounded()))
    finally:
        text.close()


def _is_drawn_on(page: Any) -> bool:
    raw = optional("pypdfium2.raw", "Reading a PDF", "pipeline")
    kinds = Counter(item.type for item in page.get_objects(max_depth=4))
    return kinds[raw.FPDF_PAGEOBJ_IMAGE] > 0 or kinds[raw.FPDF_PAGEOBJ_PATH] >= MIN_PATHS
