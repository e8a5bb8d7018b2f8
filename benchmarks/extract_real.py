"""How well each reader recovers real documents, whose headings, leads, cells and reading order were noted by hand.

    python -m benchmarks.extract_real --real DIR [DIR ...] [--half sealed] [--readers pdfium,...] [--documents NAME,...]
                                      [--leads] [--details] [--docling-url URL] [--json FILE]

`benchmarks/real_documents/` says where each PDF or web page is from, and what was noted of it; extract_real.md how to get them.
The folders hold them under the names there; documents that are in none are skipped. Two works of the US government are in
`benchmarks/public_domain` and always read. Readers: those of `benchmarks.readers`. Each reads each document in a process of
its own.

Measured, each from 0 to 1, pooled on the last lines over the known, opened, sealed and fresh PDFs and web pages. Sealed and
fresh ones were drawn and noted before anything here read them; whoever writes the extraction does not look at their details.
Opened ones were sealed.

    recall      headings of the document that the reader has as headings (nine of ten letters the same)
    false       share of the reader's headings that are none; labels of boxes, figures and leads in bold count neither way
    order       share of neighbouring paragraphs in reading order
    rows        share of table rows whose label and cells are on one line, in order
    cells       share of cells said with their row's label and their column's head, and with no other cell
    leads       share of list items said with their own lead or column's head, and no other
    warnings    the same of leads of negation or warning ("DON'T", "Foods to avoid", "Call 999 if"); --leads lists each
    lost        share of the pages' words that are missing, of the words that another library reads without headers and footers
    added       share of the reader's words that the pages lack: headers, footers, menus, words torn, doubled or glued
    cpu, wall   seconds a page, without imports and a first page; docling's CPU is the server's and not seen
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.readers import DOCLING_URL, LICENCES, READERS, WEB_PAGES, Reader, missing
from benchmarks.real_leads import KEPT, lost_leads, warning_fates, wrong_cells
from benchmarks.real_measures import (
    RealDocument,
    Sections,
    order_pairs,
    real_documents,
    score_headings,
    source_words,
    torn_rows,
)

MEASURES = ("recall", "false", "order", "rows", "cells", "leads", "warnings", "lost", "added")
SPEEDS = ("cpu", "wall")
LIMIT_S = 600
PUBLIC_DOMAIN = Path(__file__).with_name("public_domain")
Counts = dict[str, tuple[float, int]]
"""Each measure as (count, out of); speeds as (seconds, pages)."""


def counts_of(document: RealDocument, sections: Sections, source: Path) -> Counts:
    headings = score_headings(document, sections)
    order = order_pairs(document, sections)
    reference = source_words(source, document)
    lost, added, extracted = reference.compare(sections)
    kept = sum(fate == KEPT for *_, fate in warning_fates(document, sections))
    return {
        "recall": (headings.expected - len(headings.missed), headings.expected),
        "false": (len(headings.false), headings.extracted),
        "order": (sum(right for *_, right in order), len(order)),
        "rows": (len(document.rows) - len(torn_rows(document, sections)), len(document.rows)),
        "cells": (len(document.cells) - len(wrong_cells(document, sections)), len(document.cells)),
        "leads": (len(document.leads) - len(lost_leads(document, sections)), len(document.leads)),
        "warnings": (kept, len(document.warnings)),
        "lost": (lost, reference.body.total()),
        "added": (added, extracted),
    }


def details_of(document: RealDocument, sections: Sections) -> list[str]:
    headings = score_headings(document, sections)
    return [
        *(f"missed heading, p. {page}: {heading}" for page, heading in headings.missed),
        *(f"false heading: {heading}" for heading in headings.false),
        *(
            f"order, p. {page}: '{first}' before '{second}'"
            for page, first, second, right in order_pairs(document, sections)
            if not right
        ),
        *(f"torn row: {' | '.join(row)}" for row in torn_rows(document, sections)),
        *(f"wrong cell: {' | '.join(cell)}" for cell in wrong_cells(document, sections)),
        *(f"lost lead: {lead} -> {item}" for lead, item in lost_leads(document, sections)),
    ]


def measure_one(reader: str, document: RealDocument, source: Path) -> None:
    """The process that is measured: prints the counts, the warnings' fates and the details."""
    read = READERS[reader]()
    _first_page(read, source)
    cpu, wall = _cpu_seconds(), time.perf_counter()
    sections = read(source)
    cpu, wall = _cpu_seconds() - cpu, time.perf_counter() - wall
    pages = document.pages[1] - document.pages[0] + 1
    counts = counts_of(document, sections, source) | {"cpu": (cpu, 0 if reader == "docling" else pages), "wall": (wall, pages)}
    fates, details = warning_fates(document, sections), details_of(document, sections)
    print("\n" + json.dumps({"counts": counts, "warnings": fates, "details": details}))


def _first_page(read: Reader, source: Path) -> None:
    """Reads the first page alone, or the web page, for what a library loads only then."""
    with tempfile.TemporaryDirectory() as folder:
        read(_cut(source, 1, 1, Path(folder) / "page.pdf") if source.suffix == ".pdf" else source)


def _cpu_seconds() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def path_of(document: RealDocument, folders: list[Path]) -> Path | None:
    return next((folder / document.file for folder in (PUBLIC_DOMAIN, *folders) if (folder / document.file).exists()), None)


