"""The quality of a document's text: what was read and what was lost, in numbers and in sentences.

Everything is computed from the document, so documents that were extracted earlier or by another program also have a report.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path

from audit.atomic_io import write_atomic
from audit.formatting import some_of, text_table
from audit.pipeline.corpus.doubts import doubts_of
from audit.text.corrections import letters_in_order
from audit.text.documents import CORRECTED, DOUBTS, FRAME, LONG, LOSSES, Corrected, Document, Doubt, Loss
from audit.text.language import is_gibberish, language_of
from audit.text.statements import BLOCK_GAP, CELL_SEPARATOR

# Control characters of Latin-1 (U+0085 is white space) and U+FFFD, which wrong encodings leave
NOT_DECODED = r"\x80-\x84\x86-\x9f\ufffd"
# These, private-use characters, and the form in which PDF programs write a glyph without a character
UNKNOWN_GLYPH = re.compile(rf"[{NOT_DECODED}\ue000-\uf8ff]|\(cid:\d+\)")
# "thepatientshould", or "handsBefore": longer than nearly all real words, or a capital in the middle
GLUED_WORD = re.compile(r"\b(?:[^\W\d_]{24,}|[^\W\d_]+[a-z]{2}[A-Z][a-z]{2,}[^\W\d_]*)\b")
# With a letter, or with something between its digits that is not text: an icon alone is not a word
WORD = re.compile(rf"(?<!\S)\S*(?:[^\W\d_]|[{NOT_DECODED}]|\d[\ue000-\uf8ff])\S*")
# Text is checked in pieces of about this many characters, so that good pages do not hide a page of gibberish
PIECE = 400
# With lower thresholds, single glyphs and product names would flag every document
MAX_UNREADABLE, MAX_GLUED = 0.01, 0.01
# With a larger share of one-letter words, the letters are spaced out
MAX_SINGLE_LETTERS = 0.6
# Page numbers in a message
MAX_PAGES = 8
# Quotes in a message
MAX_QUOTES = 3
QUALITY_FILE = "quality.jsonl"


@dataclass(frozen=True)
class Quality:
    """What was read and what was lost in one handbook.

    pages         number of pages; None: a source without pages
    silent_pages  numbers of the pages that are pictures without text
    ocr_pages     numbers of the pages whose text is from OCR
    lost          what the source says and the document does not
    doubts        where the document may say something else than the source, page by page
    letters, section_letters  letters and digits that a reader of the source sees (None: unknown), and those of the sections
    long_sections  sections of more than `audit.text.documents.MAX_SECTION_LETTERS` letters
    title         as the document has it
    corrections   what corrections of people did; None: there are none
    unreadable, glued  shares in [0, 1] of the words: not text at all; several words without spaces between them
    language      ISO 639 code; None: unknown
    """

    handbook_id: str
    source: str | None
    pages: int | None
    silent_pages: tuple[int, ...]
    ocr_pages: tuple[int, ...]
    words: int
    unreadable: float
    glued: float
    language: str | None
    sections: int
    headings: int
    tables: int
    engine: str | None
    lost: tuple[Loss, ...] = ()
    title: str | None = None
    letters: int | None = None
    section_letters: int = 0
    doubts: tuple[Doubt, ...] = ()
    corrections: Corrected | None = None

    @cached_property
    def losses(self) -> list[str]:
        """A sentence on each loss; none where everything was read."""
        left_out = [self._left_out(kind) for kind in LOSSES if kind not in (FRAME, CORRECTED)]
        missed = self.corrections.missed if self.corrections else ()
        own = (self._silence, self._recognition, self._gibberish, self._missing_spaces)
        return list(filter(None, (*own, *left_out, *missed)))

    @property
    def frame(self) -> str:
        """A sentence on what stands around the text of most documents, which is not counted as a loss."""
        return self._left_out(FRAME)

    def as_record(self) -> dict[str, object]:
        """The numbers as JSON, with the sentences."""
        return {
            **asdict(self), "losses": self.losses, "frame": self.frame, "letters_share": self.letters_share,
            "long_sections": self.doubts_by_kind[LONG], "doubts_by_kind": self.doubts_by_kind, "to_check": self.to_check,
            "corrected": self.corrected,
        }  # fmt: skip

    @property
    def letters_share(self) -> float | None:
        """Letters of the sections for each letter of the source; above 1 where the head of a column is in each of its cells."""
        return round(self.section_letters / self.letters, 3) if self.letters else None

    @cached_property
    def doubts_by_kind(self) -> dict[str, int]:
        """How many doubts of each kind there are."""
        counts = Counter(doubt.kind for doubt in self.doubts)
        return {kind: counts[kind] for kind in DOUBTS}

    @cached_property
    def to_check(self) -> list[str]:
        """A sentence on each kind of doubt, with pages and quotes: what a person should look at, not what is wrong."""
        return [self._doubt(kind) for kind, count in self.doubts_by_kind.items() if count]

    @property
    def corrected(self) -> str:
        """A sentence on the corrections of people; "" without any."""
        if self.corrections is None:
            return ""
        applied, missed = self.corrections.applied, len(self.corrections.missed)
        were = "1 was" if missed == 1 else f"{missed:,} were"
        others = f"; {were} not, because the words are not there, or are there several times" if missed else ""
        return f"{applied:,} of {applied + missed:,} corrections by people were applied{others}."

    def _doubt(self, kind: str) -> str:
        doubts = [doubt for doubt in self.doubts if doubt.kind == kind]
        places = [f" ({page_list(doubt.pages)})" if doubt.pages else "" for doubt in doubts]
        quotes = ", ".join(f"“{doubt.quote}”{place}" for doubt, place in zip(doubts[:MAX_QUOTES], places, strict=False))
        more = f" and {len(doubts) - MAX_QUOTES:,} more" if len(doubts) > MAX_QUOTES else ""
        return f"{len(doubts):,} × {doubts[0].sentence}: {quotes}{more}."

    @property
    def _silence(self) -> str:
        silent = len(self.silent_pages)
        if not silent or self.pages is None:
            return ""
        pictures = "is a picture without text" if silent == 1 else "are pictures without text"
        return (
            f"{silent:,} of {self.pages:,} pages {pictures} ({page_list(self.silent_pages)}): what they say is missing. "
            "Read them with --ocr (in a config: ocr = true)."
        )

    @property
    def _recognition(self) -> str:
        recognised = len(self.ocr_pages)
        if not recognised or self.pages is None:
            return ""
        picture = "a picture" if recognised == 1 else "pictures"
        return (
            f"The text of {recognised:,} of {self.pages:,} pages is the text layer of {picture}, recognised by a program "
            f"({page_list(self.ocr_pages)}): check it against the pages."
        )

    @property
    def _gibberish(self) -> str:
        if self.unreadable < MAX_UNREADABLE:
            return ""
        return (
            f"{self.unreadable:.0%} of its words are not readable text, for example because a font lacks its table of characters."
        )

    def _left_out(self, kind: str) -> str:
        """A sentence on the text that was left out for a reason."""
        lost = [loss for loss in self.lost if loss.kind == kind]
        if not lost:
            return ""
        pages = sorted({loss.page for loss in lost if loss.page is not None})
        where = f" ({page_list(pages)})" if pages else ""
        letters = sum(loss.letters for loss in lost)
        return f"{letters:,} letters were left out{where}: {LOSSES[kind]}. For example: “{lost[0].example}”."

    @property
    def _missing_spaces(self) -> str:
        return f"{self.glued:.0%} of its words are several words without spaces between them." if self.glued >= MAX_GLUED else ""


def page_list(pages: Sequence[int]) -> str:
    """`page 3`, or `pages 3-5, 9`; the first few where there are many."""
    runs = [[page for _, page in run] for _, run in groupby(enumerate(pages), key=lambda entry: entry[1] - entry[0])]
    texts = [f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs]
    shown = ", ".join(texts[:MAX_PAGES]) + (", ..." if len(texts) > MAX_PAGES else "")
    return f"page{'s' if len(pages) > 1 else ''} {shown}"


def quality_of(document: Document) -> Quality:
    """The quality of a document's text."""
    words = Counter[str]()
    # Detecting gibberish in a long handbook takes a second, so an earlier result is reused
    known = document.unreadable is not None
    for piece in _pieces(document):
        words.update(_counts(piece, known))
    total = words["words"] or 1
    unreadable = document.unreadable if document.unreadable is not None else round(words["unreadable"] / total, 4)
    return Quality(
        document.handbook_id, document.source, document.pages, document.silent_pages, document.ocr_pages,
        words=words["words"], unreadable=unreadable, glued=round(words["glued"] / total, 4),
        language=document.language or language_of(document.full_text),
        sections=len(document.sections),
        headings=sum(bool(section.heading) and not section.is_continued for section in document.sections),
        tables=sum(_tables(section.text) for section in document.sections), engine=document.engine, lost=document.lost,
        title=document.title, letters=document.letters, section_letters=_letters(document), doubts=doubts_of(document),
        corrections=document.corrections,
    )  # fmt: skip


