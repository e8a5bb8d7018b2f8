"""A web page as blocks: headings, paragraphs, lists and tables, without navigation, scripts and what pages repeat.

Markdown and DOCX come here too, as the HTML that their libraries make of them. Read by lxml (BSD-3-Clause). Pages come from
strangers: nothing is fetched, no entity outside the page is read, and size and depth are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from audit.errors import DocumentError
from audit.optional_imports import optional
from audit.pipeline.corpus.extraction.characters import plain_text
from audit.text.documents import Loss
from audit.text.statements import CELL_SEPARATOR, INDENT, ITEM, ITEM_MARK

PURPOSE = "Reading a web page"
MAX_DEPTH, MAX_ELEMENTS = 1_000, 500_000
HEADINGS = {f"h{level}": level for level in range(1, 7)} | {"summary": 6}
LISTS, ITEMS = {"ul", "ol", "dl", "menu"}, {"li", "dd"}
# What stands in the middle of a sentence; every other element ends a paragraph
INLINE = {
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd", "mark", "q",
    "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
}  # fmt: skip
DROPPED = {
    "script", "style", "noscript", "template", "svg", "iframe", "object", "form", "nav", "dialog", "select", "video", "audio",
    "canvas",
}  # fmt: skip
DROPPED_ROLES = {"navigation", "banner", "contentinfo", "search", "dialog", "alertdialog"}
# Around the page's own text these are its frame; within it they may hold the title, or an important note
FRAME = {"header", "footer", "aside"}
OWN_TEXT = {"main", "article"}
NOT_CONTENT = re.compile(r"\b(cookie|consent|breadcrumbs?|skip-?(link|to)|social-?(share|links|media))", re.IGNORECASE)
# A main element with less of the page's text is an empty shell
MIN_MAIN = 0.25
MAX_BOLD_HEADING = 100
# Numbers of steps have at most two digits (audit.text.statements)
MAX_STEP = 99


class WebBlock(NamedTuple):
    """A heading with its level (1 is outermost) and its id in the page, or a paragraph, list or table as one text."""

    kind: Literal["heading", "text"]
    text: str
    level: int = 0
    anchor: str | None = None


class WebPage(NamedTuple):
    """The blocks of a page in reading order, its title, the address that it gives itself, and what was left out."""

    blocks: tuple[WebBlock, ...]
    title: str | None = None
    url: str | None = None
    lost: tuple[Loss, ...] = ()


def read_html(markup: str) -> WebPage:
    """The content of a web page. Raises DocumentError, with the reason as a clause, where it goes beyond the bounds."""
    library = optional("lxml.etree", PURPOSE, "pipeline")
    parser = library.HTMLParser(encoding="utf-8", huge_tree=True, no_network=True, remove_comments=False)
    root = library.fromstring(markup.encode("utf-8", errors="replace"), parser)
    if root is None:
        return WebPage(())
    _check_bounds(library, root)
    title, url = _title(root), _own_url(root, markup)
    content = _content(library, root)
    return WebPage(tuple(_Walk(library).blocks_of(content)), title, url)


def _check_bounds(library: Any, root: Any) -> None:
    depth = count = 0
    for event, _ in library.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        count += event == "start"
        if depth > MAX_DEPTH:
            raise DocumentError(f"its elements are nested more than {MAX_DEPTH:,} levels deep")
        if count > MAX_ELEMENTS:
            raise DocumentError(f"it has more than {MAX_ELEMENTS:,} elements")


def _title(root: Any) -> str | None:
    title = root.xpath("string(//title)")
    return plain_text(title) or None


def _own_url(root: Any, markup: str) -> str | None:
    # The last form is what browsers write into a page that they save
    saved = re.search(r"<!-- saved from url=\(\d+\)(\S+) -->", markup[:4_000])
    addresses = [*root.xpath("//link[@rel='canonical']/@href"), *root.xpath("//meta[@property='og:url']/@content")]
    addresses += [saved[1]] if saved else []
    return next((str(address) for address in addresses if address.startswith(("https://", "http://"))), None)


def _content(library: object, root: Any) -> object:
    """The element with the page's own text, in which nothing is left that every page of the site has."""
    for element in [element for element in root.iter() if _is_dropped(element)]:
        _remove(element)
    body = root.find("body") if root.find("body") is not None else root
    own = [*body.iter("main"), *body.xpath(".//*[@role='main']")] or list(body.iter("article"))
    if len(own) == 1 and _letters(own[0]) >= MIN_MAIN * _letters(body):
        body = own[0]
    if not any(element.tag in HEADINGS for element in body.iter()):
        _promote_bold_paragraphs(body)
    return body


def _is_dropped(element: Any) -> bool:
    if not isinstance(element.tag, str):
        return True  # a comment
    if element.tag in DROPPED or element.get("role") in DROPPED_ROLES:
        return True
    if element.tag == "button":  # the headings of sections that fold are buttons
        return next(element.iterancestors(*HEADINGS), None) is None
    if element.tag in FRAME:
        return next(element.iterancestors(*OWN_TEXT), None) is None
    names = f"{element.get('id') or ''} {element.get('class') or ''}"
    return element.tag in ("div", "section", "ul", "ol", "p", "a") and NOT_CONTENT.search(names) is not None


