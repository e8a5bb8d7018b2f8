"""What readers keep of real documents: the gold of `real_documents/`, and how headings, order, rows and words compare with it.

Words are compared without case, marks and ligatures; a heading also without its spaces, which PDFs often lack.
"""

from __future__ import annotations

import math
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

GOLD = Path(__file__).with_name("real_documents")
Sections = list[tuple[str, str]]
Words = tuple[str, ...]
SAME_HEADING = 0.9
"""Similarity from which two headings are the same one: one sign lost in ten is a spelling, not another heading."""
# Letters that Word's bullets become
BULLET_LETTERS = {"o", "l", "n", "q", "v", "§"}


@dataclass(frozen=True)
class RealDocument:
    """The gold of one PDF or web page. Pages count from 1; `pages` are the first and last that are read.

    headings  page -> its headings, top to bottom
    optional  lines that may be taken as headings or not: labels of boxes and figures, leads in bold, repeated titles
    order     page -> first words of some of its paragraphs, in reading order
    rows      cells of a table's row, the first being its label
    leads     (lead, first words of an item that means little without it)
    warnings  (page, lead, first words of an item): leads of negation or warning, whose loss turns the item around
    cells     (page, label of the row, head of the column, first words of a cell); label or head is "" where there is none
    contents  pages with the table of contents: their words may be left out or kept
    within    first and last words of a web page's text between its menus; () for PDFs
    sealed    drawn and noted before anything here read it; its figures are pooled on a line of their own
    opened    worked on since it was drawn
    fresh     sealed, drawn on 28 November from other repositories
    """

    file: str
    title: str
    repository: str
    path: str
    sha256: str
    licence: str
    language: str
    layout: str
    pages: tuple[int, int]
    headings: dict[str, list[str]]
    optional: list[str] = field(default_factory=list)
    order: dict[str, list[str]] = field(default_factory=dict)
    rows: list[list[str]] = field(default_factory=list)
    leads: list[list[str]] = field(default_factory=list)
    warnings: list[tuple[int, str, str]] = field(default_factory=list)
    cells: list[tuple[int, str, str, str]] = field(default_factory=list)
    contents: list[int] = field(default_factory=list)
    within: tuple[str, str] | tuple[()] = ()
    sealed: bool = False
    opened: bool = False
    fresh: bool = False

    @property
    def name(self) -> str:
        return Path(self.file).stem

    @property
    def group(self) -> str:
        """What its figures are pooled with."""
        if self.fresh:
            half = "once fresh" if self.opened else "fresh"
        else:
            half = "opened" if self.opened else "sealed" if self.sealed else "known"
        return f"{half} {'web pages' if self.within else 'PDFs'}"


def real_documents() -> list[RealDocument]:
    return [
        RealDocument(**entry)
        for file in sorted(GOLD.glob("*.toml"))
        for entry in tomllib.loads(file.read_text("utf-8"))["documents"]
    ]


def words(text: str) -> Words:
    """The words of a text, or of Markdown with its HTML tags."""
    plain = unicodedata.normalize("NFKC", re.sub(r"</?\w+>", " ", text)).replace("\u00ad", "")
    return tuple(re.findall(r"[^\W_]+", plain.casefold()))


def key(text: str) -> str:
    return "".join(words(text))


# -- headings ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HeadingScore:
    """`missed` are (page, heading); `extracted` counts all headings of the reader, of which `false` are none."""

    expected: int
    extracted: int
    missed: tuple[tuple[str, str], ...]
    false: tuple[str, ...]


def score_headings(document: RealDocument, sections: Sections) -> HeadingScore:
    left = [heading for heading, _ in sections if key(heading)]
    extracted = len(left)
    missed = []
    for page, heading in ((page, heading) for page, headings in document.headings.items() for heading in headings):
        found = next((other for other in left if _same(heading, other)), None)
        if found is None:
            missed.append((page, heading))
        else:
            left.remove(found)
    false = tuple(heading for heading in left if not any(_same(heading, other) for other in document.optional))
    expected = sum(map(len, document.headings.values()))
    return HeadingScore(expected, extracted, tuple(missed), false)


def _same(heading: str, other: str) -> bool:
    first, second = key(heading), key(other)
    return first == second or SequenceMatcher(None, first, second, autojunk=False).ratio() >= SAME_HEADING


# -- reading order and rows --------------------------------------------------------------------------------------------


def order_pairs(document: RealDocument, sections: Sections) -> list[tuple[str, str, str, bool]]:
    """(page, first words of a paragraph, of the next one, whether the text has them in this order)."""
    text = key(" ".join(f"{heading} {body}" for heading, body in sections))
    pairs = ((page, *pair) for page, starts in document.order.items() for pair in pairwise(starts))
    return [(page, first, second, -1 < text.find(key(first)) < text.find(key(second))) for page, first, second in pairs]


def torn_rows(document: RealDocument, sections: Sections) -> list[list[str]]:
    """The rows of which no line has the label and then the cells in order, without the label of another row."""
    lines = [words(line) for _, body in sections for line in body.replace("<br>", " ").splitlines()]
    labels = [words(row[0]) for row in document.rows if len(words(row[0])) > 1]
    return [row for row in document.rows if not any(_holds_row(row, line, labels) for line in lines)]


def _holds_row(row: list[str], line: Words, labels: list[Words]) -> bool:
    position = 0
    for cell in map(words, row):
        position = find(cell, line, position)
        if position < 0:
            return False
        position += len(cell)
    own = words(" ".join(row))
    return not any(find(label, line) >= 0 for label in labels if find(label, own) < 0)


