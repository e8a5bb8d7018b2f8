"""Lines into paragraphs and lists, in the form of `audit.text.statements`: the lead of a list and its items are one block."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from audit.pipeline.corpus.extraction import bullets
from audit.pipeline.corpus.extraction.layout import Block, Line, TextCell
from audit.pipeline.corpus.extraction.line_breaks import SENTENCE_END
from audit.text.statements import INDENT, ITEM_MARK

# A new paragraph is farther below the last line than lines usually are, by this factor
PARAGRAPH_GAP = 1.25
# A lead that ends no sentence may be farther above its list by this factor, and so may a second paragraph of an item
LIST_GAP = 2.2
MARK = re.compile(
    rf"(?P<bullet>{bullets.ONE_OF}(?:\s+[{re.escape(bullets.DASHES)}])?)\s+(?=\S)|(?P<number>\(?\d{{1,2}}[.)](?=\s+\S|[^\W\d]{{3}})|\(?[a-h][.)](?=\s+\S))\s*"
    rf"|(?P<sign>[{bullets.MEANT}])(?=\w)|(?P<box>\[[x ]\]|[☐☑☒])\s+(?=\S)"
)
HYPHENATED = re.compile(r"(?<![^\W\d])([^\W\d]++)-$")
# Points: marks whose left ends differ by less are of one level
SAME_LEVEL = 5.0
# Lines of an unmarked list: below an indented one, or a short one without indent, stands another
MAX_INDENTED, MAX_PLAIN, MIN_PLAIN = 160, 40, 3
# In type sizes: how much further in they are than their lead; characters of a lead
MIN_INDENT, MAX_LEAD = 0.8, 40
# The share of them that end early: below a colon, and where less shows that they are items
MIN_EARLY, MOST_EARLY = 0.4, 0.65
# Steps between lines of one item are alike to this factor, and items farther apart than that by this one
SAME_STEP, ITEM_STEP = 1.05, 1.12
# Characters of an item without a mark below a heading
MAX_FRAGMENT = 60
# Items of at most this many words, most of them without a full stop, say little without the heading above them
FRAGMENT_WORDS = 6


class Part(NamedTuple):
    """One line of a block's text, made of the lines of the page that it stands on; `prefix` is its bullet or number."""

    prefix: str
    lines: list[Line]

    @property
    def is_item(self) -> bool:
        """Whether it is an item of a list."""
        return self.prefix != ""


class Wording(NamedTuple):
    """What of the whole document decides how lines are joined: their usual distance, and the words inside lines."""

    pitch: float
    words: frozenset[str]


def text_blocks(lines: Sequence[Line], wording: Wording) -> Iterator[Block]:
    """The paragraphs and lists of lines without headings and tables."""
    return (block_of(parts, wording) for parts in paragraphs(lines, wording.pitch))


def block_of(parts: Sequence[Part], wording: Wording, kind: str = "text") -> Block:
    """The parts as one block, each on a line of its own."""
    text, later_pages = "", list[tuple[int, int]]()
    page = parts[0].lines[0].page
    for part in parts:
        text += ("\n" if text else "") + part.prefix
        joined = ""
        for line in part.lines:
            before, joined = joined, _join(joined, line.text, wording.words) if joined else line.text
            if line.page != page:
                # Counted from the end: joining may have dropped a hyphen
                later_pages.append((line.page, len(text) + len(joined) - len(line.text) if before else len(text)))
                page = line.page
        text += joined
    return Block("row" if kind == "row" else "text", text, parts[0].lines[0].page, page, later_pages=tuple(later_pages))


def joined_text(lines: Sequence[Line], wording: Wording) -> str:
    """Lines as one text."""
    text = ""
    for line in lines:
        text = _join(text, line.text, wording.words) if text else line.text
    return text


def _join(text: str, following: str, words: frozenset[str]) -> str:
    """Two lines as one; a hyphen at the end stays if the document writes the word with it elsewhere."""
    hyphenated = HYPHENATED.search(text)
    if not hyphenated or not following[:1].islower():
        # "Epstein-" and "Barr", "COVID-" and "19", "X-" and "ray"
        return (
            text + following
            if text.endswith("-") and text[-2:-1].isalnum() and following[:1].isalnum()
            else f"{text} {following}"
        )
    second_half = re.match(r"[^\W\d]+", following)
    halves = hyphenated[1].casefold(), second_half[0].casefold() if second_half else ""
    with_hyphen, without_hyphen = "-".join(halves), "".join(halves)
    # Prefixes such as "follow-" and "X-": both halves are words of the document, and the whole is not
    apart = (all(half in words for half in halves) and len(halves[0]) > 2) or len(halves[0]) == 1
    keep_hyphen = without_hyphen not in words and (with_hyphen in words or apart)
    return text + following if keep_hyphen else text[:-1] + following


