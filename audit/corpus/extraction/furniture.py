"""Running heads and feet and page numbers: what pages repeat at the same place is no text of the handbook."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from audit.corpus.extraction.layout import Line

MARGIN = 0.12
"""Furniture stands in this share of the page's height, above or below."""
REPEATED = 3
"""On as many pages the same words at the same height are furniture; in a shorter document on all its pages, two at least."""
OFTEN = 0.6
"""A height at which small type stands on this share of the pages is a place of furniture whatever the words."""
PAGE_NUMBER = re.compile(
    r"(page|p\.|seite|page:)?\s*[-–|]?\s*(\d{1,4}|[ivxlc]{1,6})\s*[-–|]?(\s*(of|/|von)\s*\d{1,4})?", re.IGNORECASE
)

Place = tuple[int, str]


@dataclass(frozen=True)
class Furniture:
    """Which lines of which heights are dropped: by their words, and by their height alone where the type is small."""

    words: frozenset[Place]
    heights: frozenset[int]
    body: float

    def without(self, page: list[Line], height: float) -> list[Line]:
        """The lines of a page that are not furniture. Furniture has nothing else between it and the edge of the page."""
        rest = list(page)
        while rest and self._holds(rest[0], height):
            rest.pop(0)
        while rest and self._holds(rest[-1], height):
            rest.pop()
        return rest

    def _holds(self, line: Line, height: float) -> bool:
        if not _in_margin(line, height):
            return False
        place = _place(line, self.body)
        small = line.size < self.body and place[0] in self.heights
        return small or place in self.words or PAGE_NUMBER.fullmatch(line.text) is not None


def furniture(pages: list[list[Line]], heights: list[float]) -> Furniture:
    """What the pages repeat. `heights` are the pages' own, in points."""
    marginal = [list(_marginal(lines, height)) for lines, height in zip(pages, heights, strict=True)]
    body = body_size(pages)
    words = Counter(place for lines in marginal for place in {_place(line, body) for line in lines})
    small = Counter(at for lines in marginal for at in {_place(line, body)[0] for line in lines if line.size < body})
    enough = max(2, min(REPEATED, len(pages)))
    often = max(enough, OFTEN * len(pages))
    return Furniture(
        frozenset(place for place, count in words.items() if count >= enough),
        frozenset(at for at, count in small.items() if count >= often),
        body,
    )


def body_size(pages: list[list[Line]]) -> float:
    """The type size that most letters have; 0 without any."""
    letters: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            letters[line.size] += len(line.text)
    return letters.most_common(1)[0][0] if letters else 0.0


def _marginal(lines: list[Line], height: float) -> Iterator[Line]:
    return (line for line in lines if _in_margin(line, height))


def _in_margin(line: Line, height: float) -> bool:
    return line.baseline < MARGIN * height or line.baseline > (1 - MARGIN) * height


def _place(line: Line, body: float) -> Place:
    """Where it stands, to 4 points, and its words; any number the same, but in what is as prominent as a heading."""
    words = line.text.casefold()
    return round(line.baseline / 4), words if line.bold or line.size > body else re.sub(r"\d+", "#", words)
