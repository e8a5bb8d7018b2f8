"""What of a page is a heading and how far it reaches: by style and repetition where tags do not say, never by its words.

The tree is changed in place: what reads it afterwards knows only the tags `h1` to `h6`, `summary` and `details`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from itertools import groupby, islice, pairwise
from typing import Any, NamedTuple

from audit.pipeline.corpus.extraction.characters import plain_text
from audit.pipeline.corpus.extraction.html_boxes import list_boxes
from audit.pipeline.corpus.extraction.html_controls import HEADING_TAGS, leads_away, letters, remove
from audit.pipeline.corpus.extraction.html_styles import EMPHASIS
from audit.pipeline.corpus.extraction.html_text import INLINE, text_of
from audit.text.statements import ITEM

Make = Callable[[str], Any]
MAX_HEADING, MIN_LETTERS = 100, 3
# A style that so many blocks have, and that most of them use as a heading, is that of headings
MIN_REPEATED, MIN_SHARE = 3, 0.8
MAX_IN_FRONT = 3
# Under one heading, longer text has headings that no tag marks
LONG = 6_000
ENDS_SENTENCE = re.compile(r"[.!…。]['\"”’)\]]*$")
# What parts a label from what is said of it
AFTER_LABEL = re.compile(r"\A(?:[—–:]\s*|-\s+)")
ADDRESS = re.compile(r"\w[.@]\w{2,}\.?\w*\b")
# A sentence of so many words that is tagged as a heading
SENTENCE_WORDS = 8
# No editor wraps so long a line: in a text with one, the other ends of lines were set by its author
LONG_LINE, MIN_LINES = 150, 3
EMPHATIC = ("b", "strong")
LISTS = ("ul", "ol", "dl")
BOXES = ("div", "p", "section", "header", "hgroup", "center")
NO_BLOCKS = (*LISTS, "li", "dt", "dd", "table", "pre", "summary", "figcaption", *HEADING_TAGS)


class Leaf(NamedTuple):
    """An element with text of its own and none with text of its own in it; or a heading, a list or a table."""

    element: Any
    text: str

    @property
    def is_heading(self) -> bool:
        """Whether a tag says so."""
        return self.element.tag in HEADING_TAGS or self.element.tag == "summary"


def find_headings(content: Any, make: Make) -> None:
    """Mark the headings of a page, and the parts of it that only some of them are for. `make` makes an element of a tag."""
    _make_inline(content)
    _mark_lists(content)
    _lead_by_labels(content, make)
    list_boxes(content)
    _split_into_lines(content, make)
    _split_at_empty_lines(content, make)
    _split_at_emphatic_lines(content, make)
    _list_lines_in_rows(content, make)
    _unmark(list(_leaves(content)), _letters_below(content))
    _open_cards(content, make)
    leaves = list(_leaves(content))
    outermost = min((leaf.element.tag for leaf in leaves if leaf.element.tag in HEADING_TAGS), default="h4")
    has_headings = sum(leaf.is_heading for leaf in leaves) > 1
    for stretch in _stretches(leaves):
        if not has_headings or sum(len(leaf.text) for leaf in stretch) > LONG or _titles(stretch) >= MIN_REPEATED:
            _mark(stretch, outermost)


def _make_inline(content: Any) -> None:
    """Boxes in a heading are parts of it (`<h2><div>Diet</div></h2>`); browsers show elements of unknown tags in the line."""
    for heading in content.iter(*HEADING_TAGS, "summary"):
        boxes = [box for box in heading.iterdescendants() if box.tag not in INLINE and box.tag != "br"]
        if letters(heading) <= MAX_HEADING and all(box.tag in BOXES for box in boxes):
            for box in boxes:
                box.tag, box.text, box.tail = "span", f" {box.text or ''}", f" {box.tail or ''}"
    for element in content.iter():
        beside = f"{element.tail or ''}{_text_before(element)}"
        if "-" in element.tag and beside.strip() and all(child.tag in INLINE for child in element.iterdescendants()):
            element.tag = "span"


def _text_before(element: Any) -> str:
    before, around = element.getprevious(), element.getparent()
    return (before.tail if before is not None else around.text if around is not None else "") or ""


def _mark_lists(content: Any) -> None:
    """What holds items and nothing else is a list, by whatever tag."""
    for item in list(content.iter("li")):
        around = item.getparent()
        if around.tag not in (*LISTS, "menu") and all(child.tag == "li" for child in around) and not _own_text(around):
            around.tag = "ul"


def _lead_by_labels(content: Any, make: Make) -> None:
    """An emphatic label at the beginning of an item leads the list in it; what is said before that is the list's first item."""
    for inner in list(content.iter("ul")):
        item, before = inner.getparent(), list(inner.itersiblings(preceding=True))[::-1]
        if item.tag != "li" or not before or (item.text or "").strip() or any(part.tag not in (*INLINE, "br") for part in before):
            continue
        label, *others = before
        said = AFTER_LABEL.sub("", f"{label.tail or ''}".lstrip(), count=1)
        is_label = text_of(label).endswith(":") or said != (label.tail or "").lstrip()
        if is_label and is_emphatic(label) and (said.strip() or others):
            first = make("li")
            label.tail, first.text = None, said
            first.extend(others)
            first.tail, inner.text = inner.text, None
            inner.insert(0, first)


