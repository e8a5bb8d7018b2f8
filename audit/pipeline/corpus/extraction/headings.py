"""Headings and their levels: by the PDF's tags and outline, by type, number, the titles in the table of contents, and by space.

A bold line with a colon above a list ("Never smoke:") is the list's lead and not a heading, unless it is set in larger type or
most headings of the document end with a colon. A heading right above a list of fragments is also repeated as its lead
(`audit.pipeline.corpus.extraction.structure`).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple, TypeVar

from audit.pipeline.corpus.extraction import bullets
from audit.pipeline.corpus.extraction.contents import title_key
from audit.pipeline.corpus.extraction.layout import Color, Line, OutlineEntry
from audit.pipeline.corpus.extraction.lists import is_item
from audit.pipeline.corpus.extraction.tags import Tagging, tagging_of

# A heading's type is larger than the body's by this factor, or bold where the body is not
LARGER_TYPE = 1.09
# Words that seem to go on with a sentence are larger by this: sizes of one font may come out a little apart
MUCH_LARGER_TYPE = 1.2
# Bold headings are at least this size, or still smaller where the body follows
SLIGHTLY_SMALLER, SMALLEST = 0.95, 0.75
# Longer text is a paragraph in bold
MAX_CHARACTERS = 200
MAX_LINES = 4
# The lines of one heading are at most this many type sizes apart
MAX_PITCH = 1.7
# Lines that a sentence goes on in may be farther apart
MAX_OPEN_PITCH = 2.5
# Text below a heading in its own color is at most this many type sizes away
MAX_HEADING_GAP = 2.2
NUMBER = re.compile(r"(?:chapter|section|part|kapitel)?\s*(\d{1,2}(?:\.\d{1,2})*)\.?\s+\S", re.IGNORECASE)
WHOLE_SENTENCE = re.compile(r"[^.]+[.]$")
SENTENCE_END = re.compile(r"[.,;]\s*$")
BULLET = re.compile(rf"{bullets.ONE_OF}\s")
# Words that no heading ends with
OPEN_END = re.compile(r"\b(?:a|an|the|of|in|on|at|to|by|for|from|with|and|or|your|their|is|are)$", re.IGNORECASE)
# Captions, dates and notes in brackets, the bold end of a sentence
NOT_A_TITLE = re.compile(
    r"^(?:table|figure|fig\.|tabelle|abbildung|tabla|figura|tableau)\s+\d|^\[[^\]]*\]$|^[^\[]*\]|^(?:and|or|the|of|to)$",
    re.IGNORECASE,
)
# An address of the web or of e-mail is what a heading leads to, and no part of it
ADDRESS = re.compile(r"(?:https?://|www\.)\S+|(?<![\w.+-])[\w.+-]++@[\w-]++\.\w+", re.IGNORECASE)
LEADS_TO_ADDRESS = re.compile(r"\b(?:at|on|via|to|see|visit|e-?mail|contact)$", re.IGNORECASE)
MIN_ADDRESSES = 2
# A label and its figure ("Fiber 29g"): above or below another one it is a line of figures
FIGURE = re.compile(r"[^\W\d][^\d]*\s\d[\d.,]*\s?[^\W\d]{0,3}%?$")
MIN_LETTERS = 3
# So many boxes of a document that hold one type alone and nothing below it are those of a drawing
MIN_LABELS = 3
# Share of the letters of a document outside its tables, or larger than small print, which is in points
MIN_TEXT, SMALL_PRINT = 0.2, 7.5
# A document with fewer headings in a type of their own has those in plain type: their letters at most, their end, that of the
# text below, and by which factor they are nearer to this; and how far below a first line it is, in type sizes
MIN_HEADINGS, MAX_PLAIN, NO_TITLE_END, SENTENCE_ENDING = 2, 90, re.compile(r"[.,;:!]\s*$"), re.compile(r"[.:?!]\s*$")
MIN_NEARER, MAX_TITLE_GAP = 1.2, 5.0
Feature = TypeVar("Feature", bound=Hashable)
LineStyle = tuple[float, bool]
"""Type size, and whether it is bold."""


class Body(NamedTuple):
    """The type of most of a document's text."""

    size: float
    bold: bool
    color: Color


