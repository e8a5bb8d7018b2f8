"""How well each reader of PDFs recovers handbooks whose headings and texts are known.

    python -m benchmarks.extract [--handbooks nih-nhlbi,nih-nci] [--sections 40] [--readers pdfium,...] [--keep DIR]

The PDFs are generated from the NIH handbooks (../shared/data/retrieval), in seven layouts by two writers: see
`benchmarks.extract_layouts`. Readers:

    pdfium       `audit extract` as it is
    oxide, opendataloader, pymupdf4llm, kreuzberg    the Markdown that these libraries write with their defaults, if they
                 are installed (pip install pdf_oxide opendataloader-pdf pymupdf4llm kreuzberg)

Measured, each from 0 to 1, as the mean over handbooks and writers:

    recall, precision, F1   headings found with exactly the words of a heading of the handbook
    body                    words that a section shares with the handbook's section, in order (2 M / T); 0 without the section
    order                   share of neighbouring ends of paragraphs in the same order in the extracted text
    rows                    share of table rows with their cells in order on one line; "-" where the layout has no tables
    pages/s                 per second of CPU, without imports; peak MB of the process and its children, with imports

Each reader reads each layout in a process of its own.

Measured on 21 November 2026, 28 PDFs (14 by each writer), two cores shared with much other work, so that speeds are low;
`mixed` combines all features in two columns.

    reader         layout       recall  precision     f1   body  order   rows  pages/s  peak MB
    pdfium         columns       1.000      1.000  1.000  1.000  1.000      -       24       35
    pdfium         running       1.000      1.000  1.000  1.000  1.000      -       30       34
    pdfium         numbered      1.000      1.000  1.000  1.000  1.000      -       30       34
    pdfium         tables        1.000      1.000  1.000  1.000  1.000  1.000       32       34
    pdfium         mixed         0.989      0.979  0.984  0.990  1.000  0.757       23       36
    pdfium         all           0.998      0.997  0.998  0.999  1.000  0.879       29       36
    oxide          columns       0.960      0.960  0.960  0.944  0.981      -      126       60
    oxide          running       0.971      0.994  0.982  0.949  0.998      -      116       60
    oxide          numbered      0.500      0.500  0.500  0.500  1.000      -      119       62
    oxide          tables        0.971      0.994  0.982  0.955  0.997  0.507      129       62
    oxide          mixed         0.489      0.484  0.487  0.486  0.996  0.291      113       62
    oxide          all           0.833      0.845  0.839  0.822  0.996  0.399      121       64
    kreuzberg      columns       0.304      0.386  0.340  0.219  0.686      -        9       75
    kreuzberg      running       0.415      0.529  0.464  0.329  0.759      -       12       67
    kreuzberg      numbered      0.893      1.000  0.940  0.839  0.796      -       12       67
    kreuzberg      tables        0.809      1.000  0.882  0.728  0.790  0.015       14       69
    kreuzberg      mixed         0.162      0.276  0.200  0.109  0.621  0.000        9       71
    kreuzberg      all           0.626      0.742  0.673  0.554  0.749  0.007       12       75
    opendataloader columns       0.971      1.000  0.985  0.953  0.998      -        6     1180
    opendataloader running       0.936      1.000  0.966  0.904  0.999      -        6     2110
    opendataloader numbered      0.726      0.786  0.754  0.686  0.999      -        7     1461
    opendataloader tables        0.971      1.000  0.985  0.951  0.999  1.000        6     1912
    opendataloader mixed         0.817      0.783  0.799  0.818  0.998  1.000        6     1157
    opendataloader all           0.899      0.938  0.917  0.874  0.999  1.000        6     2265

Licences: pdfium BSD-3-Clause and Apache-2.0; pdf_oxide MIT or Apache-2.0; opendataloader Apache-2.0 (needs Java);
kreuzberg MIT; PyMuPDF and pymupdf4llm AGPL-3.0, so never a default of this project.
`audit extract` reads with pdfium: it recovers most, and its licence and size (one wheel, no Java, no model) fit.
pdfplumber's pages gave the same at a quarter of the speed. The steps were developed on these PDFs; on two other
handbooks (nih-niddk, nih-ninds; 30 sections, `mixed`, both writers): recall and precision 1.000, body 0.992 to 0.998,
order 1.000, rows 0.592 to 0.898. The rows lost have cells wrapped in narrow columns: opendataloader does better
there, and pdf_oxide is faster.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.extract_layouts import LAYOUTS, WRITE, WRITERS, Layout, Part, parts_of
from benchmarks.readers import LICENCES, READERS, Sections, missing

HANDBOOKS = Path(__file__).parents[2] / "shared" / "data" / "retrieval" / "nih_handbooks"
MEASURES = ("recall", "precision", "f1", "body", "order", "rows")
EDGE_WORDS = 6
"""Words at each end of a paragraph by which its position is found."""


# -- measures ----------------------------------------------------------------------------------------------------------


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def heading_key(heading: str) -> str:
    return " ".join(words(heading))


def score(parts: list[Part], sections: Sections) -> dict[str, float | None]:
    expected = Counter(heading_key(part.heading) for part in parts)
    extracted = Counter(heading_key(heading) for heading, _ in sections if heading_key(heading))
    correct = (expected & extracted).total()
    recall, precision = correct / expected.total(), correct / max(1, extracted.total())
    return {
        "recall": recall,
        "precision": precision,
        "f1": 2 * recall * precision / max(1e-9, recall + precision),
        "body": mean(_body_ratios(parts, sections)),
        "order": _order_share(parts, sections),
        "rows": _row_share(parts, sections),
    }


def _body_ratios(parts: list[Part], sections: Sections) -> Iterable[float]:
    bodies_of: dict[str, list[str]] = {}
    for heading, text in sections:
        bodies_of.setdefault(heading_key(heading), []).append(text)
    for part in parts:
        bodies = bodies_of.get(heading_key(part.heading))
        text = bodies.pop(0) if bodies else ""
        if part.paragraphs:
            expected = words(" ".join((*part.paragraphs, *(cell for row in part.rows for cell in row))))
            yield SequenceMatcher(None, expected, words(text), autojunk=False).ratio()


def _order_share(parts: list[Part], sections: Sections) -> float:
    paragraphs = [words(text) for part in parts for text in part.paragraphs]
    long_paragraphs = [text for text in paragraphs if len(text) > 2 * EDGE_WORDS]
    edges = [" ".join(edge) for text in long_paragraphs for edge in (text[:EDGE_WORDS], text[-EDGE_WORDS:])]
    expected = " ".join(words(" ".join(text for part in parts for text in (part.heading, *part.paragraphs))))
    unique = [edge for edge in edges if expected.count(edge) == 1]
    text = " ".join(words(" ".join(f"{heading} {body}" for heading, body in sections)))
    positions = [text.find(edge) for edge in unique]
    return mean(-1 < first < second for first, second in pairwise(positions))


def _row_share(parts: list[Part], sections: Sections) -> float | None:
    rows = [row for part in parts for row in part.rows]
    lines = [" ".join(words(line.replace("<br>", " "))) for _, body in sections for line in body.splitlines()]
    expected = Counter(" ".join(words(" ".join(row))) for row in rows)
    return (expected & Counter(lines)).total() / len(rows) if rows else None


# -- running -----------------------------------------------------------------------------------------------------------


def measure_one(reader: str, layout: str, folder: Path) -> None:
    """The process that is measured: prints the scores of each PDF and the resources used."""
    read = READERS[reader]()
    pdfs = sorted(folder.glob(f"{layout}-*.pdf"))
    before = _cpu_seconds()
    results = [read(pdf) for pdf in pdfs]
    cpu = _cpu_seconds() - before
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024
    truths = [_read_parts(pdf.with_suffix(".json")) for pdf in pdfs]
    pages = sum(json.loads(pdf.with_suffix(".json").read_text())["pages"] for pdf in pdfs)
    scores = [score(parts, sections) for parts, sections in zip(truths, results, strict=True)]
    means = {name: None if scores[0][name] is None else mean(values[name] for values in scores) for name in MEASURES}
    print(json.dumps({**means, "pages_s": pages / cpu, "peak_mb": peak, "each": scores}))


def _cpu_seconds() -> float:
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def _read_parts(path: Path) -> list[Part]:
    parts = json.loads(path.read_text())["parts"]
    return [Part(level, heading, tuple(texts), tuple(map(tuple, rows))) for level, heading, texts, rows in parts]


def write_pdfs(folder: Path, arguments: argparse.Namespace) -> None:
    """Write the PDFs, and beside each the sections that it contains."""
    import pypdfium2

    for name in LAYOUTS:
        layout = Layout.named(name)
        for handbook in arguments.handbooks.split(","):
            parts = parts_of(HANDBOOKS / f"{handbook}.json.gz", arguments.sections, layout)
            for writer in WRITERS:
                pdf = folder / f"{name}-{writer}-{handbook}.pdf"
                WRITE[writer](parts, layout, pdf)
                truth = {
                    "pages": len(pypdfium2.PdfDocument(pdf)),
                    "parts": [(part.level, part.heading, part.paragraphs, part.rows) for part in parts],
                }
                pdf.with_suffix(".json").write_text(json.dumps(truth))


def compare(folder: Path, readers: list[str]) -> None:
    columns = "".join(f"{name:>11}" for name in (*MEASURES, "pages/s", "peak MB"))
    print("".join(f"{name:<15}" for name in ("reader", "layout")) + columns)
    for reader in readers:
        if why := missing(reader):
            print(f"{reader:<15}{why}")
            continue
        results = [_measure_in_process(reader, layout, folder) for layout in LAYOUTS]
        for layout, result in zip(LAYOUTS, results, strict=True):
            print(_table_line(reader, layout, result), flush=True)
        print(_table_line(reader, "all", _mean_of(results)), LICENCES[reader], flush=True)


def _measure_in_process(reader: str, layout: str, folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.extract", "--one", reader, "--layout", layout, "--keep", str(folder)]
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        sys.exit(f"{reader}, {layout}: {process.stderr[-2000:]}")
    return json.loads(process.stdout.splitlines()[-1])


def _mean_of(results: list[dict[str, Any]]) -> dict[str, Any]:
    means: dict[str, Any] = {}
    for name in (*MEASURES, "pages_s"):
        values = [result[name] for result in results if result[name] is not None]
        means[name] = mean(values) if values else None
    return {**means, "peak_mb": max(result["peak_mb"] for result in results)}


def _table_line(reader: str, layout: str, result: dict[str, Any]) -> str:
    figures = (f"{'-':>11}" if result[name] is None else f"{result[name]:>11.3f}" for name in MEASURES)
    return f"{reader:<15}{layout:<15}" + "".join(figures) + f"{result['pages_s']:>11.0f}{result['peak_mb']:>11.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--handbooks", default="nih-nhlbi,nih-nci")
    parser.add_argument("--sections", type=int, default=40)
    parser.add_argument("--readers", default=",".join(READERS))
    parser.add_argument("--keep", type=Path, help="keep the PDFs in this folder, and use those that are there")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--layout", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        measure_one(arguments.one, arguments.layout, arguments.keep)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if not any(folder.glob("*.pdf")):
            write_pdfs(folder, arguments)
        compare(folder, arguments.readers.split(","))


if __name__ == "__main__":
    main()
