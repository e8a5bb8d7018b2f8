"""What a sheet of Excel cannot hold is said in the cell or row where it is missing, and in the notes; CSV has it whole."""

from __future__ import annotations

import csv
import io

import pandas as pd
import pytest
from openpyxl import Workbook, load_workbook

from audit.exports import xlsx
from audit.exports.table_model import Table
from audit.exports.text_writers import csv_table
from audit.exports.xlsx import MAX_HEIGHT_PT, MAX_TEXT, cell_text, fitted, xlsx_bytes
from audit.tables import Column


def texts(*values: str, name: str = "texts") -> Table:
    frame = pd.DataFrame({"id": [f"t{n}" for n in range(len(values))], "text": list(values)})
    return Table(name, "Texts", frame, (Column.text("id", "Id"), Column.text("text", "Text")))


def workbook(*tables: Table) -> Workbook:
    return load_workbook(io.BytesIO(xlsx_bytes(list(tables))))


def notes(book: Workbook) -> list[str]:
    return [row[0].value for row in book["Notes"].iter_rows() if row[0].value]


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@pytest.mark.parametrize("letter", ["a", "ש", "\N{ANATOMICAL HEART}"])
def test_a_text_as_long_as_a_cell_is_whole_and_a_longer_one_says_how_much_is_missing(letter: str):
    fits = letter * (MAX_TEXT // units(letter))
    assert cell_text(fits) == fits
    cut = cell_text(fits + letter * 100)
    kept = cut.split(" […] ")[0]
    assert units(cut) <= MAX_TEXT
    assert set(kept) == {letter}
    missing, total = len(fits) + 100 - len(kept), len(fits) + 100
    assert cut.endswith(f"Cut here: {missing:,} of {total:,} letters are missing. Written as CSV, the table has the whole text.")


def test_the_notes_count_the_texts_that_are_cut_and_the_csv_has_them_whole():
    table = texts("x" * 40_000, "short", "y" * 50_000)
    book = workbook(table)
    assert notes(book)[1] == (
        "2 texts are longer than the 32,767 letters that a cell can hold, and cut: each ends in words that say how much is "
        "missing. Written as CSV, the table has the whole texts."
    )
    assert book["texts"]["B3"].value == "short"
    assert [len(row["Text"]) for row in csv.DictReader(io.StringIO(csv_table(table).decode("utf-8-sig")))] == [40_000, 5, 50_000]


def test_a_workbook_that_holds_everything_has_no_note_of_it():
    assert notes(workbook(texts("a", "=1+1"))) == ["Texts"]


def test_a_control_character_becomes_a_space_and_is_counted():
    book = workbook(texts("a\x0bb\x00", "fine\ttext\nhere", "\ufffe"))
    assert [book["texts"][cell].value for cell in ("B2", "B3", "B4")] == ["a b ", "fine\ttext\nhere", " "]
    assert notes(book)[1] == "2 texts have control characters, which a workbook cannot hold: a space is written for each."


def test_rows_that_do_not_fit_are_counted_in_a_last_row_and_in_the_notes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(xlsx, "MAX_ROWS", 5)
    assert fitted(pd.DataFrame({"a": range(4)})).notes == ()
    book = workbook(texts(*"abcdefgh"))
    sentence = "5 more rows do not fit on a sheet. Written as CSV, the table has all 8."
    assert [row[0].value for row in book["texts"].iter_rows()] == ["Id", "t0", "t1", "t2", sentence]
    assert notes(book)[1] == sentence


def test_columns_that_do_not_fit_are_counted_in_the_notes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(xlsx, "MAX_COLUMNS", 1)
    book = workbook(texts("a"))
    assert [row[0].value for row in book["texts"].iter_rows()] == ["Id", "t0"]
    assert notes(book)[1] == "1 more columns do not fit on a sheet. Written as CSV, the table has all 2."


def test_no_row_is_higher_than_a_sheet_can_show():
    sheet = workbook(texts("word " * 5_000))["texts"]
    assert MAX_HEIGHT_PT - 1 < sheet.row_dimensions[2].height <= MAX_HEIGHT_PT


def test_sheets_whose_names_are_alike_when_cut_have_names_of_their_own_and_the_notes_say_which():
    long = "a_table_of_many_systems_and_measures"
    book = workbook(texts("1", name=f"{long}_first"), texts("2", name=f"{long.upper()}_second"), texts("3", name="notes"))
    assert book.sheetnames == [long[:31], f"{long.upper()[:29]}-2", "notes-2", "Notes"]
    assert [book[name]["B2"].value for name in book.sheetnames[:3]] == ["1", "2", "3"]
    assert notes(book)[1::2] == [f"On the sheet '{name}'." for name in book.sheetnames[:3]]


@pytest.mark.parametrize("sign", ["=", "+", "-", "@"])
def test_an_id_that_begins_like_a_formula_is_a_text_without_an_apostrophe(sign: str):
    cell = workbook(texts(f"{sign}1+1"))["texts"]["B2"]
    assert (cell.value, cell.data_type, cell.quotePrefix) == (f"{sign}1+1", "s", True)


def test_a_number_without_end_is_written_as_a_word():
    frame = pd.DataFrame({"ratio": [float("inf"), 0.5]})
    sheet = workbook(Table("t", "T", frame, (Column.decimal("ratio", "Ratio"),)))["t"]
    assert sheet["A2"].data_type == "s"
    assert sheet["A3"].value == 0.5