@dataclass(frozen=True)
class Heading:
    """A heading; `start` is the number of its first line, `end` that of the first line after it.

    panel  the number of the panel whose heading it is; 0: of the document
    """

    text: str
    start: int
    end: int
    style: LineStyle
    page: int
    level: int = 0
    color: Color = ()
    panel: int = 0


def find_headings(lines: list[Line], titles: frozenset[str], outline: tuple[OutlineEntry, ...] = ()) -> list[Heading]:
    """The headings among the lines, in their order, with levels from 1.

    titles   the titles in the table of contents, as `title_key` writes them
    outline  the PDF's outline; it also gives the level of the headings that it names
    """
    text = _outside_tables(lines)
    size, bold = _body_style(text)
    body = Body(size, bold, of_most_letters(text, lambda line: line.color) or ())
    # Reversed, so that the first of two entries with one title counts
    levels = {title_key(entry.title): entry.level for entry in reversed(outline)}
    named = titles | levels.keys()
    tagging = tagging_of(lines)
    candidates = [
        heading
        for heading in _candidates(lines, named, is_tagged=tagging is not None)
        if _has_heading_form(heading, lines[heading.start]) and not _is_figure(heading, lines)
    ]
    colors = {heading.color for heading in candidates if heading.style[0] >= LARGER_TYPE * size} - {body.color, ()}
    labels = _labels(lines)
    own = _own_colors(candidates, lines, body)
    prominent = [
        heading
        for heading in candidates
        if lines[heading.start].part not in labels and (heading.color in own or _stands_out(heading, lines, body, colors))
    ]
    prominent = _with_alike(candidates, prominent, lines)
    if tagging is not None:
        prominent = _by_tags(candidates, prominent, lines, tagging)
    headings = list(_select(candidates, prominent, named, LARGER_TYPE * size))
    # Text that was pasted without its type has only its spaces
    is_plain = len(headings) < MIN_HEADINGS if tagging is None else (size, bold) in tagging.styles
    within = {number for heading in headings for number in range(heading.start, heading.end)}
    spaced = [heading for heading in _by_space(lines) if heading.start not in within and (is_plain or _is_alone(heading, lines))]
    headings = sorted([*headings, *spaced], key=lambda heading: heading.start)
    headings = _without_leads(headings, lines, body, levels.keys())
    if len(headings) > 1 and _is_footer(headings[-1], lines):
        headings.pop()
    if tagging is not None:
        # Type tells more, where it differs: many makers tag all headings alike
        plain = [heading for heading in headings if heading.style == (size, bold) and lines[heading.start].tag.level]
        levels = {title_key(heading.text): lines[heading.start].tag.level for heading in plain} | levels
    return _with_levels(headings, levels)


def of_most_letters(lines: Iterable[Line], feature: Callable[[Line], Feature]) -> Feature | None:
    """The feature that most letters of the lines have; None without lines."""
    letters: Counter[Feature] = Counter()
    for line in lines:
        letters[feature(line)] += len(line.text)
    return letters.most_common(1)[0][0] if letters else None


def _body_style(text: list[Line]) -> LineStyle:
    """The style of most letters; of what is not small print, where that is less but enough to be read."""
    size, bold = of_most_letters(text, _style) or (0.0, False)
    plain = [line for line in text if not line.bold and line.size >= SLIGHTLY_SMALLER * size] if bold else []
    # Bold headings may be longer than what is below them
    if sum(len(line.text) for line in plain) >= MIN_TEXT * sum(len(line.text) for line in text):
        size, bold = of_most_letters(plain, _style) or (size, bold)
    larger = [line for line in text if line.size > SMALL_PRINT] if size <= SMALL_PRINT else []
    readable = sum(len(line.text) for line in larger) >= MIN_TEXT * sum(len(line.text) for line in text)
    return of_most_letters(larger, _style) or (size, bold) if readable else (size, bold)


