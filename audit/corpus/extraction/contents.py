"""A printed table of contents: dropped from the text, and asked which lines are headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from audit.corpus.extraction.layout import BETWEEN_CELLS, Line

LEADER = re.compile(r"[.…·_](?:\s?[.…·_]){3,}")
"""The dots that join an entry's title and its page number. The number may follow on a line of its own."""
LAST_NUMBER = re.compile(r"[\s|]+\d{1,4}$")
NAMES = re.compile(
    r"(table of )?contents|in this (hand)?book|inhalt(sverzeichnis)?|sommaire|índice|what is inside|inside", re.IGNORECASE
)
LEAST_ENTRIES = 3
WRAPPED = 2
"""An entry's title may run over as many lines before the one that has its page number."""


@dataclass(frozen=True)
class Contents:
    """The lines that are left, and the titles that the table of contents names, as `known_as` writes them."""

    lines: list[Line]
    titles: frozenset[str]


def known_as(title: str) -> str:
    """A title as two places are compared by: without case, numbering in front, and what is no letter or digit."""
    bare = re.sub(r"^\s*(\d+(\.\d+)*\.?|[ivx]+\.|[a-z][.)])\s+", "", title.casefold())
    return re.sub(r"\W+", "", bare)


def without_contents(lines: list[Line]) -> Contents:
    """The lines without the table of contents, where there is one."""
    left: list[Line] = []
    titles: set[str] = set()
    at = 0
    while at < len(lines):
        end, found = _table(lines, at)
        titles.update(found)
        left += lines[at : at + 1] if end == at else []
        at = max(end, at + 1)
    return Contents(left, frozenset(filter(None, titles)))


def _table(lines: list[Line], at: int) -> tuple[int, list[str]]:
    """Where the table of contents that starts at a line ends, and its titles; the line itself where none starts."""
    named = NAMES.fullmatch(lines[at].text) is not None
    start = at + 1 if named else at
    if not named and not _begins(lines[at : at + 2]):
        return at, []
    end, entries = start, 0
    while (following := _next_entry(lines, end, named)) is not None:
        end, entries = following + 1, entries + 1
    if entries < LEAST_ENTRIES:
        return at, []
    return end, list(_titles(lines[start:end], named))


def _begins(two: list[Line]) -> bool:
    """Whether the first of two lines has dots, or the second, below the first line of a long title."""
    return any(_entry(line, named=False) is not None for line in two)


def _next_entry(lines: list[Line], at: int, named: bool) -> int | None:
    """The next line with a page number or a leader, no farther off than an entry may run."""
    for place in range(at, min(at + WRAPPED + 1, len(lines))):
        if _entry(lines[place], named) is not None:
            return place
    return None


def _entry(line: Line, named: bool) -> str | None:
    """The title in a line of the contents, "" where it stands before; None where the line is none.

    Without a line that says "Contents" only dots count: the rows of other tables end in numbers too.
    """
    if dots := LEADER.search(line.text):
        return line.text[: dots.start()].strip(" |")
    number = LAST_NUMBER.search(line.text) if named else None
    return line.text[: number.start()] if number else None


def _titles(lines: list[Line], named: bool) -> Iterator[str]:
    """The entries' titles, also joined to the lines before, because a long title is broken."""
    before: list[str] = []
    for line in lines:
        entry = _entry(line, named)
        before.append((line.text if entry is None else entry).replace(BETWEEN_CELLS, " "))
        yield from (known_as(" ".join(before[place:])) for place in range(len(before)))
        before = [] if entry else before[-WRAPPED:]
