"""From the pages of a PDF to the blocks of a document, whichever library read the pages."""

from __future__ import annotations

from collections.abc import Iterator

from audit.corpus.extraction.columns import in_reading_order
from audit.corpus.extraction.contents import without_contents
from audit.corpus.extraction.furniture import furniture
from audit.corpus.extraction.headings import Heading, headings
from audit.corpus.extraction.layout import Block, Blocks, Line, Opened, Progress
from audit.corpus.extraction.lines import pieces
from audit.corpus.extraction.paragraphs import body_blocks, pitch_of, words_of


def structured(opened: Opened, progress: Progress) -> Blocks:
    """The document in reading order, without running heads, feet, page numbers and table of contents."""
    pages, heights = [], []
    for sheet in opened.sheets:
        pages.append(pieces(sheet))
        heights.append(sheet.height)
        progress(sheet.number, opened.count)
    lines = _ordered(pages, heights)
    contents = without_contents(lines)
    found = headings(contents.lines, contents.titles, opened.marks)
    silent = tuple(number for number, page in enumerate(pages, start=1) if not page)
    return Blocks(tuple(_blocks(contents.lines, found)), len(pages), opened.title, silent)


def _ordered(pages: list[list[Line]], heights: list[float]) -> list[Line]:
    dropped = furniture(pages, heights)
    kept = (dropped.without(page, height) for page, height in zip(pages, heights, strict=True))
    return [line for page in kept for line in in_reading_order(page)]


def _blocks(lines: list[Line], found: list[Heading]) -> Iterator[Block]:
    pitch, words = pitch_of(lines), words_of(lines)
    start = 0
    for heading in found:
        yield from body_blocks(lines[start : heading.start], pitch, words)
        yield Block("heading", heading.text, heading.page, heading.page, heading.level)
        start = heading.end
    yield from body_blocks(lines[start:], pitch, words)