def find(part: Words, whole: Words, start: int = 0) -> int:
    last = len(whole) - len(part)
    return next((at for at in range(start, last + 1) if whole[at : at + len(part)] == part), -1)


# -- lost and added words ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PageWords:
    """The words of a PDF's pages as another library reads them, without what the pages repeat at top and bottom.

    optional  words of the pages of contents
    """

    body: Counter[str]
    optional: Counter[str]

    def compare(self, sections: Sections) -> tuple[int, int, int]:
        """Words of the pages that the sections lack; words that they have in excess; all their words."""
        extracted = word_bag(f"{heading} {_heads_once(body)}" for heading, body in sections)
        lost, added = self.body - extracted, extracted - self.body - self.optional
        return lost.total(), added.total(), extracted.total()


def _heads_once(body: str) -> str:
    """The text with the head of each column in its first cell alone: every cell repeats it, so that a row can be read alone."""
    heads: set[str] = set()

    def once(match: re.Match[str]) -> str:
        seen = match[2] in heads
        heads.add(match[2])
        return match[1] if seen else match[0]

    lines = (re.sub(r"(^| \| )([^|:]{1,80}): ", once, line) if " | " in line else line for line in body.splitlines())
    return "\n".join(lines)


def word_bag(texts: Iterable[str]) -> Counter[str]:
    return Counter(word for text in texts for word in words(text) if word not in BULLET_LETTERS)


def source_words(source: Path, document: RealDocument) -> PageWords:
    """The words of a PDF's pages, or of a web page between its menus."""
    return web_words(source, *document.within) if document.within else page_words(source, document.contents)


def page_words(pdf: Path, contents: list[int]) -> PageWords:
    """Read by pdfplumber, upright letters alone, which knows nothing of paragraphs and headings."""
    import pdfplumber

    with pdfplumber.open(pdf) as opened:
        # Pages of one sheet may each carry the text of the page beside them, outside of what is shown
        shown = [page.within_bbox(page.cropbox, strict=False) for page in opened.pages]
        pages = [page.filter(lambda item: item.get("upright", True)) for page in shown]
        lines = [
            [(line["text"], line["top"] / page.height) for each in _by_slant(page) for line in _lines(each)] for page in pages
        ]
    repeated = Counter(_shape(text) for page in lines for text in {text for text, top in page if not 0.1 < top < 0.9})
    kept = [
        [text for text, top in page if 0.1 < top < 0.9 or repeated[_shape(text)] < max(2, min(3, len(lines)))] for page in lines
    ]
    bags = [word_bag([_without_hyphens(page)]) for page in kept]
    parts = [
        sum((bag for number, bag in enumerate(bags, 1) if (number in contents) is wanted), Counter()) for wanted in (False, True)
    ]
    return PageWords(parts[0], parts[1])


def _by_slant(page: Any) -> Iterator[Any]:
    """The page's text that is level, and that of each slant made level, of which no other library reads the lines."""
    slants = {_slant(char) for char in page.chars} or {0.0}
    for slant in sorted(slants, key=abs):
        part = page.filter(lambda item, slant=slant: item["object_type"] == "char" and _slant(item) == slant)
        for char in part.chars if slant else ():
            a, b, _, _, right, up = char["matrix"]
            size = math.hypot(a, b)
            x0, bottom = (right * a + up * b) / size, page.height - (up * a - right * b) / size
            char |= {"x0": x0, "x1": x0 + char["adv"] * size, "bottom": bottom, "top": bottom - size, "doctop": bottom - size}
        yield part


def _slant(char: dict[str, Any]) -> float:
    a, b, *_ = char.get("matrix", (1.0, 0.0))
    return round(math.degrees(math.atan2(b, a)), 1)


def _lines(page: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.extract_text_lines(x_tolerance_ratio=0.14, return_chars=False)
    return found


def _shape(line: str) -> str:
    return re.sub(r"\d+", "#", line)


def _without_hyphens(lines: list[str]) -> str:
    return re.sub(r"(?<=[a-zà-ÿ])[-\u00ad\ufffe]\n(?=[a-zà-ÿ])", "", "\n".join(lines))


def web_words(page: Path, first: str, last: str) -> PageWords:
    """The words that a browser shows from `first` to `last`, as Python's own parser reads them. ValueError without them."""
    shown = _Shown()
    shown.feed(page.read_text("utf-8", errors="replace"))
    text = words("".join(shown.texts))
    start = find(words(first), text)
    end = find(words(last), text, max(start, 0))
    if min(start, end) < 0:
        raise ValueError(f"{page.name} has no {first!r} or no {last!r} after it")
    return PageWords(word_bag([" ".join(text[start : end + len(words(last))])]), Counter())


class _Shown(HTMLParser):
    """Collects the text of a page without scripts and styles; tags within a line part no words."""

    HIDDEN = frozenset({"script", "style", "noscript", "template", "title", "svg"})
    IN_LINE = frozenset({"a", "abbr", "b", "code", "em", "font", "i", "mark", "q", "small", "span", "strong", "sub", "sup", "u"})

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hidden += tag in self.HIDDEN
        self.texts.append("" if tag in self.IN_LINE else "\n")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in self.HIDDEN and self.hidden > 0
        self.texts.append("" if tag in self.IN_LINE else "\n")

    def handle_data(self, data: str) -> None:
        self.texts.append("" if self.hidden else data)
