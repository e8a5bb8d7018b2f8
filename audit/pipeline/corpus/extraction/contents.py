"""The printed table of contents: it is removed from the text, and its titles tell which lines are headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from audit.pipeline.corpus.extraction.layout import Line
from audit.text.statements import CELL_SEPARATOR

# The dots between the title and the page number of an entry. The number may be on a line of its own.
DOT_LEADER = re.compile(r"[.…·_](?:\s?[.…·_]){3,}")
FINAL_NUMBER = re.compile(r"(?<![\s|])[\s|]++\d{1,4}$")
CONTENTS_TITLE = re.compile(
    r"(table of )?contents|in this (hand)?book|in this issue|inhalt(sverzeichnis)?|sommaire|índice|what is inside|inside",
    re.IGNORECASE,
)
MIN_ENTRIES = 3
# Lines of an entry's title before the line with its page number
MAX_WRAPPED_LINES = 2
# Lines of a title in a narrow box, below a page number on a line of its own; they are this many type sizes apart at most
MAX_BOX_LINES, MAX_BOX_PITCH = 4, 1.7


def title_key(title: str) -> str:
    """A title in the form in which titles are compared: no case, no leading number, only letters and digits."""
    unnumbered = re.sub(r"^\s*(\d+(\.\d+)*\.?|[ivx]+\.|[a-z][.)])\s+", "", title.casefold())
    return re.sub(r"\W+", "", unnumbered)


@dataclass(frozen=True)
class TextWithoutContents:
    """The lines outside the table of contents, those of it, and its titles as `title_key` writes them."""

    lines: list[Line]
    removed: list[Line]
    titles: frozenset[str]


def remove_contents(lines: list[Line]) -> TextWithoutContents:
    """The lines without the printed table of contents, if there is one."""
    remaining, removed = list[Line](), list[Line]()
    titles: set[str] = set()
    start = 0
    while start < len(lines):
        end, entry_titles = _contents_at(lines, start)
        titles.update(entry_titles)
        remaining += lines[start : start + 1] if end == start else []
        removed += lines[start:end]
        start = max(end, start + 1)
    return TextWithoutContents(remaining, removed, frozenset(filter(None, titles)))


def _contents_at(lines: list[Line], start: int) -> tuple[int, list[str]]:
    """The end of a table of contents that begins at `start`, and its titles; `start` itself where none begins."""
    titled = CONTENTS_TITLE.fullmatch(lines[start].text) is not None
    first = start + 1 if titled else start
    # Without a title, the first line or (below the first line of a long title) the second must have dots.
    if not titled and not any(_entry_title(line, titled) is not None for line in lines[start : start + 2]):
        return start, []
    numbers_first = titled and first < len(lines) and _is_page_number(lines[first])
    end, entries, numbered = first, 0, 0
    while (entry := _next_entry(lines, end, titled, MAX_BOX_LINES if numbers_first else MAX_WRAPPED_LINES)) is not None:
        end, entries, numbered = entry + 1, entries + 1, numbered + _has_number(lines[entry : entry + 2])
    # Dots without page numbers are those of a form, to write on
    if entries < MIN_ENTRIES or 2 * numbered < entries:
        return start, []
    end = _end_of_title(lines, end, lines[first + 1]) if numbers_first else end
    return end, list(_entry_titles(lines[first:end], titled))


def _end_of_title(lines: list[Line], start: int, title: Line) -> int:
    """The end of the title below the last page number, which is set like the first `title`."""
    end = start
    while end < min(start + MAX_BOX_LINES, len(lines)) and _is_below(lines[end - 1], lines[end], title):
        end += 1
    return end


def _is_below(before: Line, line: Line, title: Line) -> bool:
    like_title = (line.page, line.size, line.bold, line.color) == (before.page, title.size, title.bold, title.color)
    return like_title and 0 < line.baseline - before.baseline < MAX_BOX_PITCH * line.size


def _is_page_number(line: Line) -> bool:
    return line.text.isdigit() and len(line.text) < 4


def _has_number(lines: list[Line]) -> bool:
    """Whether a line ends with a page number, or the next one is it."""
    return FINAL_NUMBER.search(f" {lines[0].text.rstrip('.…·_')}") is not None or any(map(_is_page_number, lines))


def _next_entry(lines: list[Line], start: int, titled: bool, wrapped: int) -> int | None:
    """The next line with a page number or dots, no farther away than a title may wrap."""
    candidates = range(start, min(start + wrapped + 1, len(lines)))
    return next((number for number in candidates if _entry_title(lines[number], titled) is not None), None)


def _entry_title(line: Line, titled: bool) -> str | None:
    """The title in a line with a page number, "" where the title is on the lines before; None for any other line."""
    # Magazines print the number above or below the title
    if titled and _is_page_number(line):
        return ""
    if dots := DOT_LEADER.search(line.text):
        return line.text[: dots.start()].strip(" |")
    # Without the title "Contents" only dots count, because the rows of other tables end in numbers too.
    number = FINAL_NUMBER.search(line.text) if titled else None
    return line.text[: number.start()] if number else None


def _entry_titles(lines: list[Line], titled: bool) -> Iterator[str]:
    """The titles of the entries, also joined with the lines before."""
    parts: list[str] = []
    for line in lines:
        title = _entry_title(line, titled)
        parts.append((line.text if title is None else title).replace(CELL_SEPARATOR, " "))
        # With every beginning: a long title wraps, and nothing tells on which line it begins.
        yield from (title_key(" ".join(parts[start:])) for start in range(len(parts)))
        parts = [] if title else parts[-MAX_WRAPPED_LINES:]
