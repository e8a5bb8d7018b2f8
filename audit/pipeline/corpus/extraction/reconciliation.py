"""Letters in, letters out: what of each page of a PDF is in the document, known to be left out, or missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from audit.pipeline.corpus.extraction import bullets
from audit.pipeline.corpus.extraction.headers_and_footers import is_page_number
from audit.pipeline.corpus.extraction.layout import Block, LeftOut, PdfPage
from audit.pipeline.corpus.extraction.losses import letters_of, loss
from audit.pipeline.corpus.extraction.repair import LOST, UNKNOWN, clean_text
from audit.text.documents import LOSSES, UNREAD, Loss

# Letters that stand for bullets in fonts of symbols, and control characters alone
BULLETS = ("", *bullets.LETTERS)
# Fewer missing letters of a page are those of a word that ends on the next one, or of a sign written in another way
LEAST = 5


class PageSource(NamedTuple):
    """The words of a page as its file has them, and what of them is not read.

    is_pictured  they are, or some are, the text layer of a picture
    """

    number: int
    text: str
    left_out: tuple[LeftOut, ...]
    is_pictured: bool


def page_source(page: PdfPage) -> PageSource:
    """The words of a page in all directions."""
    runs = [run.text for view in (page, *page.others) for run in view.runs if run.text.strip() not in BULLETS]
    return PageSource(page.number, clean_text(" ".join([*runs, *page.free_text])), page.left_out, page.is_pictured)


def losses_of(pages: Sequence[PageSource], blocks: Iterable[Block], left_out: Mapping[int, Sequence[LeftOut]]) -> Iterator[Loss]:
    """The losses of each page, by kind; `left_out` is what the order of the pages left out."""
    kept = text_by_page(blocks)
    for page in pages:
        frames = left_out.get(page.number, ())
        known = [*page.left_out, *(each for each in frames if not is_page_number(each.text))]
        for kind in LOSSES:
            if found := loss(kind, " ".join(each.text for each in known if each.kind == kind), page.number):
                yield found
        if missing := _missing(page.text, " ".join(kept[page.number]), " ".join(each.text for each in frames), page.number):
            yield missing


def text_by_page(blocks: Iterable[Block]) -> defaultdict[int, list[str]]:
    """The texts of blocks by the page that they stand on."""
    texts: defaultdict[int, list[str]] = defaultdict(list)
    for block in blocks:
        starts = [(block.page, 0), *block.later_pages, (block.last_page, len(block.text))]
        for (page, start), (_, end) in pairwise(starts):
            texts[page].append(block.text[start:end])
    return texts


def _missing(source: str, kept: str, frames: str, page: int) -> Loss | None:
    """The letters of a page that are neither in the document nor known to be left out."""
    missing = letters_of(source) - letters_of(kept) - letters_of(frames)
    if sum(missing.values()) < LEAST:
        return None
    there = f"{kept} {frames}".casefold()
    words = [LOST.sub(UNKNOWN, word) for word in source.split() if word.casefold() not in there]
    example = loss(UNREAD, " ".join(words) or "".join(missing), page)
    return Loss(UNREAD, sum(missing.values()), page, example.example if example else "")
