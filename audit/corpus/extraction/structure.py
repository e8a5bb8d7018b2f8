"""From the pages of a PDF to blocks, and from blocks to the sections of a document, whichever library read the pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from audit.corpus.documents import Section
from audit.corpus.extraction.headers_and_footers import find_headers_and_footers
from audit.corpus.extraction.headings import Heading, find_headings, remove_contents
from audit.corpus.extraction.layout import Block, ExtractedBlocks, Line, OpenPdf, PageProgress, in_reading_order, page_lines
from audit.corpus.extraction.paragraphs import body_blocks, line_pitch, words_inside_lines


def extract_blocks(pdf: OpenPdf, progress: PageProgress) -> ExtractedBlocks:
    """The PDF in reading order, without headers, footers, page numbers and table of contents."""
    pages, heights = [], []
    for page in pdf.pages:
        pages.append(page_lines(page))
        heights.append(page.height)
        progress(page.number, pdf.page_count)
    text = remove_contents(_lines_in_order(pages, heights))
    headings = find_headings(text.lines, text.titles, pdf.outline)
    pages_without_text = tuple(number for number, page in enumerate(pages, start=1) if not page)
    return ExtractedBlocks(tuple(_blocks(text.lines, headings)), len(pages), pdf.title, pages_without_text)


def _lines_in_order(pages: list[list[Line]], heights: list[float]) -> list[Line]:
    repeated = find_headers_and_footers(pages, heights)
    bodies = (repeated.remove_from(page, height) for page, height in zip(pages, heights, strict=True))
    return [line for body in bodies for line in in_reading_order(body)]


def _blocks(lines: list[Line], headings: list[Heading]) -> Iterator[Block]:
    pitch, words = line_pitch(lines), words_inside_lines(lines)
    start = 0
    for heading in headings:
        yield from body_blocks(lines[start : heading.start], pitch, words)
        yield Block("heading", heading.text, heading.page, heading.page, heading.level)
        start = heading.end
    yield from body_blocks(lines[start:], pitch, words)


def sections_of(blocks: Iterable[Block]) -> Iterator[Section]:
    """One section per heading, and one without a heading for the text before the first; each names the headings above it.

    A PDF without any heading gets one section per page, because a single section of a hundred pages would be useless.
    """
    blocks = tuple(blocks)
    has_headings = any(block.kind == "heading" for block in blocks)
    above: list[Block] = []
    for number, stretch in enumerate(_split_at_headings(blocks) if has_headings else _split_at_pages(blocks), start=1):
        first = stretch[0]
        if first.kind == "heading":
            above = [*(heading for heading in above if heading.level < first.level), first]
        yield _section(number, stretch, tuple(heading.text for heading in above[:-1]))


def _split_at_headings(blocks: tuple[Block, ...]) -> Iterator[list[Block]]:
    stretch: list[Block] = []
    for block in blocks:
        if stretch and block.kind == "heading":
            yield stretch
            stretch = []
        stretch.append(block)
    yield stretch


def _split_at_pages(blocks: tuple[Block, ...]) -> Iterator[list[Block]]:
    return (list(group) for _, group in groupby(blocks, key=lambda block: block.page))


def _section(number: int, stretch: list[Block], above: tuple[str, ...]) -> Section:
    has_heading = stretch[0].kind == "heading"
    return Section(
        section_id=f"s{number:05}",
        heading=stretch[0].text if has_heading else "",
        text=_section_text(stretch[1:] if has_heading else stretch),
        above=above if has_heading else (),
        pages=(stretch[0].page, max(block.last_page for block in stretch)),
    )


def _section_text(body: list[Block]) -> str:
    """Paragraphs with an empty line between them; the rows of a table on consecutive lines."""
    parts: list[str] = []
    for before, block in zip([None, *body], body, strict=False):
        same_table = before is not None and before.kind == block.kind == "row"
        parts.append(("\n" if same_table else "\n\n" if parts else "") + block.text)
    return "".join(parts)
