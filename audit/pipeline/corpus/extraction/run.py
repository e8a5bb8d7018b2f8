"""Extraction of handbooks from files: an unchanged file is not read twice, and a bad one affects no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from audit.errors import DocumentError
from audit.pipeline.corpus.duplicates import Sketch, duplicates, sketch_of
from audit.pipeline.corpus.extraction.engines import Engine, engine_named
from audit.pipeline.corpus.extraction.extract import extract, is_made_from, lacks_end_marker
from audit.pipeline.corpus.extraction.formats import format_of
from audit.pipeline.corpus.extraction.identity import Identity, IdentityOptions, catalog_key, identity_of, read_catalog
from audit.pipeline.corpus.extraction.layout import PageProgress
from audit.pipeline.corpus.extraction.ocr import Ocr
from audit.pipeline.corpus.extraction.source_files import source_files, without_handbook
from audit.pipeline.corpus.quality import Quality, quality_of, shared_titles, write_qualities
from audit.text.corrections import SUFFIX, Correction, corrections_path, read_corrections
from audit.text.documents import Document, read_document, write_document

ExtractionProgress = Callable[[Path, int, int], None]
"""Called with a PDF file, the number of its pages read so far, and of all."""


@dataclass
class ExtractionReport:
    """The outcome for each file.

    done       documents written
    unchanged  documents that were up to date
    failed     one sentence per file without a document
    notes      warnings about documents that were written: what was lost, and which have the same content
    qualities  the quality of each document, written or unchanged
    """

    done: list[Path] = field(default_factory=list)
    unchanged: list[Path] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    qualities: list[Quality] = field(default_factory=list)
    sketches: list[Sketch] = field(default_factory=list)

    def add_document(self, source: Path, document: Document) -> None:
        """Take up the quality of a document, a note on each loss, and a sketch of its words to find duplicates by."""
        quality = quality_of(document)
        self.qualities.append(quality)
        self.notes += [f"{source}: {loss}" for loss in quality.losses]
        self.sketches.append(sketch_of(document))

    @property
    def summary(self) -> str:
        """The counts in one sentence."""
        return f"{len(self.done):,} extracted, {len(self.unchanged):,} unchanged, {len(self.failed):,} failed."


@dataclass(frozen=True)
class _Readers:
    """What reads a file: the engine of PDF files, and OCR for their pages without text.

    corrections  folder of the files of corrections; None: each is beside its source
    """

    engine: Engine
    ocr: Ocr | None
    progress: ExtractionProgress | None
    corrections: Path | None = None

    def on_page(self, source: Path) -> PageProgress | None:
        progress = self.progress
        return (lambda done, total: progress(source, done, total)) if progress else None


def extract_all(
    paths: Sequence[Path],
    out: Path,
    *,
    options: IdentityOptions | None = None,
    catalog: Path | None = None,
    engine: str | None = None,
    ocr: Ocr | None = None,
    progress: ExtractionProgress | None = None,
    corrections: Path | None = None,
) -> ExtractionReport:
    """Write a document for every handbook into `out`, as HANDBOOK_ID.json.

    options  identity options for every file
    catalog  a CSV file with the identity of each file
    ocr      recognises the pages of PDF files that are pictures; None: they stay silent
    corrections  folder of the files of corrections by people; None: each is beside its source

    A document of the same content, engine, identity and corrections is left as it is.

    Raises DocumentError where nothing can be extracted.
    """
    readers = _Readers(engine_named(engine), ocr, progress, corrections)
    rows = read_catalog(catalog) if catalog else None
    files = source_files(paths, frozenset(rows or ()), frozenset({catalog.resolve()} if catalog else ()))
    if ocr:
        _ = ocr.program  # a missing program is reported before hours of work
    out.mkdir(parents=True, exist_ok=True)
    report, source_of = ExtractionReport(), dict[str, Path]()
    for source in files.sources:
        try:
            identity = _unique_identity(source, identity_of(source, options or IdentityOptions(), rows), source_of)
            _extract_if_changed(source, identity, out, readers, report)
        except DocumentError as error:
            report.failed.append(str(error))
    report.failed += _missing_files(rows or {}, files.sources)
    named = sorted(corrections.glob(f"*{SUFFIX}")) if corrections else files.corrections
    report.notes += without_handbook(named, source_of.keys())
    report.notes += shared_titles(report.qualities)
    report.notes += [duplicate.sentence for duplicate in duplicates(report.sketches)]
    report.notes += [files.note] if files.note else []
    if report.qualities:
        write_qualities(out, report.qualities)
    return report


def _unique_identity(source: Path, identity: Identity, source_of: dict[str, Path]) -> Identity:
    # The second would overwrite the document of the first
    earlier = source_of.setdefault(identity.handbook_id, source)
    if earlier is not source:
        raise DocumentError(
            f"{source}: its handbook id '{identity.handbook_id}' is also that of {earlier}. No document was made of it. "
            "Give each its own id in --catalog."
        )
    return identity


def _extract_if_changed(source: Path, identity: Identity, out: Path, readers: _Readers, report: ExtractionReport) -> None:
    target = out / f"{identity.handbook_id}.json"
    corrections = read_corrections(corrections_path(source, identity.handbook_id, readers.corrections))
    if unchanged := _up_to_date(target, source, identity, readers, corrections):
        report.unchanged.append(target)
        report.add_document(source, unchanged)
        return
    document = extract(source, identity, readers.engine, readers.on_page(source), readers.ocr, corrections)
    report.done.append(write_document(document, target))
    report.notes += [f"{source}: {note}" for note in _notes(source, document)]
    report.add_document(source, document)


def _up_to_date(
    target: Path, source: Path, identity: Identity, readers: _Readers, corrections: Sequence[Correction]
) -> Document | None:
    """The document, if it was made from the same content and corrections by the same programs for the same handbook."""
    if not target.is_file():
        return None
    try:
        document = read_document(target)
        same_text = is_made_from(document, source, readers.engine, readers.ocr, corrections)
    except DocumentError:  # a damaged document is written again; a damaged file is reported when it is extracted
        return None
    handbook = (document.organ, document.center, document.phase, document.licence, document.may_be_downloaded)
    same_handbook = (
        handbook == (identity.organ, identity.center, identity.phase, identity.licence, identity.may_be_downloaded)
        and identity.title in (None, document.title)
        and identity.language in (None, document.language)
        # A web page may give its own address where the catalog gives none
        and (identity.url == document.url or (identity.url is None and format_of(source) is not None))
    )
    return document if same_text and same_handbook else None


def _notes(source: Path, document: Document) -> list[str]:
    notes = []
    if format_of(source) is None and lacks_end_marker(source):
        notes.append("the marker at the end of a PDF is missing; the readable part was extracted, and the rest may be lost.")
    if not any(section.heading for section in document.sections):
        parts = "each page" if document.pages else "all of it"
        notes.append(f"no headings were found; {parts} became a section.")
    return notes


def _missing_files(rows: Mapping[str, Mapping[str, str]], sources: Sequence[Path]) -> list[str]:
    names = {catalog_key(source.name) for source in sources}
    missing = [row["file"] for name, row in rows.items() if name not in names]
    return [f"{name}: the catalog has a row for it, but there is no such file." for name in missing]
