"""A DOCX file as HTML, by mammoth: headings by style, numbered and bulleted lists, tables. Pictures are left out.

A DOCX file is a zip archive of XML files, so what a stranger may put into either is bounded before it is read.
"""

from __future__ import annotations

import io
import zipfile

from audit.errors import DocumentError
from audit.optional_imports import optional

# A long handbook has a few MB of XML; ten times that takes gigabytes of memory when it is read
MAX_XML_BYTES = 30_000_000
MAX_FILES = 5_000
STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh"
NOT_READABLE = "it is not a DOCX file, or it is damaged: open it in a word processor and save it as DOCX"


def read_docx(content: bytes) -> str:
    """The HTML of a DOCX file. Raises DocumentError, with the reason as a clause, where it cannot be read."""
    _check_archive(content)
    library = optional("mammoth", "Reading a DOCX file", "pipeline")
    try:
        result = library.convert_to_html(
            io.BytesIO(content), style_map=STYLES, include_embedded_style_map=False, external_file_access=False,
            convert_image=lambda _: [],
        )  # fmt: skip
    except Exception as error:  # the library lets through whatever its parsers raise; each means that the file cannot be read
        raise DocumentError(NOT_READABLE) from error
    return f"<body>{result.value}</body>"


def _check_archive(content: bytes) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            files = [entry for entry in archive.infolist() if entry.filename.endswith((".xml", ".rels"))]
            size = sum(entry.file_size for entry in files)
            if size > MAX_XML_BYTES or len(archive.infolist()) > MAX_FILES:
                raise DocumentError(
                    f"it unpacks to {size / 1e6:,.0f} MB of XML in {len(archive.infolist()):,} files, more than a handbook has"
                )
            # Word writes none; entities may be nested to fill the memory, or name other files
            declared = (entry.filename for entry in files if _declares_entities(archive.read(entry)))
            if (name := next(declared, None)) is not None:
                raise DocumentError(f"its part {name} declares entities, which no word processor writes")
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise DocumentError(NOT_READABLE) from error


def _declares_entities(xml: bytes) -> bool:
    # XML in UTF-16 has a zero byte beside each letter
    return b"<!DOCTYPE" in (plain := xml.replace(b"\0", b"")) or b"<!ENTITY" in plain