# -- paragraphs and items ----------------------------------------------------------------------------------------------


def paragraphs(lines: Sequence[Line], pitch: float) -> Iterator[list[Part]]:
    """The lines as paragraphs (one part) and lists (a lead, if there is one, and items)."""
    paragraph: list[Line] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        size = _unmarked_items(lines, number, paragraph, pitch)
        plain = _plain_items(lines[number : number + size]) if size else _small_items(lines, number, paragraph, pitch)
        plain = plain or _outline(lines, number, paragraph, pitch)
        # A numbered heading that leads a list is no item of it
        if plain or (MARK.match(line.text) and not line.is_lead):
            lead = paragraph if paragraph and (plain or _is_lead(paragraph[-1], line, pitch)) else []
            yield from _before_list([] if lead else paragraph)
            size = sum(len(part.lines) for part in plain)
            end, items = (number + size, plain) if plain else _items(lines, number, pitch)
            yield [*([Part("", lead)] if lead else []), *items]
            number, paragraph = end, []
            continue
        if paragraph and _begins_paragraph(paragraph[-1], line, pitch):
            yield [Part("", paragraph)]
            paragraph = []
        paragraph.append(line)
        number += 1
    yield from _before_list(paragraph)


def _before_list(paragraph: list[Line]) -> Iterator[list[Part]]:
    if paragraph:
        yield [Part("", paragraph)]


def _begins_paragraph(before: Line, line: Line, pitch: float) -> bool:
    if before.is_lead or line.is_lead or before.part != line.part:
        return True
    # At the top of a column or page the distance tells nothing, so only a finished sentence ends the paragraph before.
    if _after_break(before, line):
        return SENTENCE_END.search(before.text) is not None
    # Paragraphs of books and journals begin further in instead of farther below
    indented = line.x0 - before.x0 > 0.8 * line.size and SENTENCE_END.search(before.text)
    return bool(indented) or line.baseline - before.baseline > PARAGRAPH_GAP * _room(before, line, pitch)


def _room(before: Line, line: Line, pitch: float) -> float:
    """The usual distance between two lines, in points; `pitch` is that of the document, in type sizes."""
    return (line.pitch or pitch) * max(line.size, before.size)


def _after_break(before: Line, line: Line) -> bool:
    return line.page != before.page or line.baseline <= before.baseline


def _is_lead(before: Line, item: Line, pitch: float) -> bool:
    if before.is_lead or before.text.endswith(":"):
        return True
    if SENTENCE_END.search(before.text):
        return False
    step = item.baseline - before.baseline
    return _after_break(before, item) or step <= LIST_GAP * _room(before, item, pitch)


def _with_text(line: Line, text: str) -> Line:
    return replace(line, cells=(TextCell(text, line.x0, line.x1),))


class _Depth(NamedTuple):
    x0: float
    mark: str


def _items(lines: Sequence[Line], start: int, pitch: float) -> tuple[int, list[Part]]:
    """The end of the list that begins at `start`, and its items."""
    levels: list[_Depth] = []
    parts: list[Part] = []
    number = start
    while number < len(lines):
        line, before = lines[number], lines[number - 1]
        mark = MARK.match(line.text)
        if line.is_lead or (number > start and mark and not _same_list(before, line, pitch)):
            break
        if mark and levels and _is_outside(line, _kind(mark), before, levels):
            break
        if mark:
            levels = _levels(levels, line, mark, before if number > start else None)
            item = _with_text(line, line.text[mark.end() :])
            parts.append(Part(" " * INDENT * (len(levels) - 1) + _prefix(mark), [item]))
        elif _continues_item(before, line, levels[-1], pitch):
            parts[-1].lines.append(line)
        else:
            break
        number += 1
    return number, parts


def _same_list(before: Line, line: Line, pitch: float) -> bool:
    # Across a break, and over the space that a picture or an item's own distance takes
    return _after_break(before, line) or line.baseline - before.baseline <= 2 * LIST_GAP * _room(line, line, pitch)


