"""Headers, footers and page numbers: what the pages of a PDF repeat at their top and bottom."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import chain

from audit.pipeline.corpus.extraction.headings import of_most_letters
from audit.pipeline.corpus.extraction.layout import Line

# Headers and footers are in this share of the page's height, at the top or bottom, and a title that all pages repeat in this one
MARGIN, TITLE_MARGIN = 0.12, 0.2
# The same words at the same height on this many pages are a header or footer; in a shorter PDF on all pages, at least two
MIN_PAGES = 3
# Small type at the same height on this share of the pages is a header or footer, whatever its words
MIN_SHARE_OF_PAGES = 0.6
# Left and right pages that each repeat a line are so many together
MIN_FACING = 4
# Heights in points within which two lines count as at the same height
HEIGHT_STEP = 4
# A repeated line in type larger than the body's by this factor is a title
TITLE_SIZE = 1.3
PAGE_NUMBER = re.compile(
    r"(page|p\.|seite|page:)?\s*+(?:[-–|]\s*+)?(\d{1,4}|[ivxlc]{1,6})\s*+(?:[-–|]\s*+)?((of|/|von)\s*+\d{1,4})?", re.IGNORECASE
)

HeightAndWords = tuple[int, str]


@dataclass(frozen=True)
class HeadersAndFooters:
    """The repeated lines of a PDF: by height and words, and by height alone where the type is smaller than the body's."""

    repeated: frozenset[HeightAndWords]
    small_type_heights: frozenset[int]
    body_size: float

    def parted(self, page: list[Line], height: float) -> tuple[list[Line], list[Line], list[Line]]:
        """The lines of a page without headers and footers, its header, and its footer."""
        # Only from the very top and bottom: below another line, a repeated text is part of the page.
        start, end = 0, len(page)
        while start < end and self._is_repeated(page[start], height):
            start += 1
        while start < end and self._is_repeated(page[end - 1], height):
            end -= 1
        return page[start:end], page[:start], page[end:]

    def is_title(self, line: Line) -> bool:
        """Whether a line is in the type of a heading: much larger than the body's."""
        return line.size >= TITLE_SIZE * self.body_size

    def _is_repeated(self, line: Line, height: float) -> bool:
        if not _in_margin(line, height, TITLE_MARGIN if self.is_title(line) else MARGIN):
            return False
        key = _height_and_words(line, self.body_size)
        small = line.size < self.body_size and key[0] in self.small_type_heights
        return small or key in self.repeated or is_page_number(line.text)


def is_page_number(text: str) -> bool:
    """Whether a text is the number of a page and nothing else."""
    return PAGE_NUMBER.fullmatch(text) is not None


def find_headers_and_footers(pages: list[list[Line]], heights: list[float]) -> HeadersAndFooters:
    """What the pages repeat. `heights` are the heights of the pages, in points."""
    body = of_most_letters(chain.from_iterable(pages), lambda line: line.size) or 0.0
    marginal, topmost = (
        [[line for line in lines if _in_margin(line, height, share)] for lines, height in zip(pages, heights, strict=True)]
        for share in (MARGIN, TITLE_MARGIN)
    )
    repeated = Counter(key for lines in marginal for key in {_height_and_words(line, body) for line in lines})
    small = Counter(
        height for lines in marginal for height in {_height_and_words(line, body)[0] for line in lines if line.size < body}
    )
    enough = max(2, min(MIN_PAGES, len(pages)))
    # Small type alone is weak evidence (a footnote), so more pages must have it
    often = max(enough, MIN_SHARE_OF_PAGES * len(pages))
    headings = _headings_in_body(pages, heights, body)
    alike = frozenset(key for key, count in repeated.items() if count >= enough and count > headings[key[1]])
    titles = ({_height_and_words(line, body) for line in lines if line.size >= TITLE_SIZE * body} for lines in topmost)
    everywhere = frozenset[HeightAndWords](set.intersection(*titles)) if len(pages) >= MIN_PAGES else frozenset()
    return HeadersAndFooters(
        alike | everywhere | _facing(marginal, body),
        frozenset(height for height, count in small.items() if count >= often),
        body,
    )


def _facing(marginal: list[list[Line]], body: float) -> frozenset[HeightAndWords]:
    """The lines at one height of all pages, where left and right pages each repeat their own, but for numbers."""
    if len(marginal) < MIN_FACING:
        return frozenset()
    keys: list[dict[HeightAndWords, HeightAndWords]] = []
    for lines in marginal:
        exact = (_height_and_words(line, body) for line in lines if any(map(str.isalpha, line.text)))
        keys.append({(height, re.sub(r"\d+", "#", words)): (height, words) for height, words in exact})
    sides = [set.intersection(*map(set, keys[side::2])) for side in (0, 1)]
    both = {height for height, _ in sides[0]} & {height for height, _ in sides[1]}
    return frozenset(own for page in keys for key, own in page.items() if key[0] in both and key in sides[0] | sides[1])


def _headings_in_body(pages: list[list[Line]], heights: list[float], body: float) -> Counter[str]:
    """How often prominent words are outside the margins: a heading of many chapters, which some pages begin with."""
    return Counter(
        line.text.casefold()
        for lines, height in zip(pages, heights, strict=True)
        for line in lines
        if not _in_margin(line, height) and (line.bold or line.size > body)
    )


def _in_margin(line: Line, height: float, share: float = MARGIN) -> bool:
    return line.baseline < share * height or line.baseline > (1 - share) * height


def _height_and_words(line: Line, body: float) -> HeightAndWords:
    words = line.text.casefold()
    # "Page 3" and "Page 4" are one footer, but "Chapter 3" and "Chapter 4" in large type are two headings.
    prominent = line.bold or line.size > body
    return round(line.baseline / HEIGHT_STEP), words if prominent else re.sub(r"\d+", "#", words)
