"""Which lines are headings, and of what level: by their type, their number, and what the contents or the outline name."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Set
from dataclasses import dataclass

from audit.corpus.extraction.contents import known_as
from audit.corpus.extraction.layout import Line, Mark

LARGER = 1.09
"""A heading's type is larger than the body's by this factor, or bold where the body is not."""
LONGEST = 200
"""Characters; what is longer is a paragraph in bold."""
MOST_LINES = 4
PITCH = 1.7
"""The lines of one heading stand no farther apart than this many type sizes."""
NUMBER = re.compile(r"(?:chapter|section|part|kapitel)?\s*(\d{1,2}(?:\.\d{1,2})*)\.?\s+\S", re.IGNORECASE)
ENDS_A_SENTENCE = re.compile(r"[.,;]\s*$|\.\s+\S+.*\.\s*$")
BULLET = re.compile(r"[•·▪●○◦‣■□➢✓*–—-]\s")
Style = tuple[float, bool]


@dataclass(frozen=True)
class Heading:
    """A heading, the place of its first line among the lines, and of the first one after it."""

    text: str
    start: int
    end: int
    style: Style
    page: int
    level: int = 0


def headings(lines: list[Line], titles: frozenset[str], marks: tuple[Mark, ...] = ()) -> list[Heading]:
    """The headings among the lines, in their order.

    titles  what a printed table of contents names, as `known_as` writes it
    marks   the outline; where it names a heading, it also gives its level
    """
    body = _body_style(lines)
    levels = {known_as(mark.title): mark.level for mark in reversed(marks)}
    named = titles | levels.keys()
    candidates = [heading for heading in _candidates(lines, named) if _may_be(heading, lines[heading.start])]
    return _levelled(list(_chosen(candidates, body, named)), levels)


def _body_style(lines: list[Line]) -> Style:
    letters: Counter[Style] = Counter()
    for line in lines:
        letters[_style(line)] += len(line.text)
    return letters.most_common(1)[0][0] if letters else (0.0, False)


def _style(line: Line) -> Style:
    return line.size, line.bold


def _candidates(lines: list[Line], named: Set[str]) -> Iterator[Heading]:
    """Every line, together with those that go on in the same type just below it, or at the top of the next column or page."""
    at = 0
    while at < len(lines):
        end = at + 1
        while end < len(lines) and _goes_on(lines[end - 1], lines[end]):
            end += 1
        text = _text(lines[at:end])
        if end < len(lines) and _goes_on_above(lines[end - 1], lines[end], f"{text} {lines[end].text}", named):
            text, end = f"{text} {lines[end].text}", end + 1
        yield Heading(text, at, end, _style(lines[at]), lines[at].page)
        at = end


def _text(lines: list[Line]) -> str:
    return " ".join(line.text for line in lines)


def _goes_on(before: Line, line: Line) -> bool:
    near = 0 < line.baseline - before.baseline < PITCH * line.size
    return near and before.page == line.page and _alike(before, line)


def _goes_on_above(before: Line, line: Line, together: str, named: Set[str]) -> bool:
    """A heading that a column or page breaks is known by its whole name, or by a small letter."""
    broken = before.page != line.page or line.baseline <= before.baseline
    return broken and _alike(before, line) and (known_as(together) in named or line.text[:1].islower())


def _alike(before: Line, line: Line) -> bool:
    same = _style(before) == _style(line) and len(line.cells) == len(before.cells) == 1
    return same and not NUMBER.match(line.text)


def _may_be(heading: Heading, first: Line) -> bool:
    """Whether a candidate has the form of a heading, whatever its type."""
    short = len(heading.text) <= LONGEST and heading.end - heading.start <= MOST_LINES
    return short and len(first.cells) == 1 and not BULLET.match(heading.text) and any(map(str.isalpha, heading.text))


def _stands_out(heading: Heading, body: Style) -> bool:
    size, bold = heading.style
    return size >= LARGER * body[0] or (bold and not body[1] and size >= 0.95 * body[0])


def _chosen(candidates: list[Heading], body: Style, named: Set[str]) -> Iterator[Heading]:
    """What stands out by its type and ends no sentence, or is named; a named one in body type only where none stands out."""
    prominent = {known_as(heading.text) for heading in candidates if _stands_out(heading, body)}
    for heading in candidates:
        key, stands_out = known_as(heading.text), _stands_out(heading, body)
        ends = ENDS_A_SENTENCE.search(heading.text)
        if (key in named and (stands_out or key not in prominent)) or (stands_out and not ends):
            yield heading


def _levelled(found: list[Heading], outline: dict[str, int]) -> list[Heading]:
    """The headings with levels: the outline's, else by number, else by type, the largest outermost."""
    numbers = {heading: match[1].count(".") + 1 for heading in found if (match := NUMBER.match(heading.text))}
    by_number = len(numbers) * 2 > len(found)
    of_style = _levels_of_styles(found, {**(numbers if by_number else {}), **_outlined(found, outline)})
    result = []
    for heading in found:
        level = outline.get(known_as(heading.text)) or (numbers.get(heading) if by_number else None) or of_style[heading.style]
        result.append(Heading(heading.text, heading.start, heading.end, heading.style, heading.page, level))
    return result


def _outlined(found: list[Heading], outline: dict[str, int]) -> dict[Heading, int]:
    return {heading: level for heading in found if (level := outline.get(known_as(heading.text)))}


def _levels_of_styles(found: list[Heading], known: dict[Heading, int]) -> dict[Style, int]:
    """Each style's level: the commonest of its headings whose level is known, else one below the next larger style."""
    seen: defaultdict[Style, Counter[int]] = defaultdict(Counter)
    for heading, level in known.items():
        seen[heading.style][level] += 1
    levels: dict[Style, int] = {}
    above = 0
    for style in sorted({heading.style for heading in found}, reverse=True):
        above = levels[style] = seen[style].most_common(1)[0][0] if seen[style] else above + 1
    return levels
