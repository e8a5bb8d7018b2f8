"""From the pages of a PDF to blocks, and from blocks to the sections of a document, whichever library read the pages."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Set
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import NamedTuple, TypeVar

from audit.pipeline.corpus.extraction.contents import remove_contents, title_key
from audit.pipeline.corpus.extraction.drawings import separators
from audit.pipeline.corpus.extraction.layout import (
    Area,
    Block,
    Color,
    ExtractedBlocks,
    Line,
    OpenPdf,
    OutlineEntry,
    PageProgress,
    PdfPage,
    TextCell,
)
from audit.pipeline.corpus.extraction.lists import Wording, are_fragments, is_item, paragraphs
from audit.pipeline.corpus.extraction.paragraphs import body_blocks, wording_of
from audit.pipeline.corpus.extraction.reading_order import in_reading_order
from audit.pipeline.corpus.extraction.ruled_tables import lines_and_tables
from audit.text.documents import Section

# -- headings ------------------------------------------------------------------------------------------------
# Headings and their levels: by type, by number, and by the titles in the table of contents and the PDF's
# outline.
#
# A bold line with a colon above a list ("Never smoke:") is the list's lead and not a heading, unless it is set in larger type or
# most headings of the document end with a colon. A heading right above a list of fragments is also repeated as its lead
# (`audit.pipeline.corpus.extraction.structure`).

# A heading's type is larger than the body's by this factor, or bold where the body is not
LARGER_TYPE = 1.09
# Words that seem to go on with a sentence are larger by this: sizes of one font may come out a little apart
MUCH_LARGER_TYPE = 1.2
# Bold headings are at least this size, or still smaller where the body follows
SLIGHTLY_SMALLER, SMALLEST = 0.95, 0.75
# Longer text is a paragraph in bold
MAX_CHARACTERS = 200
MAX_LINES = 4
# The lines of one heading are at most this many type sizes apart
MAX_PITCH = 1.7
# Text below a heading in its own color is at most this many type sizes away
MAX_HEADING_GAP = 2.2
NUMBER = re.compile(r"(?:chapter|section|part|kapitel)?\s*(\d{1,2}(?:\.\d{1,2})*)\.?\s+\S", re.IGNORECASE)
SENTENCE_END = re.compile(r"[.,;]\s*$|\.\s+\S+.*\.\s*$")
BULLET = re.compile(r"[•·▪●○◦‣■□➢✓*–—-]\s")
# Words that no heading ends with
OPEN_END = re.compile(r"\b(?:a|an|the|of|in|on|at|to|by|for|from|with|and|or|your|their|is|are)$", re.IGNORECASE)
# Captions, dates and notes in brackets, the bold end of a sentence
NOT_A_TITLE = re.compile(
    r"^(?:table|figure|fig\.|tabelle|abbildung|tabla|figura|tableau)\s+\d|^\[[^\]]*\]$|^[^\[]*\]|^(?:and|or|the|of|to)$",
    re.IGNORECASE,
)
# An address of the web or of e-mail is what a heading leads to, and no part of it
ADDRESS = re.compile(r"(?:https?://|www\.)\S+|[\w.+-]+@[\w-]+\.\w+", re.IGNORECASE)
LEADS_TO_ADDRESS = re.compile(r"\b(?:at|on|via|to|see|visit|e-?mail|contact)$", re.IGNORECASE)
MIN_ADDRESSES = 2
MIN_LETTERS = 3
Feature = TypeVar("Feature", bound=Hashable)
Style = tuple[float, bool]
"""Type size, and whether it is bold."""


class Body(NamedTuple):
    """The type of most of a document's text."""

    size: float
    bold: bool
    color: Color


@dataclass(frozen=True)
class Heading:
    """A heading; `start` is the number of its first line, `end` that of the first line after it."""

    text: str
    start: int
    end: int
    style: Style
    page: int
    level: int = 0
    color: Color = ()


def find_headings(lines: list[Line], titles: frozenset[str], outline: tuple[OutlineEntry, ...] = ()) -> list[Heading]:
    """The headings among the lines, in their order, with levels from 1.

    titles   the titles in the table of contents, as `title_key` writes them
    outline  the PDF's outline; it also gives the level of the headings that it names
    """
    size, bold = of_most_letters(lines, _style) or (0.0, False)
    body = Body(size, bold, of_most_letters(lines, lambda line: line.color) or ())
    # Reversed, so that the first of two entries with one title counts
    levels = {title_key(entry.title): entry.level for entry in reversed(outline)}
    named = titles | levels.keys()
    candidates = [heading for heading in _candidates(lines, named) if _has_heading_form(heading, lines[heading.start])]
    colors = {heading.color for heading in candidates if heading.style[0] >= LARGER_TYPE * size} - {body.color, ()}
    prominent = [heading for heading in candidates if _stands_out(heading, lines, body, colors)]
    headings = list(_select(candidates, prominent, named))
    return _with_levels(_without_leads(headings, lines, body, levels.keys()), levels)


