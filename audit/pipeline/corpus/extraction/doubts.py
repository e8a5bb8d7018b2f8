"""Where the layout of a PDF leaves in doubt what its text says; `audit.pipeline.corpus.doubts` has what the text itself shows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from audit.pipeline.corpus.doubts import first_words
from audit.pipeline.corpus.extraction.drawings import SNAP, Box
from audit.pipeline.corpus.extraction.headers_and_footers import is_page_number
from audit.pipeline.corpus.extraction.layout import Area, Block, LeftOut, Line, PdfPage, TextCell
from audit.pipeline.corpus.extraction.losses import letters_of
from audit.pipeline.corpus.extraction.reconciliation import PageSource, text_by_page
from audit.text.corrections import letters_in_order
from audit.text.documents import BOX, COPIED, FRAME, REPEATED, Doubt

MIN_LETTERS = 3
# Points: a lower box holds one line, or none
MIN_HEIGHT = 20.0
# A page with more is a form or a drawing
MAX_BOXES = 60
# Sections with this many times the letters of their page, and at least so many more, have some of it twice
MANY_TIMES, MANY_MORE = 1.5, 150


class PageBoxes(NamedTuple):
    """The boxes that are drawn on a page."""

    page: int
    boxes: tuple[Box, ...]


def repeated_lines(left_out: Mapping[int, Sequence[LeftOut]]) -> list[Doubt]:
    """The lines that pages repeat and that are left out, each once with its pages: a title may be among them."""
    pages, words = defaultdict[str, set[int]](set), dict[str, str]()
    for page, lines in sorted(left_out.items()):
        for line in lines:
            key = "".join(filter(str.isalpha, letters_in_order(line.text)))
            if line.kind == FRAME and len(key) >= MIN_LETTERS and not is_page_number(line.text):
                pages[key].add(page)
                words.setdefault(key, line.text)
    return [Doubt(REPEATED, first_words(words[key]), tuple(sorted(pages[key]))) for key in words]


# -- boxes -------------------------------------------------------------------------------------------------------------


def boxes_of(page: PdfPage) -> PageBoxes:
    """The frames and coloured areas of a page, as far as straight lines bound them on all sides."""
    across = sorted(
        (line for line in page.rulings if line.x1 - line.x0 > line.bottom - line.top),
        key=lambda line: (round(line.x0 / SNAP), round(line.x1 / SNAP), line.top),
    )
    upright = [line for line in page.rulings if line.bottom - line.top > line.x1 - line.x0]
    boxes = [
        Box(upper.x0, upper.top, upper.x1, lower.bottom)
        for upper, lower in pairwise(across)
        if _are_as_wide(upper, lower) and lower.top - upper.top >= MIN_HEIGHT and _have_sides(upper, lower, upright)
    ]
    return PageBoxes(page.number, tuple(boxes) if len(boxes) <= MAX_BOXES else ())


def _are_as_wide(upper: Area, lower: Area) -> bool:
    return max(abs(upper.x0 - lower.x0), abs(upper.x1 - lower.x1)) <= SNAP


def _have_sides(upper: Area, lower: Area, upright: Iterable[Area]) -> bool:
    sides = [line for line in upright if line.top <= upper.top + SNAP and line.bottom >= lower.top - SNAP]
    return all(any(abs(line.x0 - x) <= SNAP for line in sides) for x in (upper.x0, upper.x1))


def divided_boxes(pages: Iterable[PageBoxes], lines: Sequence[Line]) -> Iterator[Doubt]:
    """The boxes between whose lines stands text from outside them, and those of which some lines go on outside.

    lines  in reading order
    """
    by_page = {page: list(group) for page, group in groupby(lines, key=lambda line: line.page)}
    for page, boxes in pages:
        own = [line for line in by_page.get(page, ()) if not line.table]
        # Of boxes within each other one is enough
        divided = dict.fromkeys(line.text for box in boxes if (line := _divided(box, own)) is not None)
        yield from (Doubt(BOX, first_words(text), (page,)) for text in divided)


def _divided(box: Box, lines: Sequence[Line]) -> Line | None:
    """The first line of a box, where its lines are not together; None where they are."""
    shares = [sum(_is_in(cell, line, box) for cell in line.cells) / len(line.cells) for line in lines]
    places = [place for place, share in enumerate(shares) if share]
    whole = [place for place in places if shares[place] == 1]
    if len(places) < 2:
        return None
    together = places[-1] - places[0] + 1 == len(whole)
    return None if together else lines[places[0]]


def _is_in(cell: TextCell, line: Line, box: Box) -> bool:
    return box.contains((cell.x0 + cell.x1) / 2, line.baseline - line.size / 3)


# -- letters -----------------------------------------------------------------------------------------------------------


def letters_of_pages(pages: Iterable[PageSource]) -> Iterator[int]:
    """How many letters and digits a reader sees on each page; numbers of pages count too."""
    return (sum(letters_of(page.text).values()) for page in pages)


def copied_pages(pages: Iterable[PageSource], blocks: Iterable[Block]) -> Iterator[Doubt]:
    """The pages of which the sections have many more letters than there are."""
    kept = text_by_page(blocks)
    for page in pages:
        there, text = sum(letters_of(page.text).values()), " ".join(kept[page.number])
        here = sum(letters_of(text).values())
        if here > max(MANY_TIMES * there, there + MANY_MORE):
            yield Doubt(COPIED, first_words(text), (page.number,))
