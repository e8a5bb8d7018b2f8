"""Reading a PDF with LlamaParse, a service: the file is sent to it, and it says itself what is a heading.

Needs the extra `llamaparse` and a key in LLAMA_CLOUD_API_KEY, which appears nowhere else. LLAMA_CLOUD_BASE_URL names another
address of the service. Its answers may change from day to day; `VERSION` pins the parser as far as the service lets it be pinned.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audit.corpus.extraction.layout import BETWEEN_CELLS, Block, Blocks, Progress
from audit.corpus.extraction.lines import plain
from audit.errors import DocumentError
from audit.optional_imports import optional

KEY = "LLAMA_CLOUD_API_KEY"
TIER, VERSION = "cost_effective", "2026-06-15"
EXTRA = "pipeline"


def blocks(pdf: Path, progress: Progress) -> Blocks:
    """The document as the service sees it. Raises DocumentError where there is no key, or the service gives no answer."""
    library = optional("llama_cloud", "The engine llamaparse", EXTRA)
    if not os.environ.get(KEY):
        raise DocumentError(f"the engine llamaparse needs a key of LlamaCloud in {KEY}")
    try:
        answer = library.LlamaCloud().parsing.parse(tier=TIER, version=VERSION, upload_file=pdf, expand=["items"])
    except library.LlamaCloudError as error:
        raise DocumentError(f"LlamaParse gave no answer ({type(error).__name__}: {_first_line(error)})") from error
    pages = answer.items.pages if answer.items else []
    progress(len(pages), len(pages))
    missed = [page.page_number for page in pages if not page.success]
    if missed:
        raise DocumentError(
            f"LlamaParse could not read {len(missed):,} of {len(pages):,} pages, the first of them page {missed[0]}"
        )
    found = tuple(block for page in pages for item in page.items for block in _of(item, page.page_number))
    return Blocks(found, len(pages), None, tuple(page.page_number for page in pages if not page.items))


def _first_line(error: Exception) -> str:
    """What the service said, without the key, should it repeat it."""
    told = (str(error).splitlines() or ["nothing said"])[0][:160]
    return told.replace(os.environ[KEY], "...")


def _of(item: Any, page: int) -> Iterator[Block]:
    """The blocks of one item; pictures, links, heads and feet of pages are none."""
    if item.type == "heading":
        yield Block("heading", plain(item.value), page, page, item.level)
    elif item.type == "table":
        rows = (BETWEEN_CELLS.join(plain(str(cell)) for cell in row if cell not in (None, "")) for row in item.rows)
        yield from (Block("row", row, page, page) for row in rows)
    elif item.type in ("text", "list", "code"):
        parts = getattr(item, "value", "") or item.md
        yield from (Block("text", plain(part), page, page) for part in parts.split("\n\n") if part.strip())
