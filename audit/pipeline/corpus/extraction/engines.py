"""The engines that turn a PDF into blocks: PDFium, whose pages are structured here, and the service LlamaParse.

LlamaParse receives the file and returns its own headings. It needs the library llama-cloud and a key in LLAMA_CLOUD_API_KEY,
which is used nowhere else; LLAMA_CLOUD_BASE_URL is another address of the service. Its results may change from day to day:
`LLAMAPARSE_VERSION` pins the parser as far as the service allows it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from audit.errors import DocumentError
from audit.optional_imports import optional
from audit.pipeline.corpus.extraction.corrected import Corrections, corrected_blocks
from audit.pipeline.corpus.extraction.layout import Block, ExtractedBlocks, PageProgress
from audit.pipeline.corpus.extraction.pdf_pages import open_pdf
from audit.pipeline.corpus.extraction.repair import clean_text
from audit.pipeline.corpus.extraction.structure import extract_blocks
from audit.text.corrections import Correction
from audit.text.statements import CELL_SEPARATOR
from audit.vocabulary import nearest

# Raise it when the same pages would give another document, so that documents are extracted again
STRUCTURE_VERSION = 7
LLAMAPARSE_KEY = "LLAMA_CLOUD_API_KEY"
LLAMAPARSE_TIER, LLAMAPARSE_VERSION = "cost_effective", "2026-06-15"
BlockReader = Callable[[Path, PageProgress, tuple[Correction, ...]], ExtractedBlocks]


@dataclass(frozen=True)
class Engine:
    """One way to read a PDF.

    name     as `--engine` takes it
    package  the distribution whose version, with the name, decides whether a document must be extracted again
    blocks   PDF -> its blocks; raises DocumentError with the reason as a clause: "it is encrypted and ..."
    """

    name: str
    package: str
    blocks: BlockReader

    @property
    def version(self) -> str:
        """Name, package and version, as a document records them."""
        try:
            package_version = version(self.package)
        except PackageNotFoundError:
            package_version = "not installed"
        return f"{self.name} ({self.package} {package_version}, structure {STRUCTURE_VERSION})"


def pdfium_blocks(pdf: Path, progress: PageProgress, given: tuple[Correction, ...] = ()) -> ExtractedBlocks:
    """The document as its layout shows it and people corrected it. Raises DocumentError where it cannot be opened."""
    with open_pdf(pdf) as opened:
        return extract_blocks(opened, progress, given)


def llamaparse_blocks(pdf: Path, progress: PageProgress, given: tuple[Correction, ...] = ()) -> ExtractedBlocks:
    """The document as LlamaParse reads it. Raises DocumentError where there is no key or the service fails."""
    library = optional("llama_cloud", "The engine llamaparse", "cloud-parser")
    if not os.environ.get(LLAMAPARSE_KEY):
        raise DocumentError(f"the engine llamaparse needs a LlamaCloud key in the environment variable {LLAMAPARSE_KEY}")
    try:
        client = library.LlamaCloud()
        answer = client.parsing.parse(tier=LLAMAPARSE_TIER, version=LLAMAPARSE_VERSION, upload_file=pdf, expand=["items"])
    except library.LlamaCloudError as error:
        raise DocumentError(f"LlamaParse returned an error ({type(error).__name__}: {_without_key(error)})") from error
    pages = answer.items.pages if answer.items else []
    progress(len(pages), len(pages))
    # A handbook that lacks pages would be taken to leave out what is on them
    failed = [page.page_number for page in pages if not page.success]
    if failed:
        raise DocumentError(
            f"LlamaParse could not read {len(failed):,} of {len(pages):,} pages, the first being page {failed[0]}"
        )
    blocks = [block for page in pages for item in page.items for block in _llamaparse_item(item, page.page_number)]
    corrections = Corrections(given)
    corrected = corrected_blocks(corrections, blocks)
    silent = tuple(page.page_number for page in pages if not page.items)
    return ExtractedBlocks(corrected, len(pages), None, silent, corrections=corrections.result)


def _without_key(error: Exception) -> str:
    # The service may repeat the key in its message, which is printed and logged.
    first_line = (str(error).splitlines() or ["no message"])[0][:160]
    return first_line.replace(os.environ[LLAMAPARSE_KEY], "...")


def _llamaparse_item(item: Any, page: int) -> Iterator[Block]:
    """The blocks of one item; pictures, links, headers and footers have none."""
    if item.type == "heading":
        yield Block("heading", clean_text(item.value), page, page, item.level)
    elif item.type == "table":
        rows = (CELL_SEPARATOR.join(clean_text(str(cell)) for cell in row if cell not in (None, "")) for row in item.rows)
        yield from (Block("row", row, page, page) for row in rows)
    elif item.type in ("text", "list", "code"):
        paragraphs = (getattr(item, "value", "") or item.md).split("\n\n")
        yield from (Block("text", clean_text(text), page, page) for text in paragraphs if text.strip())


DEFAULT_ENGINE = "pdfium"
ENGINES: dict[str, Engine] = {
    engine.name: engine
    for engine in (
        Engine("pdfium", "pypdfium2", pdfium_blocks),
        Engine("llamaparse", "llama-cloud", llamaparse_blocks),
    )
}


def engine_named(name: str | None) -> Engine:
    """The engine of this name; the default one for None or "". Raises DocumentError for an unknown name."""
    if (name or DEFAULT_ENGINE) not in ENGINES:
        raise DocumentError(
            f"There is no engine '{name}'.{nearest(str(name), tuple(ENGINES))} "
            f"Allowed: {', '.join(ENGINES)}. Nothing was extracted."
        )
    return ENGINES[name or DEFAULT_ENGINE]
