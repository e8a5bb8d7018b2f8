"""The tables of a web page: each row with the heads of its columns, so that it can be read alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from audit.errors import DocumentError
from audit.pipeline.corpus.extraction.repair import clean_text
from audit.text.statements import CELL_SEPARATOR, ITEM_MARK

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
    if caption is not None and (title := clean_text("".join(caption.itertext()))):
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
    text = clean_text((" " if has_blocks else "").join(cell.itertext()))
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
        items = [clean_text("".join(item.itertext())) for item in cell.iter("li")]
        head = heads[column].rstrip(":") if column < len(heads) else ""
        if items:
            yield "\n".join([*([f"{head}:"] if head else []), *(f"{ITEM_MARK}{item}" for item in items if item)])
        elif text := _text(cell):
            yield f"{head}: {text}" if head else text