def _own_text(element: Any) -> str:
    return "".join((element.text or "", *(child.tail or "" for child in element))).strip()


def _leaves(content: Any) -> Iterator[Leaf]:
    stack = [content]
    while stack:
        element = stack.pop()
        children = [child for child in element if child.tag not in INLINE and child.tag != "br"]
        if element.tag in NO_BLOCKS or not children:
            if text := text_of(element):
                yield Leaf(element, text)
        else:
            stack.extend(reversed(children))


def is_emphatic(element: Any) -> bool:
    """Whether all of its text is bold or larger than the text around, as far as tags and the page's own styles say."""
    around = element
    while around is not None and EMPHASIS not in around.attrib:
        parent = around.getparent()
        is_only = (
            parent is not None
            and around.getnext() is around.getprevious() is None
            and not f"{parent.text or ''}{around.tail or ''}".strip()
        )
        around = parent if is_only else None
    if around is not None:
        return True
    inside = {child for child in element.iter() if child.tag in EMPHATIC or EMPHASIS in child.attrib}
    outer = [child for child in inside if inside.isdisjoint(child.iterancestors())]
    return bool(outer) and sum(map(letters, outer)) == letters(element)


# -- headings by their style ------------------------------------------------------------------------------------------


def _stretches(leaves: Sequence[Leaf]) -> Iterator[list[Leaf]]:
    """The text under each heading, which is the first leaf of its stretch."""
    number = 0
    for _, group in groupby(leaves, key=lambda leaf: leaf.is_heading):
        stretch = list(group)
        if not stretch[0].is_heading:
            yield ([leaves[number - 1]] if number else []) + stretch
        number += len(stretch)


def _mark(stretch: list[Leaf], outermost: str) -> None:
    around = stretch[0].element.tag
    tag = f"h{min(int(around[1]) + 1, 6)}" if around in HEADING_TAGS else outermost
    styles = Counter(_style(leaf) for leaf in stretch)
    short = Counter(_style(leaf) for leaf in stretch if _may_be_heading(leaf))
    usual = {style for style, count in short.items() if count >= MIN_REPEATED and count >= MIN_SHARE * styles[style]}
    found: list[int] = []
    for number, (leaf, following) in enumerate(pairwise(stretch)):
        before = stretch[number - 1].text if number else "."
        if leaf.is_heading or following.is_heading or not _may_be_heading(leaf):
            continue
        is_marked = is_emphatic(leaf.element) or _is_capital(leaf.text) or (_style(leaf) in usual and any(_style(leaf)[1:]))
        is_line = leaf.element.tag == "p" and not _has_label(leaf.element) and _is_title(before, leaf.text, following.text)
        leads = leaf.text.endswith(":") and (following.element.tag in LISTS or not is_marked)
        if (is_marked or is_line) and not leads:
            found.append(number)
    marked = set(found)
    for number in found:
        # Several in a row are a list
        if not any({first, first + 1, first + 2} <= marked for first in (number - 2, number - 1, number)):
            stretch[number].element.tag = tag


