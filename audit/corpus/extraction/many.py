"""Many PDFs into a folder of documents: nothing is done twice, and a bad file costs nothing but itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from audit.corpus.documents import Document, read_document, write_document
from audit.corpus.extraction.engines import Engine, engine_named
from audit.corpus.extraction.identity import Identity, Said, identity, read_catalog
from audit.corpus.extraction.layout import Progress
from audit.corpus.extraction.one import digest_of, extract, is_cut
from audit.errors import DocumentError

Watch = Callable[[Path, int, int], None]
"""Called with a PDF, the number of its pages read so far, and of all."""


@dataclass
class Report:
    """What became of each PDF: documents written, documents that were there already, and sentences on those that failed.

    notes  what is worth a look in documents that were written
    """

    done: list[Path] = field(default_factory=list)
    unchanged: list[Path] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def summary(self) -> str:
        """The counts in one sentence."""
        return f"{len(self.done):,} extracted, {len(self.unchanged):,} unchanged, {len(self.failed):,} failed."


def pdf_files(paths: Iterable[Path]) -> list[Path]:
    """The PDF files among the paths and in the folders among them, subfolders included.

    Raises DocumentError where a path is not there or a folder has none.
    """
    found: list[Path] = []
    for path in paths:
        inside = sorted(each for each in path.rglob("*") if each.suffix.casefold() == ".pdf") if path.is_dir() else [path]
        if not path.exists() or not inside:
            fault = "there are no PDF files in this folder" if path.is_dir() else "there is no such file or folder"
            raise DocumentError(f"{path}: {fault}. Nothing was extracted. Name a PDF file, or a folder that has some.")
        found += inside
    return found


def extract_all(
    paths: Sequence[Path],
    out: Path,
    *,
    said: Said | None = None,
    catalog: Path | None = None,
    engine: str | None = None,
    watch: Watch | None = None,
) -> Report:
    """Write a document for every PDF into `out`, as HANDBOOK_ID.json.

    said     what the options say of every PDF
    catalog  a CSV file that says which PDF is whose

    A document of the same PDF, engine and identity is left as it is. Raises DocumentError where nothing can be done at all.
    """
    chosen, files = engine_named(engine), pdf_files(paths)
    records = read_catalog(catalog) if catalog else None
    out.mkdir(parents=True, exist_ok=True)
    report, taken = Report(), dict[str, Path]()
    for pdf in files:
        try:
            whose = _whose(pdf, identity_of(pdf, said or Said(), records), taken)
            _one(pdf, whose, out, chosen, report, watch)
        except DocumentError as error:
            report.failed.append(str(error))
    _name_missing(records or {}, files, report)
    return report


def identity_of(pdf: Path, said: Said, records: dict[str, dict[str, str]] | None) -> Identity:
    """Whose handbook it is; raises DocumentError with the file's name."""
    try:
        return identity(pdf, said, records)
    except DocumentError as error:
        raise DocumentError(f"{pdf}: {error}. No document was made of it.") from error


def _whose(pdf: Path, whose: Identity, taken: dict[str, Path]) -> Identity:
    earlier = taken.setdefault(whose.handbook_id, pdf)
    if earlier is not pdf:
        raise DocumentError(f"{pdf}: its handbook id '{whose.handbook_id}' is that of {earlier}. Give each its own in --catalog.")
    return whose


def _one(pdf: Path, whose: Identity, out: Path, engine: Engine, report: Report, watch: Watch | None) -> None:
    target = out / f"{whose.handbook_id}.json"
    if _is_made(target, pdf, whose, engine):
        report.unchanged.append(target)
        return
    progress: Progress | None = (lambda done, total: watch(pdf, done, total)) if watch else None
    document = extract(pdf, whose, engine, progress)
    report.done.append(write_document(document, target))
    report.notes += [f"{pdf}: {note}" for note in _notes(pdf, document)]


def _is_made(target: Path, pdf: Path, whose: Identity, engine: Engine) -> bool:
    """Whether the document was made from this content by this engine for this handbook."""
    if not target.is_file():
        return False
    try:
        made = read_document(target)
        digest = digest_of(pdf)
    except DocumentError:  # a document cut short is made anew; what is wrong with a PDF is said by extracting it
        return False
    same = (made.digest, made.engine, made.source, made.url) == (digest, engine.version, pdf.name, whose.url)
    return (
        same
        and (made.organ, made.center, made.phase) == (whose.organ, whose.center, whose.phase)
        and whose.title in (None, made.title)
    )


def _notes(pdf: Path, document: Document) -> list[str]:
    notes = []
    if is_cut(pdf):
        notes.append("the mark that ends a PDF is missing; what could be read was extracted, and the rest may be lost.")
    if not any(section.heading for section in document.sections):
        notes.append("no headings were found; each page became a section.")
    return notes


def _name_missing(records: dict[str, dict[str, str]], files: list[Path], report: Report) -> None:
    names = {pdf.name for pdf in files}
    report.failed += [
        f"{name}: the catalog has a row for it, but there is no such file." for name in records if name not in names
    ]
