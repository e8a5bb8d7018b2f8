"""What readers of PDFs keep of real documents: the gold of `real_documents.toml`, and how sections are compared with it.

Words are compared without case, marks and ligatures; a heading also without its spaces, which PDFs often lack.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path

from audit.text.statements import statements

GOLD = Path(__file__).with_name("real_documents.toml")
Sections = list[tuple[str, str]]
Words = tuple[str, ...]
SAME_HEADING = 0.9
"""Similarity from which two headings are the same one: one sign lost in ten is a spelling, not another heading."""
# Letters that Word's bullets become
BULLET_LETTERS = {"o", "l", "n", "q", "v", "§"}


@dataclass(frozen=True)
class RealDocument:
    """The gold of one PDF. Pages count from 1; `pages` are the first and last that are read.

    headings  page -> its headings, top to bottom
    optional  lines that may be taken as headings or not: labels of boxes and figures, leads in bold, repeated titles
    order     page -> first words of some of its paragraphs, in reading order
    rows      cells of a table's row, the first being its label
    leads     (lead, first words of an item that means nothing or the opposite without it)
    contents  pages with the table of contents: their words may be left out or kept
    held_out  it was not looked at while the extraction was written; its figures are pooled on a line of their own
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
    contents: list[int] = field(default_factory=list)
    held_out: bool = False


def real_documents() -> list[RealDocument]:
    return [RealDocument(**entry) for entry in tomllib.loads(GOLD.read_text("utf-8"))["documents"]]


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


# -- reading order, rows and leads -------------------------------------------------------------------------------------


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
        position = _find(cell, line, position)
        if position < 0:
            return False
        position += len(cell)
    own = words(" ".join(row))
    return not any(_find(label, line) >= 0 for label in labels if _find(label, own) < 0)


def _find(part: Words, whole: Words, start: int = 0) -> int:
    last = len(whole) - len(part)
    return next((at for at in range(start, last + 1) if whole[at : at + len(part)] == part), -1)


def lost_leads(document: RealDocument, sections: Sections) -> list[list[str]]:
    """The items whose lead is not the nearest one said with them: by a statement's leads, a column's head or the heading."""
    leads = {words(lead) for lead, _ in document.leads}
    quotes = [(words(heading), *quote) for heading, body in sections for quote in _quotes(body)]
    return [pair for pair in document.leads if not any(_led(pair, quote, leads) for quote in quotes)]


def _led(pair: list[str], quote: tuple[Words, Words, Words], leads: set[Words]) -> bool:
    lead, item = map(words, pair)
    heading, before, text = quote
    at = _find(item, text)
    if at < 0:
        return False
    spoken = (*before, *text[:at])
    nearest = max(leads, key=lambda other: (_last(other, spoken), len(other)))
    if _last(nearest, spoken) < 0:
        return _find(lead, heading) >= 0
    # "DO: DON'T:" over the items of both says of none which it is
    before_nearest = spoken[: _last(nearest, spoken) - len(nearest)]
    ambiguous = any(_last(other, before_nearest) == len(before_nearest) for other in leads)
    return nearest == lead and not ambiguous


def _last(part: Words, whole: Words) -> int:
    """Where the last occurrence ends: of "if you do vomit" and "do" the first is nearer to what follows."""
    return max((at + len(part) for at in range(len(whole)) if whole[at : at + len(part)] == part), default=-1)


def _quotes(body: str) -> Iterator[tuple[Words, Words]]:
    """What is said before each statement, and the statement; of a Markdown table's cell, the head of its column."""
    # Markdown leaves a line empty between a lead and its list
    joined = re.sub(r"\n\s*\n(?=\s*(?:[-*•+]|\d+\.)\s)", "\n", body)
    for statement in statements(joined):
        yield words(" ".join(statement.leads)), words(statement.text)
    head: list[str] = []
    for line in body.splitlines():
        cells = line.strip().strip("|").split("|") if line.lstrip().startswith("|") else []
        yield from ((words(name), words(cell)) for name, cell in zip(head, cells, strict=False))
        head = head or cells if cells else []


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


def page_words(pdf: Path, contents: list[int]) -> PageWords:
    """Read by pdfplumber, upright letters alone, which knows nothing of paragraphs and headings."""
    import pdfplumber

    with pdfplumber.open(pdf) as opened:
        pages = [page.filter(lambda item: item.get("upright", True)) for page in opened.pages]
        lines = [[(line["text"], line["top"] / page.height) for line in _lines(page)] for page in pages]
    repeated = Counter(_shape(text) for page in lines for text in {text for text, top in page if not 0.1 < top < 0.9})
    kept = [
        [text for text, top in page if 0.1 < top < 0.9 or repeated[_shape(text)] < max(2, min(3, len(lines)))] for page in lines
    ]
    bags = [word_bag([_without_hyphens(page)]) for page in kept]
    parts = [
        sum((bag for number, bag in enumerate(bags, 1) if (number in contents) is wanted), Counter()) for wanted in (False, True)
    ]
    return PageWords(parts[0], parts[1])


def _lines(page: object) -> list[dict[str, object]]:
    return page.extract_text_lines(x_tolerance_ratio=0.14, return_chars=False)  # type: ignore[attr-defined]


def _shape(line: str) -> str:
    return re.sub(r"\d+", "#", line)


def _without_hyphens(lines: list[str]) -> str:
    return re.sub(r"(?<=[a-zà-ÿ])[-\u00ad\ufffe]\n(?=[a-zà-ÿ])", "", "\n".join(lines))
