"""Reading a PDF with pdfplumber, which stands on pdfminer.six (both MIT): slower than PDFium, and all of it Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from audit.corpus.extraction.layout import Opened, Run, Sheet
from audit.corpus.extraction.pdfium import BOLD, DAMAGED, LOCKED, PURPOSE
from audit.errors import DocumentError
from audit.optional_imports import optional

NAMELESS = re.compile(r"\(cid:\d+\)")
"""What the library writes for a glyph whose letter the PDF does not tell; one that stands alone is a bullet."""
DESCENT = 0.2
"""How far below the baseline a box ends, in type sizes: the library gives boxes and no baselines."""


@contextmanager
def opened(pdf: Path) -> Iterator[Opened]:
    """The PDF, open until the block ends. Raises DocumentError, saying why, where it cannot be opened."""
    library = optional("pdfplumber", PURPOSE, "pipeline")
    try:
        document = library.open(pdf)
    except Exception as error:  # of many kinds, from two libraries; each means that there is nothing to read
        locked = "Password" in f"{type(error).__name__} {error!r}"
        raise DocumentError(LOCKED if locked else DAMAGED) from error
    with document:
        title = str(document.metadata.get("Title") or "").strip() or None
        yield Opened(len(document.pages), _sheets(document), (), title)


def _sheets(document: Any) -> Iterator[Sheet]:
    for page in document.pages:
        words = page.extract_words(extra_attrs=["fontname", "size"], keep_blank_chars=False, use_text_flow=False)
        yield Sheet(page.page_number, float(page.width), float(page.height), tuple(map(_run, words)))
        page.close()


def _run(word: dict[str, Any]) -> Run:
    size = round(float(word["size"]), 1)
    text = "•" if NAMELESS.fullmatch(word["text"]) else NAMELESS.sub("�", word["text"])
    return Run(text, word["x0"], word["x1"], word["bottom"] - DESCENT * size, size, BOLD.search(word["fontname"]) is not None)
