"""Which lines are headings, and of what level: by their type, their number, and what the contents or the outline name."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from audit.extract.contents import known_as
from audit.extract.layout import Line, Mark

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
    found = [heading for heading in _candidates(lines) if _is_heading(heading, lines, body, named)]
    return _levelled(found, levels)


def _body_style(lines: list[Line]) -> Style:
    letters: Counter[Style] = Counter()
    for line in lines:
        letters[_style(line)] += len(line.text)
    return letters.most_common(1)[0][0] if letters else (0.0, False)


def _style(line: Line) -> Style:
    return line.size, line.bold


def _candidates(lines: list[Line]) -> Iterator[Heading]:
    """Every line, together with those that go on in the same type just below it."""
    at = 0
    while at < len(lines):
        end = at + 1
        while end < len(lines) and _goes_on(lines[end - 1], lines[end]):
            end += 1
        text = " ".join(line.text for line in lines[at:end])
        yield Heading(text, at, end, _style(lines[at]), lines[at].page)
        at = end


def _goes_on(before: Line, line: Line) -> bool:
    same = _style(before) == _style(line) and before.page == line.page and len(line.cells) == len(before.cells) == 1
    near = 0 < line.baseline - before.baseline < PITCH * line.size
    return same and near and not NUMBER.match(line.text)


def _is_heading(heading: Heading, lines: list[Line], body: Style, named: frozenset[str]) -> bool:
    first = lines[heading.start]
    if len(heading.text) > LONGEST or heading.end - heading.start > MOST_LINES or not any(c.isalpha() for c in heading.text):
        return False
    if len(first.cells) > 1 or BULLET.match(heading.text):
        return False
    if known_as(heading.text) in named:
        return True
    size, bold = heading.style
    distinct = size >= LARGER * body[0] or (bold and not body[1] and size >= 0.95 * body[0])
    return distinct and not ENDS_A_SENTENCE.search(heading.text)


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
