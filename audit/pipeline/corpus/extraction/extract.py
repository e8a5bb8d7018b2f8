"""One handbook from its file: a PDF by an engine, with OCR where that is wanted, or another format by its library."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from audit.errors import DocumentError
from audit.optional_imports import optional
from audit.pipeline.corpus.extraction.contents import title_key
from audit.pipeline.corpus.extraction.engines import Engine, engine_named
from audit.pipeline.corpus.extraction.formats import Format, digest_of_source, format_of, read_source
from audit.pipeline.corpus.extraction.identity import Identity
from audit.pipeline.corpus.extraction.layout import ExtractedBlocks, PageProgress
from audit.pipeline.corpus.extraction.ocr import Ocr
from audit.pipeline.corpus.extraction.parts import in_parts
from audit.pipeline.corpus.extraction.structure import sections_of
from audit.pipeline.corpus.quality import with_quality
from audit.text.corrections import Correction, digest_of_corrections
from audit.text.documents import HIDDEN, Document

# PDF programs accept other bytes before the header and after the end marker, within these limits
PDF_HEADER, HEADER_BYTES = b"%PDF-", 1024
PDF_END, END_BYTES = b"%%EOF", 2048
# Fewer letters per page, on average, are stray marks on scanned pages
MIN_LETTERS_PER_PAGE = 10


def extract(
    source: Path,
    identity: Identity,
    engine: Engine | str | None = None,
    progress: PageProgress | None = None,
    ocr: Ocr | None = None,
    corrections: tuple[Correction, ...] = (),
) -> Document:
    """The document in a file, or in a folder of pages that is one handbook.

    engine    what reads a PDF: an Engine, its name, or None for the default
    progress  called with the number of pages read so far, and of all
    ocr       recognises the pages of a PDF that are pictures; None: they stay silent
    corrections  of people, applied before headings and paragraphs are found

    Raises DocumentError, with the file and the reason, where it cannot be read or has no text.
    """
    chosen = engine if isinstance(engine, Engine) else engine_named(engine)
    try:
        file_format = format_of(source)
        if file_format is None:
            content = _read_pdf(source, chosen, progress or (lambda _done, _total: None), ocr, corrections)
        else:
            content = _read_other(source, identity, file_format, corrections)
    except DocumentError as error:
        raise DocumentError(f"{source}: {error}. No document was made of it.") from error
    document = Document(
        identity.handbook_id, identity.organ, identity.center, identity.phase, source=source.name, aliases=identity.aliases,
        licence=identity.licence, language=identity.language, may_be_downloaded=identity.may_be_downloaded,
        **content | {"sections": tuple(in_parts(content["sections"])), "title": identity.title or content["title"],
                     "url": identity.url or content.get("url")},
    )  # fmt: skip
    return with_quality(document)


def _read_pdf(
    pdf: Path, engine: Engine, progress: PageProgress, ocr: Ocr | None, corrections: tuple[Correction, ...]
) -> dict[str, Any]:
    """The fields of a document that come from a PDF."""
    digest = pdf_digest(pdf)
    extracted = engine.blocks(pdf, progress, corrections)
    silent = silent_pages(pdf, extracted)
    recognised: tuple[int, ...] = ()
    if ocr and silent:
        readable = ocr.with_text(pdf, digest, silent)
        extracted = engine.blocks(readable, progress, corrections)
        still_silent = silent_pages(readable, extracted)
        recognised = tuple(page for page in silent if page not in still_silent)
        silent = still_silent
    _check_has_text(extracted)
    return {
        "sections": tuple(sections_of(extracted.blocks)), "title": _title(extracted), "digest": digest,
        "pages": extracted.page_count, "silent_pages": silent, "lost": extracted.lost,
        "letters": extracted.letters, "doubts": extracted.doubts, "corrections": extracted.corrections,
        "ocr_pages": tuple(sorted({*recognised, *extracted.pictured_pages})),
        "engine": f"{engine.version}, {ocr.name}" if ocr and recognised else engine.version,
    }  # fmt: skip


def _title(extracted: ExtractedBlocks) -> str | None:
    """The outermost heading of the first page with a heading; without any, the title in the file, if the text has its words.

    What a program writes as the title of a file is often the name of a draft, which no page says.
    """
    headings = [block for block in extracted.blocks if block.kind == "heading" and block.text.strip()]
    if headings:
        first_page = [block for block in headings if block.page == headings[0].page]
        return min(first_page, key=lambda block: block.level).text
    text = title_key(" ".join(block.text for block in extracted.blocks))
    return extracted.title if extracted.title and title_key(extracted.title) in text else None


def _read_other(source: Path, identity: Identity, file_format: Format, corrections: tuple[Correction, ...]) -> dict[str, Any]:
    text = read_source(source, identity.url, corrections)
    title = text.title or next((section.heading for section in text.sections if section.heading), None)
    return {**vars(text), "title": title, "engine": file_format.version}


def pdf_digest(pdf: Path) -> str:
    """The sha256 of a PDF. Raises DocumentError, with the reason as a clause, where it cannot be read or is not a PDF."""
    try:
        with pdf.open("rb") as file:
            start = file.read(HEADER_BYTES)
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DocumentError(f"it cannot be opened ({error.strerror})") from error
    if PDF_HEADER not in start:
        raise DocumentError("it is empty" if not start else f"it is not a PDF: it begins with {start[:8]!r}")
    return digest


def lacks_end_marker(pdf: Path) -> bool:
    """Whether a PDF was cut short."""
    with pdf.open("rb") as file:
        file.seek(max(0, pdf.stat().st_size - END_BYTES))
        return PDF_END not in file.read()


def _check_has_text(extracted: ExtractedBlocks) -> None:
    letters = sum(character.isalpha() for block in extracted.blocks for character in block.text)
    pages, without_text = extracted.page_count, len(extracted.pages_without_text)
    if not pages:
        raise DocumentError("it has no pages")
    # Nothing to compare at all: a document of a few stray marks would seem not to address anything
    if letters < MIN_LETTERS_PER_PAGE * pages and without_text * 2 > pages:
        raise DocumentError(
            f"{without_text:,} of its {pages:,} pages have no text, so it seems to be scanned: "
            "read it with --ocr (in a config: ocr = true), which needs the program ocrmypdf or tesseract"
        )
    if not letters:
        raise DocumentError(f"no text was found on its {pages:,} pages")


def is_made_from(document: Document, source: Path, engine: Engine, ocr: Ocr | None, corrections: Sequence[Correction]) -> bool:
    """Whether a document was made from this content by these programs with these corrections.

    Raises DocumentError where the source cannot be read.
    """
    if digest_of_corrections(corrections) != (document.corrections.digest if document.corrections else ""):
        return False
    file_format = format_of(source)
    digest = digest_of_source(source) if file_format else pdf_digest(source)
    made_by = {file_format.version if file_format else engine.version}
    if ocr and not file_format:
        # Without silent pages there was nothing to recognise
        made_by = {f"{engine.version}, {ocr.name}"} | (set() if document.silent_pages else made_by)
    return (document.source, document.digest) == (source.name, digest) and document.engine in made_by


# -- silent pages --------------------------------------------------------------------------------------------
# Pages that say something only in a picture: scanned pages, above all. An empty page loses nothing.

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
    hidden = Counter({loss.page: loss.letters for loss in extracted.lost if loss.kind == HIDDEN})
    return tuple(_drawn_on(pdf, candidates, hidden)) if candidates else ()


def _drawn_on(pdf: Path, pages: Iterable[int], hidden: Counter[int | None]) -> Iterator[int]:
    pdfium = optional("pypdfium2", "Reading a PDF", "pipeline")
    document = pdfium.PdfDocument(pdf)
    try:
        for number in pages:
            page = document[number - 1]
            try:
                if _is_drawn_on(page) and _letters(page) - hidden[number] <= MAX_STAMP:
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