def _outside_tables(lines: list[Line]) -> list[Line]:
    """The lines of text, whose type the body's is; all lines of a document that is little more than its tables."""
    text = [line for line in lines if not line.table]
    return text if sum(len(line.text) for line in text) >= MIN_TEXT * sum(len(line.text) for line in lines) else lines


def _style(line: Line) -> LineStyle:
    return line.size, line.bold


def _candidates(lines: list[Line], named: Set[str], *, is_tagged: bool) -> Iterator[Heading]:
    """Every line, joined with the lines that continue it just below or at the top of the next column or page."""
    start = 0
    while start < len(lines):
        end = start + 1
        while end < len(lines) and _continues_below(lines[end - 1], lines[end], is_tagged=is_tagged):
            end += 1
        text = " ".join(line.text for line in lines[start:end])
        if end < len(lines) and _continues_after_break(lines[end - 1], lines[end], f"{text} {lines[end].text}", named):
            text, end = f"{text} {lines[end].text}", end + 1
        yield Heading(text, start, end, _style(lines[start]), lines[start].page, color=lines[start].color)
        start = end


def _continues_below(before: Line, line: Line, *, is_tagged: bool) -> bool:
    if is_tagged and "heading" in (before.tag.kind, line.tag.kind):
        return (before.page, before.tag) == (line.page, line.tag)
    pitch = MAX_OPEN_PITCH if line.text[:1].islower() and not SENTENCE_END.search(before.text) else MAX_PITCH
    close = 0 < line.baseline - before.baseline < pitch * line.size
    return close and before.page == line.page and _same_style(before, line)


def _continues_after_break(before: Line, line: Line, joined: str, named: Set[str]) -> bool:
    # A heading broken by a column or page is recognised by its full title in the contents, or by a small letter.
    broken = before.page != line.page or line.baseline <= before.baseline
    return broken and _same_style(before, line) and (title_key(joined) in named or line.text[:1].islower())


def _same_style(before: Line, line: Line) -> bool:
    single_cells = len(line.cells) == len(before.cells) == 1 and not (
        line.is_lead or before.is_lead or line.table or before.table
    )
    same_color = before.color == line.color or () in (before.color, line.color)
    begins_anew = before.part != line.part or NUMBER.match(line.text) or ADDRESS.match(line.text)
    return _style(before) == _style(line) and same_color and single_cells and not begins_anew


def _has_heading_form(heading: Heading, first: Line) -> bool:
    # List items, rows of tables and lines of figures are not headings, however they are set
    short = len(heading.text) <= MAX_CHARACTERS and heading.end - heading.start <= MAX_LINES
    single = len(first.cells) == 1 and not first.table and not first.is_lead
    least = MIN_LETTERS - (first.tag.kind == "heading")
    worded = sum(map(str.isalpha, heading.text)) >= least and not NOT_A_TITLE.search(heading.text)
    is_other = first.linked or BULLET.match(heading.text) or ADDRESS.search(heading.text)
    return short and single and worded and not is_other


def _own_colors(candidates: list[Heading], lines: list[Line], body: Body) -> Set[Color]:
    """The colors that a document has for its headings alone, in type like the body's: all that is in them is short, and most is
    above text of the body.
    """
    colored = defaultdict[Color, list[Heading]](list)
    for heading in candidates:
        if heading.color not in ((), body.color) and SLIGHTLY_SMALLER * body.size <= heading.style[0] < LARGER_TYPE * body.size:
            colored[heading.color].append(heading)
    letters = Counter[Color]()
    for line in lines:
        letters[line.color] += len(line.text) if len(line.cells) == 1 else 0
    return {
        color
        for color, own in colored.items()
        if len(own) >= MIN_HEADINGS
        and not any(heading.text[:1].islower() or SENTENCE_END.search(heading.text) for heading in own)
        and 2 * sum(_is_above_body(heading, lines, body) for heading in own) >= len(own)
        and sum(len(heading.text) for heading in own) >= 0.9 * letters[color]
    }