def of_most_letters(lines: Iterable[Line], feature: Callable[[Line], Feature]) -> Feature | None:
    """The feature that most letters of the lines have; None without lines."""
    letters: Counter[Feature] = Counter()
    for line in lines:
        letters[feature(line)] += len(line.text)
    return letters.most_common(1)[0][0] if letters else None


def _style(line: Line) -> Style:
    return line.size, line.bold


def _candidates(lines: list[Line], named: Set[str]) -> Iterator[Heading]:
    """Every line, joined with the lines that continue it just below or at the top of the next column or page."""
    start = 0
    while start < len(lines):
        end = start + 1
        while end < len(lines) and _continues_below(lines[end - 1], lines[end]):
            end += 1
        text = " ".join(line.text for line in lines[start:end])
        if end < len(lines) and _continues_after_break(lines[end - 1], lines[end], f"{text} {lines[end].text}", named):
            text, end = f"{text} {lines[end].text}", end + 1
        yield Heading(text, start, end, _style(lines[start]), lines[start].page, color=lines[start].color)
        start = end


def _continues_below(before: Line, line: Line) -> bool:
    close = 0 < line.baseline - before.baseline < MAX_PITCH * line.size
    return close and before.page == line.page and _same_style(before, line)


def _continues_after_break(before: Line, line: Line, joined: str, named: Set[str]) -> bool:
    # A heading broken by a column or page is recognised by its full title in the contents, or by a small letter.
    broken = before.page != line.page or line.baseline <= before.baseline
    return broken and _same_style(before, line) and (title_key(joined) in named or line.text[:1].islower())


def _same_style(before: Line, line: Line) -> bool:
    single_cells = len(line.cells) == len(before.cells) == 1 and not (
        line.is_lead or before.is_lead or line.table or before.table
    )
    same_color = before.color == line.color or () in (before.color, line.color)
    begins_anew = NUMBER.match(line.text) or ADDRESS.match(line.text)
    return _style(before) == _style(line) and same_color and single_cells and not begins_anew


def _has_heading_form(heading: Heading, first: Line) -> bool:
    # List items, rows of tables and lines of figures are not headings, however they are set
    short = len(heading.text) <= MAX_CHARACTERS and heading.end - heading.start <= MAX_LINES
    single = len(first.cells) == 1 and not first.table and not first.is_lead
    worded = sum(map(str.isalpha, heading.text)) >= MIN_LETTERS and not NOT_A_TITLE.search(heading.text)
    return short and single and worded and not BULLET.match(heading.text) and not ADDRESS.search(heading.text)


def _stands_out(heading: Heading, lines: list[Line], body: Body, colors: Set[Color]) -> bool:
    """Whether a line is larger than the body, bold, or in a color that larger headings have."""
    size, bold = heading.style
    if size >= (MUCH_LARGER_TYPE if _continues_text(heading, lines) else LARGER_TYPE) * body.size:
        return True
    if heading.text[:1].islower():
        return False
    if size >= SMALLEST * body.size and heading.color in colors and _heads_smaller_text(heading, lines):
        return True
    bold = bold and not body.bold
    # Bold headings may be set a little smaller than the body
    if size >= SLIGHTLY_SMALLER * body.size:
        return bold or (heading.color in colors and heading.color != body.color and _is_above_body(heading, lines, body))
    # Much smaller ones are captions and heads of tables, unless the body follows
    return bold and size >= SMALLEST * body.size and _is_above_body(heading, lines, body)


def _continues_text(heading: Heading, lines: list[Line]) -> bool:
    """Whether the words may be the rest of a sentence that the line just above has begun."""
    if heading.text[:1].islower():
        return True
    above, first = lines[heading.start - 1] if heading.start else None, lines[heading.start]
    if above is None or above.page != first.page or above.bold != first.bold or above.color != first.color:
        return False
    close = 0 < first.baseline - above.baseline < MAX_PITCH * above.size
    return close and above.x0 == first.x0 and above.text[-1:].isalnum()


def _is_above_body(heading: Heading, lines: list[Line], body: Body) -> bool:
    below = lines[heading.end] if heading.end < len(lines) else None
    if below is None or below.page != heading.page or below.table:
        return False
    return (below.size, below.bold) == (body.size, body.bold) and (below.color != heading.color or heading.style[1])


