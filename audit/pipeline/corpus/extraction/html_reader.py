"""A web page as blocks: headings, paragraphs, lists and tables, without navigation, scripts and what pages repeat.

Markdown and DOCX come here too, as the HTML that their libraries make of them. Read by lxml (BSD-3-Clause). Pages come from
strangers: nothing is fetched, no entity outside the page is read, and size and depth are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from audit.errors import DocumentError
from audit.optional_imports import optional
from audit.pipeline.corpus.extraction.characters import plain_text
from audit.pipeline.corpus.extraction.html_content import LeftOutOfPage, own_content, take_styles
from audit.pipeline.corpus.extraction.html_headings import find_headings, is_emphatic
from audit.pipeline.corpus.extraction.html_tables import is_layout_table, table_blocks
from audit.pipeline.corpus.extraction.html_text import GAP, INLINE, PLACES, Words
from audit.pipeline.corpus.extraction.lists import FRAGMENT_WORDS
from audit.pipeline.corpus.extraction.losses import unread
from audit.text.documents import Loss
from audit.text.statements import CELL_SEPARATOR, INDENT, ITEM, ITEM_MARK

PURPOSE = "Reading a web page"
MAX_DEPTH, MAX_ELEMENTS = 1_000, 500_000
HEADINGS = {f"h{level}": level for level in range(1, 7)} | {"summary": 0}
NO_LEAD = ".!?…:,;。"
LISTS, ITEMS = {"ul", "ol", "dl", "menu"}, {"li", "dd"}
# Browsers read these numbers as Windows-1252, and XML has no control characters
CHARACTER_NUMBER = re.compile(r"&#(?:[xX](?P<hex>[0-9a-fA-F]{1,6})|(?P<number>\d{1,7}));?")
# The library reads nothing behind the first one; browsers do
END_OF_PAGE = re.compile(r"</(?:html|body)\s*>", re.IGNORECASE)
NOT_IN_XML = re.compile(rf"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff{GAP}]")
# Numbers of steps have at most two digits (audit.text.statements)
MAX_STEP, NUMBERED = 99, re.compile(r"\(?\d{1,2}[.)] \S")
# A longer line is a sentence, or several; a shorter one was not broken because a column is narrow
MAX_FRAGMENT, MAX_COLUMN = 80, 40


class WebBlock(NamedTuple):
    """A heading with its level (1 is outermost) and its id in the page, or a paragraph, list or table as one text."""

    kind: Literal["heading", "text"]
    text: str
    level: int = 0
    anchor: str | None = None


class _Paragraph(NamedTuple):
    """What is known of a paragraph: its lines as line breaks part them, the element that it is in, and whether it is emphatic."""

    lines: tuple[str, ...]
    within: Any
    is_emphatic: bool


class WebPage(NamedTuple):
    """The blocks of a page in reading order, its title, the address that it gives itself, and what was left out."""

    blocks: tuple[WebBlock, ...]
    title: str | None = None
    url: str | None = None
    lost: tuple[Loss, ...] = ()


def read_html(markup: str, kept: Sequence[str] = ()) -> WebPage:
    """The content of a web page; `kept` are words that stay where they would be left out as what a site's pages repeat.

    Raises DocumentError, with the reason as a clause, where it goes beyond the bounds.
    """
    library = optional("lxml.etree", PURPOSE, "pipeline")
    parser = library.HTMLParser(encoding="utf-8", huge_tree=True, no_network=True, remove_comments=True, remove_pis=True)
    root = library.fromstring(_clean(markup).encode("utf-8", errors="replace"), parser)
    if root is None:
        return WebPage(())
    _check_bounds(library, root)
    named, url = plain_text(root.xpath("string(//title)")) or None, _own_url(root, markup)
    styles, left_out = take_styles(root), LeftOutOfPage(root, kept)
    source = " ".join(root.itertext())
    content = own_content(root, styles, left_out, library.Element, named or "")
    find_headings(content, library.Element)
    walk = _Walk(library)
    blocks = tuple(walk.blocks_of(content))
    kept = " ".join(block.text for block in blocks)
    missing = unread(source, kept, f"{left_out.text} {walk.words.replaced}")
    return WebPage(blocks, _heading_of(blocks, named or "") or named, url, left_out.losses + ((missing,) if missing else ()))


def _clean(markup: str) -> str:
    return END_OF_PAGE.sub(" ", NOT_IN_XML.sub(_space, CHARACTER_NUMBER.sub(_character, markup)))


def _space(match: re.Match[str]) -> str:
    return " " if match.group().isspace() else ""


def _character(match: re.Match[str]) -> str:
    number = int(match["hex"], 16) if match["hex"] else int(match["number"])
    if 0x80 <= number < 0xA0:
        return bytes([number]).decode("cp1252", errors="replace")
    return _space(match) if number < 9 else " " if number < 32 else match.group()


def _check_bounds(library: Any, root: Any) -> None:
    depth = count = 0
    for event, _ in library.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        count += event == "start"
        if depth > MAX_DEPTH:
            raise DocumentError(f"its elements are nested more than {MAX_DEPTH:,} levels deep")
        if count > MAX_ELEMENTS:
            raise DocumentError(f"it has more than {MAX_ELEMENTS:,} elements")


def _heading_of(blocks: Sequence[WebBlock], named: str) -> str | None:
    """The first outermost heading, or that of them which the title in the file names: it is often that of a whole site."""
    headings = [block for block in blocks if block.kind == "heading" and block.level and block.text]
    return min(headings, key=lambda block: (block.level, block.text not in named)).text if headings else None


def _own_url(root: Any, markup: str) -> str | None:
    # The last form is what browsers write into a page that they save
    saved = re.search(r"<!-- saved from url=\(\d+\)(\S+) -->", markup[:4_000])
    addresses = [*root.xpath("//link[@rel='canonical']/@href"), *root.xpath("//meta[@property='og:url']/@content")]
    addresses += [saved[1]] if saved else []
    return next((str(address) for address in addresses if address.startswith(("https://", "http://"))), None)


class _Scope(NamedTuple):
    """A part of the page that opens: the heading around it, the list around it, and the level of the heading that opens it."""

    around: WebBlock | None
    numbers: list[int | None]
    in_item: bool
    level: int = 0
    shift: int | None = None


class _Walk:
    """Puts text together while the elements go by: without recursion, because pages may be nested deeply."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self.words = Words()
        # The list that is open: its lines, the number of the last item of each list around (None: bullets), and whether the last
        # item can be continued
        self.lines: list[str] = []
        self.numbers: list[int | None] = []
        self.in_item = False
        self.finished: list[WebBlock] = []
        # Number of a finished block -> what is known of it
        self.paragraphs: dict[int, _Paragraph] = {}
        # The heading that text stands under, and whether it must be said again, because a part with headings of its own has ended
        self.heading: WebBlock | None = None
        self.is_back = False
        self.scopes: list[_Scope] = []
        self.keeps_lines = 0

    def blocks_of(self, content: Any) -> Iterator[WebBlock]:
        """The blocks of an element."""
        walker = self.library.iterwalk(content, events=("start", "end"))
        for event, element in walker:
            if event == "start":
                self._start(walker, element)
            else:
                self._end(element)
                if element is not content:
                    self._add(element.tail)
        self._close_list()
        yield from with_leads(self.finished, self.paragraphs)

    def _add(self, text: str | None) -> None:
        # Line breaks of the file are spaces; only <br> breaks a line
        self.words.add((text or "") if self.keeps_lines else (text or "").replace("\n", " "))

    def _start(self, walker: Any, element: Any) -> None:
        tag = element.tag
        if tag == "table" and not is_layout_table(element):
            self._close_list()
            for text in table_blocks(element, self._blocks_in):
                self._finish(text)
            walker.skip_subtree()
            return
        if tag in HEADINGS:
            self._close_list()
        elif tag not in INLINE and tag != "br":
            self._flush(element.getparent(), _is_emphatic_before(element))
        self._open(element)
        self.words.edge()
        self._add(element.text)

    def _open(self, element: Any) -> None:
        tag = element.tag
        if tag == "br":
            self.words.add("\n")
        elif tag == "details":
            self._open_scope()
        elif tag in LISTS:
            if self.in_item and self.lines and self.lines[-1][-1] not in NO_LEAD:
                self.lines[-1] += ":"  # an item with a list in it leads that
            self.numbers.append(_first_number(element) - 1 if tag == "ol" else None)
        elif tag in ITEMS:
            self._start_item()
        elif tag in PLACES:
            self.words.open()
        self.keeps_lines += tag == "pre"

    def _end(self, element: Any) -> None:
        tag = element.tag
        self.keeps_lines -= tag == "pre"
        if tag in PLACES:
            self.words.close(PLACES[tag])
        self.words.edge()
        if tag in HEADINGS:
            self._add_heading(element)
        elif tag == "dt":
            self._term()
        elif tag not in INLINE and tag != "br":
            is_whole = all(child.tag in INLINE or child.tag == "br" for child in element)
            self._flush(element.getparent() if is_whole else element, is_whole and is_emphatic(element))
        if tag in ITEMS:
            self.in_item = False
        if tag == "details":
            self._close_scope()
        elif tag in LISTS:
            self.numbers.pop()
            if not self.numbers:
                self._close_list()

    def _blocks_in(self, cell: Any) -> list[str]:
        walk = _Walk(self.library)
        texts = [block.text for block in walk.blocks_of(cell)]
        self.words.replaced += walk.words.replaced
        return texts

    # -- headings and the parts that they open ---

    def _open_scope(self) -> None:
        self._close_list()
        self.scopes.append(_Scope(self.heading, self.numbers, self.in_item))
        self.numbers, self.in_item = [], False

    def _close_scope(self) -> None:
        self._close_list()
        scope = self.scopes.pop()
        self.numbers, self.in_item = scope.numbers, scope.in_item
        self.is_back = self.is_back or self.heading is not scope.around
        self.heading = scope.around

    def _add_heading(self, element: Any) -> None:
        text = plain_text(self.words.take())
        if text:
            self.heading = WebBlock("heading", text, self._level(HEADINGS[element.tag]), _anchor(element))
            self.finished.append(self.heading)
            self.is_back = False

    def _level(self, own: int) -> int:
        """The level of a heading: below the heading that opens the part of the page that it is in."""
        if not self.scopes:
            return own or 6
        scope = self.scopes[-1]
        if not scope.level:
            level = own or (scope.around.level if scope.around else 0) + 1
            self.scopes[-1] = scope._replace(level=level)
            return level
        shift = max(scope.level + 1 - own, 0) if scope.shift is None else scope.shift
        self.scopes[-1] = scope._replace(shift=shift)
        return max(own + shift, scope.level + 1)

    def _finish(self, text: str) -> None:
        if self.is_back:
            # Text behind the last part that opens stands under the heading above all of them
            self.finished.append(self.heading or WebBlock("heading", "", 1))
            self.is_back = False
        self.finished.append(WebBlock("text", text))

    # -- paragraphs and lists ---

    def _term(self) -> None:
        text = plain_text(self.words.take())
        if text:
            self.lines.append(f"{text.rstrip(':')}:")

    def _flush(self, within: Any = None, is_emphatic: bool = False) -> None:
        """End the paragraph or item. `within` is the element that it is in."""
        lines = [line for line in map(plain_text, self.words.take().split("\n")) if line]
        if not lines:
            return
        if not self.numbers:
            text = lines_as_text(lines)
            if ITEM.match(text):
                self._add_list(text)
            else:
                self._finish(text)
                self.paragraphs[len(self.finished) - 1] = _Paragraph(tuple(lines), within, is_emphatic)
        elif self.in_item and self.lines:  # a second paragraph of the same item
            self.lines[-1] += " " + " ".join(lines)
        else:
            number = self.numbers[-1]
            mark = f"{number}. " if number and number <= MAX_STEP else ITEM_MARK
            # Some have a bullet or number of their own beside that of the list
            text = " ".join(lines).removeprefix(ITEM_MARK)
            mark = "" if number is None and NUMBERED.match(text) else mark
            self.lines.append(f"{' ' * (INDENT * (len(self.numbers) - 1))}{mark}{text}")
            self.in_item = True

    def _start_item(self) -> None:
        self.in_item = False
        if self.numbers and (number := self.numbers[-1]) is not None:
            self.numbers[-1] = number + 1

    def _close_list(self) -> None:
        self._flush()
        if not self.lines:
            return
        text, self.lines = "\n".join(self.lines), []
        self._add_list(text)

    def _add_list(self, text: str) -> None:
        # "Never smoke:" belongs to the list below it, as does "These pills do not cause it, when taken alone, such as"; the first
        # term of a list of terms has its own
        before = self.finished[-1] if self.finished and not self.is_back else None
        if before is not None and before.kind == "text" and may_lead(before.text) and ITEM.match(text):
            self.finished[-1] = before._replace(text=f"{before.text}\n{text}")
            self.paragraphs.pop(len(self.finished) - 1, None)
        else:
            self._finish(text)


