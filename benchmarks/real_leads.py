"""Whether a reader keeps what gives an item or a cell its meaning: the lead of a list, the row and the column of a table.

An item is said with its lead where the lead is the nearest one before it: in its own statement, in the lines that introduce it,
in the head of its column, or else in its heading and those above. A cell is right where it stands in the row of its label, below
the head of its column, with no other cell; a list below the label and the head says the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from audit.text.statements import statements
from benchmarks.real_measures import RealDocument, Sections, Words, find, words

KEPT, MISSING = "kept", "missing"
# Behind each lead of a statement: of two that are said together none is known to be the item's, of two in each other the inner
WITHIN = ":"


class Quote(NamedTuple):
    """A statement or cell. `title`: its heading with those above; `before`: what introduces it."""

    title: Words
    before: Words
    text: Words


class Row(NamedTuple):
    """A row of a table: its cells with the heads of their columns; the first is its label."""

    title: Words
    cells: list[tuple[Words, Words]]


def quotes_of(sections: Sections) -> list[Quote]:
    """All quotes; each heading also has an empty one, so that text below which nothing stands is found."""
    return [Quote(title_of(heading), *quote) for heading, body in sections for quote in ((words(""), words("")), *_quotes(body))]


def title_of(heading: str) -> Words:
    """The words of a heading after those of the headings above it."""
    return words(" ".join((*getattr(heading, "above", ()), heading)))


def _quotes(body: str) -> Iterator[tuple[Words, Words]]:
    """What is said before each statement, and the statement; of a Markdown table's cell, the head of its column."""
    # Markdown leaves a line empty between a lead and its list
    joined = re.sub(r"\n\s*\n(?=\s*(?:[-*•+]|\d+\.)\s)", "\n", body)
    for _, group in groupby(statements(joined), key=lambda each: (joined.count("\n", 0, each.start), each.kind, each.leads)):
        own = list(group)
        # Also an item as a whole: "Age. Your levels rise" is two sentences
        for texts in [[each.text] for each in own] + [[each.text for each in own]] * (len(own) > 1):
            yield tuple(word for lead in own[0].leads for word in (*words(lead), WITHIN)), words(" ".join(texts))
    for row in _markdown_rows(body):
        yield from row


# -- leads -------------------------------------------------------------------------------------------------------------


def lost_leads(document: RealDocument, sections: Sections) -> list[list[str]]:
    """The items whose lead is not the nearest one said with them."""
    fates = fates_of(document.leads, document, quotes_of(sections))
    return [pair for pair, fate in zip(document.leads, fates, strict=True) if fate != KEPT]


def warning_fates(document: RealDocument, sections: Sections) -> list[tuple[int, str, str, str]]:
    """Page, lead and item of each warning, and where it went: kept, missing, or lost and under what."""
    fates = fates_of([[lead, item] for _, lead, item in document.warnings], document, quotes_of(sections))
    return [(page, lead, item, fate) for (page, lead, item), fate in zip(document.warnings, fates, strict=True)]


def fates_of(pairs: list[list[str]], document: RealDocument, quotes: list[Quote]) -> list[str]:
    known = {words(lead) for lead, _ in document.leads} | {words(lead) for _, lead, _ in document.warnings}
    return [_fate(words(lead), words(item), quotes, known) for lead, item in pairs]


def _fate(lead: Words, item: Words, quotes: list[Quote], known: set[Words]) -> str:
    with_item = [quote for quote in quotes if find(item, quote.text) >= 0] or list(_inner_leads(item, quotes))
    if not with_item:
        return "lost: made a heading" if any(find(item, quote.title) >= 0 for quote in quotes) else MISSING
    found = [_nearest(quote, item, known) for quote in with_item]
    if lead in found:
        return KEPT
    first = with_item[0]
    under = [word for word in found[0] or first.before or first.title if word != WITHIN]
    return f"lost: under {' '.join(under) or 'nothing'}"


def _inner_leads(item: Words, quotes: list[Quote]) -> Iterator[Quote]:
    """The quotes of an item that is itself the lead of others, and is said only as that."""
    for quote in quotes:
        # Below a heading it is the first
        if (at := find(item, quote.before)) == 0 or (at > 0 and quote.before[at - 1] == WITHIN):
            yield Quote(quote.title, quote.before[:at], quote.before[at:])


