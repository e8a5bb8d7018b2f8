"""How well each reader of PDFs recovers real documents, whose headings, rows and reading order were noted by hand.

    python -m benchmarks.extract_real --real DIR [--readers pdfium,...] [--documents NAME,...] [--details]

`benchmarks/real_documents.toml` says where each document is from, and which lines of it are headings; extract_real.md how to get
them. DIR holds the PDFs under the names of that file; documents that are not there are skipped. Two works of the US government
are in `benchmarks/public_domain` and always read.
Readers: those of `benchmarks.extract`. Each reads each document in a process of its own.

Measured, each from 0 to 1, pooled over documents on the last lines, those held out apart:

    recall      headings of the document that the reader has as headings (nine of ten letters the same)
    false       share of the reader's headings that are none; labels of boxes, figures and leads in bold count neither way
    order       share of neighbouring paragraphs in reading order
    rows        share of table rows whose label and cells are on one line, in order
    leads       share of list items said with their own lead or column's head ("DON'T", "Foods to avoid"), and no other
    lost        share of the pages' words that are missing, of the words that pdfplumber reads without headers and footers
    added       share of the reader's words that the pages lack: headers, footers, words torn, doubled or glued
    s           seconds of CPU per document, with imports
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.extract import LICENCES, MODULES, READERS
from benchmarks.real_measures import (
    RealDocument,
    Sections,
    lost_leads,
    order_pairs,
    page_words,
    real_documents,
    score_headings,
    torn_rows,
)

MEASURES = ("recall", "false", "order", "rows", "leads", "lost", "added")
LIMIT_S = 600
PUBLIC_DOMAIN = Path(__file__).with_name("public_domain")
Counts = dict[str, tuple[int, int]]


def counts_of(document: RealDocument, sections: Sections, pdf: Path) -> Counts:
    """Each measure as (count, out of)."""
    headings = score_headings(document, sections)
    order = order_pairs(document, sections)
    reference = page_words(pdf, document.contents)
    lost, added, extracted = reference.compare(sections)
    return {
        "recall": (headings.expected - len(headings.missed), headings.expected),
        "false": (len(headings.false), headings.extracted),
        "order": (sum(right for *_, right in order), len(order)),
        "rows": (len(document.rows) - len(torn_rows(document, sections)), len(document.rows)),
        "leads": (len(document.leads) - len(lost_leads(document, sections)), len(document.leads)),
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
        *(f"lost lead: {lead} -> {item}" for lead, item in lost_leads(document, sections)),
    ]


def measure_one(reader: str, document: RealDocument, pdf: Path) -> None:
    """The process that is measured: prints the counts, the details and the seconds."""
    sections = READERS[reader]()(pdf)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(usage.ru_utime + usage.ru_stime for usage in used)
    counts, details = counts_of(document, sections, pdf), details_of(document, sections)
    print(json.dumps({"counts": counts, "details": details, "seconds": seconds}))


def path_of(document: RealDocument, folder: Path) -> Path:
    shipped = PUBLIC_DOMAIN / document.file
    return shipped if shipped.exists() else folder / document.file


def pages_of(document: RealDocument, source: Path, into: Path) -> Path:
    """The PDF, cut to the pages with gold."""
    import pypdfium2

    whole = pypdfium2.PdfDocument(source)
    first, last = document.pages
    if (first, last) == (1, len(whole)):
        return source
    part = pypdfium2.PdfDocument.new()
    part.import_pages(whole, list(range(first - 1, last)))
    part.save(into / document.file)
    return into / document.file


def available(folder: Path, names: list[str]) -> list[RealDocument]:
    documents = [document for document in real_documents() if not names or document.file.removesuffix(".pdf") in names]
    for document in documents:
        path = path_of(document, folder)
        if not path.exists():
            print(f"{document.file} is not in {folder}: skipped. It is {document.path} of {document.repository}.")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != document.sha256:
            print(f"{document.file} is not the edition that was read: figures may differ.")
    return [document for document in documents if path_of(document, folder).exists()]


def compare(documents: list[RealDocument], folder: Path, readers: list[str], with_details: bool) -> None:
    totals: dict[tuple[str, bool], list[Counts]] = {(reader, held_out): [] for held_out in (False, True) for reader in readers}
    print(f"{'document':<30}{'reader':<16}" + "".join(f"{name:>8}" for name in (*MEASURES, "s")))
    with tempfile.TemporaryDirectory() as temporary:
        for document in documents:
            pdf = pages_of(document, path_of(document, folder), Path(temporary))
            for reader in readers:
                result = _measure_in_process(reader, document, pdf)
                if result is None:
                    print(f"{document.file[:-4]:<30}{reader:<16}failed or took longer than {LIMIT_S} s")
                    continue
                totals[reader, document.held_out].append(result["counts"])
                print(_table_line(document.file[:-4], reader, result["counts"]) + f"{result['seconds']:>8.1f}", flush=True)
                for detail in result["details"] if with_details else ():
                    print(f"    {detail}")
    for (reader, held_out), counts in totals.items():
        pooled = {name: _pooled([count[name] for count in counts]) for name in MEASURES}
        if counts:
            name = f"held out: {len(counts)}" if held_out else f"all others: {len(counts)}"
            print(f"{_table_line(name, reader, pooled)}  {LICENCES.get(reader, '')}")


def _pooled(counts: list[tuple[int, int]]) -> tuple[int, int]:
    return sum(count for count, _ in counts), sum(total for _, total in counts)


def _measure_in_process(reader: str, document: RealDocument, pdf: Path) -> dict[str, Any] | None:
    name = document.file.removesuffix(".pdf")
    command = [sys.executable, "-m", "benchmarks.extract_real", "--one", reader, "--documents", name, "--real", str(pdf.parent)]
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return None
    if process.returncode:
        print(process.stderr[-400:], file=sys.stderr)
        return None
    return json.loads(process.stdout.splitlines()[-1])


def _table_line(document: str, reader: str, counts: Counts) -> str:
    figures = (counts[name][0] / counts[name][1] if counts[name][1] else None for name in MEASURES)
    return f"{document:<30}{reader:<16}" + "".join(f"{'-':>8}" if share is None else f"{share:>8.3f}" for share in figures)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--real", type=Path, required=True, metavar="DIR", help="the folder with the PDFs")
    parser.add_argument("--readers", default=",".join(READERS))
    parser.add_argument("--documents", default="", metavar="NAMES", help="only these, by file name without .pdf")
    parser.add_argument("--details", action="store_true", help="also print what was missed, false or torn")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    names = [name for name in arguments.documents.split(",") if name]
    if arguments.one:
        (document,) = (document for document in real_documents() if document.file.removesuffix(".pdf") in names)
        measure_one(arguments.one, document, arguments.real / document.file)
        return
    readers = [reader for reader in arguments.readers.split(",") if find_spec(MODULES.get(reader, reader)) is not None]
    for reader in sorted(set(arguments.readers.split(",")) - set(readers)):
        print(f"{reader} is not installed: skipped")
    compare(available(arguments.real, names), arguments.real, readers, arguments.details)


if __name__ == "__main__":
    main()