def _is_emphatic_before(element: Any) -> bool:
    """Whether the text in front of an element, in the one around it, is all emphatic."""
    found = False
    for before in element.itersiblings(preceding=True):
        if before.tag not in INLINE:
            return found
        if (before.tail or "").strip(" :\n\t") or not is_emphatic(before):
            return False
        found = True
    return found and not (element.getparent().text or "").strip()


# -- what introduces something, and has no list below it that a tag marks ---------------------------------------------


def with_leads(blocks: Sequence[WebBlock], paragraphs: Mapping[int, _Paragraph]) -> Iterator[WebBlock]:
    """The blocks, with fragments below what introduces them as its list, and headings as leads of the list right below."""
    number = 0
    while number < len(blocks):
        block, number = blocks[number], number + 1
        if block.kind == "heading":
            yield block
            fragments = _fragments(paragraphs, number, None)
            is_whole = number + len(fragments) == len(blocks) or blocks[number + len(fragments)].kind == "heading"
            if block.text and is_whole and sum(map(len, fragments)) > 1:
                yield WebBlock("text", _led(block.text, fragments))
                number += len(fragments)
            elif block.text and number < len(blocks) and _is_list_of_fragments(blocks[number].text):
                yield blocks[number]._replace(text=_led(block.text, [blocks[number].text.split("\n")]))
                number += 1
            continue
        known = paragraphs.get(number - 1)
        is_lead = known is not None and len(known.lines) == 1 and (known.is_emphatic or block.text.endswith(":"))
        fragments = _fragments(paragraphs, number, known.within) if known is not None and is_lead else []
        if sum(map(len, fragments)) > 1:
            yield block._replace(text=_led(block.text, fragments))
            number += len(fragments)
        elif known is not None and "\n" not in block.text and _is_list(known.lines[1:]) and known.lines[0].endswith(":"):
            yield block._replace(text=_led(known.lines[0], [known.lines[1:]]))
        elif known is not None and is_lead and _goes_on(block.text, known, paragraphs.get(number)):
            # "Day before the procedure:" means nothing without the paragraph below, nor that without it
            yield block._replace(text=f"{block.text} {blocks[number].text}")
            number += 1
        else:
            yield block


