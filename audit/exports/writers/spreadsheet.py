"""A table for spreadsheets: CSV, and workbooks with typed cells and a sheet of notes. No cell runs as a formula."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from typing import Any

from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE, Cell
from openpyxl.styles import Alignment, Border, Font, Side
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.properties import PageSetupProperties
from openpyxl.worksheet.worksheet import Worksheet

from audit.exports import tables
from audit.exports.files import timeless
from audit.exports.numbers import decimals, known
from audit.exports.table_model import Table
from audit.spreadsheet_safety import safe_cell

NOTES = "Notes"
WIDEST, NARROWEST, NOTE_WIDTH = 60, 9, 100
BOLD = 1.2
"""A bold letter is wider than the one that column widths are counted in."""
LINE_PT = 15
LETTERS_WIDE = 1.05
"""Letters in the width of one, in running text: most are narrower than the digit that widths are counted in."""
SHEET_NAME = re.compile(r"[^A-Za-z0-9 _-]+")
LONGEST_NAME = 31
"""Excel opens no workbook with a longer name of a sheet."""
LONGEST_TEXT = 32_767


def csv_bytes(table: Table) -> bytes:
    """The table as CSV in UTF-8 with a byte order mark, which Excel needs to read accents right; unknown is empty."""
    return tables.csv_bytes(table.typed())


def xlsx_bytes(several: Sequence[Table]) -> bytes:
    """A workbook with a sheet for each table and a last one with their titles and notes."""
    book = Workbook()
    book.remove(book.worksheets[0])
    for table in several:
        _fill(book.create_sheet(SHEET_NAME.sub(" ", table.name)[:LONGEST_NAME]), table)
    _notes(book.create_sheet(NOTES), several)
    buffer = io.BytesIO()
    book.save(buffer)
    return timeless(buffer.getvalue())


def _fill(sheet: Worksheet, table: Table) -> None:
    typed = table.typed()
    _row(sheet, 1, list(typed.columns))
    for number, values in enumerate(typed.itertuples(index=False, name=None), start=2):
        _row(sheet, number, list(values))
    for place, name in enumerate(typed.columns, start=1):
        _head(sheet, place, texts=typed[name].dtype == object)
    for number in range(1, sheet.max_row + 1):
        sheet.row_dimensions[number].height = LINE_PT * _lines(sheet, number)
    sheet.freeze_panes = "B2"
    _one_page_wide(sheet)


def _head(sheet: Worksheet, place: int, *, texts: bool) -> None:
    """The head of a column, above its numbers, and the width that it and what is below it need."""
    head, *below = next(sheet.iter_cols(place, place))
    head.font, head.border = Font(bold=True), Border(bottom=Side("thin"))
    indent = 1 if texts and place > 1 else 0
    head.alignment = Alignment(wrap_text=True, vertical="bottom", horizontal="left" if texts else "right", indent=indent)
    for cell in below:
        cell.alignment = Alignment(wrap_text=texts, vertical="top", horizontal="left" if texts else "right", indent=indent)
    longest = max((len(str(cell.value or "")) for cell in below), default=0) if texts else 0
    word = max(map(len, str(head.value).split())) * BOLD
    sheet.column_dimensions[get_column_letter(place)].width = min(WIDEST, max(NARROWEST, longest, word) + 2 + indent)


def _lines(sheet: Worksheet, number: int) -> int:
    """How many lines the texts of a row take in their columns."""
    size = BOLD if number == 1 else 1.0
    widths = (sheet.column_dimensions[get_column_letter(place)].width for place in range(1, sheet.max_column + 1))
    return max(_broken(cell.value, size, width - 2) for cell, width in zip(sheet[number], widths, strict=True))


def _broken(text: object, size: float, width: float) -> int:
    """How many lines a text takes; a word is not broken, so that a line is seldom full."""
    lines, filled = 1, 0.0
    for word in text.split() if isinstance(text, str) else ():
        wide = len(word) * size
        if filled and filled + wide > width:
            lines, filled = lines + 1, 0.0
        filled += wide + size
    return lines


def _row(sheet: Worksheet, number: int, values: list[Any]) -> None:
    for place, value in enumerate(values, start=1):
        if known(value):
            cell = sheet.cell(number, place)
            assert isinstance(cell, Cell)
            _put(cell, value)


def _put(cell: Cell, value: Any) -> None:
    """A number as a number with its format; a text as a text, whatever it begins with."""
    if isinstance(value, str):
        cell.value = ILLEGAL_CHARACTERS_RE.sub(" ", str(safe_cell(value)))[:LONGEST_TEXT]
        cell.data_type = "s"
    elif isinstance(value, float):
        cell.value, cell.number_format = value, f"#,##0.{'0' * decimals(value)}"
    else:
        cell.value, cell.number_format = int(value), "#,##0"


def _notes(sheet: Worksheet, several: Sequence[Table]) -> None:
    number = 1
    for table in several:
        for text in filter(None, (table.title, table.n, *table.notes)):
            _note(sheet, number, text, bold=text == table.title)
            number += 1
        number += 1
    sheet.column_dimensions["A"].width = NOTE_WIDTH
    _one_page_wide(sheet)


def _note(sheet: Worksheet, number: int, text: str, *, bold: bool) -> None:
    """A paragraph; its row is made as high as its lines, which not every program does by itself."""
    _row(sheet, number, [text])
    cell = sheet.cell(number, 1)
    cell.font, cell.alignment = Font(bold=bold), Alignment(wrap_text=True, vertical="top")
    sheet.row_dimensions[number].height = LINE_PT * math.ceil(len(text) / (LETTERS_WIDE * NOTE_WIDTH))


def _one_page_wide(sheet: Worksheet) -> None:
    sheet.page_setup.orientation, sheet.page_setup.fitToHeight = "landscape", 0
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
