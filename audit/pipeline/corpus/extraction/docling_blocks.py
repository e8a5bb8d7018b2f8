"""A PDF as the library docling reads it: its layout and table models find headings, lists and tables.

docling (MIT) is not an extra of this project: docling 2.143 needs huggingface-hub below 2, typer below 0.27 and websockets below
17, and constraints.txt pins later ones. It is installed with this project in an environment of its own. Its models are fetched
from their hub when they are first used, or read from the folder in DOCLING_ARTIFACTS_PATH, written by `docling-tools models
download`. It does not read text in pictures here: `audit extract --ocr` does, for every engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from audit.errors import DocumentError, MissingLibraryError
from audit.pipeline.corpus.extraction.layout import Block, ExtractedBlocks, PageProgress
from audit.pipeline.corpus.extraction.repair import clean_text
from audit.text.statements import CELL_SEPARATOR, INDENT, ITEM, ITEM_MARK

# Labels of docling's items that are no text of the handbook; headers and footers are not among the items of the body
LEFT_OUT = {"document_index", "picture", "chart", "page_header", "page_footer"}


class _Entry(NamedTuple):
    """An item of docling's document: its label, its depth below the body, the item, and its first and last page."""

    label: str
    depth: int
    item: Any
    page: int
    last_page: int


def docling_blocks(pdf: Path, progress: PageProgress) -> ExtractedBlocks:
    """The document as docling reads it.

    Raises MissingLibraryError where docling is not installed, and DocumentError where its models are missing or it fails.
    """
    converter = _converter()
    try:
        result = converter.convert(pdf, raises_on_error=False)
    except (OSError, RuntimeError, ValueError) as error:
        raise DocumentError(
            f"docling could not begin ({type(error).__name__}: {_first_line(str(error))}); its models are read from the folder "
            "in DOCLING_ARTIFACTS_PATH, which `docling-tools models download` writes, or fetched from their hub"
        ) from error
    # A handbook that lacks pages would be taken to leave out what is on them
    if result.status.value != "success":
        reasons = "; ".join(_first_line(error.error_message) for error in result.errors[:3])
        raise DocumentError(f"docling ended with the status '{result.status.value}' ({reasons or 'it gives no reason'})")
    page_count = len(result.document.pages)
    progress(page_count, page_count)
    return blocks_of(result.document)


@cache
def _converter() -> Any:
    # One for all documents of a run: it holds the models
    try:
        converters, formats, options = map(
            import_module,
            ("docling.document_converter", "docling.datamodel.base_models", "docling.datamodel.pipeline_options"),
        )
    except ImportError:
        raise MissingLibraryError(
            "The engine docling needs docling, which is not installed. Nothing was done. "
            "Install it in an environment of its own, without constraints.txt: pip install 'docling>=2.143' -e '.[pipeline]'"
        ) from None
    of_pdf = converters.PdfFormatOption(pipeline_options=options.PdfPipelineOptions(do_ocr=False))
    pdf = formats.InputFormat.PDF
    return converters.DocumentConverter(allowed_formats=[pdf], format_options={pdf: of_pdf})


def _first_line(message: str) -> str:
    return (message.splitlines() or ["no message"])[0][:160]


def blocks_of(document: Any) -> ExtractedBlocks:
    """The blocks of a DoclingDocument, in reading order and in the form of `audit.text.statements`."""
    entries = list(_entries(document))
    blocks = tuple(_blocks(entries))
    pages_with_text = {page for block in blocks for page in range(block.page, block.last_page + 1)}
    title = next((clean_text(entry.item.text) for entry in entries if entry.label == "title"), None)
    silent = tuple(page for page in sorted(document.pages) if page not in pages_with_text)
    return ExtractedBlocks(blocks, len(document.pages), title, silent)


def _entries(document: Any) -> Iterator[_Entry]:
    page = 1
    for item, depth in document.iterate_items():
        label = str(getattr(item.label, "value", item.label))
        if label in LEFT_OUT:
            continue
        pages = [place.page_no for place in item.prov] or [page]
        page = pages[-1]
        if label == "table" or clean_text(getattr(item, "text", "")):
            yield _Entry(label, depth, item, pages[0], page)