def _goes_on(label: str, known: _Paragraph, following: _Paragraph | None) -> bool:
    """Whether a label and a paragraph right behind it, in the same element, are one."""
    is_label = label.endswith(":") and len(label) <= MAX_FRAGMENT
    return is_label and following is not None and following.within is known.within and len(following.lines) == 1


def _led(lead: str, fragments: Sequence[Sequence[str]]) -> str:
    lead = lead if lead.endswith((":", "?", "!", "…")) else f"{lead}:"
    lines = (line for own in fragments for line in own)
    return "\n".join([lead, *(line if ITEM.fullmatch(line) else f"{ITEM_MARK}{line}" for line in lines)])


def _fragments(paragraphs: Mapping[int, _Paragraph], number: int, within: Any) -> list[tuple[str, ...]]:
    """The lines of the paragraphs from a block on, in the same element, as long as they are no sentences and lead nothing."""
    found: list[tuple[str, ...]] = []
    while (known := paragraphs.get(number + len(found))) is not None and not known.is_emphatic:
        within = known.within if within is None else within
        if known.within is not within or not all(map(_is_fragment, known.lines)) or not _is_list(known.lines):
            break
        found.append(known.lines)
    return found


def _is_fragment(line: str) -> bool:
    return len(line) <= MAX_FRAGMENT and not line.endswith((".", "!", "?", "…", "。", ":", ",")) and CELL_SEPARATOR not in line