def with_quality(document: Document) -> Document:
    """The document with its language and the share of its words that cannot be read, for programs that read only the document."""
    quality = quality_of(document)
    return replace(document, language=quality.language, unreadable=quality.unreadable)


def shared_titles(qualities: Sequence[Quality]) -> list[str]:
    """A sentence on each title that several handbooks have, by which a reader could not tell them apart."""
    names: defaultdict[str, list[str]] = defaultdict(list)
    titles: dict[str, str] = {}
    for quality in qualities:
        if quality.title and (key := letters_in_order(quality.title)):
            names[key].append(quality.handbook_id)
            titles.setdefault(key, quality.title)
    return [
        f"{len(ids):,} handbooks have the title “{titles[key]}”: {some_of(ids)}. Give each its own in the catalog."
        for key, ids in names.items()
        if len(ids) > 1
    ]


def checks_sentence(qualities: Sequence[Quality]) -> str:
    """How many places of how many handbooks should be checked, by kind; "" without any."""
    total = Counter[str]()
    for quality in qualities:
        total.update(quality.doubts_by_kind)
    handbooks = sum(bool(quality.doubts) for quality in qualities)
    if not total.total():
        return ""
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in total.items() if count)
    places = "1 place" if total.total() == 1 else f"{total.total():,} places"
    return (
        f"{places} in {handbooks:,} of {len(qualities):,} handbooks should be checked against the page ({kinds}): {QUALITY_FILE} "
        "beside the documents quotes each."
    )