def _titles(stretch: Sequence[Leaf]) -> int:
    """How many lines are the names of what is below them, as far as their places tell."""
    around = zip([".", *(leaf.text for leaf in stretch)], stretch, stretch[1:], strict=False)
    return sum(
        leaf.element.tag == "p"
        and _may_be_heading(leaf)
        and not following.is_heading
        and _is_title(before, leaf.text, following.text)
        for before, leaf, following in around
    )


def _style(leaf: Leaf) -> tuple[str, str, bool]:
    return leaf.element.tag, leaf.element.get("class") or "", leaf.text.endswith("?")


def _may_be_heading(leaf: Leaf) -> bool:
    element, text = leaf
    few_letters = sum(map(str.isalpha, text)) < max(MIN_LETTERS, len(text) / 2)
    if element.tag in NO_BLOCKS or len(text) > MAX_HEADING or few_letters or ITEM.fullmatch(text) or ADDRESS.search(text):
        return False
    if ENDS_SENTENCE.search(text) or text.endswith((",", ";")):
        return False
    return next(element.iterancestors("li", "dd", "td", "th"), None) is None and not _is_link(element)


def _is_capital(text: str) -> bool:
    return text.isupper() and sum(map(str.isalpha, text)) > MIN_LETTERS


def _has_label(element: Any) -> bool:
    return any(child.tag in EMPHATIC or EMPHASIS in child.attrib for child in element)


def _is_title(before: str, text: str, following: str) -> bool:
    """Whether a line of its own stands between sentences: the name of what is below it."""
    is_name = text[:1].isupper() and not any(map(str.isdigit, text)) and not following[:1].islower() and following[:1].isalpha()
    is_between = ENDS_SENTENCE.search(before) or before.endswith("?")
    return bool(is_name and is_between and len(following) > len(text) and (text[-1] == "?" or ENDS_SENTENCE.search(following)))


# -- tagged as headings, but none -------------------------------------------------------------------------------------


def _unmark(leaves: list[Leaf], below_of: dict[Any, Below]) -> None:
    """Headings that are a sentence or a link, with nothing below them; and those above little but links to other pages.

    What is below a heading that is a link, the title of a teaser, is also below the one before it.
    """
    places = [number for number, leaf in enumerate(leaves) if leaf.is_heading]
    kept: Any = None
    for number, following in reversed(list(zip(places, [*places[1:], len(leaves)], strict=False))):
        (element, text), below = leaves[number], leaves[number + 1 : following]
        has_inner = kept is not None and kept.tag in HEADING_TAGS and kept.tag > element.tag
        is_sentence = bool(ENDS_SENTENCE.search(text)) and len(text.split()) >= SENTENCE_WORDS
        is_link, (linked, others) = _is_link(element), below_of.get(element, Below(0, 0))
        links = linked >= max(others, 1) if linked or others else is_link
        is_call_out = is_sentence and (not has_inner if not below else _is_alone(element))
        if element.tag != "h1" and (is_call_out or (links and not has_inner)):
            element.tag = "p"
            before = places[places.index(number) - 1] if is_link and number != places[0] else None
            if before is not None and (above := below_of.get(leaves[before].element)):
                below_of[leaves[before].element] = Below(above.linked + linked + letters(element), above.others + others)
            continue
        kept = element


class Below(NamedTuple):
    """How many letters below a heading, before the next one, are links to other pages, and how many are not."""

    linked: int
    others: int


def _letters_below(content: Any) -> dict[Any, Below]:
    below: dict[Any, Below] = {}
    heading: Any = None
    # Elements, and texts with whether they are in a link
    stack: list[tuple[Any, bool]] = [(content, False)]
    while stack:
        part, in_link = stack.pop()
        if isinstance(part, str):
            if heading is not None:
                count = sum(map(str.isalnum, part))
                linked, others = below[heading]
                below[heading] = Below(linked + count, others) if in_link else Below(linked, others + count)
            continue
        if part.tag in (*HEADING_TAGS, "summary") and letters(part):
            heading, below[part] = part, Below(0, 0)
            continue
        inside = in_link or leads_away(part)
        for child in reversed(part):
            stack += [(child.tail or "", inside), (child, inside)]
        stack.append((part.text or "", inside))
    return below


def _is_alone(element: Any) -> bool:
    """Whether a call-out holds this and nothing else."""
    parent = element.getparent()
    return parent is not None and parent.tag not in ("main", "article", "body") and letters(parent) == letters(element)