def _labels(lines: list[Line]) -> Set[int]:
    """The parts of pages that are boxes of a drawing, such as a flow chart: several that hold text of one type alone."""
    styles: defaultdict[int, set[LineStyle]] = defaultdict(set)
    for line in lines:
        styles[line.part].add((0.0, False) if line.table else _style(line))
    alone = {part: next(iter(own)) for part, own in styles.items() if part and len(own) == 1}
    often = Counter(alone.values())
    return {part for part, style in alone.items() if often[style] >= MIN_LABELS}


def _is_figure(heading: Heading, lines: list[Line]) -> bool:
    """Whether the lines are figures with their labels, one below the other in one type."""
    if not all(FIGURE.match(line.text) for line in lines[heading.start : heading.end]):
        return False
    around = [*lines[max(0, heading.start - 1) : heading.start], *lines[heading.end : heading.end + 1]]
    alike = [line for line in around if FIGURE.match(line.text) and _style(line) == heading.style and line.page == heading.page]
    return heading.end - heading.start > 1 or bool(alike)


def _stands_out(heading: Heading, lines: list[Line], body: Body, colors: Set[Color]) -> bool:
    """Whether a line is larger than the body, bold, or in a color that larger headings have."""
    size, bold = heading.style
    if size >= (MUCH_LARGER_TYPE if _continues_text(heading, lines) else LARGER_TYPE) * body.size:
        return True
    if heading.text[:1].islower():
        return False
    if size >= SMALLEST * body.size and heading.color in colors and _heads_smaller_text(heading, lines):
        return True
    bold = bold and not body.bold
    # Bold headings may be set a little smaller than the body
    if size >= SLIGHTLY_SMALLER * body.size:
        return bold or (heading.color in colors and heading.color != body.color and _is_above_body(heading, lines, body))
    # Much smaller ones are captions and heads of tables, unless the body follows
    return bold and size >= SMALLEST * body.size and _is_above_body(heading, lines, body)


def _with_alike(candidates: list[Heading], prominent: list[Heading], lines: list[Line]) -> list[Heading]:
    """The headings that stand out, with those in the bold type of several of them that are above plain text no larger."""
    starts = {heading.start for heading in prominent}
    often = Counter(map(_look, prominent))

    def is_alike(heading: Heading) -> bool:
        below = lines[heading.end] if heading.end < len(lines) else None
        if not heading.style[1] or often[_look(heading)] < MIN_HEADINGS or below is None or heading.text[:1].islower():
            return False
        plain = not below.bold and below.size <= heading.style[0] and not below.table and len(below.cells) == 1
        return plain and below.page == heading.page and below.baseline - lines[heading.end - 1].baseline > 0

    return [heading for heading in candidates if heading.start in starts or is_alike(heading)]


def _look(heading: Heading) -> tuple[LineStyle, Color, bool]:
    return heading.style, heading.color, heading.text.isupper()


def _by_tags(candidates: list[Heading], prominent: list[Heading], lines: list[Line], tagging: Tagging) -> list[Heading]:
    """The candidates that are tagged as headings, unless they are links or sentences in plain type; and of those that only stand
    out the ones in type of headings: what the document tags as items or leaves without a tag is a menu, an advertisement.
    """
    starts = {heading.start for heading in prominent}

    def counts(heading: Heading) -> bool:
        first, stands_out = lines[heading.start], heading.start in starts
        if first.tag.kind == "heading":
            return stands_out or not SENTENCE_END.search(heading.text)
        if first.tag.kind in ("item", "") and not (first.tag.kind == "" and first.size >= tagging.largest):
            return False
        around = (*lines[max(0, heading.start - 1) : heading.start], *lines[heading.end : heading.end + 1])
        is_row = first.tag.kind in ("cell", "head") and any(len(line.cells) > 1 for line in around)
        return stands_out and not is_row and (first.bold or heading.style in tagging.styles)

    return [heading for heading in candidates if counts(heading)]


