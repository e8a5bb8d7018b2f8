"""From the pages of a PDF to blocks, and from blocks to the sections of a document, whichever library read the pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, chain, groupby, islice, pairwise

from audit.pipeline.corpus.extraction.contents import remove_contents
from audit.pipeline.corpus.extraction.corrected import (
    Corrections,
    corrected_headings,
    corrected_lines,
    kept_of_contents,
    without_kept,
)
from audit.pipeline.corpus.extraction.doubts import (
    PageBoxes,
    boxes_of,
    copied_pages,
    divided_boxes,
    letters_of_pages,
    repeated_lines,
)
from audit.pipeline.corpus.extraction.flow import Aside, PageLines, flow_of, page_lines
from audit.pipeline.corpus.extraction.headings import Heading, find_headings
from audit.pipeline.corpus.extraction.layout import (
    Block,
    ExtractedBlocks,
    LeftOut,
    Line,
    OpenPdf,
    PageProgress,
    PdfPage,
    TextCell,
)
from audit.pipeline.corpus.extraction.learned_bullets import with_learned
from audit.pipeline.corpus.extraction.line_breaks import with_breaks
from audit.pipeline.corpus.extraction.lists import Wording, are_fragments, are_plain_items, is_item, paragraphs
from audit.pipeline.corpus.extraction.panels import in_sections
from audit.pipeline.corpus.extraction.paragraphs import TableAbove, blocks_below, body_blocks, wording_of
from audit.pipeline.corpus.extraction.reconciliation import PageSource, losses_of, page_source
from audit.pipeline.corpus.extraction.repair import resolved
from audit.text.corrections import Correction
from audit.text.documents import FRAME, Section


def extract_blocks(pdf: OpenPdf, progress: PageProgress, given: tuple[Correction, ...] = ()) -> ExtractedBlocks:
    """The PDF in reading order, without headers, footers, page numbers and table of contents, as people corrected it."""
    corrections = Corrections(given)
    pages, sources, boxes = list[PageLines](), list[PageSource](), list[PageBoxes]()
    read = list[PdfPage]()
    for page in pdf.pages:
        read.append(page)
        progress(page.number, pdf.page_count)
    for page in with_learned(read):
        pages.append(page_lines(page))
        sources.append(page_source(page))
        boxes.append(boxes_of(page))
    flow = flow_of(pages, pdf.title, partial(without_kept, corrections))
    repeated = repeated_lines(flow.left_out)
    broken = with_breaks(flow.lines)
    text = remove_contents(broken)
    remaining = kept_of_contents(corrections, broken, text.lines, text.removed)
    lines, asides = corrected_lines(corrections, remaining, flow)
    headings = corrected_headings(corrections, find_headings(lines, text.titles, pdf.outline), lines)
    lines, headings = in_sections(lines, headings, flow.panels)
    blocks = _with_resolved(list(_blocks(lines, headings, asides)))
    for line in text.removed:
        if not any(line is kept for kept in remaining):
            flow.left_out[line.page].append(LeftOut(FRAME, line.text))
    return ExtractedBlocks(
        blocks,
        len(pages),
        pdf.title,
        tuple(page.number for page in pages if not any(view.lines for view in page.views)),
        tuple(source.number for source in sources if source.is_pictured),
        tuple(losses_of(sources, blocks, flow.left_out)),
        letters=sum(letters_of_pages(sources)),
        doubts=(*repeated, *divided_boxes(boxes, lines), *copied_pages(sources, blocks)),
        corrections=corrections.result,
    )


def _with_resolved(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks with the ligatures that the document's own words show, page by page, so that each page begins where it did."""
    starts = [[0, *(start for _, start in block.later_pages), len(block.text)] for block in blocks]
    pieces = [[block.text[start:end] for start, end in pairwise(places)] for block, places in zip(blocks, starts, strict=True)]
    texts = iter(resolved(list(chain.from_iterable(pieces))))
    return tuple(_with_pieces(block, list(islice(texts, len(own)))) for block, own in zip(blocks, pieces, strict=True))


def _with_pieces(block: Block, pieces: Sequence[str]) -> Block:
    starts = accumulate(map(len, pieces[:-1]))
    later = tuple((page, start) for (page, _), start in zip(block.later_pages, starts, strict=True))
    return replace(block, text="".join(pieces), later_pages=later)


def _blocks(lines: list[Line], headings: list[Heading], asides: Sequence[Aside]) -> Iterator[Block]:
    """The blocks of each stretch below a heading, with the asides of the pages that end in it."""
    wording = wording_of([*lines, *(line for aside in asides for line in aside.lines)])
    starts = [0, *(heading.start for heading in headings)]
    ends = [*starts[1:], len(lines)]
    waiting = list(asides)
    table: TableAbove | None = None
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        heading = headings[number - 1] if number else None
        if heading:
            yield Block("heading", heading.text, heading.page, heading.page, heading.level, panel=heading.panel)
        below = lines[heading.end if heading else start : end]
        is_label = heading is not None and heading.end == heading.start + 1 and table and table.is_under(lines[heading.start])
        body, table = blocks_below(_led_by(heading, below, wording) if heading else below, wording, table if is_label else None)
        # The text of a page ends where a line of the next one begins
        last = lines[end].page - 1 if end < len(lines) else waiting[-1].page if waiting else 0
        own = [aside for aside in waiting if aside.page <= last]
        waiting = waiting[len(own) :]
        yield from _with_asides(body, own, wording)


def _with_asides(body: list[Block], asides: Iterable[Aside], wording: Wording) -> Iterator[Block]:
    """The blocks with each aside behind the last that ends on its page: so that no paragraph is divided."""
    rest = list(body)
    for aside in asides:
        while rest and rest[0].last_page <= aside.page:
            yield rest.pop(0)
        yield from body_blocks(aside.lines, wording)
    yield from rest


def _led_by(heading: Heading, lines: list[Line], wording: Wording) -> list[Line]:
    """The lines below a heading. Where they begin with a list of fragments, the heading is also its lead.

    "Raw eggs" below the heading "Do not eat" would mean nothing, or the opposite, where it is quoted alone.
    """
    if not lines or not (is_item(lines[0]) or are_plain_items(lines, wording.pitch)):
        return lines
    if is_item(lines[0]) and not are_fragments(next(paragraphs(lines, wording.pitch))):
        return lines
    text = heading.text if heading.text.endswith((":", "?", "…")) else f"{heading.text}:"
    return [replace(lines[0], cells=(TextCell(text, lines[0].x0, lines[0].x1),), is_lead=True), *lines]


def sections_of(blocks: Iterable[Block]) -> Iterator[Section]:
    """One section per heading, and one without a heading for the text before the first; each names the headings above it.

    The headings of a panel are above nothing outside it. A PDF without any heading gets one section per page.
    """
    # A single section of a hundred pages would be useless to search in, hence the pages.
    blocks = tuple(blocks)
    has_headings = any(block.kind == "heading" for block in blocks)
    above, own = list[Block](), list[Block]()
    for number, stretch in enumerate(_split_at_headings(blocks) if has_headings else _split_at_pages(blocks), start=1):
        first = stretch[0]
        if first.kind == "heading" and first.panel:
            own = [*(heading for heading in own if heading.panel == first.panel and heading.level < first.level), first]
        elif first.kind == "heading":
            above, own = [*(heading for heading in above if heading.level < first.level), first], []
        around = [heading for heading in above if not own or heading.level < own[0].level]
        yield _section(number, stretch, tuple(heading.text for heading in [*around, *own][:-1]))


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
