"""From the pages of a PDF to blocks, and from blocks to the sections of a document, whichever library read the pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import NamedTuple

from audit.pipeline.corpus.extraction.contents import remove_contents
from audit.pipeline.corpus.extraction.drawings import separators
from audit.pipeline.corpus.extraction.headings import Heading, find_headings, of_most_letters
from audit.pipeline.corpus.extraction.layout import Area, Block, ExtractedBlocks, Line, OpenPdf, PageProgress, PdfPage, TextCell
from audit.pipeline.corpus.extraction.lists import Wording, are_fragments, is_item, paragraphs
from audit.pipeline.corpus.extraction.paragraphs import body_blocks, wording_of
from audit.pipeline.corpus.extraction.reading_order import in_reading_order
from audit.pipeline.corpus.extraction.ruled_tables import lines_and_tables
from audit.text.documents import Section

# Headers and footers are in this share of the page's height, at the top or bottom
MARGIN = 0.12
# The same words at the same height on this many pages are a header or footer; in a shorter PDF on all pages, at least two
MIN_PAGES = 3
# Small type at the same height on this share of the pages is a header or footer, whatever its words
MIN_SHARE_OF_PAGES = 0.6
# Heights in points within which two lines count as at the same height
HEIGHT_STEP = 4
PAGE_NUMBER = re.compile(
    r"(page|p\.|seite|page:)?\s*[-–|]?\s*(\d{1,4}|[ivxlc]{1,6})\s*[-–|]?(\s*(of|/|von)\s*\d{1,4})?", re.IGNORECASE
)

HeightAndWords = tuple[int, str]


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


# -- headers, footers and page numbers ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class HeadersAndFooters:
    """The repeated lines of a PDF: by height and words, and by height alone where the type is smaller than the body's."""

    repeated: frozenset[HeightAndWords]
    small_type_heights: frozenset[int]
    body_size: float

    def remove_from(self, page: list[Line], height: float) -> list[Line]:
        """The lines of a page without headers and footers."""
        # Only from the very top and bottom: below another line, a repeated text is part of the page.
        lines = list(page)
        while lines and self._is_repeated(lines[0], height):
            lines.pop(0)
        while lines and self._is_repeated(lines[-1], height):
            lines.pop()
        return lines

    def _is_repeated(self, line: Line, height: float) -> bool:
        if not _in_margin(line, height):
            return False
        key = _height_and_words(line, self.body_size)
        small = line.size < self.body_size and key[0] in self.small_type_heights
        return small or key in self.repeated or PAGE_NUMBER.fullmatch(line.text) is not None


def find_headers_and_footers(pages: list[list[Line]], heights: list[float]) -> HeadersAndFooters:
    """What the pages repeat. `heights` are the heights of the pages, in points."""
    marginal = [[line for line in lines if _in_margin(line, height)] for lines, height in zip(pages, heights, strict=True)]
    body = of_most_letters(chain.from_iterable(pages), lambda line: line.size) or 0.0
    repeated = Counter(key for lines in marginal for key in {_height_and_words(line, body) for line in lines})
    small = Counter(
        height for lines in marginal for height in {_height_and_words(line, body)[0] for line in lines if line.size < body}
    )
    enough = max(2, min(MIN_PAGES, len(pages)))
    # Small type alone is weak evidence (a footnote), so more pages must have it
    often = max(enough, MIN_SHARE_OF_PAGES * len(pages))
    headings = _headings_in_body(pages, heights, body)
    return HeadersAndFooters(
        frozenset(key for key, count in repeated.items() if count >= enough and count > headings[key[1]]),
        frozenset(height for height, count in small.items() if count >= often),
        body,
    )


def _headings_in_body(pages: list[list[Line]], heights: list[float], body: float) -> Counter[str]:
    """How often prominent words are outside the margins: a heading of many chapters, which some pages begin with."""
    return Counter(
        line.text.casefold()
        for lines, height in zip(pages, heights, strict=True)
        for line in lines
        if not _in_margin(line, height) and (line.bold or line.size > body)
    )


def _in_margin(line: Line, height: float) -> bool:
    return line.baseline < MARGIN * height or line.baseline > (1 - MARGIN) * height


def _height_and_words(line: Line, body: float) -> HeightAndWords:
    words = line.text.casefold()
    # "Page 3" and "Page 4" are one footer, but "Chapter 3" and "Chapter 4" in large type are two headings.
    prominent = line.bold or line.size > body
    return round(line.baseline / HEIGHT_STEP), words if prominent else re.sub(r"\d+", "#", words)
