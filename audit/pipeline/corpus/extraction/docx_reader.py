"""A DOCX file as HTML, by mammoth (BSD-2-Clause): headings by style, numbered and bulleted lists, tables, notes.

A DOCX file is a zip archive of XML files, so what a stranger may put into either is bounded before it is read.
"""

from __future__ import annotations

import io
import re
import zipfile
from contextlib import suppress
from html import unescape
from typing import Any, NamedTuple

from audit.errors import DocumentError
from audit.optional_imports import optional
from audit.pipeline.corpus.extraction.docx_markup import HIDDEN_MARK, rewrite, text_of
from audit.pipeline.corpus.extraction.docx_styles import PAPER, Styles
from audit.pipeline.corpus.extraction.losses import loss, unread
from audit.text.documents import FRAME, UNREAD, Loss

PURPOSE = "Reading a DOCX file"
# A long handbook has a few MB of XML; ten times that takes gigabytes of memory when it is read
MAX_XML_BYTES = 30_000_000
MAX_FILES = 5_000
STYLES = f"""p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
strike => s
highlight[color='{HIDDEN_MARK}'] => span[style='display:none']
"""
NOT_READABLE = "it is not a DOCX file, or it is damaged: open it in a word processor and save it as DOCX"
# Parts by the name of their root element. What mammoth makes text of, and what it leaves out
TEXT_PARTS = ("document", "footnotes", "endnotes")
OTHER_PARTS = {"hdr": FRAME, "ftr": FRAME, "comments": UNREAD}
# Charts, drawings of SmartArt and embedded files
PICTURES = re.compile(r"word/(?:charts/chart|diagrams/data)\w*\.xml")
EMBEDDED = re.compile(r"word/.*\.(?:html?|mht|rtf|txt)", re.IGNORECASE)
LINK, TARGET = re.compile(r"<Relationship\b[^>]*>"), re.compile(r"\bTarget\s*=\s*[\"']([^\"']+)")
STYLES_KIND = re.compile(r"/styles[\"']")
TAG = re.compile(r"<[^>]*>")


class DocxHtml(NamedTuple):
    """A DOCX file as HTML, and what is not in it."""

    html: str
    lost: tuple[Loss, ...]


class _Archive(NamedTuple):
    """The parts of the file by name: those that are XML as trees, and the bytes of the others."""

    trees: dict[str, Any]
    others: dict[str, bytes]

    def roots(self, *names: str) -> list[Any]:
        """The trees whose root elements have one of these names."""
        return [root for root in self.trees.values() if _local(root) in names]


def read_docx(content: bytes) -> DocxHtml:
    """The HTML of a DOCX file. Raises DocumentError, with the reason as a clause, where it cannot be read.

    Struck text is in `s` elements, hidden text in elements that are not displayed, and check boxes are inputs.
    """
    _check_archive(content)
    library = optional("mammoth", PURPOSE, "pipeline")
    try:
        archive = _read_archive(content)
        written = _rewritten(archive)
        result = library.convert_to_html(
            io.BytesIO(_as_zip(archive)),
            style_map=STYLES,
            include_embedded_style_map=False,
            external_file_access=False,
            convert_image=lambda _: [],
        )
    except Exception as error:  # the library lets through whatever its parsers raise; each means that the file cannot be read
        raise DocumentError(NOT_READABLE) from error
    missing = unread(written, unescape(TAG.sub(" ", result.value)), "")
    return DocxHtml(f"<body>{result.value}</body>", (*_left_out(archive), *([missing] if missing else [])))


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


def _read_archive(content: bytes) -> _Archive:
    etree = optional("lxml.etree", PURPOSE, "pipeline")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    trees: dict[str, Any] = {}
    others: dict[str, bytes] = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for entry in archive.infolist():
            # Pictures are not read
            if entry.filename.endswith(".xml"):
                with suppress(etree.XMLSyntaxError):
                    trees[entry.filename] = etree.fromstring(archive.read(entry), parser)
            if entry.filename in trees:
                continue
            if entry.filename.endswith((".xml", ".rels")) or EMBEDDED.fullmatch(entry.filename):
                others[entry.filename] = archive.read(entry)
    return _Archive(trees, others)


def _as_zip(archive: _Archive) -> bytes:
    etree = optional("lxml.etree", PURPOSE, "pipeline")
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as written:
        for name, root in archive.trees.items():
            written.writestr(name, etree.tostring(root, encoding="UTF-8", xml_declaration=True))
        for name, content in archive.others.items():
            written.writestr(name, content)
    return target.getvalue()


def _rewritten(archive: _Archive) -> str:
    """Rewrite the parts with text as mammoth reads them, and return their text, which must be in the HTML."""
    styles = _styles(archive)
    texts: list[str] = []
    for root in archive.roots(*TEXT_PARTS):
        namespace = _namespace(root)
        known = Styles(styles, namespace, _paper(archive, root, namespace))
        rewrite(root, known)
        texts.append(text_of(root, known.w))
    return " ".join(texts)


def _styles(archive: _Archive) -> Any:
    """The styles that the document names; Word also stores a second set, for older versions, which may be out of date."""
    links = b" ".join(content for name, content in archive.others.items() if name.endswith(".rels")).decode("utf-8", "replace")
    named = {target for link in LINK.findall(links) if STYLES_KIND.search(link) for target in TARGET.findall(link)}
    parts = [(name, root) for name, root in archive.trees.items() if _local(root) == "styles"]
    ends = tuple(target.rpartition("/")[2] for target in named)
    return next((root for name, root in parts if name.rpartition("/")[2] in ends), parts[0][1] if parts else None)


def _paper(archive: _Archive, root: Any, namespace: str) -> str:
    """The colour of the page: white, where the document does not say that it shows another."""
    background = root.find(f"{{{namespace}}}background")
    shows = any(settings.find(f"{{{namespace}}}displayBackgroundShape") is not None for settings in archive.roots("settings"))
    return background.get(f"{{{namespace}}}color") or PAPER if background is not None and shows else PAPER


def _left_out(archive: _Archive) -> list[Loss]:
    """Headers, footers, comments, charts, drawings and embedded files: none is part of the text."""
    losses: list[Loss | None] = []
    for name, kind in OTHER_PARTS.items():
        texts = dict.fromkeys(text_of(root, f"{{{_namespace(root)}}}") for root in archive.roots(name))
        losses += [loss(kind, text) for text in texts]
    for name, root in archive.trees.items():
        if PICTURES.fullmatch(name):
            losses.append(loss(UNREAD, " ".join(text.text or "" for text in root.iter("{*}t"))))
    for name, content in archive.others.items():
        if EMBEDDED.fullmatch(name):
            losses.append(loss(UNREAD, TAG.sub(" ", content.decode("utf-8", errors="replace"))))
    return [one for one in losses if one is not None]


def _local(root: Any) -> str:
    return str(root.tag).rpartition("}")[2]


def _namespace(root: Any) -> str:
    return str(root.tag)[1:].partition("}")[0]
