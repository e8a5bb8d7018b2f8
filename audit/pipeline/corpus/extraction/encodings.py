"""Bytes of a file as text, in the encoding that a browser would take; the labels of encodings are read by webencodings (BSD)."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from itertools import chain

from audit.errors import DocumentError
from audit.optional_imports import optional

PURPOSE = "Reading the encoding of a web page"
UTF_8, WINDOWS_1252 = "utf-8", "windows-1252"
# Of the letters of a language of Western Europe: with more that are not ASCII, the text is in another script
MAX_ACCENTED = 1 / 2
# The longer mark first: UTF-32 begins as UTF-16 does
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
XML_DECLARATION = re.compile(rb"\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*[\"']([^\"'>]{1,40})[\"']")
CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([^\s;\"'>]+)", re.IGNORECASE)
# A page declares its encoding in its head; beyond this there is no head
MAX_HEAD = 65_536
# The Encoding Standard: a page that can be searched for its declaration is not in UTF-16, and GBK is decoded as GB 18030
AS_DECODED = {"utf-16le": UTF_8, "utf-16be": UTF_8, "x-user-defined": WINDOWS_1252, "gbk": "gb18030"}


def decoded(content: bytes, label: str | None = None) -> str:
    """The text of a file, with line feeds as the only ends of lines. DocumentError, with the reason as a clause: it is not text.

    label  the encoding that the file declares

    The byte order mark counts first. Text that is valid UTF-8 and not only ASCII is UTF-8, whatever it declares: text in another
    encoding is practically never valid UTF-8, and the server's header, which browsers obey before the file, is lost when a page
    is saved. Then the declared encoding counts, read as browsers do: iso-8859-1 is Windows-1252. Bytes that it does not have
    become U+FFFD, which counts as unreadable. Without a true declaration a file is UTF-8 where most of what is not ASCII is
    valid UTF-8, else Windows-1252, unless so many of its letters have accents that it must be in another script.
    """
    mark = next((encoding for start, encoding in BYTE_ORDER_MARKS if content.startswith(start)), None)
    if mark is None and b"\0" in content:
        raise DocumentError(f"it is not text: it begins with {content[:8]!r}")
    text = content.decode(mark, errors="replace") if mark else _without_mark(content, label)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def declared_label(content: bytes) -> str | None:
    """The encoding that a web page declares: the first known one of its XML declaration and its meta elements."""
    head = content[:MAX_HEAD]
    xml = XML_DECLARATION.match(head)
    labels = [xml[1].decode("latin-1")] if xml else []
    return next((label for label in chain(labels, _meta_labels(head)) if _name(label)), None)


def _meta_labels(head: bytes) -> Iterator[str]:
    # Comments and scripts may name encodings, too: only the elements of the page count
    etree = optional("lxml.etree", PURPOSE, "pipeline")
    parser = etree.HTMLParser(encoding="utf-8", no_network=True)
    root = etree.fromstring(head.decode("latin-1").encode(), parser) if head.strip() else None
    for meta in root.iter("meta") if root is not None else ():
        if label := meta.get("charset"):
            yield label
        elif (meta.get("http-equiv") or "").casefold() == "content-type":
            yield from CHARSET.findall(meta.get("content") or "")[:1]


def _name(label: str) -> str | None:
    """The name of the encoding that a label stands for in the Encoding Standard; None for an unknown label."""
    if label.strip().casefold() == UTF_8:
        return UTF_8
    encoding = optional("webencodings", PURPOSE, "pipeline").lookup(label)
    return AS_DECODED.get(encoding.name, encoding.name) if encoding else None


def _without_mark(content: bytes, label: str | None) -> str:
    as_utf8 = content.decode("utf-8", errors="replace")
    # U+FFFD may also be in the file itself, as the three bytes of its own
    lost = as_utf8.count("\ufffd") - content.count("\ufffd".encode())
    if lost == 0 and not content.isascii():
        return as_utf8
    encoding = _name(label) if label else None
    if encoding == "replacement":
        raise DocumentError(f"it is in {label}, which cannot be read: save it as UTF-8")
    if encoding not in (None, UTF_8):
        codec = optional("webencodings", PURPOSE, "pipeline").lookup(encoding).codec_info
        text = str(codec.decode(content, "replace")[0])
        return _as_western(content) if encoding == WINDOWS_1252 else text
    valid = sum(not character.isascii() for character in as_utf8) - lost
    return as_utf8 if valid >= lost else _as_western(content)


def _as_western(content: bytes) -> str:
    """Bytes as Windows-1252; where that cannot be the encoding, each byte that is not ASCII is U+FFFD."""
    text = content.decode("cp1252", errors="replace")
    letters = [character for character in text if character.isalpha()]
    if sum(not letter.isascii() for letter in letters) > MAX_ACCENTED * len(letters):
        return content.decode("ascii", errors="replace")
    return text