def _remove(element: Any) -> None:
    parent, tail = element.getparent(), element.tail
    if parent is None:
        return
    if tail:
        before = element.getprevious()
        if before is not None:
            before.tail = (before.tail or "") + tail
        else:
            parent.text = (parent.text or "") + tail
    parent.remove(element)


def _letters(element: Any) -> int:
    return sum(len(text.strip()) for text in element.itertext())


def _promote_bold_paragraphs(body: Any) -> None:
    """Short bold paragraphs are the headings of a text without any; DOCX files of people who use no styles have them."""
    for paragraph in body.iter("p"):
        text = plain_text("".join(paragraph.itertext()))
        bold = plain_text("".join("".join(element.itertext()) for element in paragraph.iterchildren("strong", "b")))
        if text and text == bold and len(text) <= MAX_BOLD_HEADING and not text.endswith((".", ":", ";", ",")):
            paragraph.tag = "h4"


class _Walk:
    """Puts text together while the elements go by: without recursion, because pages may be nested deeply."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self.words: list[str] = []
        # The list that is open: its lines, the number of the last item of each list around (None: bullets), and whether the last
        # item can be continued
        self.lines: list[str] = []
        self.numbers: list[int | None] = []
        self.in_item = False
        self.finished: list[WebBlock] = []

    def blocks_of(self, content: Any) -> Iterator[WebBlock]:
        """The blocks of an element."""
        walker = self.library.iterwalk(content, events=("start", "end"))
        for event, element in walker:
            if event == "start":
                self._start(walker, element)
            else:
                self._end(element)
                if element is not content and element.tail:
                    self.words.append(element.tail)
        self._close_list()
        yield from self.finished

    def _start(self, walker: Any, element: Any) -> None:
        tag = element.tag
        if tag == "table" and not is_layout_table(element):
            self._close_list()
            self.finished += [WebBlock("text", text) for text in table_blocks(element)]
            walker.skip_subtree()
            return
        if tag == "br":
            self.words.append("\n")
        elif tag in HEADINGS:
            self._close_list()
        elif tag not in INLINE:
            self._flush()
        if tag in LISTS:
            self.numbers.append(_first_number(element) - 1 if tag == "ol" else None)
        elif tag in ITEMS:
            self._start_item()
        if element.text and tag != "table":
            # Line breaks of the file are spaces; only <br> breaks a line
            self.words.append(element.text if tag == "pre" else element.text.replace("\n", " "))

    def _end(self, element: Any) -> None:
        tag = element.tag
        if tag in HEADINGS:
            self._heading(element)
        elif tag == "dt":
            self._term()
        elif tag not in INLINE and tag != "br":
            self._flush()
        if tag in ITEMS:
            self.in_item = False
        if tag in LISTS:
            self.numbers.pop()
            if not self.numbers:
                self._close_list()
        element.tail = (element.tail or "").replace("\n", " ")

    def _heading(self, element: Any) -> None:
        text = plain_text("".join(self.words))
        self.words = []
        if text:
            self.finished.append(WebBlock("heading", text, HEADINGS[element.tag], _anchor(element)))

    def _term(self) -> None:
        text = plain_text("".join(self.words))
        self.words = []
        if text:
            self.lines.append(f"{text.rstrip(':')}:")

    def _flush(self) -> None:
        """End the paragraph or item."""
        lines = [line for line in map(plain_text, "".join(self.words).split("\n")) if line]
        self.words = []
        if not lines:
            return
        if not self.numbers:
            self.finished.append(WebBlock("text", lines_as_text(lines)))
        elif self.in_item and self.lines:  # a second paragraph of the same item
            self.lines[-1] += " " + " ".join(lines)
        else:
            number = self.numbers[-1]
            mark = f"{number}. " if number and number <= MAX_STEP else ITEM_MARK
            self.lines.append(f"{' ' * (INDENT * (len(self.numbers) - 1))}{mark}{' '.join(lines)}")
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
        # "Never smoke:" belongs to the list below it
        before = self.finished[-1] if self.finished else None
        if before is not None and before.kind == "text" and before.text.endswith(":") and "\n" not in before.text:
            self.finished[-1] = before._replace(text=f"{before.text}\n{text}")
        else:
            self.finished.append(WebBlock("text", text))


def _first_number(element: Any) -> int:
    start = element.get("start") or "1"
    return int(start) if start.isascii() and start.isdigit() and len(start) < 3 else 1


def _anchor(element: Any) -> str | None:
    """The id by which a link opens the page at a heading: its own, that of an anchor in it, or that of its section."""
    inside = [value for child in element.iter() for value in (child.get("id"), child.get("name")) if value]
    parent = element.getparent()
    is_first = parent is not None and parent.tag in ("section", "div", "a") and element.getprevious() is None
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


# -- tables --------------------------------------------------------------------------------------------------
# Each row of a table with the heads of its columns, so that it can be read alone.

MAX_CELLS = 100_000
# A table may say that a cell spans a million columns
MAX_SPAN = 100
# Longer cells in the first row are text, not the heads of columns
MAX_HEAD = 60
# Typed before the text of a cell
BULLET = re.compile(r"^[•◦▪●○‣■□*–-]\s+")
Row = list[Any]


def is_layout_table(table: Any) -> bool:
    """Whether a table only places things on the page."""
    if table.get("role") in ("presentation", "none") or next(table.iterdescendants("table"), None) is not None:
        return True
    return max((len(_cells(row)) for row in table.iter("tr")), default=0) < 2


def table_blocks(table: Any) -> Iterator[str]:
    """The table's title, its rows as one block, and the lists in its cells, each led by the head of its column."""
    caption = table.find("caption")
    if caption is not None and (title := plain_text("".join(caption.itertext()))):
        yield title
    rows = _grid(table)
    heads, body = _heads_and_body(rows)
    lines: list[str] = []
    label = ""
    for row in body:
        if any(next(cell.iter("li"), None) is not None for cell in row):
            yield from _cell_lists(heads, row)
        elif all(cell is row[0] for cell in row):  # one cell over all columns names the rows below it
            lines += [text] if (text := _text(row[0])) else []
            label = ""
        elif line := _row_text(heads, [label := _text(row[0]) or label, *map(_text, row[1:])]):
            # A line of one cell would be read as the name of the rows below it
            if CELL_SEPARATOR in line:
                lines.append(line)
            else:
                yield from ["\n".join(lines), line] if lines else [line]
                lines = []
    if lines:
        yield "\n".join(lines)