def _by_space(lines: list[Line]) -> Iterator[Heading]:
    """Of a document in which no line stands out, the short lines that are nearer to the sentence below than to the text above."""
    for number, (first, below) in enumerate(pairwise(lines)):
        heading = Heading(first.text, number, number + 1, _style(first), first.page, color=first.color)
        if len(first.text) > MAX_PLAIN or not first.text[:1].isupper() or not _has_heading_form(heading, first):
            continue
        if is_item(first) or NO_TITLE_END.search(first.text) or is_item(below) or not below.text[:1].isupper():
            continue
        alike = (below.page, below.size) == (first.page, first.size) and (not first.tag.kind or first.tag != below.tag)
        alike = alike and len(below.cells) == 1 and not below.table and abs(below.x0 - first.x0) <= first.size
        longer = len(below.text) > len(first.text) or SENTENCE_ENDING.search(below.text)
        if alike and longer and 0 < below.baseline - first.baseline <= _space_above(heading, lines):
            yield heading


def _is_alone(heading: Heading, lines: list[Line]) -> bool:
    """Whether a line is all of a paragraph between two others: below a sentence that has ended, above one of several lines."""
    above, first, *below = lines[max(0, heading.start - 1) : heading.start + 3]
    if len(below) < 2 or above is first or above.page != first.page or not SENTENCE_ENDING.search(above.text):
        return False
    goes_on = 0 < below[1].baseline - below[0].baseline < (first.baseline - above.baseline) / MIN_NEARER
    return first.ends_early and not below[0].ends_early and goes_on and below[1].x0 == below[0].x0


def _space_above(heading: Heading, lines: list[Line]) -> float:
    """How far the text below a heading in plain type may be, in points: less than what is above it, which ends no lead."""
    first, above = lines[heading.start], lines[heading.start - 1] if heading.start else None
    if above is None or above.page != first.page:
        return (MAX_HEADING_GAP if above else MAX_TITLE_GAP) * first.size
    step = first.baseline - above.baseline
    return 0.0 if above.text.endswith(":") else step if _is_alone(heading, lines) else step / MIN_NEARER


def _continues_text(heading: Heading, lines: list[Line]) -> bool:
    """Whether the words may be the rest of a sentence that the line just above has begun."""
    if heading.text[:1].islower():
        return True
    above, first = lines[heading.start - 1] if heading.start else None, lines[heading.start]
    if above is None or above.page != first.page or above.bold != first.bold or above.color != first.color:
        return False
    close = 0 < first.baseline - above.baseline < MAX_PITCH * above.size
    return close and above.x0 == first.x0 and above.text[-1:].isalnum()


def _is_above_body(heading: Heading, lines: list[Line], body: Body) -> bool:
    below = lines[heading.end] if heading.end < len(lines) else None
    if below is None or below.page != heading.page or below.table:
        return False
    return (below.size, below.bold) == (body.size, body.bold) and (below.color != heading.color or heading.style[1])


def _heads_smaller_text(heading: Heading, lines: list[Line]) -> bool:
    """Whether a line in the color of headings is right above text in another color and not larger, as in boxes and notes."""
    below = lines[heading.end : heading.end + 1]
    return any(
        line.page == heading.page
        and line.size <= heading.style[0]
        and not line.bold
        and len(line.cells) == 1
        and line.color not in ((), heading.color)
        and 0 < line.baseline - lines[heading.end - 1].baseline < MAX_HEADING_GAP * heading.style[0]
        for line in below
    )


def _select(candidates: list[Heading], prominent: list[Heading], named: Set[str], size: float) -> Iterator[Heading]:
    """Candidates that stand out and end no sentence, or are named; and sentences larger than `size` in the type of several."""
    # A named line in body type counts only if no line of that name stands out: else it is a mention in running text.
    keys, starts = {title_key(heading.text) for heading in prominent}, {heading.start for heading in prominent}
    # Larger type that is that of several sentences, each alone
    styles = Counter(heading.style for heading in prominent if WHOLE_SENTENCE.match(heading.text))
    for heading in candidates:
        key, stands_out = title_key(heading.text), heading.start in starts
        is_title = heading.style[0] > size and styles[heading.style] >= MIN_LABELS and WHOLE_SENTENCE.match(heading.text)
        ends_sentence = SENTENCE_END.search(heading.text) and not is_title
        is_mention = heading.text[:1].islower() or ends_sentence
        if (stands_out and (key in named or not ends_sentence)) or (key in named and key not in keys and not is_mention):
            yield heading


