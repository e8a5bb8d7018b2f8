"""Documents: handbooks as sections in reading order, stored as one JSON file each, plain or gzipped."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path, PureWindowsPath
from typing import Any

from audit.atomic_io import write_atomic
from audit.closed_folder import read_plain, refuse_links
from audit.errors import DocumentError
from audit.vocabulary import GENERAL, PHASES

DOCUMENT_SUFFIXES = (".json", ".json.gz")
DEFAULT_PHASE = "combined"
IDENTITY_FIELDS = ("handbook_id", "organ", "center", "phase")
SOURCE_FIELDS = ("title", "source", "digest", "pages", "url", "engine", "licence", "language", "unreadable")
PAGE_LISTS = ("silent_pages", "ocr_pages")
STRUCK, HIDDEN, FRAME, UNREAD, CORRECTED = "struck", "hidden", "frame", "unread", "corrected"
LOSSES = {
    STRUCK: "struck through, so withdrawn",
    HIDDEN: "not visible to a reader",
    FRAME: "navigation, forms, banners and what each page repeats",
    UNREAD: "on the page, but not read",
    CORRECTED: "a person has decided that it is not part of the text",
}
"""Why text of a source is not in its document."""
REPEATED, LEADLESS, BOX, COLUMNS, COPIED, LONG = "repeated", "no lead", "box", "columns", "copied", "long"
DOUBTS = {
    REPEATED: "repeated at the top or bottom of pages, so left out there: check whether it gives the text its meaning",
    LEADLESS: "a list without a line that introduces it: check whether the page says what the items are",
    BOX: "a box on the page, and text from outside it stands between its lines: check the order",
    COLUMNS: "a table of short entries without heads: check whether the columns are separate lists",
    COPIED: "the sections have many more letters than this page: check for text that is there twice",
    LONG: "a section of more than {most:,} letters: check whether headings were missed",
}
"""Where a document may say something else than its source: a kind, and the sentence on a case of it."""
MAX_SECTION_LETTERS = 6_000
"""Of a section that is in doubt for its length alone."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Text of a source that is not in its document.

    kind     one of LOSSES
    letters  how many letters and digits it has
    page     counted from 1; None where the source has no pages
    example  its first words
    """

    kind: str
    letters: int
    page: int | None = None
    example: str = ""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A place where a document may say something else than its source.

    kind   one of DOUBTS
    quote  the words that it is about, as they are in the source
    pages  the pages where it is so, counted from 1; () where the source has none
    """

    kind: str
    quote: str
    pages: tuple[int, ...] = ()

    @property
    def sentence(self) -> str:
        """What it is, and what to check."""
        return DOUBTS[self.kind].format(most=MAX_SECTION_LETTERS)


@dataclass(frozen=True, slots=True)
class Corrected:
    """What the corrections of people did to a document (`audit.text.corrections`).

    digest   of the file of corrections, without who made them and when
    applied  how many hold in this document
    missed   a sentence on each that does not, because its words are not there
    """

    digest: str
    applied: int
    missed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """One section, without the sections below it.

    heading  "" where the text has none
    text     passages are spans of it, in characters from 0; `audit.text.statements` describes its structure
    above    the headings above it, outermost first
    pages    first and last page, counted from 1; () where the source has no pages
    page_starts  (page, first character on it) for each page with text of the section; () where unknown
    part     (2, 5): the second of the five parts of a section that is too long to be cited; () for a whole section. A part that
             begins within a list or table repeats what introduces it
    """

    section_id: str
    heading: str
    text: str
    above: tuple[str, ...] = ()
    pages: tuple[int, ...] = ()
    url: str | None = None
    page_starts: tuple[tuple[int, int], ...] = ()
    part: tuple[int, ...] = ()

    def page_at(self, position: int) -> int | None:
        """The page of a character of the text, counted from 1; None where unknown."""
        if not self.page_starts:
            # A section on one page has no page starts
            return self.pages[0] if self.pages and self.pages[0] == self.pages[-1] else None
        return max((page for page, start in self.page_starts if start <= position), default=self.page_starts[0][0])

    def on_page(self, page: int, start: int, end: int) -> tuple[int, int] | None:
        """The part of characters `start` to `end` that is on a page; all of them where unknown, None where none is."""
        if not self.page_starts:
            return (start, end) if self.page_at(start) in (None, page) else None
        own = [first for number, first in self.page_starts if number == page]
        later = [first for number, first in self.page_starts if number > page]
        part = max(start, min(own, default=end)), min([end, *later])
        return part if part[0] < part[1] else None

    @property
    def title(self) -> str:
        """The heading with those above it: `Medicines > When you travel`; "" without any."""
        return " > ".join(heading for heading in (*self.above, self.heading) if heading)

    @property
    def name(self) -> str:
        """The title by which a reader finds it: `Medicines > When you travel (part 2 of 5)`; "" for a whole one without any."""
        return f"{self.title} (part {self.part[0]} of {self.part[1]})".strip() if len(self.part) == 2 else self.title

    @property
    def is_continued(self) -> bool:
        """Whether it goes on with the section before it, whose heading it repeats."""
        return bool(self.part) and self.part[0] > 1


