"""Long sections in parts that can be cited: each ends where a paragraph, item or sentence ends, and has the leads of its list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from math import ceil
from typing import NamedTuple

from audit.text.documents import Section
from audit.text.statements import BLOCK_GAP, CELL_SEPARATOR, INDENT, ITEM_MARK, LINE, item_depth, statements

MAX_LETTERS = 6_000
"""Characters of a section's text; a longer one is divided."""
# A part of less than this share of what each would have is too short to be worth a better place to divide
MIN_SHARE = 0.5
SENTENCE_END = re.compile(r"[.!?…。！？।؟۔][\"”’»)\]]*\s*\Z")
# How good a place to divide is: behind a fragment that may be a heading, or an item without a mark; between sentences, items of
# an inner list, items or rows, paragraphs
FRAGMENT, SENTENCE, INNER, LINE_OF_LIST, PARAGRAPH = range(5)


class Border(NamedTuple):
    """Where a text may be divided: before the character at `start`."""

    start: int
    rank: int


def in_parts(sections: Iterable[Section]) -> Iterator[Section]:
    """The sections, each with more than `MAX_LETTERS` characters in parts of about the same length.

    A part is a section with the same headings and address. Its pages are its own. The first keeps the id, later ones have
    `.2`, `.3` behind it. Where a list or table is divided, each part begins with its leads, so that no item loses its "not".
    """
    for section in sections:
        if len(section.text) <= MAX_LETTERS:
            yield section
            continue
        spans = list(_spans(section.text))
        for number, (start, end) in enumerate(spans, start=1):
            yield _part(section, start, end, number, len(spans))


def _spans(text: str) -> Iterator[tuple[int, int]]:
    borders, start = list(_borders(text)), 0
    while len(text) - start > MAX_LETTERS - (repeated := len(_leads(text, start).text)):
        end = _best(text, borders, start, MAX_LETTERS - repeated)
        yield start, end
        start = end
    yield start, len(text)


def _best(text: str, borders: list[Border], start: int, room: int) -> int:
    """Where the part ends that begins at `start` and has room for `room` characters."""
    share = (len(text) - start) / ceil((len(text) - start) / room)
    possible = [border for border in borders if share * MIN_SHARE <= border.start - start <= room]
    if possible:
        return min(possible, key=lambda border: (-border.rank, abs(border.start - start - share))).start
    # A sentence longer than a part is divided between words
    word = max(text.rfind(sign, start, start + room) for sign in " \n。，")
    return word + 1 if word > start else start + room


def _borders(text: str) -> Iterator[Border]:
    """The places to divide a text, in reading order; none is behind what introduces something."""
    start, before = 0, ""
    for gap in [*BLOCK_GAP.finditer(text), None]:
        block = text[start : gap.start() if gap else len(text)]
        if before and not _introduces(before):
            yield Border(start, PARAGRAPH if _is_complete(before) else FRAGMENT)
        yield from _borders_in_block(block, start)
        start, before = (gap.end() if gap else len(text)), block


def _introduces(block: str) -> bool:
    """Whether it ends in a colon, perhaps with the number of a page behind it."""
    _, colon, behind = block.rpartition("\n")[2].rpartition(":")
    return bool(colon) and not any(map(str.isalpha, behind))


def _is_complete(block: str) -> bool:
    """Whether it ends with a sentence, is a table, or a list with its lead."""
    return bool(SENTENCE_END.search(block)) or "\n" in block.strip() or CELL_SEPARATOR in block


def _borders_in_block(block: str, offset: int) -> Iterator[Border]:
    lines = list(LINE.finditer(block))
    for before, line in pairwise(lines):
        depth = item_depth(line.group())
        if depth > item_depth(before.group()) or (CELL_SEPARATOR in line.group()) > (CELL_SEPARATOR in before.group()):
            continue
        yield Border(offset + line.start(), INNER if depth > 0 else LINE_OF_LIST)
    for one, other in pairwise(statements(block)):
        if "\n" not in block[one.end - 1 : other.start]:
            yield Border(offset + other.start, SENTENCE)


class Leads(NamedTuple):
    """The lines that introduce a place in a text, as they are repeated there, and where the first of them is."""

    text: str
    start: int


def _leads(text: str, start: int) -> Leads:
    """Those of a part that begins at `start`; no text where it begins with them, or nothing introduces it."""
    first = max((gap.end() for gap in BLOCK_GAP.finditer(text, 0, start)), default=0)
    gap = BLOCK_GAP.search(text, start)
    block = text[first : gap.start() if gap else len(text)]
    inside = next((found for found in statements(block) if first + found.end > start), None)
    if inside is None or not inside.leads or inside.leads[0] not in text[first:start]:
        return Leads("", start)
    # The outermost is a line of its own, each other an item of the one above it
    marks = ["", *(" " * (INDENT * level) + ITEM_MARK for level in range(len(inside.leads)))]
    lines = "".join(f"{mark}{lead}\n" for mark, lead in zip(marks, inside.leads, strict=False))
    # What goes on with an item is an item, or the leads would not be its
    goes_on = inside.kind == "item" and text[:start].rpartition("\n")[2].strip()
    return Leads(lines + (marks[len(inside.leads)] if goes_on else ""), first + block.index(inside.leads[0]))


def _part(section: Section, start: int, end: int, number: int, count: int) -> Section:
    leads, first = _leads(section.text, start)
    starts = {page: 0 for page in [section.page_at(first)] if section.page_starts and page}
    for page, position in section.page_starts:
        if position < end and (page == section.page_at(start) or position > start):
            starts.setdefault(page, max(position - start, 0) + len(leads))
    pages = (min(starts), max(starts)) if starts else section.pages
    return replace(
        section,
        section_id=section.section_id if number == 1 else f"{section.section_id}.{number}",
        text=leads + section.text[start:end].rstrip(),
        pages=pages,
        page_starts=tuple(starts.items()) if len(starts) > 1 else (),
        part=(number, count),
    )