def _without_leads(headings: list[Heading], lines: list[Line], body: Body, outlined: Set[str]) -> list[Heading]:
    """The headings without the lines that only lead a list, run on into a paragraph or name an address."""
    usual = 2 * sum(heading.text.endswith(":") for heading in headings) > len(headings)

    def is_lead(heading: Heading) -> bool:
        larger = heading.style[0] >= LARGER_TYPE * body.size
        leads = not larger and ((not usual and _leads_list(heading, lines)) or _runs_on(heading, lines))
        return leads or (larger and _goes_on_as_large(heading, lines, body)) or _leads_to_address(heading, lines)

    return [heading for heading in headings if title_key(heading.text) in outlined or not is_lead(heading)]


def _leads_list(heading: Heading, lines: list[Line]) -> bool:
    return heading.text.endswith(":") and heading.end < len(lines) and is_item(lines[heading.end])


def _leads_to_address(heading: Heading, lines: list[Line]) -> bool:
    """Whether a line of any size ends with "please visit" or "by e-mail", and the address follows."""
    following = lines[heading.end : heading.end + 1]
    return LEADS_TO_ADDRESS.search(heading.text) is not None and any(ADDRESS.match(line.text) for line in following)


def _is_footer(heading: Heading, lines: list[Line]) -> bool:
    """Whether a line is the last of the document and far below the text of its page."""
    first = lines[heading.start]
    above = max((line.baseline for line in lines[: heading.start] if line.page == first.page), default=first.baseline)
    return heading.end == len(lines) and first.baseline - above > MAX_TITLE_GAP * first.size


def _runs_on(heading: Heading, lines: list[Line]) -> bool:
    """Whether the line below goes on with the sentence: it is close, and the bold words end as no heading does."""
    last, below = lines[heading.end - 1], lines[heading.end] if heading.end < len(lines) else None
    if below is None or below.page != last.page or not 0 < below.baseline - last.baseline < MAX_PITCH * last.size:
        return False
    if not heading.text.endswith(":") and _are_addresses(lines[heading.end : heading.end + MIN_ADDRESSES]):
        return False
    return below.text[:1].islower() or OPEN_END.search(heading.text) is not None


def _goes_on_as_large(heading: Heading, lines: list[Line], body: Body) -> bool:
    """Whether the line below goes on with the sentence: it is larger than the body too, or the words above leave it no room."""
    last, below = lines[heading.end - 1], lines[heading.end] if heading.end < len(lines) else None
    if below is None or below.page != last.page or last.size > MUCH_LARGER_TYPE * below.size or ADDRESS.match(below.text):
        return False
    if below.size < LARGER_TYPE * body.size and last.ends_early:
        return False
    close = 0 < below.baseline - last.baseline < MAX_PITCH * last.size and abs(below.x0 - last.x0) < 2 * last.size
    return close and below.text[:1].islower() and not SENTENCE_END.search(heading.text)


def _are_addresses(lines: list[Line]) -> bool:
    # Above one address a bold line is the name of whom it belongs to
    return len(lines) == MIN_ADDRESSES and all(ADDRESS.match(line.text) for line in lines)


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


def _levels_by_style(headings: list[Heading], known: dict[Heading, int]) -> dict[LineStyle, int]:
    """The level of each style: the commonest known level of its headings, else one below the next larger style."""
    counts: defaultdict[LineStyle, Counter[int]] = defaultdict(Counter)
    for heading, level in known.items():
        counts[heading.style][level] += 1
    levels: dict[LineStyle, int] = {}
    above = 0
    for style in sorted({heading.style for heading in headings}, reverse=True):
        above = levels[style] = counts[style].most_common(1)[0][0] if counts[style] else above + 1
    return levels