def _is_list(lines: Sequence[str]) -> bool:
    """Whether the ends of lines are those of items, not of a column: no longer one goes on in the next."""
    goes_on = (len(line) > MAX_COLUMN and following[0].islower() for line, following in pairwise(lines))
    return bool(lines) and all(map(_is_fragment, lines)) and not any(goes_on)


def _is_list_of_fragments(text: str) -> bool:
    items = [item["text"] for line in text.split("\n") if (item := ITEM.fullmatch(line))]
    sentences = sum(item.endswith((".", "!", "?")) for item in items)
    words = sorted(len(item.split()) for item in items)
    return bool(ITEM.match(text)) and words[len(words) // 2] <= FRAGMENT_WORDS and 2 * sentences < len(items)


def may_lead(text: str) -> bool:
    """Whether a paragraph above a list introduces it: it ends no sentence."""
    return "\n" not in text and not text.rstrip().endswith((".", "!", "?"))


def _first_number(element: Any) -> int:
    start = element.get("start") or "1"
    return int(start) if start.isascii() and start.isdigit() and len(start) < 3 else 1


def _anchor(element: Any) -> str | None:
    """The id by which a link opens the page at a heading: its own, that of an anchor in it, or that of its section."""
    inside = [value for child in element.iter() for value in (child.get("id"), child.get("name")) if value]
    parent = element.getparent()
    is_first = parent is not None and parent.tag in ("section", "div", "a", "details") and element.getprevious() is None
    return next(iter(inside), None) or (parent.get("id") if is_first else None)


def lines_as_text(lines: list[str]) -> str:
    """Lines as one block: joined to a paragraph, or as a list where some begin with a bullet or a number."""
    if not any(ITEM.fullmatch(line) for line in lines):
        return " ".join(line.strip() for line in lines)
    entries: list[str] = []
    for line in lines:
        item = ITEM.fullmatch(line)
        if item:
            step = re.match(r"\(?\d+[.)] ", line.strip())
            entries.append(f"{item['indent']}{step[0] if step else ITEM_MARK}{item['text']}")
        elif entries and ITEM.fullmatch(entries[-1]):  # an item that wraps
            entries[-1] += f" {line.strip()}"
        else:
            entries = [f"{entries[0]} {line.strip()}"] if entries else [line.strip()]
    return "\n".join(entries)