def _is_link(element: Any) -> bool:
    """Whether all of its text are links to other pages."""
    links = [link for link in element.iter("a") if leads_away(link)]
    return bool(links) and sum(map(letters, links)) >= letters(element)


# -- cards ------------------------------------------------------------------------------------------------------------


def _open_cards(content: Any, make: Make) -> None:
    """Parts beside each other, each with a heading and text: what is behind one of them is not under its heading."""
    for parent in list(content.iter()):
        if parent.tag in ("details", "table", "tbody", *LISTS) or parent.tag in INLINE:
            continue
        groups: dict[tuple[str, str], list[Any]] = defaultdict(list)
        for child in parent:
            if child.tag in ("div", "section", "article", "td"):
                groups[child.tag, child.get("class") or ""].append(child)
        for (tag, name), cards in groups.items():
            if len(cards) < 2 and tag != "td":
                continue
            heads = [_head_of(card) for card in cards]
            headed = sum(head is not None for head in heads)
            # Boxes without a class may be parts of one text
            if headed and (tag == "td" or (headed > 1 and (name or headed == len(cards)))):
                for card, head in zip(cards, heads, strict=True):
                    if head is not None:
                        _open_card(card, head, make)


def _open_card(card: Any, head: Any, make: Make) -> None:
    opened = make("details")
    opened.text, card.text = card.text, None
    opened.extend(list(card))
    card.append(opened)
    # A number or a label in front of it is under it, too
    remove(head)
    head.tail, opened.text = opened.text, None
    opened.insert(0, head)
    if head.tag not in HEADING_TAGS:
        head.tag = "summary"


def _head_of(card: Any) -> Any:
    """The heading that a card begins with, or what looks like one, where text is below it."""
    leaves = list(islice(_leaves(card), MAX_IN_FRONT + 2))
    tagged = [number for number, leaf in enumerate(leaves) if leaf.is_heading]
    if tagged:  # a number or a label may stand in front of it
        first = tagged[0]
        return leaves[first].element if first < MAX_IN_FRONT and tagged[1:2] != [first + 1] and leaves[first + 1 :] else None
    if len(leaves) < 2:
        return None
    first_leaf, second = (leaf.element for leaf in leaves[:2])
    is_apart = first_leaf.tag == "div" and first_leaf.get("class") and second.getparent() is not first_leaf.getparent()
    is_head = _may_be_heading(leaves[0]) and leaves[0].text[-1] != ":" and (is_apart or is_emphatic(first_leaf))
    return first_leaf if is_head else None


# -- lines ------------------------------------------------------------------------------------------------------------


def _split_into_lines(content: Any, make: Make) -> None:
    """Paragraphs whose lines are paragraphs or items of their own, as pasted text has them."""
    for paragraph in list(content.iter("p")):
        if len(paragraph) or "\n" not in (paragraph.text or ""):
            continue
        lines = _joined([line for line in map(plain_text, paragraph.text.split("\n")) if line])
        items = sum(ITEM.fullmatch(line) is not None for line in lines)
        are_items = items > 1 or (items == 1 and lines[0].endswith(":"))
        if not are_items and (len(lines) <= MIN_LINES or max(map(len, lines)) < LONG_LINE):
            continue
        paragraph.text = None
        paragraph.tag = "p" if are_items else "div"
        for line in lines:
            new = make("span" if are_items else "p")
            new.text = line
            paragraph.append(new)
            if are_items:
                paragraph.append(make("br"))


def _joined(lines: list[str]) -> list[str]:
    """The lines, each that goes on with the sentence of the one before it joined to that."""
    found: list[str] = []
    for line in lines:
        if found and (line[0].islower() or found[-1].endswith((",", ";")) or (found[-1][-1:].isdigit() and line[0].isdigit())):
            found[-1] += f" {line}"
        else:
            found.append(line)
    return found


def _split_at_empty_lines(content: Any, make: Make) -> None:
    """What two line breaks divide are paragraphs."""
    for block, lines in _broken(content, "p", "div", "td"):
        parts = [list(group) for is_empty, group in groupby(lines, key=_is_empty_line) if not is_empty]
        if len(parts) > 1:
            _fill(block, parts, make)


