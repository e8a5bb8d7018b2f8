"""A packet as a workbook: what annotators fill in is unlocked and has menus, all else is locked, and the rubric is next to it."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence

from openpyxl import Workbook
from openpyxl.cell import Cell
from openpyxl.styles import Alignment, Font, PatternFill, Protection
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet

from annotation.schemes import Scheme
from annotation.studies.rubric import rubric_tables

MAX_XLSX_CELL = 32_767
"""Characters that fit into a cell of a spreadsheet."""
# A workbook writes control characters as _xHHHH_, so a text that looks like that has to be escaped as well.
XLSX_ESCAPE = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)|[\x00-\x08\x0b-\x1f\ufffe\uffff]")
WIDTHS = {"question": 40, **dict.fromkeys(("answer_1", "answer_2", "answer_a", "answer_b", "reference"), 70), "comment": 40}
WIDTHS |= dict.fromkeys(("marked_1", "marked_2", "marked_a", "marked_b"), 50)
WIDTHS |= {"label": 18, "significance": 14}
PACKET_SHEET, RUBRIC_SHEET = "packet", "rubric"
TO_FILL = PatternFill("solid", fgColor="FFF7DC")
RUBRIC_WIDTHS = {"A": 60, "B": 90}
HOW_TO_FILL = (
    "Fill in the yellow columns of the sheet 'packet'. Each has a menu of the allowed words; the other columns are locked.",
    "To show what a label rests on, copy whole sentences of an answer into its column 'marked', one a line. It may stay empty.",
    "Do not merge cells, and do not move texts between rows: the entire file would be rejected.",
    "An item that you leave empty stays open. Save the file as .xlsx and send it back.",
)


def workbook_bytes(
    columns: Sequence[str], rows: Sequence[Sequence[str]], filled: Mapping[str, Sequence[str]], scheme: Scheme
) -> bytes:
    """The workbook.

    filled  column that annotators fill in -> the words of its menu; none: any text
    """
    book = Workbook()
    sheet = book.active
    assert isinstance(sheet, Worksheet)
    sheet.title = PACKET_SHEET
    for row in (columns, *rows):
        sheet.append([xlsx_text(value) for value in row])
    _format_columns(sheet, filled)
    # Without a password: it keeps texts from being overwritten by mistake, and an import checks what matters.
    sheet.protection.enable()
    sheet.protection.formatColumns = sheet.protection.formatRows = False
    _write_rubric(book.create_sheet(RUBRIC_SHEET), scheme)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def xlsx_text(text: str) -> str:
    """The text as a cell of a workbook stores it."""
    return XLSX_ESCAPE.sub(lambda match: f"_x{ord(match[0]):04X}_", text)


def _format_columns(sheet: Worksheet, filled: Mapping[str, Sequence[str]]) -> None:
    sheet.freeze_panes = "A2"
    for number, cells in enumerate(sheet.iter_cols(), start=1):
        name, letter = str(cells[0].value), get_column_letter(number)
        cells[0].font = Font(bold=True)
        sheet.column_dimensions[letter].width = WIDTHS.get(name, 12)
        for cell in cells[1:]:
            assert isinstance(cell, Cell)  # nothing is merged here
            _format_cell(cell, name in filled)
        if menu := filled.get(name):
            sheet.add_data_validation(_menu(name, menu, f"{letter}2:{letter}{max(sheet.max_row, 2)}"))


def _format_cell(cell: Cell, unlocked: bool) -> None:
    cell.data_type = "s"  # text, so a spreadsheet never reads it as a formula, a number or a date
    cell.number_format = "@"
    cell.alignment = Alignment(wrap_text=True, vertical="top")
    if unlocked:
        cell.protection, cell.fill = Protection(locked=False), TO_FILL


def _menu(name: str, words: Sequence[str], cells: str) -> DataValidation:
    listed = ",".join(map(str, words))
    menu = DataValidation(type="list", formula1=f'"{listed}"', allow_blank=True, showErrorMessage=True)
    menu.errorTitle, menu.error = f"Not a word for {name}", f"Choose one of: {listed.replace(',', ', ')}. Or leave it empty."
    menu.add(cells)
    return menu


def _write_rubric(sheet: Worksheet, scheme: Scheme) -> None:
    for line in (*HOW_TO_FILL, "", f"{scheme.asks} The label is one of these:"):
        sheet.append([line])
    for option in scheme.options:
        sheet.append([option.word, option.meaning])
    for table in rubric_tables(scheme):
        sheet.append([])
        for number, row in enumerate(table):
            sheet.append([cell.replace("**", "").replace("*", "") for cell in row])
            for cell in sheet[sheet.max_row]:
                cell.font = Font(bold=number == 0)
    for letter, width in RUBRIC_WIDTHS.items():
        sheet.column_dimensions[letter].width = width
    for number, cells in enumerate(sheet.iter_rows(), start=1):
        for cell in cells:
            cell.data_type = "s"
            # The lines above the tables have no second column, so they run on over it
            cell.alignment = Alignment(wrap_text=number > len(HOW_TO_FILL) + 2, vertical="top")
    sheet.protection.enable()
