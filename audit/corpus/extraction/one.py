"""One PDF into one document."""

from __future__ import annotations

import hashlib
from pathlib import Path

from audit.corpus.documents import Document
from audit.corpus.extraction.engines import Engine, engine_named
from audit.corpus.extraction.identity import Identity
from audit.corpus.extraction.layout import Blocks, Progress
from audit.corpus.extraction.sections import sections
from audit.errors import DocumentError

HEADER, HEADER_WITHIN = b"%PDF-", 1024
END, END_WITHIN = b"%%EOF", 2048
LETTERS_A_PAGE = 10
"""A document with fewer letters than this per page, on average, has no text worth the name."""


def extract(pdf: Path, identity: Identity, engine: Engine | str | None = None, progress: Progress | None = None) -> Document:
    """The document that a PDF holds.

    engine    an Engine, its name, or None for the default
    progress  called with the number of pages read so far, and of all

    Raises DocumentError, with file and reason, where the PDF cannot be read or has no text.
    """
    chosen = engine if isinstance(engine, Engine) else engine_named(engine)
    try:
        digest = digest_of(pdf)
        blocks = chosen.blocks(pdf, progress or (lambda _done, _total: None))
        _check(blocks)
    except DocumentError as error:
        raise DocumentError(f"{pdf}: {error}. No document was made of it.") from error
    return Document(
        identity.handbook_id, identity.organ, identity.center, identity.phase, tuple(sections(blocks.blocks)),
        title=identity.title or blocks.title, source=pdf.name, digest=digest, pages=blocks.pages, url=identity.url,
        engine=chosen.version,
    )  # fmt: skip


def digest_of(pdf: Path) -> str:
    """The sha256 of a PDF. Raises DocumentError, with the reason as a clause, where it cannot be read or is no PDF."""
    try:
        with pdf.open("rb") as file:
            start = file.read(HEADER_WITHIN)
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DocumentError(f"it cannot be opened ({error.strerror})") from error
    if HEADER not in start:
        raise DocumentError("it is empty" if not start else f"it is no PDF: it begins with {start[:8]!r}")
    return digest


def is_cut(pdf: Path) -> bool:
    """Whether the mark that ends a PDF is missing."""
    with pdf.open("rb") as file:
        file.seek(max(0, pdf.stat().st_size - END_WITHIN))
        return END not in file.read()


def _check(blocks: Blocks) -> None:
    letters = sum(character.isalpha() for block in blocks.blocks for character in block.text)
    if not blocks.pages:
        raise DocumentError("it has no pages")
    if letters < LETTERS_A_PAGE * blocks.pages and len(blocks.silent) * 2 > blocks.pages:
        raise DocumentError(
            f"{len(blocks.silent):,} of its {blocks.pages:,} pages have no text, so it seems to be scanned: "
            "make its text readable first, for instance with: ocrmypdf IN.pdf OUT.pdf"
        )
    if not letters:
        raise DocumentError(f"no text was found on its {blocks.pages:,} pages")
