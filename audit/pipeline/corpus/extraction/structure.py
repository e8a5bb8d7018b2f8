"""From the pages of a PDF to blocks, and from blocks to the sections of a document, whichever library read the pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from audit.pipeline.corpus.extraction.contents import remove_contents
from audit.pipeline.corpus.extraction.drawings import separators
from audit.pipeline.corpus.extraction.headers_and_footers import find_headers_and_footers
from audit.pipeline.corpus.extraction.headings import Heading, find_headings
from audit.pipeline.corpus.extraction.layout import (
    Area,
    Block,
    ExtractedBlocks,
    Line,
    OpenPdf,
    PageProgress,
    PdfPage,
    TextCell,
)
from audit.pipeline.corpus.extraction.lists import Wording, are_fragments, is_item, paragraphs
from audit.pipeline.corpus.extraction.paragraphs import body_blocks, wording_of
from audit.pipeline.corpus.extraction.reading_order import in_reading_order
from audit.pipeline.corpus.extraction.ruled_tables import lines_and_tables
from audit.text.documents import Section


def extract_blocks(pdf: OpenPdf, progress: PageProgress) -> ExtractedBlocks:
    """The PDF in reading order, without headers, footers, page numbers and table of contents."""
    pages = []
    for page in pdf.pages:
        pages.append(_page(page))
        progress(page.number, pdf.page_count)
    text = remove_contents(list(_lines_in_order(pages)))
    headings = find_headings(text.lines, text.titles, pdf.outline)
    pages_without_text = tuple(number for number, page in enumerate(pages, start=1) if not page.lines)
    return ExtractedBlocks(tuple(_blocks(text.lines, headings)), len(pages), pdf.title, pages_without_text)


class _Page(NamedTuple):
    lines: list[Line]
    height: float
    separators: list[Area]


def _page(page: PdfPage) -> _Page:
    return _Page(lines_and_tables(page), page.height, separators(page.rulings, page.width))


def _lines_in_order(pages: list[_Page]) -> Iterator[Line]:
    repeated = find_headers_and_footers([page.lines for page in pages], [page.height for page in pages])
    for page in pages:
        yield from in_reading_order(repeated.remove_from(page.lines, page.height), page.separators)


def _blocks(lines: list[Line], headings: list[Heading]) -> Iterator[Block]:
    wording = wording_of(lines)
    ends = [*(heading.start for heading in headings), len(lines)]
    yield from body_blocks(lines[: ends[0]], wording)
    for heading, end in zip(headings, ends[1:], strict=True):
        yield Block("heading", heading.text, heading.page, heading.page, heading.level)
        yield from body_blocks(_led_by(heading, lines[heading.end : end], wording), wording)


def _led_by(heading: Heading, lines: list[Line], wording: Wording) -> list[Line]:
    """The lines below a heading. Where they begin with a list of fragments, the heading is also its lead.

    "Raw eggs" below the heading "Do not eat" would mean nothing, or the opposite, where it is quoted alone.
    """
    if not lines or not is_item(lines[0]):
        return lines
    first_list = next(paragraphs(lines, wording.pitch))
    if not are_fragments(first_list):
        return lines
    text = heading.text if heading.text.endswith((":", "?", "…")) else f"{heading.text}:"
    return [replace(lines[0], cells=(TextCell(text, lines[0].x0, lines[0].x1),), is_lead=True), *lines]


def sections_of(blocks: Iterable[Block]) -> Iterator[Section]:
    """One section per heading, and one without a heading for the text before the first; each names the headings above it.

    A PDF without any heading gets one section per page.
    """
    # A single section of a hundred pages would be useless to search in, hence the pages.
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
    pages = stretch[0].page, max(block.last_page for block in stretch)
    text, page_starts = _section_text(stretch[1:] if has_heading else stretch)
    return Section(
        section_id=f"s{number:05}",
        heading=stretch[0].text if has_heading else "",
        text=text,
        above=above if has_heading else (),
        pages=pages,
        # A section on one page needs no positions
        page_starts=page_starts if pages[0] != pages[1] else (),
    )


def _section_text(body: list[Block]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Paragraphs with an empty line between them, the rows of a table on consecutive lines; and where each page begins."""
    text, starts = "", dict[int, int]()
    for before, block in zip([None, *body], body, strict=False):
        same_table = before is not None and before.kind == block.kind == "row"
        text += "\n" if same_table else "\n\n" if before else ""
        for page, start in ((block.page, 0), *block.later_pages):
            starts.setdefault(page, len(text) + start)
        text += block.text
    return text, tuple(starts.items())
