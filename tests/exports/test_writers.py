"""The same table in every form."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from datetime import datetime
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import load_workbook

from audit.exports.html_pages import html_table
from audit.exports.table_model import KIND
from audit.exports.text_writers import csv_table, csv_text, json_table, latex, markdown
from audit.exports.xlsx import xlsx_bytes
from audit.formatting import escape_markdown, plain_cell, printable
from audit.store.runs import Run
from audit.tables import Column
from tests.exports.tables import AWKWARD, FORMULA, table

RUN = Run("tiny", "A tiny release", "d" * 64, False, True, "", Path())
DEFAULT_HEIGHT = 15
"""In points: a row of this height has none in the file."""


def test_csv_holds_numbers_with_the_ends_of_intervals_in_columns_of_their_own():
    frame = pd.read_csv(io.BytesIO(csv_table(table())))
    assert list(frame.columns) == [
        "Organ",
        "Pairs (scored)",
        "Share (R_div)",
        "Share (R_div), 95 % low",
        "Share (R_div), 95 % high",
        KIND,
    ]
    assert set(frame[KIND]) == {"fixed"}
    assert frame["Share (R_div)"].tolist()[:2] == [0.1634, 0.00044]
    assert frame["Pairs (scored)"].isna().tolist() == [False, False, True]


def test_two_columns_under_one_head_keep_their_own_intervals():
    small = table()
    ends = {"judged": 0.5, "judged_low": 0.4, "judged_high": 0.6}
    both = type(small)("both", "t", small.frame.assign(**ends), (*small.columns, Column.share("judged", "Share", "of judged")))
    frame = pd.read_csv(io.BytesIO(csv_table(both)))
    assert frame.loc[0, ["Share (R_div), 95 % low", "Share (of judged), 95 % low"]].tolist() == [0.1512, 0.4]


def test_no_cell_of_a_csv_runs_as_a_formula_and_its_text_can_be_had_back():
    cell = pd.read_csv(io.BytesIO(csv_table(table())))["Organ"][1]
    assert cell == f"'{FORMULA}"
    assert plain_cell(cell) == FORMULA


def test_a_workbook_has_typed_cells_and_a_sheet_of_notes():
    book = load_workbook(io.BytesIO(xlsx_bytes([table("one"), table("two")])))
    assert book.sheetnames == ["one", "two", "Notes"]
    sheet = book["one"]
    assert (sheet["B2"].value, sheet["B2"].data_type, sheet["C2"].value, sheet["C2"].number_format) == (
        1234,
        "n",
        0.1634,
        "#,##0.000",
    )
    assert sheet["C3"].number_format == "#,##0.00000"
    assert sheet["B4"].value is None
    notes = [row[0].value for row in book["Notes"].iter_rows()]
    assert notes[:4] == ["A tiny table", "1,234 pairs", "First note.", "Of 100 % & more."]


def test_a_note_of_two_lines_has_the_room_of_two():
    small = table()
    sheet = load_workbook(io.BytesIO(xlsx_bytes([type(small)("t", "T", small.frame, small.columns, ("word " * 30,))])))["Notes"]
    assert [sheet.row_dimensions[number].height or DEFAULT_HEIGHT for number in (1, 2)] == [15, 30]


def test_no_cell_of_a_workbook_is_a_formula():
    book = load_workbook(io.BytesIO(xlsx_bytes([table()])))
    assert book["tiny"]["A3"].data_type == "s"
    assert book["tiny"]["A3"].value == FORMULA
    assert book["tiny"]["A3"].quotePrefix


def test_a_workbook_is_the_same_file_whenever_it_is_made():
    first = xlsx_bytes([table()])
    assert xlsx_bytes([table()]) == first
    with zipfile.ZipFile(io.BytesIO(first)) as archive:
        assert b"1980-01-01" in archive.read("docProps/core.xml")
        assert str(datetime.now().year).encode() not in archive.read("docProps/core.xml")
        assert {entry.date_time[0] for entry in archive.infolist()} == {1980}


def test_latex_escapes_every_special_character():
    text = latex(table())
    assert r"50 \% of R\&D\_\$x \{a\} \#1 \textasciitilde{} \textasciicircum{} \textbackslash{} ''q'' $<$b$>$ {[}c{]}" in text
    assert r"0.163 {[}0.151, 0.176{]}" in text


def test_latex_has_the_rules_of_booktabs_and_the_notes_below():
    text = latex(table())
    assert [text.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 1, 1]
    assert text.index(r"\bottomrule") < text.index("First note.") < text.index(r"Of 100 \% \& more.")


def test_a_table_longer_than_a_page_repeats_its_head():
    small = table()
    long = pd.concat([small.frame] * 20, ignore_index=True)
    text = latex(type(small)(small.name, small.title, long, small.columns, small.notes))
    assert r"\begin{longtable}" in text
    assert r"\endhead" in text


def test_texts_that_are_broken_into_lines_count_as_such_when_a_table_is_taller_than_a_page():
    small = table()
    rows = pd.concat([small.frame] * 10, ignore_index=True).assign(organ="a question of many words " * 4)
    assert len(rows) < 40
    assert r"\begin{longtable}" in latex(type(small)(small.name, small.title, rows, small.columns))
    assert r"\begin{longtable}" not in latex(type(small)(small.name, small.title, rows.assign(organ="heart"), small.columns))


def test_a_table_without_a_row_says_so_on_paper_and_is_empty_for_machines():
    empty = type(table())("none", "Nothing", table().frame.head(0), table().columns)
    assert "none &  &  \\\\" in latex(empty)
    assert "none" in html_table(empty)
    assert pd.read_csv(io.BytesIO(csv_table(empty))).empty


def test_a_row_of_a_workbook_has_room_for_the_lines_of_its_texts():
    small = table()
    long = type(small)("t", "T", small.frame.assign(organ=["heart", "word " * 30, "x"]), small.columns)
    sheet = load_workbook(io.BytesIO(xlsx_bytes([long])))["t"]
    assert [sheet.row_dimensions[number].height or DEFAULT_HEIGHT for number in (2, 3, 4)] == [15, 45, 15]


def test_markdown_cannot_break_out_of_a_cell():
    rows = [line for line in markdown(table()).splitlines() if line.startswith("|")]
    assert len(rows) == 5
    assert r"\|" in rows[4]
    assert r"\<b\>" in rows[4]


def test_html_holds_text_as_text():
    page = html_table(table())
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert '<td class="decimal" dir="auto">0.163 [0.151, 0.176]</td>' in page


def test_json_has_full_precision_null_for_unknown_and_says_of_what_run():
    told = json.loads(json_table(table(), RUN))
    assert (told["run"], told["digest"]) == (RUN.key, RUN.digest)
    assert told["rows"][0] == {"organ": "heart", "pairs": 1234, "share": 0.1634, "share_low": 0.1512, "share_high": 0.1761}
    assert told["rows"][2]["pairs"] is None
    assert told["rows"][2]["organ"] == AWKWARD


def test_a_column_of_empty_texts_is_left_out_on_paper_and_kept_for_machines():
    small = table()
    empty = type(small)("e", "t", small.frame.assign(organ=["", None, ""]), small.columns)
    assert "Organ" not in markdown(empty)
    assert "Organ" in csv_table(empty).decode("utf-8-sig")


@pytest.mark.parametrize("sign", ["\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_a_formula_in_full_width_is_a_text_too(sign: str):
    assert csv_text(pd.DataFrame({"a": [f"{sign}cmd"]})) == f"a\n'{sign}cmd\n"
    assert plain_cell(f"'{sign}cmd") == f"{sign}cmd"


AWKWARD_TEXTS = st.text(alphabet="\r\n\",;=' \u2028\ta1")


@given(st.lists(st.text() | AWKWARD_TEXTS))
def test_a_csv_has_every_text_but_its_control_characters_in_a_row_of_its_own(texts: list[str]):
    rows = list(csv.reader(io.StringIO(csv_text(pd.DataFrame({"text": texts, "n": range(len(texts))})), newline="")))
    assert [(plain_cell(text), int(n)) for text, n in rows[1:]] == [(printable(text), n) for n, text in enumerate(texts)]


def test_control_characters_do_not_reach_a_csv_and_hide_no_formula():
    assert csv_text(pd.DataFrame({"a\x00": ["x\x00y\x1b", "\x00=cmd"]})) == "a \nx y \n =cmd\n"


@pytest.mark.parametrize("address", ["http://x.test", "https://x.test", "www.x.test", "a@x.test", "HTTP://X.TEST"])
def test_a_bare_address_in_markdown_is_broken_by_a_character_that_nobody_sees(address: str):
    written = escape_markdown(f"see {address} now")
    assert address not in written
    assert written.replace("\u2060", "") == f"see {address} now"


def test_the_key_of_a_run_in_markdown_can_be_copied_into_a_command():
    assert escape_markdown("run = tiny@ee661f73") == "run = tiny@ee661f73"
