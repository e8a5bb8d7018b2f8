"""Running headers, footers and page numbers: text that pages repeat in the same place does not belong to the handbook."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from audit.corpus.extraction.layout import Line

MARGIN = 0.12
"""Headers and footers are in this share of the page's height, at the top or bottom."""
MIN_PAGES = 3
"""The same words at the same height on this many pages are a header or footer; in a shorter PDF on all pages, at least two."""
MIN_SHARE_OF_PAGES = 0.6
"""Small type at the same height on this share of the pages is a header or footer, whatever its words."""
HEIGHT_STEP = 4
"""Heights in points within which two lines count as at the same height."""
PAGE_NUMBER = re.compile(
    r"(page|p\.|seite|page:)?\s*[-–|]?\s*(\d{1,4}|[ivxlc]{1,6})\s*[-–|]?(\s*(of|/|von)\s*\d{1,4})?", re.IGNORECASE
)

HeightAndWords = tuple[int, str]


@dataclass(frozen=True)
class HeadersAndFooters:
    """The repeated lines of a PDF: by height and words, and by height alone where the type is smaller than the body's."""

    repeated: frozenset[HeightAndWords]
    small_type_heights: frozenset[int]
    body_size: float

    def remove_from(self, page: list[Line], height: float) -> list[Line]:
        """The lines of a page without headers and footers; only lines at the very top and bottom are removed."""
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
    body = body_size(pages)
    repeated = Counter(key for lines in marginal for key in {_height_and_words(line, body) for line in lines})
    small = Counter(
        height for lines in marginal for height in {_height_and_words(line, body)[0] for line in lines if line.size < body}
    )
    enough = max(2, min(MIN_PAGES, len(pages)))
    often = max(enough, MIN_SHARE_OF_PAGES * len(pages))
    return HeadersAndFooters(
        frozenset(key for key, count in repeated.items() if count >= enough),
        frozenset(height for height, count in small.items() if count >= often),
        body,
    )


def body_size(pages: list[list[Line]]) -> float:
    """The type size of most letters; 0 without any."""
    letters: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            letters[line.size] += len(line.text)
    return letters.most_common(1)[0][0] if letters else 0.0


def _in_margin(line: Line, height: float) -> bool:
    return line.baseline < MARGIN * height or line.baseline > (1 - MARGIN) * height


def _height_and_words(line: Line, body: float) -> HeightAndWords:
    words = line.text.casefold()
    # "Page 3" and "Page 4" are one footer, but "Chapter 3" and "Chapter 4" in large type are two headings.
    prominent = line.bold or line.size > body
    return round(line.baseline / HEIGHT_STEP), words if prominent else re.sub(r"\d+", "#", words)
