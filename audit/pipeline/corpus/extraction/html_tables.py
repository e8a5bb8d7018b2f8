"""Tables of a web page: each row with the heads of its columns, so that it can be read alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any, NamedTuple

from audit.errors import DocumentError
from audit.pipeline.corpus.extraction import bullets
from audit.pipeline.corpus.extraction.characters import plain_text
from audit.pipeline.corpus.extraction.html_controls import HEADING_TAGS, letters
from audit.pipeline.corpus.extraction.html_text import text_of
from audit.text.statements import CELL_SEPARATOR, ITEM

MAX_CELLS = 100_000
# A table may say that a cell spans a million columns
MAX_SPAN = 100
# Longer cells in the first row are text, not the heads of columns
MAX_HEAD = 60
# Typed before the text of a cell
BULLET = re.compile(rf"^{bullets.ONE_OF}\s+")
PARTS = {"thead", "tbody", "tfoot", "tr", "colgroup", "col"}
PARAGRAPHS = ("p", "ul", "ol", "dl", "div", *HEADING_TAGS)
Row = list[Any]


def is_layout_table(table: Any) -> bool:
    """Whether a table only places things on the page."""
    if table.get("role") in ("presentation", "none") or next(table.iterdescendants("table"), None) is not None:
        return True
    rows = [_cells(row) for row in table.iter("tr")]
    if max(map(len, rows), default=0) < 2:
        return True
    cells = [cell for row in rows for cell in row]
    parts = [cell for cell in cells if sum(child.tag in PARAGRAPHS for child in cell.iter()) > 1]
    has_headings = any(next(cell.iter(*HEADING_TAGS, "summary"), None) is not None for cell in cells)
    return not any(cell.tag == "th" for cell in cells) and (has_headings or (len(rows) == 1 and len(parts) > 1))


def table_blocks(table: Any, blocks_in: Callable[[Any], list[str]]) -> Iterator[str]:
    """The table's title, its rows as one block, and the lists in its cells, each led by the head of its column.

    blocks_in  the paragraphs and lists of a cell
    """
    caption = table.find("caption")
    if caption is not None and (title := text_of(caption)):
        yield title
    yield from filter(None, map(plain_text, _texts_between(table, caption)))
    heads: list[str] = []
    lines: list[str] = []
    label = ""
    has_rows = True
    for row in _heads_and_rows(_grid(table)):
        if isinstance(row, Heads):
            lines += [] if has_rows else [CELL_SEPARATOR.join(filter(None, heads))]
            heads, label, has_rows = row.texts, "", False
            continue
        has_rows = has_rows or not _is_title(row)
        if any(map(_has_list, row)):
            yield from ["\n".join(lines)] if lines else []
            lines = []
            label = "" if _has_list(row[0]) else _text(row[0]) or label
            yield from _row_and_lists(heads, row, label, blocks_in)
        elif all(cell is row[0] for cell in row):  # one cell over all columns names the rows below it
            lines += [text] if (text := _text(row[0])) else []
            label = ""
        elif line := _row_text(heads, row, label := _text(row[0]) or label):
            # A line of one cell would be read as the name of the rows below it
            if CELL_SEPARATOR in line:
                lines.append(line)
            else:
                yield from ["\n".join(lines), line] if lines else [line]
                lines = []
    # Heads without a row below them
    lines += [] if has_rows else [CELL_SEPARATOR.join(filter(None, heads))]
    if lines:
        yield "\n".join(lines)


def _texts_between(table: Any, caption: Any) -> Iterator[str]:
    """What stands in a table and in none of its cells; browsers show it above the table."""
    for part in table.iter("table", "thead", "tbody", "tfoot", "tr", "colgroup"):
        yield part.text or ""
        for child in part:
            is_cell = child.tag in ("td", "th") and part.tag == "tr"
            if not is_cell and child is not caption and child.tag not in PARTS:
                yield text_of(child)
            yield child.tail or ""


def _cells(row: Any) -> Row:
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
    return BULLET.sub("", text_of(cell))


class Heads(NamedTuple):
    """The heads of the columns in the rows below, each row of heads joined to the one above it."""

    texts: list[str]


def _heads_and_rows(rows: list[Row]) -> Iterator[Heads | Row]:
    """The rows of a table, with rows of heads as `Heads`, wherever in the table they are."""
    # How many marked rows each row begins
    runs = [0] * (len(rows) + 1)
    for number in reversed(range(len(rows))):
        runs[number] = runs[number + 1] + 1 if _is_marked(rows[number]) and not _is_title(rows[number]) else 0
    number, is_first = 0, True
    while number < len(rows):
        is_title = _is_title(rows[number])
        # Heads have rows below them
        count = runs[number] if number + runs[number] < len(rows) else 0
        if is_first and not is_title and not count:
            count = _first_head_rows(rows[number:], is_marked=runs[number] > 0)
        if count:
            yield Heads([_joined(list(column)) for column in zip_longest(*rows[number : number + count])])
        else:
            yield rows[number]
        is_first = is_first and is_title
        number += count or 1


def _first_head_rows(rows: list[Row], is_marked: bool) -> int:
    """How many rows of heads a table begins with, where all of its rows are marked or the first one is not."""
    if is_marked:
        return int(len(rows) > 1)
    bold = next((number for number, row in enumerate(rows) if _is_title(row) or not all(map(_is_bold, row))), len(rows))
    return bold if 0 < bold < len(rows) else _plain_head_rows(rows)


def _plain_head_rows(rows: list[Row]) -> int:
    """How many rows of heads there are where nothing marks them."""
    cells = list({id(cell): cell for cell in rows[0]}.values())
    texts = [_text(cell) for cell in cells]
    if len(rows) < 2 or len(set(texts)) < len(texts) or not all(0 < len(text) <= MAX_HEAD for text in texts[1:]):
        return 0
    spans = len(cells) < len(rows[0])
    down = _span(cells[0], "rowspan")
    if spans and down > 1:  # "Drug | After surgery" above "Month 1 | Month 2"
        return min(down, len(rows) - 1)
    if not texts[0]:  # an empty corner, also above "Drug | Month 1 | Month 2"
        return 2 if spans and len(rows) > 2 and _text(rows[1][0]) else 1
    has_digits = any(character.isdigit() for text in texts for character in text)
    return 0 if has_digits or len(rows) < 3 else 2 if spans and not _text(rows[1][0]) else 1


def _is_title(row: Row) -> bool:
    return all(cell is row[0] for cell in row)


def _is_marked(row: Row) -> bool:
    return all(cell.tag == "th" or cell.getparent().getparent().tag == "thead" for cell in row)


def _is_bold(cell: Any) -> bool:
    bold = cell.xpath(".//b[not(ancestor::b)] | .//strong[not(ancestor::strong)]")
    return cell.tag == "th" or sum(map(letters, bold)) >= letters(cell)


def _joined(column: list[Any]) -> str:
    texts = [_text(cell).rstrip(":") for cell in {id(cell): cell for cell in column if cell is not None}.values()]
    return ", ".join(dict.fromkeys(filter(None, texts)))


def _row_text(heads: list[str], row: Row, label: str) -> str:
    parts = [_headed(heads, 0, label) if label else ""]
    for column, cell in enumerate(row[1:], start=1):
        is_same = row[column - 1] is cell and (column >= len(heads) or heads[column] == heads[column - 1])
        if not is_same and not _has_list(cell) and (text := _text(cell)):
            parts.append(_headed(heads, column, text))
    return CELL_SEPARATOR.join(filter(None, parts))


def _row_and_lists(heads: list[str], row: Row, label: str, blocks_in: Callable[[Any], list[str]]) -> Iterator[str]:
    """A row on one line, then each of its cells with a list, led by the row's label and the column's head."""
    lists = [column for column, cell in enumerate(row) if _has_list(cell) and row.index(cell) == column]
    if 0 not in lists and sum(bool(_text(cell)) for cell in {id(cell): cell for cell in row if not _has_list(cell)}.values()) > 1:
        yield _row_text(heads, row, label)
    for column in lists:
        lead = CELL_SEPARATOR.join(filter(None, ("" if 0 in lists else label, heads[column] if column < len(heads) else "")))
        lead = lead if not lead or lead.endswith((":", "?", "!", ".")) else f"{lead}:"
        for text in blocks_in(row[column]):
            yield f"{lead}\n{text}" if lead and ITEM.match(text) else f"{lead} {text}".strip()
    if 0 in lists:
        yield from (
            _headed(heads, column, text) for column, cell in enumerate(row) if not _has_list(cell) and (text := _text(cell))
        )


def _has_list(cell: Any) -> bool:
    return next(cell.iter("li", "dt"), None) is not None


def _headed(heads: list[str], column: int, text: str) -> str:
    return f"{heads[column]}: {text}" if column < len(heads) and heads[column] else text
