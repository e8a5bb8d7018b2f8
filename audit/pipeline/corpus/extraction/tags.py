"""The structure that the maker of a tagged PDF gave its text: which of it is a heading, an item of a list, a cell, a paragraph;
of a cell also its place in its table.

Browsers, word processors and layout programs write it; whether a document's is of use is for its readers to judge.
"""

from __future__ import annotations

import ctypes
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from audit.optional_imports import optional
from audit.pipeline.corpus.extraction.layout import NO_TAG, CellPlace, Line, Tag

PURPOSE = "Reading a PDF"
HEADING = re.compile(r"H([1-6]?)|Title")
KINDS = {"LI": "item", "LBody": "item", "Lbl": "item", "TD": "cell", "TH": "head", "Caption": "other", "Note": "other"}
KINDS |= {"TOCI": "other", "Form": "other", "P": "paragraph", "BlockQuote": "paragraph"}
# Elements within elements: deeper ones are of a damaged file; and so are cells over more columns or rows
MAX_DEPTH, MAX_SPAN = 40, 50
# Tags are set with care where so many elements are headings, with at most this share of the letters, and most letters have tags
MIN_HEADINGS, MAX_SHARE, MIN_TAGGED = 3, 0.2, 0.5


def tags_of(page: Any) -> dict[int, Tag]:
    """The tag of each marked content of a page of PDFium by its number; empty where the PDF is not tagged."""
    raw = optional("pypdfium2.raw", PURPOSE, "pipeline")
    tree = raw.FPDF_StructTree_GetForPage(page.raw)
    if not tree:
        return {}
    try:
        walk = _TagReader(raw)
        roots = (raw.FPDF_StructTree_GetChildAtIndex(tree, number) for number in range(raw.FPDF_StructTree_CountChildren(tree)))
        return {content: tag for root in roots if root for content, tag in walk.contents(root, NO_TAG, 0)}
    finally:
        raw.FPDF_StructTree_Close(tree)


class _TagReader:
    """Goes through the elements of a page, which it numbers."""

    def __init__(self, raw: Any) -> None:
        self.raw, self.elements = raw, 0
        self.buffer = ctypes.create_string_buffer(64)
        self.rows: Counter[int] = Counter()
        # Table -> column -> the first row that no cell above reaches into
        self.free: defaultdict[int, Counter[int]] = defaultdict(Counter)

    def contents(self, element: Any, around: Tag, depth: int) -> Iterator[tuple[int, Tag]]:
        """The number and tag of each marked content in an element; `around` is the tag of the element that it is in."""
        raw, kind = self.raw, self._kind(element)
        tag = inner = self._tag(kind, around)
        row = kind == "TR" and tag.place is not None
        if row and tag.place:
            self.rows[tag.place.table] += 1
        column = 0
        for number in range(raw.FPDF_StructElement_CountChildren(element)):
            content = raw.FPDF_StructElement_GetChildMarkedContentID(element, number)
            child = None if content >= 0 else raw.FPDF_StructElement_GetChildAtIndex(element, number)
            if row and tag.place and content < 0:
                # An empty cell, or one of another page, has no element here
                place = self._place(tag.place.table, column, child)
                inner, column = tag._replace(place=place), place.column + place.columns
            if content >= 0:
                yield content, tag
            elif depth < MAX_DEPTH and child:
                yield from self.contents(child, inner, depth + 1)

    def _place(self, table: int, column: int, cell: Any) -> CellPlace:
        """The place of the next cell of a table's row, from a column on."""
        row, free = self.rows[table], self.free[table]
        while free[column] > row:
            column += 1
        columns, rows = (self._span(cell, name) if cell else 1 for name in (b"ColSpan", b"RowSpan"))
        for number in range(column, column + columns):
            free[number] = row + rows
        return CellPlace(table, row, column, columns, rows)

    def _span(self, cell: Any, name: bytes) -> int:
        raw, value = self.raw, ctypes.c_float()
        for number in range(raw.FPDF_StructElement_GetAttributeCount(cell)):
            attribute = raw.FPDF_StructElement_GetAttributeAtIndex(cell, number)
            found = attribute and raw.FPDF_StructElement_Attr_GetValue(attribute, name)
            if found and raw.FPDF_StructElement_Attr_GetNumberValue(found, value) and 1 <= value.value <= MAX_SPAN:
                return int(value.value)
        return 1

    def _kind(self, element: Any) -> str:
        size = self.raw.FPDF_StructElement_GetType(element, self.buffer, len(self.buffer))
        return self.buffer.raw[: max(0, size - 2)].decode("utf-16-le", "replace") if size <= len(self.buffer) else ""

    def _tag(self, kind: str, around: Tag) -> Tag:
        if around.kind == "heading":
            return around
        if heading := HEADING.fullmatch(kind):
            return self._numbered("heading", int(heading[1] or 1), around)
        if kind == "Table":
            self.elements += 1
            return around._replace(place=CellPlace(self.elements))
        if kind not in KINDS or (KINDS[kind] == "paragraph" and around.kind in ("item", "cell", "head", "other")):
            return around
        return self._numbered(KINDS[kind], 0, around)

    def _numbered(self, kind: str, level: int, around: Tag) -> Tag:
        self.elements += 1
        return Tag(kind, level, self.elements, around.place)


# -- whether a document's tags are of use ---------------------------------------------------------------------------------


class Tagging(NamedTuple):
    """The heading tags of a document whose makers set them with care.

    styles   (type size, bold) of the lines that are tagged as headings
    largest  the largest of these sizes
    """

    styles: frozenset[tuple[float, bool]]
    largest: float


def tagging_of(lines: Sequence[Line]) -> Tagging | None:
    """The heading tags of a document; None where there are few, or they are on other text too, or most text has no tag."""
    headings = [line for line in lines if line.tag.kind == "heading" and not line.linked]
    letters = sum(len(line.text) for line in lines)
    tagged = sum(len(line.text) for line in lines if line.tag.kind or line.table)
    few = len({(line.page, line.tag.element) for line in headings}) < MIN_HEADINGS
    if few or sum(len(line.text) for line in headings) > MAX_SHARE * letters or tagged < MIN_TAGGED * letters:
        return None
    return Tagging(frozenset((line.size, line.bold) for line in headings), max(line.size for line in headings))