def _letters(document: Document) -> int:
    return sum(len(letters_in_order(f"{section.heading} {section.text}")) for section in document.sections)


def _pieces(document: Document) -> Iterator[str]:
    """The text in pieces that end between two words."""
    for section in document.sections:
        start, text = 0, f"{section.heading}\n{section.text}"
        while start < len(text):
            space = text.find(" ", start + PIECE)
            end = len(text) if space < 0 else space
            yield text[start:end]
            start = end


def _counts(piece: str, known: bool) -> dict[str, int]:
    words = WORD.findall(piece)
    unreadable = 0 if known else _unreadable(piece, words)
    return {"words": len(words), "unreadable": unreadable, "glued": len(GLUED_WORD.findall(piece))}


def _unreadable(piece: str, words: Sequence[str]) -> int:
    # "H o l i d a y": spaced letters, which some PDFs have in headings and some throughout
    spaced = sum(len(word) == 1 for word in words) > MAX_SINGLE_LETTERS * len(words)
    if spaced or is_gibberish(piece):
        return len(words)
    return sum(UNKNOWN_GLYPH.search(word) is not None for word in words)


def _tables(text: str) -> int:
    blocks = BLOCK_GAP.split(text)
    return sum(CELL_SEPARATOR in block for block in blocks)


def quality_table(qualities: Sequence[Quality]) -> str:
    """The numbers as a table in plain text, one handbook per line."""
    rows: list[tuple[str, ...]] = [
        (
            "handbook",
            "pages",
            "silent",
            "ocr",
            "unreadable",
            "glued",
            "language",
            "headings",
            "tables",
            "letters",
            "doubts",
            "corrections",
        )
    ]
    rows += [_row(quality) for quality in qualities]
    return text_table(rows)


def _row(quality: Quality) -> tuple[str, ...]:
    return (
        quality.handbook_id, "-" if quality.pages is None else f"{quality.pages:,}", f"{len(quality.silent_pages):,}",
        f"{len(quality.ocr_pages):,}",
        f"{quality.unreadable:.1%}", f"{quality.glued:.1%}", quality.language or "-", f"{quality.headings:,}",
        f"{quality.tables:,}", "-" if quality.letters_share is None else f"{quality.letters_share:.0%}",
        f"{len(quality.doubts):,}", "-" if quality.corrections is None else f"{quality.corrections.applied:,}",
    )  # fmt: skip


def write_qualities(folder: Path, qualities: Iterable[Quality]) -> Path:
    """Write `quality.jsonl` next to the documents, one handbook per line; lines of other documents in the folder are kept."""
    path = folder / QUALITY_FILE
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    earlier = {record["handbook_id"]: record for record in map(json.loads, before.splitlines())}
    with_document = {name: record for name, record in earlier.items() if (folder / f"{name}.json").is_file()}
    records = with_document | {quality.handbook_id: quality.as_record() for quality in qualities}
    text = "".join(json.dumps(records[name], ensure_ascii=False) + "\n" for name in sorted(records))
    if text != before:
        write_atomic(path, text)
    return path