def _cells(row: Any) -> list[object]:
    return [cell for cell in row if cell.tag in ("td", "th")]


def _grid(table: Any) -> list[Row]:
    """The rows with as many cells as columns: a cell that spans several is repeated. Raises DocumentError beyond `MAX_CELLS`."""
    grid: list[Row] = []
    # Column -> (rows left, cell) of the cells that reach down into later rows
    reaching: dict[int, tuple[int, Any]] = {}
    total = 0
    for source in table.iter("tr"):
        row: Row = []
        for cell in [*_cells(source), None]:
            while len(row) in reaching:
                left, above = reaching.pop(len(row))
                if left > 1:
                    reaching[len(row)] = (left - 1, above)
                row.append(above)
            for _ in range(_span(cell, "colspan") if cell is not None else 0):
                if (down := _span(cell, "rowspan")) > 1:
                    reaching[len(row)] = (down - 1, cell)
                row.append(cell)
        total += len(row)
        if total > MAX_CELLS:
            raise DocumentError(f"a table in it has more than {MAX_CELLS:,} cells")
        grid.append(row)
    return [row for row in grid if row]


def _span(cell: Any, name: str) -> int:
    value = cell.get(name) or "1"
    return min(int(value), MAX_SPAN) or 1 if value.isascii() and value.isdigit() else 1


def _text(cell: Any) -> str:
    # A space between the paragraphs of a cell; "m<sup>2</sup>" stays together
    has_blocks = next(cell.iterdescendants("p", "div", "br", "li"), None) is not None
    text = plain_text((" " if has_blocks else "").join(cell.itertext()))
    return BULLET.sub("", text)


def _heads_and_body(rows: list[Row]) -> tuple[list[str], list[Row]]:
    if not rows:
        return [], []
    first = list(map(_text, rows[0]))
    marked = all(cell.tag == "th" or cell.getparent().getparent().tag == "thead" for cell in rows[0])
    plain = (
        len(rows) > 2 and len(set(first)) == len(first) and not any(character.isdigit() for text in first for character in text)
    )
    if marked or (plain and all(0 < len(text) <= MAX_HEAD for text in first[1:])):
        return first, rows[1:]
    return [], rows


def _row_text(heads: list[str], cells: list[str]) -> str:
    parts = cells[:1]
    for column, cell in enumerate(cells[1:], start=1):
        if not cell or (cell == cells[column - 1] and (column >= len(heads) or heads[column] == heads[column - 1])):
            continue  # empty, or the same cell over several columns
        head = heads[column] if column < len(heads) else ""
        parts.append(f"{head.rstrip(':')}: {cell}" if head else cell)
    return CELL_SEPARATOR.join(filter(None, parts))


def _cell_lists(heads: list[str], row: Row) -> Iterator[str]:
    for column, cell in enumerate(row):
        items = [plain_text("".join(item.itertext())) for item in cell.iter("li")]
        head = heads[column].rstrip(":") if column < len(heads) else ""
        if items:
            yield "\n".join([*([f"{head}:"] if head else []), *(f"{ITEM_MARK}{item}" for item in items if item)])
        elif text := _text(cell):
            yield f"{head}: {text}" if head else text