def _blocks(entries: list[_Entry]) -> Iterator[Block]:
    lead: _Entry | None = None
    for is_list, group in groupby(entries, key=lambda entry: entry.label == "list_item"):
        members = list(group)
        if is_list:
            yield _list_block(members, lead)
            lead = None
            continue
        # The last text before a list is held back: if it says so, it leads the items
        following = members[-1] if members[-1].label != "table" and _is_lead(members[-1]) else None
        for entry in members[:-1] if following else members:
            yield from _blocks_of_entry(entry)
        lead = following
    if lead is not None:
        yield from _blocks_of_entry(lead)


def _is_lead(entry: _Entry) -> bool:
    is_text = entry.label not in ("title", "section_header")
    return is_text and clean_text(entry.item.text).endswith(":")


def _blocks_of_entry(entry: _Entry) -> Iterator[Block]:
    if entry.label == "table":
        yield from _table_blocks(entry)
    elif entry.label in ("title", "section_header"):
        level = 1 if entry.label == "title" else 1 + int(entry.item.level)
        yield Block("heading", clean_text(entry.item.text), entry.page, entry.last_page, level)
    else:
        text = clean_text(entry.item.text)
        # Characters count from 0 in docling's text, which is nearly ours
        later = tuple((place.page_no, min(place.charspan[0], len(text))) for place in entry.item.prov[1:])
        yield Block("text", text, entry.page, entry.last_page, later_pages=later)


def _list_block(items: list[_Entry], lead: _Entry | None) -> Block:
    """A list as one block: its lead, then one item a line."""
    # Below an item docling has a group, and in it the deeper items: two steps for one level
    level_of = {depth: level for level, depth in enumerate(sorted({entry.depth for entry in items}))}
    lines = [clean_text(lead.item.text)] if lead else []
    first = lead or items[0]
    later_pages, page = list[tuple[int, int]](), first.page
    for entry in items:
        if entry.page != page:
            page = entry.page
            later_pages.append((page, sum(len(line) + 1 for line in lines)))
        lines.append(_item_line(entry.item, level_of[entry.depth]))
    return Block("text", "\n".join(lines), first.page, items[-1].last_page, later_pages=tuple(later_pages))


def _item_line(item: Any, level: int) -> str:
    text = clean_text(item.text)
    numbered = f"{item.marker} {text}" if item.enumerated else ""
    return " " * (INDENT * level) + (numbered if ITEM.fullmatch(numbered) else ITEM_MARK + text)


def _table_blocks(entry: _Entry) -> Iterator[Block]:
    """A table's rows, each cell but the first with its column's head; a cell over all columns is a text of its own."""
    rows = [_distinct(row) for row in entry.item.data.grid]
    is_head = [any(cell.column_header for _, cell in row) for row in rows]
    # Of a table that is all heads only the first row is one
    count = next((number for number, head in enumerate(is_head) if not head), 1)
    heads = _heads(rows[:count])
    shown = rows[:count][-1:] + rows[count:]
    for number, row in enumerate(shown):
        texts = [(column, clean_text(cell.text)) for column, cell in row]
        with_heads = {} if number == 0 and count else heads
        cells = [
            f"{with_heads[c]}: {text}" if c in with_heads and place else text for place, (c, text) in enumerate(texts) if text
        ]
        if cells:
            yield Block("row", CELL_SEPARATOR.join(cells), entry.page, entry.last_page)


def _distinct(row: list[Any]) -> list[tuple[int, Any]]:
    """The cells of a row with their first column; docling repeats a cell in each column that it spans."""
    return [(column, cell) for column, cell in enumerate(row) if not column or cell is not row[column - 1]]


def _heads(rows: list[list[tuple[int, Any]]]) -> dict[int, str]:
    """The head of each column: the texts above it, from the outermost to the nearest."""
    heads: dict[int, list[str]] = {}
    for row in rows:
        for column, cell in row:
            for below in range(column, max(column + 1, cell.end_col_offset_idx)):
                if (text := clean_text(cell.text)) and text not in heads.setdefault(below, []):
                    heads[below].append(text)
    return {column: " ".join(texts) for column, texts in heads.items() if texts}