def _prefix(mark: re.Match[str]) -> str:
    if mark["number"]:
        # A number that a reader may be sent to ("repeat step 2") stays; a letter is no mark that readers of the text know
        return f"{mark['number']} " if mark["number"].strip("(.)").isdigit() else f"{ITEM_MARK}{mark['number']} "
    if mark["box"]:
        # Ticked or not, it is what the item says
        return f"{ITEM_MARK}{mark['box']} "
    sign = (mark["bullet"] or mark["sign"])[0]
    return f"{ITEM_MARK}{sign} " if sign in bullets.MEANT else ITEM_MARK


def _kind(mark: re.Match[str]) -> str:
    return "number" if mark["number"] else "box" if mark["box"] else "".join(mark[0].split())


def _is_outside(line: Line, kind: str, before: Line, levels: Sequence[_Depth]) -> bool:
    """Whether an item is further out than the first of the list, with a mark that the list has not: another list."""
    is_new = kind not in {level.mark for level in levels}
    return is_new and line.x0 < levels[0].x0 - SAME_LEVEL and not _after_break(before, line)


def _levels(levels: list[_Depth], line: Line, mark: re.Match[str], before: Line | None) -> list[_Depth]:
    kind = _kind(mark)
    known = next((number for number, level in enumerate(levels) if level.mark == kind), None)
    if before is not None and known is None and before.text.endswith(":"):
        # Items of another mark below "2. Treatment: these include:", even where they are no further in
        return [*levels, _Depth(line.x0, kind)]
    if before is not None and _after_break(before, line):
        # The distance from the left tells nothing in another column: the same mark is the same level
        return [*levels[: known or 0], _Depth(line.x0, kind)]
    same = [n for n, level in enumerate(levels, 1) if level.mark == kind and abs(level.x0 - line.x0) < SAME_LEVEL]
    if same:
        return levels[: same[-1]]
    kept = [level for level in levels if level.x0 < line.x0 - SAME_LEVEL]
    return [*kept, _Depth(line.x0, kind)]


def _continues_item(before: Line, line: Line, level: _Depth, pitch: float) -> bool:
    is_open = not SENTENCE_END.search(before.text)
    unfinished = is_open and line.text[:1].islower()
    full = level.mark == "number" and is_open and not before.ends_early
    if _after_break(before, line):
        return unfinished
    close = line.baseline - before.baseline <= PARAGRAPH_GAP * _room(before, line, pitch)
    hanging = line.x0 > level.x0 + 0.4 * line.size
    # The lines of a numbered paragraph need not hang
    return (
        hanging or unfinished or full
        if close
        else unfinished and hanging and line.baseline - before.baseline <= LIST_GAP * _room(line, line, pitch)
    )


# -- lists without marks -----------------------------------------------------------------------------------------------


def _unmarked_items(lines: Sequence[Line], start: int, lead: list[Line], pitch: float) -> int:
    """The number of lines below a lead that are items, or the rest of one, although they have no mark or one that is a picture.

    A lead ends with a colon, or its lines are farther out than the items and end early as those do.
    """
    first = lines[start]
    if not lead or MARK.match(first.text):
        return 0
    # Below the head of a column or a section all are items (`are_plain_items`)
    indented = not _after_break(lead[-1], first) and first.x0 > lead[0].x0 + MIN_INDENT * first.size
    longest = MAX_INDENTED if indented else MAX_FRAGMENT if lead[-1].is_lead else MAX_PLAIN
    has_colon = lead[-1].text.endswith(":")
    if not has_colon and not (indented and len(lead) == 1 and _is_short_lead(lead[0])):
        return 0
    if has_colon and (size := (_spaced_items if indented else _open_items)(lines, start, pitch)):
        return size
    end = start
    while end < len(lines) and _is_plain_item(lines[end], lines[end - 1] if end > start else None, first, longest, pitch):
        end += 1
    own = lines[start:end]
    right = max((line.x1 for line in own), default=0.0)
    if not has_colon and first.text[:1].islower() and lead[-1].x1 < right and not _has_room(lead[-1], first, right):
        # Beside a picture all lines end early
        return 0
    early = sum(map(_ends_item, own[:-1]))
    meant = early >= (MIN_EARLY if has_colon else MOST_EARLY) * (end - start - 1) and early > 0
    # Lines of a sentence do not all begin as sentences do
    meant = meant or (has_colon and not any(line.text[:1].islower() for line in lines[start + 1 : end]))
    return end - start if meant and end - start >= (MIN_PLAIN if longest == MAX_PLAIN else 2) else 0