@dataclass(frozen=True)
class Document:
    """One handbook. `handbook_id`, `organ`, `center` and `phase` are those of the release; section ids are unique.

    source  name of the file it was extracted from
    digest  sha256 of that file
    pages   number of its pages; None: unknown
    engine  the program that extracted it, with its version
    licence licence of that file; may_be_downloaded: whether it allows offering the file itself to readers
    language    ISO 639 code, such as en; None: unknown
    unreadable  share in [0, 1] of its words that are not text: unknown glyphs, fonts without a character table
    silent_pages, ocr_pages  numbers of the pages that are pictures without text, and of those whose text was recognised
    aliases other names and abbreviations of the center, which blinded texts mask
    lost    what the source says and the document does not
    letters how many letters and digits the source has that a reader sees; None: unknown
    doubts  where it may say something else than the source, as far as only the layout of the source shows
    corrections  what corrections of people did; None: there were none

    Raises ValueError where two sections have the same id.
    """

    handbook_id: str
    organ: str
    center: str
    phase: str
    sections: tuple[Section, ...]
    title: str | None = None
    source: str | None = None
    digest: str | None = None
    pages: int | None = None
    url: str | None = None
    engine: str | None = None
    licence: str | None = None
    may_be_downloaded: bool = False
    language: str | None = None
    unreadable: float | None = None
    silent_pages: tuple[int, ...] = ()
    ocr_pages: tuple[int, ...] = ()
    aliases: tuple[str, ...] = ()
    lost: tuple[Loss, ...] = ()
    letters: int | None = None
    doubts: tuple[Doubt, ...] = ()
    corrections: Corrected | None = None

    def __post_init__(self) -> None:
        counts = Counter(section.section_id for section in self.sections)
        repeated = [section_id for section_id, count in counts.items() if count > 1]
        if repeated:
            raise ValueError(f"{self.handbook_id}: {len(repeated)} section ids occur more than once, for example {repeated[0]!r}")

    @cached_property
    def full_text(self) -> str:
        """Headings and texts in reading order, with an empty line between them."""
        parts = (part for section in self.sections for part in ("" if section.is_continued else section.heading, section.text))
        return "\n\n".join(part for part in parts if part)

    @cached_property
    def by_id(self) -> dict[str, Section]:
        """Section id -> section."""
        return {section.section_id: section for section in self.sections}


def write_document(document: Document, path: Path) -> Path:
    """Write `document` as JSON (gzipped where the name ends in .gz), complete or not at all, and return `path`.

    The file also has the full text, for readers that want only that; `read_document` ignores it.
    """
    text = json.dumps(_document_record(document), ensure_ascii=False, indent=1) + "\n"
    # mtime=0, so that the same document always gives the same bytes.
    write_atomic(path, gzip.compress(text.encode(), mtime=0) if path.suffix == ".gz" else text)
    return path


def _document_record(document: Document) -> dict[str, object]:
    order = ("section_id", "heading", "above", "text", "pages", "url")
    sections = [
        {name: asdict(section)[name] for name in order}
        | {name: value for name in ("page_starts", "part") if (value := getattr(section, name))}
        for section in document.sections
    ]
    fields = {name: getattr(document, name) for name in (*IDENTITY_FIELDS, *SOURCE_FIELDS)}
    fields |= {name: value for name in (*PAGE_LISTS, "may_be_downloaded", "aliases") if (value := getattr(document, name))}
    fields |= {name: [asdict(one) for one in many] for name in ("lost", "doubts") if (many := getattr(document, name))}
    fields |= {"corrections": asdict(document.corrections)} if document.corrections else {}
    fields |= {"letters": document.letters} if document.letters is not None else {}
    return {**fields, "sections": sections, "full_text": document.full_text}


