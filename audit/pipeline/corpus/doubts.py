"""Where a document may say something else than its source: what its layout left in doubt, and what its text alone shows.

The text shows lists that nothing introduces, tables that may be lists beside each other, and sections of many pages, so documents
of earlier versions and of other programs are checked too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from audit.text.documents import COLUMNS, DOUBTS, LEADLESS, LONG, MAX_SECTION_LETTERS, Document, Doubt, Section
from audit.text.statements import BLOCK_GAP, CELL_SEPARATOR, ITEM

# Items of at most this many words in the median, most of them no sentences, mean little without what introduces them
FRAGMENT_WORDS = 6
MIN_ITEMS = 2
# Rows, and words of a cell, of a table that may be lists beside each other
MIN_ROWS, CELL_WORDS = 3, 6
SENTENCE_ENDS = (".", "!", "?", ":")
MAX_QUOTE = 120


def doubts_of(document: Document) -> tuple[Doubt, ...]:
    """All doubts about a document, page by page; those without a page last."""
    found = [*document.doubts, *(doubt for section in document.sections for doubt in _of_section(section))]
    return tuple(sorted(found, key=lambda doubt: (doubt.pages[:1] or (1_000_000,), list(DOUBTS).index(doubt.kind))))


def _of_section(section: Section) -> Iterator[Doubt]:
    letters = sum(map(str.isalnum, section.text))
    if letters > MAX_SECTION_LETTERS:
        name = section.title or section.text
        yield Doubt(LONG, f"{first_words(name)} ({letters:,} letters)", tuple(dict.fromkeys(section.pages)))
    start = 0
    for gap in [*BLOCK_GAP.finditer(section.text), None]:
        end = gap.start() if gap else len(section.text)
        lines = [line for line in section.text[start:end].split("\n") if line.strip()]
        # A list right below a heading has the heading
        if lines and (start or not section.heading) and _is_leadless(lines):
            yield Doubt(LEADLESS, first_words(lines[0]), _pages(section, start))
        elif _may_be_columns(lines):
            yield Doubt(COLUMNS, first_words(lines[0]), _pages(section, start))
        start = gap.end() if gap else end


def _is_leadless(lines: Sequence[str]) -> bool:
    """Whether a block is a list of fragments that begins with an item."""
    if not ITEM.fullmatch(lines[0]):
        return False
    items = [item["text"] for line in lines if (item := ITEM.fullmatch(line))]
    words = sorted(len(item.split()) for item in items)
    sentences = sum(item.endswith((".", "!", "?")) for item in items)
    return len(items) >= MIN_ITEMS and words[len(words) // 2] <= FRAGMENT_WORDS and 2 * sentences < len(items)


def _may_be_columns(lines: Sequence[str]) -> bool:
    """Whether all cells of a table are short, are words and have no head; below the last row of one column the other goes on."""
    rows = [line.split(CELL_SEPARATOR) for line in lines]
    several = sum(len(row) > 1 for row in rows)
    if several < MIN_ROWS or len(rows[0]) < 2 or 2 * several < len(rows):
        return False
    return all(_is_entry(cell) for row in rows for cell in row)


def _is_entry(cell: str) -> bool:
    words = cell.split()
    worded = 2 * sum(map(str.isalpha, cell)) > len(cell.replace(" ", ""))
    return 0 < len(words) <= CELL_WORDS and worded and ": " not in cell and not cell.rstrip().endswith(SENTENCE_ENDS)


def _pages(section: Section, position: int) -> tuple[int, ...]:
    page = section.page_at(position)
    return () if page is None else (page,)


def first_words(text: str) -> str:
    """The first words of a text, for a quote."""
    words = " ".join(text.split())
    return words if len(words) <= MAX_QUOTE else f"{words[: MAX_QUOTE - 1].rstrip()}…"