def pages_of(document: RealDocument, source: Path, into: Path) -> Path:
    """The PDF, cut to the pages with gold; a web page as it is."""
    import pypdfium2

    first, last = document.pages
    if document.within or (first, last) == (1, len(pypdfium2.PdfDocument(source))):
        return source
    return _cut(source, first, last, into / document.file)


def _cut(pdf: Path, first: int, last: int, to: Path) -> Path:
    import pypdfium2

    part = pypdfium2.PdfDocument.new()
    part.import_pages(pypdfium2.PdfDocument(pdf), list(range(first - 1, last)))
    part.save(to)
    return to


def available(folders: list[Path], names: list[str], half: str = "") -> list[tuple[RealDocument, Path]]:
    """The documents that are here with their files; names those that are not."""
    found = []
    for document in real_documents():
        if (names and document.name not in names) or not document.group.startswith(half):
            continue
        path = path_of(document, folders)
        if path is None:
            print(f"{document.file} is missing: skipped. It is {document.path} of {document.repository}.")
            continue
        if hashlib.sha256(path.read_bytes()).hexdigest() != document.sha256:
            print(f"{document.file} is not the edition that was read: figures may differ.")
        found.append((document, path))
    return found


def compare(documents: list[tuple[RealDocument, Path]], arguments: argparse.Namespace, readers: list[str]) -> dict[str, Any]:
    """Prints a line for each document and reader, and returns their counts by document and reader."""
    measured: dict[str, Any] = {}
    print(f"{'document':<32}{'reader':<16}" + "".join(f"{name:>9}" for name in (*MEASURES, *SPEEDS)))
    with tempfile.TemporaryDirectory() as temporary:
        for document, path in documents:
            source = pages_of(document, path, Path(temporary))
            for reader in readers:
                if document.within and reader not in WEB_PAGES:
                    continue
                result = _measure_in_process(reader, document, source)
                measured.setdefault(document.name, {})[reader] = result["counts"] if result else None
                if result is None:
                    print(f"{document.name[:31]:<32}{reader:<16}failed or took longer than {LIMIT_S} s")
                    continue
                print(_table_line(document.name[:31], reader, result["counts"]), flush=True)
                for page, lead, item, fate in result["warnings"] if arguments.leads else ():
                    print(f"    p. {page}: {lead} -> {item}: {fate}")
                for detail in result["details"] if arguments.details else ():
                    print(f"    {detail}")
    return measured


def pooled(measured: dict[str, Any], groups: dict[str, str]) -> dict[str, dict[str, Counts]]:
    """Group -> reader -> counts added up over its documents, of which the number is "documents"."""
    totals: dict[str, dict[str, Counts]] = {}
    for name, by_reader in measured.items():
        for reader, counts in by_reader.items():
            total = totals.setdefault(groups[name], {}).setdefault(reader, {"documents": (0, 0)})
            for key, (count, out_of) in ((counts or {}) | {"documents": (counts is not None, 1)}).items():
                before = total.get(key, (0, 0))
                total[key] = (before[0] + count, before[1] + out_of)
    return totals


def _measure_in_process(reader: str, document: RealDocument, source: Path) -> dict[str, Any] | None:
    command = [sys.executable, "-m", "benchmarks.extract_real", "--one", reader, "--documents", document.name]
    try:
        process = subprocess.run([*command, "--real", str(source)], capture_output=True, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return None
    if process.returncode:
        print(process.stderr[-400:], file=sys.stderr)
        return None
    return json.loads(process.stdout.splitlines()[-1])


def _table_line(document: str, reader: str, counts: Counts) -> str:
    figures = (counts[name][0] / counts[name][1] if counts[name][1] else None for name in (*MEASURES, *SPEEDS))
    return f"{document:<32}{reader:<16}" + "".join(f"{'-':>9}" if share is None else f"{share:>9.3f}" for share in figures)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--real", type=Path, required=True, nargs="+", metavar="DIR", help="the folders with the documents")
    parser.add_argument("--half", choices=("known", "opened", "once", "sealed", "fresh"), default="", help="only these documents")
    parser.add_argument("--readers", default=",".join(READERS))
    parser.add_argument("--documents", default="", metavar="NAMES", help="only these, by file name without its ending")
    parser.add_argument("--leads", action="store_true", help="also print where each lead of negation or warning went")
    parser.add_argument("--details", action="store_true", help="also print what was missed, false or torn")
    parser.add_argument("--docling-url", default="", metavar="URL", help=f"a docling server (or {DOCLING_URL})")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all counts there")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    names = [name for name in arguments.documents.split(",") if name]
    if arguments.one:
        (document,) = (document for document in real_documents() if document.name in names)
        measure_one(arguments.one, document, arguments.real[0])
        return
    if arguments.docling_url:
        os.environ[DOCLING_URL] = arguments.docling_url
    absent = {reader: why for reader in arguments.readers.split(",") if (why := missing(reader))}
    for reader, why in absent.items():
        print(f"{reader} is skipped: {why}")
    documents = available(arguments.real, names, arguments.half)
    measured = compare(documents, arguments, [reader for reader in arguments.readers.split(",") if reader not in absent])
    totals = pooled(measured, {document.name: document.group for document, _ in documents})
    for group, by_reader in totals.items():
        for reader, counts in by_reader.items():
            read, out_of = counts["documents"]
            if read:
                print(f"{_table_line(f'{group}: {read} of {out_of}', reader, counts)}  {LICENCES.get(reader, '')}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"documents": measured, "pooled": totals}, indent=1), "utf-8")


if __name__ == "__main__":
    main()