def _nearest(quote: Quote, item: Words, known: set[Words]) -> Words:
    """The known lead nearest before an item; () where none is, or where two are said together: "DO: DON'T:"."""
    spoken = (*quote.before, *quote.text[: find(item, quote.text)])
    nearest = max(known, key=lambda lead: (_last(lead, spoken), len(lead)), default=())
    if _last(nearest, spoken) < 0:
        nearest = max(known, key=lambda lead: (_last(lead, quote.title), len(lead)), default=())
        return nearest if _last(nearest, quote.title) >= 0 else ()
    # "DO: DON'T:" over the items of both says of none which it is
    before = spoken[: _last(nearest, spoken) - len(nearest)]
    return () if any(_last(other, before) == len(before) for other in known) else nearest


def _last(part: Words, whole: Words) -> int:
    """Where the last occurrence ends: of "if you do vomit" and "do" the first is nearer to what follows."""
    return max((at + len(part) for at in range(len(whole)) if whole[at : at + len(part)] == part), default=-1)


# -- cells of tables ---------------------------------------------------------------------------------------------------


def wrong_cells(document: RealDocument, sections: Sections) -> list[list[str]]:
    """The cells that are not in the row of their label below the head of their column: label, head and cell."""
    gold = [(words(label), words(head), words(cell)) for _, label, head, cell in document.cells]
    rows, quotes = list(rows_of(sections)), quotes_of(sections)
    return [
        list(map(str, entry[1:]))
        for entry, cell in zip(document.cells, gold, strict=True)
        if not any(_in_row(cell, row, gold) for row in rows) and not any(_in_list(cell, quote, gold) for quote in quotes)
    ]


Cell = tuple[Words, Words, Words]


def _in_row(cell: Cell, row: Row, gold: list[Cell]) -> bool:
    label, head, text = cell
    if label and find(label, row.cells[0][1]) < 0 and _nearest_of(row.title, [other for other, *_ in gold]) != label:
        return False
    return any(
        find(text, part) >= 0 and (not head or find(head, own_head) >= 0) and not _others(cell, part, gold)
        for own_head, part in row.cells
    )


def _in_list(cell: Cell, quote: Quote, gold: list[Cell]) -> bool:
    label, head, text = cell
    at = find(text, quote.text)
    if at < 0 or _others(cell, quote.text, gold):
        return False
    spoken = (*quote.title, *quote.before, *quote.text[:at])
    heads, labels = [other for _, other, _ in gold], [other for other, *_ in gold]
    return (not head or _nearest_of(spoken, heads) == head) and (not label or _nearest_of(spoken, labels) == label)


def _others(cell: Cell, part: Words, gold: list[Cell]) -> bool:
    """Whether a part of a text has a cell of another row or column as well."""
    label, head, text = cell
    own = {other for row, column, other in gold if (row, column) == (label, head)} | {text}
    return any(find(other, part) >= 0 and other not in own and find(other, text) < 0 for *_, other in gold)


def _nearest_of(spoken: Words, names: Iterable[Words]) -> Words:
    nearest = max((name for name in names if name), key=lambda name: (_last(name, spoken), len(name)), default=())
    return nearest if _last(nearest, spoken) >= 0 else ()


def rows_of(sections: Sections) -> Iterator[Row]:
    """The rows of all tables: of Markdown, and of lines like "Banana | Portion: 1 medium"."""
    for heading, body in sections:
        title = title_of(heading)
        yield from (Row(title, row) for row in _markdown_rows(body))
        heads = set[str]()
        for line in body.splitlines():
            if " | " in line and not line.lstrip().startswith("|"):
                cells = line.split(" | ")
                yield Row(title, [_head_and_cell(cell, heads) for cell in cells])
                heads.update(cell.removesuffix(":") for cell in cells)


def _head_and_cell(cell: str, heads: Iterable[str]) -> tuple[Words, Words]:
    """The head of a column, which an earlier line may have with a colon within it, and what is below it."""
    head = max((head for head in heads if cell.startswith(f"{head}: ")), key=len, default=cell.partition(": ")[0])
    return (words(head), words(cell.removeprefix(head))) if ": " in cell else ((), words(cell))


def _markdown_rows(body: str) -> Iterator[list[tuple[Words, Words]]]:
    head: list[Words] = []
    for line in body.splitlines():
        parts = line.replace("<br>", " ").strip().strip("|").split("|") if line.lstrip().startswith("|") else []
        cells = [words(part) for part in parts]
        if head and any(cells):
            yield [(head[at] if at < len(head) else (), cell) for at, cell in enumerate(cells)]
        head = head or cells if cells else []
