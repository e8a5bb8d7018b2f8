"""Tables as workbooks (XlsxWriter): typed cells, a sheet of notes, and no cell that runs as a formula."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

import pandas as pd
from xlsxwriter import Workbook
from xlsxwriter.worksheet import Worksheet

from audit.exports.package_files import unique_stems
from audit.exports.table_model import Table, decimals, known
from audit.formatting import FORMULA, fixed, printable

# The same content gives the same file, so it has no real date; this is the earliest that a ZIP archive can store
CREATED = datetime(1980, 1, 1)
NOTES = "Notes"
MAX_WIDTH, MIN_WIDTH, NOTE_WIDTH = 60, 9, 100
# A bold letter is wider than the one that column widths are counted in
BOLD = 1.2
LINE_PT = 15
# Letters in the width of one, in running text: most are narrower than the digit that widths are counted in
LETTERS_PER_WIDTH = 1.05
SHEET_NAME = re.compile(r"[^A-Za-z0-9 _-]+")
# Excel opens no workbook with a longer sheet name, or with one of these, which it keeps for itself
MAX_NAME, RESERVED = 31, ("History",)
# Excel draws no higher row
MAX_HEIGHT_PT = 409
# XlsxWriter would turn texts that look like formulas, addresses or numbers into these
OPTIONS = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}

Formats = Callable[[dict[str, Any]], Any]


def xlsx_bytes(tables: Sequence[Table]) -> bytes:
    """A workbook with a sheet for each table and a last one with their titles and notes.

    What a sheet cannot hold is cut; its cell, its last row and the notes say so.
    """
    buffer = io.BytesIO()
    with Workbook(buffer, OPTIONS) as book:
        book.set_properties({"created": CREATED})
        names = unique_stems([table.name for table in tables], SHEET_NAME, " ", MAX_NAME, taken=(NOTES, *RESERVED))
        formats = _formats(book)
        sheets = zip(map(book.add_worksheet, names), tables, strict=True)
        losses = [_write_table(formats, sheet, table.typed()) for sheet, table in sheets]
        _write_notes(formats, book.add_worksheet(NOTES), list(map(_notes_of, tables, names, losses)))
    return buffer.getvalue()


def _write_table(formats: Formats, sheet: Worksheet, whole: pd.DataFrame) -> tuple[str, ...]:
    """Write a table, and return a sentence for everything of it that a sheet cannot hold."""
    fit = fitted(whole)
    typed, widths = fit.frame, list[float]()
    for column, name in enumerate(typed.columns):
        is_text = typed[name].dtype == object
        layout = {"text_wrap": is_text, "valign": "top", "align": "left" if is_text else "right"}
        # Next to a column of numbers, aligned right, an unindented text would touch them.
        layout |= {"indent": 1} if is_text and column else {}
        head = formats(layout | {"text_wrap": True, "valign": "bottom", "bold": True, "bottom": 1})
        sheet.write_string(0, column, cell_text(name), head)
        for row, value in enumerate(typed[name].tolist(), start=1):
            _write_cell(formats, sheet, row, column, value, layout)
        widths.append(_width(name, typed[name] if is_text else None) + (1 if is_text and column else 0))
        sheet.set_column(column, column, widths[-1])
    for row, values in enumerate([list(typed.columns), *typed.itertuples(index=False, name=None)]):
        size = BOLD if row == 0 else 1.0
        lines = max(_line_count(value, size, width - 2) for value, width in zip(values, widths, strict=True))
        sheet.set_row(row, min(MAX_HEIGHT_PT, LINE_PT * lines))
    if fit.below:
        sheet.write_string(len(typed) + 1, 0, fit.below, formats({"bold": True}))
    sheet.freeze_panes(1, 1)
    _fit_to_page_width(sheet)
    return fit.notes


def _write_cell(formats: Formats, sheet: Worksheet, row: int, column: int, value: Any, layout: dict[str, Any]) -> None:
    """A number as a number with its format; a text as a text, even if it looks like a formula."""
    if not known(value):
        return
    if isinstance(value, str):
        # Not shown, but a cell that begins like a formula stays a text when somebody edits it
        quoted = {"quote_prefix": True} if FORMULA.match(value) else {}
        sheet.write_string(row, column, value, formats(layout | quoted))
    elif isinstance(value, float) and math.isinf(value):  # Excel has no such number
        sheet.write_string(row, column, fixed(value, 0), formats(layout))
    else:
        number_format = f"#,##0.{'0' * decimals(value)}" if isinstance(value, float) else "#,##0"
        number = value if isinstance(value, float) else int(value)
        sheet.write_number(row, column, number, formats(layout | {"num_format": number_format}))


def _formats(book: Workbook) -> Formats:
    """One format for equal properties: an object for each cell would take half of the time of the workbook."""
    made = cache(lambda properties: book.add_format(dict(properties)))
    return lambda layout: made(tuple(layout.items()))


def _width(name: str, texts: pd.Series | None) -> float:
    """The width that the words of a heading, and the texts below it, need."""
    longest = max((len(text) for text in texts if known(text)), default=0) if texts is not None else 0
    word = max(map(len, name.split())) * BOLD
    return min(MAX_WIDTH, max(MIN_WIDTH, longest, word) + 2)


def _line_count(text: object, size: float, width: float) -> int:
    """How many lines a text takes; a word is not broken, so a line is seldom full."""
    lines, filled = 1, 0.0
    for word in text.split() if isinstance(text, str) else ():
        wide = len(word) * size
        if filled and filled + wide > width:
            lines, filled = lines + 1, 0.0
        filled += wide + size
    return lines


def _notes_of(table: Table, sheet_name: str, losses: Sequence[str]) -> list[str]:
    """The title of a table and what is below it: its sheet, where that has another name, and what a sheet cannot hold first."""
    renamed = f"On the sheet '{sheet_name}'." if sheet_name != table.name else ""
    return list(filter(None, (table.title, renamed, table.n, *losses, *table.notes)))


def _write_notes(formats: Formats, sheet: Worksheet, notes: Sequence[Sequence[str]]) -> None:
    row = 0
    for title, *others in notes:
        for text in (title, *others):
            layout = formats({"text_wrap": True, "valign": "top", "bold": text == title})
            sheet.write_string(row, 0, cell_text(text), layout)
            # Not every program makes a row as high as its lines.
            lines = math.ceil(len(text) / (LETTERS_PER_WIDTH * NOTE_WIDTH))
            sheet.set_row(row, min(MAX_HEIGHT_PT, LINE_PT * lines))
            row += 1
        row += 1
    sheet.set_column(0, 0, NOTE_WIDTH)
    _fit_to_page_width(sheet)


def _fit_to_page_width(sheet: Worksheet) -> None:
    sheet.set_landscape()
    sheet.fit_to_pages(1, 0)


# -- What a sheet of Excel cannot hold: a table cut to what it can, and the words for what is missing --------


# Excel's own limits; it counts the letters of a cell in UTF-16, so a letter beyond 65,535 counts as two
MAX_TEXT = 32_767
MAX_ROWS, MAX_COLUMNS = 1_048_576, 16_384
CUT = " […] Cut here: {missing:,} of {total:,} letters are missing. Written as CSV, the table has the whole text."
CUT_NOTE = (
    "{n:,} {texts} longer than the {limit:,} letters that a cell can hold, and cut: each ends in words that say how much is "
    "missing. Written as CSV, the table has the whole texts."
)
CONTROLS_NOTE = "{n:,} {texts} control characters, which a workbook cannot hold: a space is written for each."
ROWS_NOTE = "{n:,} more rows do not fit on a sheet. Written as CSV, the table has all {total:,}."
COLUMNS_NOTE = "{n:,} more columns do not fit on a sheet. Written as CSV, the table has all {total:,}."


@dataclass(frozen=True)
class Sheet:
    """A table that fits on a sheet.

    frame  its rows and columns, whose texts fit into cells
    below  what stands in a last row of its own: how many rows are missing; empty: none
    notes  a sentence for everything that is missing
    """

    frame: pd.DataFrame
    below: str = ""
    notes: tuple[str, ...] = ()


def fitted(frame: pd.DataFrame) -> Sheet:
    """The table as a sheet can hold it, the row of headings included."""
    rows, columns = frame.shape
    is_long, is_wide = rows > MAX_ROWS - 1, columns > MAX_COLUMNS
    kept = frame.iloc[: MAX_ROWS - 2 if is_long else rows, : MAX_COLUMNS if is_wide else columns]
    below = ROWS_NOTE.format(n=rows - len(kept), total=rows) if is_long else ""
    wide = COLUMNS_NOTE.format(n=columns - MAX_COLUMNS, total=columns) if is_wide else ""
    texts = [value for name in kept for value in kept[name] if isinstance(value, str)] if len(kept) else []
    fitting = {name: kept[name].map(_fitting).astype(object) if kept[name].dtype == object else kept[name] for name in kept}
    return Sheet(pd.DataFrame(fitting, index=kept.index), below, tuple(filter(None, (below, wide, *_lost(texts)))))


def cell_text(text: str) -> str:
    """A text as a cell can hold it; where it is cut, it says so."""
    plain = printable(text)
    if not _is_long(plain):
        return plain
    total = len(plain)
    # The words are as long as they can become, so that they fit whatever is kept
    kept = _first_units(plain, MAX_TEXT - len(CUT.format(missing=total, total=total)))
    return kept + CUT.format(missing=total - len(kept), total=total)


def _fitting(value: object) -> object:
    return cell_text(value) if isinstance(value, str) else value


def _lost(texts: Iterable[str]) -> Iterable[str]:
    long = controls = 0
    for text in texts:
        long += _is_long(text)
        controls += printable(text) != text
    if long:
        yield CUT_NOTE.format(n=long, texts="text is" if long == 1 else "texts are", limit=MAX_TEXT)
    if controls:
        yield CONTROLS_NOTE.format(n=controls, texts="text has" if controls == 1 else "texts have")


def _is_long(text: str) -> bool:
    return 2 * len(text) > MAX_TEXT and len(text.encode("utf-16-le")) > 2 * MAX_TEXT


def _first_units(text: str, units: int) -> str:
    # A letter of two units is not cut in two
    return text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", "ignore")
