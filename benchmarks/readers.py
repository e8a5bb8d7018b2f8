"""What reads a PDF or a web page in the benchmarks of extraction: `audit extract`, and other libraries and one server beside it.

pdfium       `audit extract` as it is
oxide, opendataloader, pymupdf4llm, kreuzberg    the Markdown that these libraries write with their defaults, where they
             are installed: pip install pdf_oxide opendataloader-pdf 'pymupdf4llm<2' kreuzberg
docling      the Markdown of a docling server, at the address in DOCLING_URL: pip install docling-serve; docling-serve run
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import uuid
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from urllib.request import Request, urlopen

from audit.text.documents import Section

DOCLING_URL = "DOCLING_URL"
DOCLING_LIMIT_S = 600
WEB_PAGES = {"pdfium", "pymupdf4llm", "kreuzberg", "docling"}
"""Readers that also read HTML."""


class Heading(str):
    """A heading that knows those above it, outermost first."""

    above: tuple[str, ...]

    def __new__(cls, text: str, above: tuple[str, ...] = ()) -> Heading:
        heading = super().__new__(cls, text)
        heading.above = above
        return heading


Sections = list[tuple[str, str]]
"""Heading and body of each section; the heading is "" before the first."""
Reader = Callable[[Path], Sections]


def pdfium() -> Reader:
    import pypdfium2  # noqa: F401 - imported here, because imports are not measured

    from audit.pipeline.corpus.extraction.identity import Identity
    from audit.pipeline.corpus.extraction.run import extract

    identity = Identity("book", "general", "nih", "combined")
    return lambda source: [(_heading_of(section), section.text) for section in extract(source, identity, "pdfium").sections]


def _heading_of(section: Section) -> Heading:
    """Its heading with those above; a part that goes on has none of its own, and stands below that of the first part."""
    if section.is_continued:
        return Heading("", (*section.above, section.heading))
    return Heading(section.heading, section.above)


def oxide() -> Reader:
    import pdf_oxide

    return lambda pdf: sections_of_markdown(pdf_oxide.PdfDocument(str(pdf)).to_markdown_all())


def opendataloader() -> Reader:
    import opendataloader_pdf

    def read(pdf: Path) -> Sections:
        with tempfile.TemporaryDirectory() as folder:
            opendataloader_pdf.convert(str(pdf), folder, format="markdown", quiet=True)
            return sections_of_markdown((Path(folder) / f"{pdf.stem}.md").read_text())

    return read


def pymupdf4llm() -> Reader:
    import pymupdf4llm

    return lambda source: sections_of_markdown(pymupdf4llm.to_markdown(str(source), show_progress=False))


def kreuzberg() -> Reader:
    from kreuzberg import ExtractionConfig, extract_file_sync

    config = ExtractionConfig(output_format="markdown")
    return lambda source: sections_of_markdown(extract_file_sync(str(source), config=config).content)


def docling() -> Reader:
    address = os.environ[DOCLING_URL].rstrip("/") + "/v1/convert/file"
    return lambda source: sections_of_markdown(_converted_by(address, source))


def _converted_by(address: str, source: Path) -> str:
    """The Markdown that a docling server makes of a file; ValueError where it made none."""
    boundary = uuid.uuid4().hex
    form = (
        f"--{boundary}\r\n"
        'Content-Disposition: form-data; name="to_formats"\r\n\r\nmd\r\n'
        f"--{boundary}\r\n"
        f'Content-Disposition: form-data; name="files"; filename="{source.name}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    body = form.encode() + source.read_bytes() + f"\r\n--{boundary}--\r\n".encode()
    request = Request(address, body, {"Content-Type": f"multipart/form-data; boundary={boundary}"})
    with urlopen(request, timeout=DOCLING_LIMIT_S) as response:
        answer = json.load(response)
    if (markdown := answer.get("document", {}).get("md_content")) is None:
        raise ValueError(f"docling: {answer.get('status')}: {answer.get('errors')}")
    return str(markdown)


READERS = {reader.__name__: reader for reader in (pdfium, oxide, opendataloader, pymupdf4llm, kreuzberg, docling)}
MODULES = {"pdfium": "pypdfium2", "oxide": "pdf_oxide", "opendataloader": "opendataloader_pdf"}
LICENCES = {
    "pdfium": "BSD-3/Apache-2.0",
    "oxide": "MIT/Apache-2.0",
    "opendataloader": "Apache-2.0, needs Java",
    "pymupdf4llm": "AGPL-3.0",
    "kreuzberg": "MIT",
    "docling": "MIT, models apart",
}


def missing(reader: str) -> str:
    """Why a reader cannot be used here; "" where it can."""
    if reader == "docling":
        return "" if os.environ.get(DOCLING_URL) else f"no server: give --docling-url or {DOCLING_URL}"
    return "" if find_spec(MODULES.get(reader, reader)) else "not installed"


def sections_of_markdown(text: str) -> Sections:
    sections: Sections = [("", "")]
    above: dict[int, str] = {}
    for line in text.splitlines():
        if heading := re.match(r"(#{1,6})\s+(.*)", line):
            level = len(heading[1])
            above = {upper: name for upper, name in above.items() if upper < level}
            sections.append((Heading(heading[2], tuple(above.values())), ""))
            above[level] = heading[2]
        else:
            sections[-1] = (sections[-1][0], f"{sections[-1][1]}\n{line}")
    return sections