def _open_items(lines: Sequence[Line], start: int, pitch: float) -> int:
    """The number of lines of the paragraph at `start` if they are items: most end early, and none ends a sentence."""
    end = start + 1
    while end < len(lines) and not _begins_paragraph(lines[end - 1], lines[end], pitch):
        end += 1
    own = lines[start:end]
    alike = all(abs(line.x0 - own[0].x0) <= 2 and len(line.cells) == 1 and not MARK.match(line.text) for line in own)
    open_ends = alike and all(len(line.text) <= MAX_INDENTED and not SENTENCE_END.search(line.text) for line in own)
    early = sum(map(_ends_item, own[:-1]))
    return len(own) if open_ends and len(own) >= MIN_PLAIN and early >= MOST_EARLY * (len(own) - 1) else 0


def _spaced_items(lines: Sequence[Line], start: int, pitch: float) -> int:
    """The number of indented lines at `start` if they are items of several lines, a little farther apart than these."""
    first, end = lines[start], start + 1
    while end < len(lines) and abs(lines[end].x0 - first.x0) <= 2 and not MARK.match(lines[end].text):
        line, step = lines[end], lines[end].baseline - lines[end - 1].baseline
        near = line.page == first.page and 0 < step <= LIST_GAP * _room(line, line, pitch)
        if not near or line.part != first.part or line.is_lead or line.table or len(line.cells) > 1:
            break
        end += 1
    return end - start if _item_step(lines[start:end]) else 0


def _item_step(lines: Sequence[Line]) -> float:
    """The distance between lines, in points, from which one begins an item; 0 where none are apart, or not clearly."""
    steps = [line.baseline - before.baseline for before, line in pairwise(lines)]
    least = min(steps, default=0.0)
    wide = [step for step in steps if step >= ITEM_STEP * least]
    clear = least > 0 and len(wide) < len(steps) == len(wide) + sum(step <= SAME_STEP * least for step in steps)
    return ITEM_STEP * least if wide and clear else 0.0


def _small_items(lines: Sequence[Line], start: int, lead: list[Line], pitch: float) -> list[Part]:
    """The items below a lead that all begin with a small letter where the line above has room: as no sentence does.

    One is enough below a colon and space; "Don't" above them has no colon, but is short.
    """
    has_colon = bool(lead) and lead[-1].text.endswith(":")
    if not lead or not (has_colon or (len(lead) == 1 and _is_short_lead(lead[0]))):
        return []
    end = start
    while end < len(lines) and _is_in_small_list(lines[end - 1], lines[end], lead[-1], pitch):
        end += 1
    own = lines[start:end]
    right = max((line.x1 for line in (*lead, *own)), default=0.0)
    items: list[Part] = []
    for before, line in zip([lead[-1], *own], own, strict=False):
        apart = _begins_paragraph(before, line, pitch)
        if apart or _has_room(before, line, right):
            if not line.text[:1].islower():
                break
            items.append(Part(ITEM_MARK, [line]))
        elif items:
            items[-1].lines.append(line)
        else:
            break
    spaced = has_colon and bool(own) and _begins_paragraph(lead[-1], own[0], pitch)
    return items if len(items) > 1 or spaced else []


def _outline(lines: Sequence[Line], start: int, lead: list[Line], pitch: float) -> list[Part]:
    """The indented lines below a colon of which some have marked items below them, and these; none where they are no list."""
    first, items = lines[start], list[Part]()
    if not lead or not lead[-1].text.endswith(":") or first.x0 <= lead[0].x0 + MIN_INDENT * first.size:
        return []
    for before, line in zip([lead[-1], *lines[start:]], lines[start:], strict=False):
        mark, deeper = MARK.match(line.text), line.x0 > first.x0 + SAME_LEVEL
        if not _is_near(before, line, pitch) or (mark and not deeper) or (not deeper and not line.ends_early):
            break
        if mark:
            text = _with_text(line, line.text[mark.end() :])
            items.append(Part(" " * INDENT + _prefix(mark), [text]))
        elif deeper and items:
            items[-1].lines.append(line)
        elif abs(line.x0 - first.x0) <= 2:
            items.append(Part(ITEM_MARK, [line]))
        else:
            break
    outer = [part for part in items if part.prefix == ITEM_MARK]
    return items if 1 < len(outer) < len(items) else []