def read_document(path: Path) -> Document:
    """The document in `path`. `institution` is read as `center`; organ and phase may be missing (general, combined).

    Raises DocumentError in one sentence where the file cannot be read or is not a document.
    """
    try:
        content = read_plain(path.resolve())
        return _document_of(json.loads(gzip.decompress(content) if path.suffix == ".gz" else content))
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
        problem = f"field {error} is missing" if isinstance(error, KeyError) else str(error)
        raise DocumentError(f"{path}: not a readable document ({problem}). See data/README.md for its fields.") from error


def _document_of(record: Mapping[str, Any]) -> Document:
    phase = record.get("phase") or DEFAULT_PHASE
    if phase not in PHASES:
        raise ValueError(f"phase {phase!r} is not one of {', '.join(PHASES)}")
    return Document(
        handbook_id=checked_file_name(record["handbook_id"]),
        organ=record.get("organ") or GENERAL,
        center=record["center"] if "center" in record else record["institution"],
        phase=phase,
        sections=tuple(_section_of(section, number) for number, section in enumerate(record["sections"], start=1)),
        may_be_downloaded=record.get("may_be_downloaded") is True,
        **_other_fields(record),
    )


def _other_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    lists = {name: tuple(record.get(name) or ()) for name in (*PAGE_LISTS, "aliases")}
    lost = tuple(Loss(**loss) for loss in record.get("lost") or ())
    corrections = record.get("corrections")
    return (
        {name: record.get(name) for name in (*SOURCE_FIELDS, "letters")}
        | lists
        | {
            "lost": lost,
            "doubts": doubts_of_records(record.get("doubts")),
            "corrections": Corrected(corrections["digest"], corrections["applied"], tuple(corrections["missed"]))
            if corrections
            else None,
        }
    )


def doubts_of_records(records: object) -> tuple[Doubt, ...]:
    """The doubts that a list of JSON objects describes; what is of no known kind is left out: a later version may know others."""
    entries = records if isinstance(records, list) else []
    known = (one for one in entries if isinstance(one, dict) and isinstance(one.get("kind"), str) and one["kind"] in DOUBTS)
    return tuple(Doubt(record["kind"], str(record.get("quote") or ""), _integers(record.get("pages"))) for record in known)


def _integers(values: object) -> tuple[int, ...]:
    return tuple(value for value in values if type(value) is int and value > 0) if isinstance(values, (list, tuple)) else ()


def checked_file_name(handbook_id: str) -> str:
    """A handbook id that can be the name of a file. Raises ValueError where it cannot."""
    # Files of later stages are named after the id, so an untrusted id must not lead out of their folder.
    if handbook_id.startswith(".") or not handbook_id or PureWindowsPath(handbook_id).name != handbook_id:
        raise ValueError(f"handbook id '{handbook_id}' cannot be used as a file name")
    return handbook_id


def _section_of(record: Mapping[str, Any], number: int) -> Section:
    pages = record.get("pages") or ([record["page"]] if record.get("page") else [])
    return Section(
        section_id=record.get("section_id") or f"s{number:05}",
        heading=record.get("heading") or "",
        text=record["text"],
        above=tuple(record.get("above") or ()),
        pages=tuple(pages),
        url=record.get("url"),
        page_starts=tuple((page, start) for page, start in record.get("page_starts") or ()),
        part=tuple(record.get("part") or ()),
    )


def read_documents(folder: Path) -> list[Document]:
    """Every document of `folder`, by handbook id; or the one document, where `folder` is a file.

    Raises DocumentError where there is none, or two have the same handbook id.
    """
    return [document for document, _ in documents_and_paths(folder)]


def document_files(folder: Path) -> list[Path]:
    """The files of documents in `folder`, or `folder` where it is a file. Raises DocumentError for a link in the folder."""
    if folder.is_file():
        return [folder]
    try:
        return refuse_links(sorted(path for path in folder.glob("*") if path.name.endswith(DOCUMENT_SUFFIXES)), folder)
    except OSError as error:
        raise DocumentError(f"{error.filename}: {error.strerror}. Nothing was read. Put the file itself there.") from error


def documents_and_paths(folder: Path) -> list[tuple[Document, Path]]:
    """The documents of `read_documents`, each with its file."""
    paths = document_files(folder)
    documents = {document.handbook_id: (document, path) for path in paths for document in [read_document(path)]}
    if not paths:
        raise DocumentError(f"{folder}: there are no documents (*.json, *.json.gz). Make them from PDF files with: audit extract")
    # Of two files of one handbook, the right one is not known
    if len(documents) < len(paths):
        raise DocumentError(
            f"{folder}: {len(paths)} files have only {len(documents)} different handbook ids. Nothing was read. "
            "Remove or rename the duplicates."
        )
    return [documents[handbook_id] for handbook_id in sorted(documents)]
