"""Extraction of one PDF or a folder of PDFs: an unchanged PDF is not read twice, and a bad one affects no other."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from audit.corpus.documents import Document, read_document, write_document
from audit.corpus.duplicates import Sketch, duplicates, sketch_of
from audit.corpus.extraction.engines import Engine, engine_named
from audit.corpus.extraction.identity import Identity, IdentityOptions, identity_of, read_catalog
from audit.corpus.extraction.layout import ExtractedBlocks, PageProgress
from audit.corpus.extraction.silent_pages import silent_pages
from audit.corpus.extraction.structure import sections_of
from audit.corpus.quality import Quality, quality_of, with_quality, write_qualities
from audit.errors import DocumentError

# PDF programs accept other bytes before the header and after the end marker, within these limits
PDF_HEADER, HEADER_BYTES = b"%PDF-", 1024
PDF_END, END_BYTES = b"%%EOF", 2048
# Fewer letters per page, on average, are stray marks on scanned pages
MIN_LETTERS_PER_PAGE = 10
ExtractionProgress = Callable[[Path, int, int], None]
"""Called with a PDF, the number of its pages read so far, and of all."""


@dataclass
class ExtractionReport:
    """The outcome for each PDF.

    done       documents written
    unchanged  documents that were up to date
    failed     one sentence per PDF without a document
    notes      warnings about documents that were written: what was lost, and which have the same content
    qualities  the quality of each document, written or unchanged
    """

    done: list[Path] = field(default_factory=list)
    unchanged: list[Path] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    qualities: list[Quality] = field(default_factory=list)
    sketches: list[Sketch] = field(default_factory=list)

    def add_document(self, pdf: Path, document: Document) -> None:
        """Take up the quality of a document, a note on each loss, and a sketch of its words to find duplicates by."""
        quality = quality_of(document)
        self.qualities.append(quality)
        self.notes += [f"{pdf}: {loss}" for loss in quality.losses]
        self.sketches.append(sketch_of(document))

    @property
    def summary(self) -> str:
        """The counts in one sentence."""
        return f"{len(self.done):,} extracted, {len(self.unchanged):,} unchanged, {len(self.failed):,} failed."


def extract(pdf: Path, identity: Identity, engine: Engine | str | None = None, progress: PageProgress | None = None) -> Document:
    """The document in a PDF.

    engine    an Engine, its name, or None for the default
    progress  called with the number of pages read so far, and of all

    Raises DocumentError, with the file and the reason, where the PDF cannot be read or has no text.
    """
    chosen = engine if isinstance(engine, Engine) else engine_named(engine)
    try:
        digest = pdf_digest(pdf)
        extracted = chosen.blocks(pdf, progress or (lambda _done, _total: None))
        _check_has_text(extracted)
    except DocumentError as error:
        raise DocumentError(f"{pdf}: {error}. No document was made of it.") from error
    document = Document(
        identity.handbook_id, identity.organ, identity.center, identity.phase, tuple(sections_of(extracted.blocks)),
        title=identity.title or extracted.title, source=pdf.name, digest=digest, pages=extracted.page_count, url=identity.url,
        licence=identity.licence, may_be_downloaded=identity.may_be_downloaded, silent_pages=silent_pages(pdf, extracted),
        aliases=identity.aliases, engine=chosen.version,
    )  # fmt: skip
    return with_quality(document)


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


def _lacks_end_marker(pdf: Path) -> bool:
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
            "make its text readable first, for instance with: ocrmypdf IN.pdf OUT.pdf"
        )
    if not letters:
        raise DocumentError(f"no text was found on its {pages:,} pages")


def pdf_files(paths: Iterable[Path]) -> list[Path]:
    """The PDF files among the paths and in the folders among them, subfolders included.

    Raises DocumentError where a path does not exist or a folder has no PDF file.
    """
    files: list[Path] = []
    for path in paths:
        inside = sorted(file for file in path.rglob("*") if file.suffix.casefold() == ".pdf") if path.is_dir() else [path]
        if not path.exists() or not inside:
            problem = "there are no PDF files in this folder" if path.is_dir() else "there is no such file or folder"
            raise DocumentError(f"{path}: {problem}. Nothing was extracted. Name a PDF file, or a folder that has some.")
        files += inside
    return files


def extract_all(
    paths: Sequence[Path],
    out: Path,
    *,
    options: IdentityOptions | None = None,
    catalog: Path | None = None,
    engine: str | None = None,
    progress: ExtractionProgress | None = None,
) -> ExtractionReport:
    """Write a document for every PDF into `out`, as HANDBOOK_ID.json.

    options  identity options for every PDF
    catalog  a CSV file with the identity of each PDF

    A document of the same PDF, engine and identity is left as it is. Raises DocumentError where nothing can be extracted at all.
    """
    chosen, files = engine_named(engine), pdf_files(paths)
    rows = read_catalog(catalog) if catalog else None
    out.mkdir(parents=True, exist_ok=True)
    report, pdf_of = ExtractionReport(), dict[str, Path]()
    for pdf in files:
        try:
            identity = _unique_identity(pdf, identity_of(pdf, options or IdentityOptions(), rows), pdf_of)
            _extract_if_changed(pdf, identity, out, chosen, report, progress)
        except DocumentError as error:
            report.failed.append(str(error))
    report.failed += _missing_files(rows or {}, files)
    report.notes += [duplicate.sentence for duplicate in duplicates(report.sketches)]
    if report.qualities:
        write_qualities(out, report.qualities)
    return report


def _unique_identity(pdf: Path, identity: Identity, pdf_of: dict[str, Path]) -> Identity:
    # The second would overwrite the document of the first
    earlier = pdf_of.setdefault(identity.handbook_id, pdf)
    if earlier is not pdf:
        raise DocumentError(
            f"{pdf}: its handbook id '{identity.handbook_id}' is also that of {earlier}. No document was made of it. "
            "Give each its own id in --catalog."
        )
    return identity


def _extract_if_changed(
    pdf: Path, identity: Identity, out: Path, engine: Engine, report: ExtractionReport, progress: ExtractionProgress | None
) -> None:
    target = out / f"{identity.handbook_id}.json"
    if unchanged := _up_to_date(target, pdf, identity, engine):
        report.unchanged.append(target)
        report.add_document(pdf, unchanged)
        return
    on_page: PageProgress | None = (lambda done, total: progress(pdf, done, total)) if progress else None
    document = extract(pdf, identity, engine, on_page)
    report.done.append(write_document(document, target))
    report.notes += [f"{pdf}: {note}" for note in _notes(pdf, document)]
    report.add_document(pdf, document)


def _up_to_date(target: Path, pdf: Path, identity: Identity, engine: Engine) -> Document | None:
    """The document, if it was made from the same PDF by the same engine for the same handbook."""
    if not target.is_file():
        return None
    try:
        document = read_document(target)
        digest = pdf_digest(pdf)
    except DocumentError:  # a damaged document is written again; a damaged PDF is reported when it is extracted
        return None
    origin = (document.digest, document.engine, document.source, document.url, document.licence, document.may_be_downloaded)
    handbook = (document.organ, document.center, document.phase)
    same = (
        origin == (digest, engine.version, pdf.name, identity.url, identity.licence, identity.may_be_downloaded)
        and handbook == (identity.organ, identity.center, identity.phase)
        and identity.title in (None, document.title)
    )
    return document if same else None


def _notes(pdf: Path, document: Document) -> list[str]:
    notes = []
    if _lacks_end_marker(pdf):
        notes.append("the marker at the end of a PDF is missing; the readable part was extracted, and the rest may be lost.")
    if not any(section.heading for section in document.sections):
        notes.append("no headings were found; each page became a section.")
    return notes


def _missing_files(rows: Mapping[str, Mapping[str, str]], files: Sequence[Path]) -> list[str]:
    names = {pdf.name for pdf in files}
    return [f"{name}: the catalog has a row for it, but there is no such file." for name in rows if name not in names]