def _is_near(before: Line, line: Line, pitch: float) -> bool:
    alike = (line.page, line.part) == (before.page, before.part) and len(line.cells) == 1
    plain = alike and not line.table and not line.is_lead
    return plain and 0 < line.baseline - before.baseline <= LIST_GAP * _room(before, line, pitch)


def _is_in_small_list(before: Line, line: Line, lead: Line, pitch: float) -> bool:
    alike = (line.page, line.part, line.size) == (lead.page, lead.part, lead.size) and not line.table
    plain = alike and len(line.cells) == 1 and abs(line.x0 - lead.x0) <= 2 and not line.is_lead and not MARK.match(line.text)
    return plain and 0 < line.baseline - before.baseline <= LIST_GAP * _room(before, line, pitch)


def _has_room(before: Line, line: Line, right: float) -> bool:
    """Whether the first word of a line would have had room behind the line above it, in a column up to `right`, in points."""
    word = (line.x1 - line.x0) * len(line.text.split(" ", 1)[0]) / len(line.text)
    return before.ends_early and not before.text.endswith("-") and right - before.x1 > word + line.size


def _ends_item(line: Line) -> bool:
    return line.ends_early or line.text.endswith(";")


def _is_short_lead(line: Line) -> bool:
    # With a colon inside, it is a label and what it labels, which goes on below
    whole = not SENTENCE_END.search(line.text) and ": " not in line.text and len(line.cells) == 1
    return whole and line.ends_early and len(line.text) <= MAX_LEAD


def _is_plain_item(line: Line, before: Line | None, first: Line, longest: int, pitch: float) -> bool:
    indented = longest == MAX_INDENTED
    if len(line.text) > longest or line.text.endswith(":") or (line.text.endswith(".") and not indented):
        return False
    further_in = indented and before is not None and not before.ends_early and line.x0 > first.x0
    if (abs(line.x0 - first.x0) > 2 and not further_in) or line.is_lead or line.part != first.part or MARK.match(line.text):
        return False
    step = 0.0 if before is None or line.page != before.page else line.baseline - before.baseline
    return 0 <= step <= LIST_GAP * _room(line, line, pitch)


def _plain_items(lines: Sequence[Line]) -> list[Part]:
    """The items: where none are apart, a line belongs to that of the line above if that had no room for its first word."""
    items: list[Part] = []
    apart = _item_step(lines)
    for before, line in zip([None, *lines], lines, strict=False):
        goes_on = before is not None and not _ends_item(before) and line.text[:1].islower()
        if (
            before is not None
            and not _after_break(before, line)
            and (line.baseline - before.baseline < apart if apart else goes_on)
        ):
            items[-1].lines.append(line)
        else:
            items.append(Part(ITEM_MARK, [line]))
    return items


def are_plain_items(lines: Sequence[Line], pitch: float) -> bool:
    """Whether the first paragraph of a stretch is a list without marks: short lines that end early, as no sentence does."""
    end = 1
    while end < len(lines) and not _begins_paragraph(lines[end - 1], lines[end], pitch) and len(lines[end].cells) == 1:
        end += 1
    own = lines[:end]
    alike = all(abs(line.x0 - own[0].x0) <= 2 and line.part == own[0].part and not line.table for line in own)
    early = all(line.ends_early and len(line.text) <= MAX_FRAGMENT and not SENTENCE_END.search(line.text) for line in own)
    return len(own) > 1 and alike and early and len(own[0].cells) == 1 and not _after_break(own[0], own[-1])


def is_item(line: Line) -> bool:
    """Whether a line begins an item."""
    return len(line.cells) == 1 and not line.table and MARK.match(line.text) is not None


# -- a heading above a list --------------------------------------------------------------------------------------------


def are_fragments(parts: Sequence[Part]) -> bool:
    """Whether the items of a list mean little without what is above it: most are short and no sentences."""
    texts = [part.lines[-1].text for part in parts if part.is_item]
    words = sorted(sum(len(line.text.split()) for line in part.lines) for part in parts if part.is_item)
    sentences = sum(text.endswith((".", "!", "?")) for text in texts)
    return bool(words) and words[len(words) // 2] <= FRAGMENT_WORDS and 2 * sentences < len(texts)
