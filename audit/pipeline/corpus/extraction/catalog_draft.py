"""A first catalog of handbooks for a person to correct: what names of files, first pages and their addresses suggest."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from audit.errors import DocumentError
from audit.formatting import safe_cell
from audit.pipeline.corpus.extraction.extract import pdf_digest
from audit.pipeline.corpus.extraction.formats import format_of, read_source
from audit.pipeline.corpus.extraction.identity import CATALOG_COLUMNS, fields_of_file_name, file_name_part
from audit.pipeline.corpus.extraction.layout import Line, lines_of
from audit.pipeline.corpus.extraction.pdf_pages import open_pdf
from audit.pipeline.corpus.extraction.source_files import source_files
from audit.text.documents import DEFAULT_PHASE
from audit.text.language import language_of
from audit.vocabulary import GENERAL

FIRST_PAGES = 3
MAX_TITLE, MAX_CHARACTERS = 160, 8_000
# The words that handbooks use for an organ; a handbook that names several equally often concerns all of them
ORGANS = {
    "heart": r"heart|cardiac|cardiolog\w+", "lung": r"lungs?|pulmonary", "kidney": r"kidneys?|renal|nephrolog\w+",
    "liver": r"liver|hepatic", "pancreas": r"pancreas|pancreatic", "bone marrow": r"bone marrow|stem cells?",
}  # fmt: skip
# A handbook on another organ mentions one now and then
MIN_MENTIONS = 5
BEFORE = re.compile(
    r"\b(before (?:your |the |a )?\w* ?transplant|pre-?transplant|transplant (?:waiting list|evaluation))", re.IGNORECASE
)
AFTER = re.compile(r"\b(after (?:your |the |a )?\w* ?transplant|post-?transplant|since your transplant)", re.IGNORECASE)
WORD = r"(?:[A-Z][\w&'’.-]{0,40}+|of|for|and|the|&)"
INSTITUTION = re.compile(
    rf"\b[A-Z][\w&'’.-]{{0,40}}+(?: {WORD}){{0,6}} (?:NHS Foundation Trust|NHS Trust|Hospitals?|Clinics?|Medical Cent(?:er|re)"
    r"|Cancer Cent(?:er|re)|Health(?:care| System)|Institutes?|Universit(?:y|ies)|Foundation)\b"
    r"|\bCenters? for Disease Control and Prevention\b"
)
ADDRESS = re.compile(r"\b(?:https?://|www\.)[\w.-]+\.[a-z]{2,}(?:/[\w./%~-]*)?", re.IGNORECASE)


class FirstPages(NamedTuple):
    """What is known of a source without reading all of it."""

    title: str
    text: str
    url: str | None = None


def write_catalog_draft(paths: Sequence[Path], catalog: Path) -> list[dict[str, str]]:
    """Write a row for each handbook among the paths, and return the rows. A file that cannot be read has only its name.

    Raises DocumentError where the catalog exists already, since a person may have corrected it, or cannot be written.
    """
    if catalog.exists():
        raise DocumentError(f"{catalog} exists already. Nothing was written. Name another file, or remove this one.")
    files = source_files(paths, ignored=frozenset({catalog.resolve()}))
    rows = list(_with_own_ids(_row(source) for source in files.sources))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, CATALOG_COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: safe_cell(value) for name, value in row.items()} for row in rows)
    try:
        # "x": another process may have written it in the meantime
        with catalog.open("x", encoding="utf-8", newline="") as file:
            file.write(text.getvalue())
    except OSError as error:
        raise DocumentError(f"{catalog} cannot be written ({error.strerror}). Nothing was written.") from error
    return rows


def _row(source: Path) -> dict[str, str]:
    named = fields_of_file_name(source)
    try:
        pages = _first_pages(source)
    except DocumentError:  # extraction will say why; the row is there to be filled in
        return {"file": source.name, "organ": GENERAL, "phase": DEFAULT_PHASE} | named
    address = ADDRESS.search(pages.text)
    url = pages.url or (address[0].rstrip("./") if address else "")
    guessed = {
        "file": source.name, "organ": _organ(f"{source.stem} {pages.title}", pages.text), "center": _center(pages.text, url),
        "phase": _phase(pages), "title": pages.title, "url": url if "://" in url or not url else f"https://{url}",
        "language": language_of(pages.text) or "",
    }  # fmt: skip
    return guessed | named


def _first_pages(source: Path) -> FirstPages:
    if format_of(source):
        content = read_source(source)
        headings = [section.heading for section in content.sections if section.heading]
        text = "\n".join(f"{section.heading}\n{section.text}" for section in content.sections)
        return FirstPages(next(iter(headings), content.title or "")[:MAX_TITLE], text[:MAX_CHARACTERS], content.url)
    pdf_digest(source)
    with open_pdf(source) as pdf:
        pages = [lines_of(page.runs, page.number) for page in islice(pdf.pages, FIRST_PAGES)]
        text = "\n".join(line.text for lines in pages for line in lines)
        return FirstPages(_title(pdf.title, pages[0] if pages else []), text[:MAX_CHARACTERS])


def _title(of_file: str | None, lines: Sequence[Line]) -> str:
    """The lines in the largest type of the first page, else the title in the file, which is often that of a template."""
    largest = max((line.size for line in lines if len(line.text) > 2), default=0.0)
    printed = " ".join(line.text for line in lines if line.size == largest)
    return printed if 0 < len(printed) <= MAX_TITLE else (of_file or "")[:MAX_TITLE]


def _organ(title: str, text: str) -> str:
    for part, enough in ((title, 1), (text, MIN_MENTIONS)):
        counts = Counter({organ: len(re.findall(rf"\b(?:{words})\b", part, re.IGNORECASE)) for organ, words in ORGANS.items()})
        (organ, most), (_, second) = counts.most_common(2)
        if most > second and most >= enough:
            return organ
    return GENERAL


def _center(text: str, url: str) -> str:
    """The institution that the first pages name most often, else the site of their address."""
    named = Counter(match[0] for match in INSTITUTION.finditer(" ".join(text.split())))
    if named:
        return named.most_common(1)[0][0]
    site = urlsplit(url if "://" in url else f"https://{url}").hostname or ""
    return site.removeprefix("www.").rpartition(".")[0]


def _phase(pages: FirstPages) -> str:
    before, after = (len(pattern.findall(f"{pages.title} {pages.text}")) for pattern in (BEFORE, AFTER))
    return "pre" if before and not after else "post" if after and not before else DEFAULT_PHASE


def _with_own_ids(rows: Iterator[dict[str, str]]) -> Iterator[dict[str, str]]:
    """The rows with a handbook id each, numbered where several would be the same."""
    taken: Counter[str] = Counter()
    for row in rows:
        base = "_".join(file_name_part(row.get(name) or "unknown") for name in ("organ", "center", "phase"))
        taken[base] += 1
        yield {**row, "handbook_id": base if taken[base] == 1 else f"{base}-{taken[base]}"}