def _heads_smaller_text(heading: Heading, lines: list[Line]) -> bool:
    """Whether a line in the color of headings is right above text in another color and not larger, as in boxes and notes."""
    below = lines[heading.end : heading.end + 1]
    return any(
        line.page == heading.page
        and line.size <= heading.style[0]
        and not line.bold
        and len(line.cells) == 1
        and line.color not in ((), heading.color)
        and 0 < line.baseline - lines[heading.end - 1].baseline < MAX_HEADING_GAP * heading.style[0]
        for line in below
    )


def _select(candidates: list[Heading], prominent: list[Heading], named: Set[str]) -> Iterator[Heading]:
    """Candidates that stand out and end no sentence, or are named."""
    # A named line in body type counts only if no line of that name stands out: else it is a mention in running text.
    keys, starts = {title_key(heading.text) for heading in prominent}, {heading.start for heading in prominent}
    for heading in candidates:
        key, stands_out = title_key(heading.text), heading.start in starts
        ends_sentence = SENTENCE_END.search(heading.text)
        if (key in named and (stands_out or key not in keys)) or (stands_out and not ends_sentence):
            yield heading


def _without_leads(headings: list[Heading], lines: list[Line], body: Body, outlined: Set[str]) -> list[Heading]:
    """The headings without the lines that only lead a list, run on into a paragraph or name an address."""
    usual = 2 * sum(heading.text.endswith(":") for heading in headings) > len(headings)

    def is_lead(heading: Heading) -> bool:
        larger = heading.style[0] >= LARGER_TYPE * body.size
        leads = not larger and ((not usual and _leads_list(heading, lines)) or _runs_on(heading, lines))
        return leads or _leads_to_address(heading, lines)

    return [heading for heading in headings if title_key(heading.text) in outlined or not is_lead(heading)]


def _leads_list(heading: Heading, lines: list[Line]) -> bool:
    return heading.text.endswith(":") and heading.end < len(lines) and is_item(lines[heading.end])


def _leads_to_address(heading: Heading, lines: list[Line]) -> bool:
    """Whether a line of any size ends with "please visit" or "by e-mail", and the address follows."""
    following = lines[heading.end : heading.end + 1]
    return LEADS_TO_ADDRESS.search(heading.text) is not None and any(ADDRESS.match(line.text) for line in following)


def _runs_on(heading: Heading, lines: list[Line]) -> bool:
    """Whether the line below goes on with the sentence: it is close, and the bold words end as no heading does."""
    last, below = lines[heading.end - 1], lines[heading.end] if heading.end < len(lines) else None
    if below is None or below.page != last.page or not 0 < below.baseline - last.baseline < MAX_PITCH * last.size:
        return False
    if not heading.text.endswith(":") and _are_addresses(lines[heading.end : heading.end + MIN_ADDRESSES]):
        return False
    return below.text[:1].islower() or OPEN_END.search(heading.text) is not None


def _are_addresses(lines: list[Line]) -> bool:
    # Above one address a bold line is the name of whom it belongs to
    return len(lines) == MIN_ADDRESSES and all(ADDRESS.match(line.text) for line in lines)


def _with_levels(headings: list[Heading], outline: dict[str, int]) -> list[Heading]:
    """The headings with levels: from the outline, else by number, else by type, the largest outermost."""
    numbers = {heading: match[1].count(".") + 1 for heading in headings if (match := NUMBER.match(heading.text))}
    # A few numbers may be part of the wording ("2 weeks after surgery"); only a numbered handbook numbers most headings.
    if len(numbers) * 2 <= len(headings):
        numbers = {}
    outlined = {heading: level for heading in headings if (level := outline.get(title_key(heading.text)))}
    known = {**numbers, **outlined}
    by_style = _levels_by_style(headings, known)
    return [replace(heading, level=known.get(heading) or by_style[heading.style]) for heading in headings]


def _levels_by_style(headings: list[Heading], known: dict[Heading, int]) -> dict[Style, int]:
    """The level of each style: the commonest known level of its headings, else one below the next larger style."""
    counts: defaultdict[Style, Counter[int]] = defaultdict(Counter)
    for heading, level in known.items():
        counts[heading.style][level] += 1
    levels: dict[Style, int] = {}
    above = 0
    for style in sorted({heading.style for heading in headings}, reverse=True):
        above = levels[style] = counts[style].most_common(1)[0][0] if counts[style] else above + 1
    return levels


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
