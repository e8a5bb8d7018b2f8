"""Headings and their levels: by type, by number, and by the titles in the table of contents and the PDF's outline.

A printed table of contents is removed from the text; its titles tell which lines are headings.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Set
from dataclasses import dataclass, replace
from typing import TypeVar

from audit.corpus.extraction.layout import CELL_SEPARATOR, Line, OutlineEntry

# A heading's type is larger than the body's by this factor, or bold where the body is not
LARGER_TYPE = 1.09
# Longer text is a paragraph in bold
MAX_CHARACTERS = 200
MAX_LINES = 4
# The lines of one heading are at most this many type sizes apart
MAX_PITCH = 1.7
NUMBER = re.compile(r"(?:chapter|section|part|kapitel)?\s*(\d{1,2}(?:\.\d{1,2})*)\.?\s+\S", re.IGNORECASE)
SENTENCE_END = re.compile(r"[.,;]\s*$|\.\s+\S+.*\.\s*$")
BULLET = re.compile(r"[•·▪●○◦‣■□➢✓*–—-]\s")
Feature = TypeVar("Feature", bound=Hashable)
Style = tuple[float, bool]
"""Type size, and whether it is bold."""

# The dots between the title and the page number of an entry. The number may be on a line of its own.
DOT_LEADER = re.compile(r"[.…·_](?:\s?[.…·_]){3,}")
FINAL_NUMBER = re.compile(r"[\s|]+\d{1,4}$")
CONTENTS_TITLE = re.compile(
    r"(table of )?contents|in this (hand)?book|inhalt(sverzeichnis)?|sommaire|índice|what is inside|inside", re.IGNORECASE
)
MIN_ENTRIES = 3
# Lines of an entry's title before the line with its page number
MAX_WRAPPED_LINES = 2


def title_key(title: str) -> str:
    """A title in the form in which titles are compared: no case, no leading number, only letters and digits."""
    unnumbered = re.sub(r"^\s*(\d+(\.\d+)*\.?|[ivx]+\.|[a-z][.)])\s+", "", title.casefold())
    return re.sub(r"\W+", "", unnumbered)


# -- the table of contents ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TextWithoutContents:
    """The lines outside the table of contents, and the titles in it as `title_key` writes them."""

    lines: list[Line]
    titles: frozenset[str]


def remove_contents(lines: list[Line]) -> TextWithoutContents:
    """The lines without the printed table of contents, if there is one."""
    remaining: list[Line] = []
    titles: set[str] = set()
    start = 0
    while start < len(lines):
        end, entry_titles = _contents_at(lines, start)
        titles.update(entry_titles)
        remaining += lines[start : start + 1] if end == start else []
        start = max(end, start + 1)
    return TextWithoutContents(remaining, frozenset(filter(None, titles)))


def _contents_at(lines: list[Line], start: int) -> tuple[int, list[str]]:
    """The end of a table of contents that begins at `start`, and its titles; `start` itself where none begins."""
    titled = CONTENTS_TITLE.fullmatch(lines[start].text) is not None
    first = start + 1 if titled else start
    # Without a title, the first line or (below the first line of a long title) the second must have dots.
    if not titled and not any(_entry_title(line, titled) is not None for line in lines[start : start + 2]):
        return start, []
    end, entries = first, 0
    while (entry := _next_entry(lines, end, titled)) is not None:
        end, entries = entry + 1, entries + 1
    if entries < MIN_ENTRIES:
        return start, []
    return end, list(_entry_titles(lines[first:end], titled))


def _next_entry(lines: list[Line], start: int, titled: bool) -> int | None:
    """The next line with a page number or dots, no farther away than a title may wrap."""
    candidates = range(start, min(start + MAX_WRAPPED_LINES + 1, len(lines)))
    return next((number for number in candidates if _entry_title(lines[number], titled) is not None), None)


def _entry_title(line: Line, titled: bool) -> str | None:
    """The title in a line with a page number, "" where the title is on the lines before; None for any other line."""
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


# -- headings ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Heading:
    """A heading; `start` is the number of its first line, `end` that of the first line after it."""

    text: str
    start: int
    end: int
    style: Style
    page: int
    level: int = 0


def find_headings(lines: list[Line], titles: frozenset[str], outline: tuple[OutlineEntry, ...] = ()) -> list[Heading]:
    """The headings among the lines, in their order, with levels from 1.

    titles   the titles in the table of contents, as `title_key` writes them
    outline  the PDF's outline; it also gives the level of the headings that it names
    """
    body = of_most_letters(lines, _style) or (0.0, False)
    # Reversed, so that the first of two entries with one title counts
    levels = {title_key(entry.title): entry.level for entry in reversed(outline)}
    named = titles | levels.keys()
    candidates = [heading for heading in _candidates(lines, named) if _has_heading_form(heading, lines[heading.start])]
    return _with_levels(list(_select(candidates, body, named)), levels)


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
        yield Heading(text, start, end, _style(lines[start]), lines[start].page)
        start = end


def _continues_below(before: Line, line: Line) -> bool:
    close = 0 < line.baseline - before.baseline < MAX_PITCH * line.size
    return close and before.page == line.page and _same_style(before, line)


def _continues_after_break(before: Line, line: Line, joined: str, named: Set[str]) -> bool:
    # A heading broken by a column or page is recognised by its full title in the contents, or by a small letter.
    broken = before.page != line.page or line.baseline <= before.baseline
    return broken and _same_style(before, line) and (title_key(joined) in named or line.text[:1].islower())


def _same_style(before: Line, line: Line) -> bool:
    single_cells = len(line.cells) == len(before.cells) == 1
    return _style(before) == _style(line) and single_cells and not NUMBER.match(line.text)


def _has_heading_form(heading: Heading, first: Line) -> bool:
    # List items, rows of tables and lines of figures are not headings, however they are set
    short = len(heading.text) <= MAX_CHARACTERS and heading.end - heading.start <= MAX_LINES
    return short and len(first.cells) == 1 and not BULLET.match(heading.text) and any(map(str.isalpha, heading.text))


def _stands_out(heading: Heading, body: Style) -> bool:
    size, bold = heading.style
    # Bold headings may be set a little smaller than the body
    return size >= LARGER_TYPE * body[0] or (bold and not body[1] and size >= 0.95 * body[0])


def _select(candidates: list[Heading], body: Style, named: Set[str]) -> Iterator[Heading]:
    """Candidates that stand out and end no sentence, or are named."""
    # A named line in body type counts only if no line of that name stands out: else it is a mention in running text.
    prominent = {title_key(heading.text) for heading in candidates if _stands_out(heading, body)}
    for heading in candidates:
        key, stands_out = title_key(heading.text), _stands_out(heading, body)
        ends_sentence = SENTENCE_END.search(heading.text)
        if (key in named and (stands_out or key not in prominent)) or (stands_out and not ends_sentence):
            yield heading


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