def _split_at_emphatic_lines(content: Any, make: Make) -> None:
    """Lines between line breaks that are bold as a whole become paragraphs, and so do the lines between them."""
    for block, lines in _broken(content, "p", "div", "td", "li"):
        marks = [_is_emphatic_line(line) for line in lines]
        if not any(marks) or all(marks):
            continue
        runs: list[list[Line]] = []
        for is_mark, group in groupby(zip(marks, lines, strict=True), key=lambda each: each[0]):
            own = [line for _, line in group]
            runs += [[line] for line in own] if is_mark else [own]
        _fill(block, runs, make)


def _broken(content: Any, *tags: str) -> Iterator[tuple[Any, list[Line]]]:
    """The elements that are only text with line breaks, with their lines."""
    for block in list(content.iter(*tags)):
        if any(child.tag == "br" for child in block) and all(child.tag in (*INLINE, "br") for child in block):
            yield block, list(_lines_of(block))


def _fill(block: Any, parts: Sequence[list[Line]], make: Make) -> None:
    """Make paragraphs of the lines of an element."""
    block.text = None
    for child in list(block):
        block.remove(child)
        child.tail = None
    block.tag = "div" if block.tag == "p" else block.tag
    for lines in parts:
        block.append(_paragraph(lines, make))


def _is_empty_line(line: Line) -> bool:
    return not any(part.strip(" \n\t\xa0") if isinstance(part, str) else letters(part) for part in line)


Line = list[Any]
"""The texts and elements of a line."""


def _lines_of(block: Any) -> Iterator[Line]:
    line: Line = [block.text or ""]
    for child in block:
        if child.tag == "br":
            yield line
            line = []
        else:
            line.append(child)
        line.append(child.tail or "")
    yield line


def _is_emphatic_line(line: Line) -> bool:
    elements = [part for part in line if not isinstance(part, str)]
    texts = "".join(part for part in line if isinstance(part, str))
    return bool(elements) and not texts.strip(" :\n\t\xa0") and all(map(is_emphatic, elements))


def _list_lines_in_rows(content: Any, make: Make) -> None:
    """Cells side by side that are all several short lines are lists: "walk, swim" below Do beside "lift, run" below Don't."""
    for row in list(content.iter("tr")):
        cells = [cell for cell in row if len(cell) or (cell.text or "").strip()]
        if len(cells) < 2 or not all(any(child.tag in ("br", "p", "div") for child in cell) for cell in cells):
            continue
        items = [_items_of(cell, make) for cell in cells]
        if all(len(own) > 1 and all(map(_is_short_line, own)) and not is_emphatic(own[0]) for own in items):
            for cell, own in zip(cells, items, strict=True):
                for child in list(cell):
                    cell.remove(child)
                cell.text = None
                cell.append(make("ul"))
                cell[0].extend(own)


def _items_of(cell: Any, make: Make) -> list[Any]:
    """The paragraphs or lines of a cell as items; none where something else is in it."""
    if len(cell) and all(child.tag in ("p", "div") and not (child.tail or "").strip() for child in cell) and not cell.text:
        lines: list[Line] = [[_alone(child)] for child in cell if letters(child)]
    elif all(child.tag in INLINE or child.tag == "br" for child in cell):
        lines = [[_alone(part) if not isinstance(part, str) else part for part in line] for line in _lines_of(cell)]
    else:
        return []
    return [item for line in lines if letters(item := _paragraph([line], make, "li"))]


def _alone(element: Any) -> Any:
    """A copy of an element without the text behind it."""
    alone = copy(element)
    alone.tail = None
    return alone


def _is_short_line(item: Any) -> bool:
    text = text_of(item)
    return len(text) <= MAX_HEADING and not ENDS_SENTENCE.search(text) and not text.endswith((":", ",", "?"))


def _paragraph(lines: list[Line], make: Make, tag: str = "p") -> Any:
    paragraph = make(tag)
    paragraph.tail = " "
    for number, line in enumerate(lines):
        for part in [make("br") if number else "", *line]:
            if not isinstance(part, str):
                paragraph.append(part)
            elif len(paragraph):
                paragraph[-1].tail = (paragraph[-1].tail or "") + part
            else:
                paragraph.text = (paragraph.text or "") + part
    return paragraph
