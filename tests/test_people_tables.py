"""The reader of people's tables: cells as the file has them, or a sentence that says what cannot be told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import AuditError, QuestionsError
from audit.people_tables import (
    PeopleTable,
    TableSource,
    alike,
    cell_of,
    csv_lines,
    csv_table,
    csv_text,
    decimal_number,
    json_records,
    plain_name,
    strict_json,
    table_of,
    text_lines,
    visible,
)

SOURCE = TableSource("beds.csv", "Nothing was counted.")
WARD, BEDS = "ward", "beds"
KNOWN = (WARD, BEDS, "note").__contains__


def read(text: str | bytes, known: object = KNOWN) -> PeopleTable:
    data = text if isinstance(text, bytes) else text.encode()
    return csv_table(data, SOURCE, known)  # type: ignore[arg-type]


def cells(text: str | bytes) -> list[list[str]]:
    return [list(row.cells.values()) for row in read(text).rows]


def refused(text: str | bytes) -> str:
    with pytest.raises(AuditError, match=r"^beds\.csv.*Nothing was counted\.") as caught:
        read(text)
    return str(caught.value)


@pytest.mark.parametrize("table", [
    "ward,beds,note\nNorth,12,\n",
    "ward;beds;note\nNorth;12;\n",
    "ward\tbeds\tnote\nNorth\t12\t\n",
    "sep=;\r\nward;beds;note\r\nNorth;12;\r\n",
    "SEP=,\nward,beds,note\nNorth,12,\n",
    '"sep=|"\nward|beds|note\nNorth|12|\n',
    "sep=;;;\nward;beds;note\nNorth;12;\n",
    "ward, beds, note\nNorth, 12,\n",
    "Ward , BEDS,\u00a0note\u200b\nNorth,12,\n",
    "ward,beds,note\nNorth,12,\n,,\n\n , ,\n",
    "\n\nward,beds,note\n\nNorth,12,\n",
    "ward,beds,note,\nNorth,12,,\n",
    "ward,beds,note\rNorth,12,\r",
    ",ward,beds,note\n0,North,12,\n",
])  # fmt: skip
def test_a_table_is_the_same_from_any_spreadsheet(table: str) -> None:
    assert [row.cells for row in read(table).rows] == [{"ward": "North", "beds": "12", "note": ""}]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_no_part_of_the_first_name(encoding: str) -> None:
    assert cells("ward,beds\nÄrzte,3\n".encode(encoding)) == [["Ärzte", "3"]]


def test_a_separator_is_found_from_the_names_and_never_from_values() -> None:
    assert cells("ward;note\n2,5;a,b,c,d\n") == [["2,5", "a,b,c,d"]]
    # Without a known name, the table is read as whoever wrote it seems to have meant it
    assert list(csv_table(b"x;y\n1,2;3\n", SOURCE, KNOWN).columns) == ["x", "y"]


def test_two_separators_that_both_give_known_names_are_refused() -> None:
    assert "row 1: the columns may be separated by commas or semicolons" in refused("ward,beds;note\n1,2;3\n")


@pytest.mark.parametrize(("table", "fault"), [
    ("ward,beds,beds\nN,1,2\n", "row 1: column 'beds' appears twice"),
    ("ward,Beds,beds \nN,1,2\n", "row 1: columns 'Beds' and 'beds' have the same name"),
    ("ward,be-ds,Be Ds\nN,1,2\n", "columns 'be-ds' and 'Be Ds' have the same name"),
    ("ward,beds\nN,1\nS\n", "row 3: it has 1 cells, and the first row names 2 columns"),
    ("ward,beds\nN,1\n\nS,2,big\n", "row 4: it has 3 cells, and the first row names 2 columns; 'big' is in none of them"),
    ("sep=;\nward;beds\nS;2;3\n", "row 2: it has 3 cells"),
    ("ward,,beds\nN,x,1\n", "row 1: column 2 has no name, but texts such as 'x'"),
    ('ward,beds\nN,"1\n', "row 2: cannot be read as a CSV table (unexpected end of data)"),
    ("", "cannot be read as a CSV table (it is empty)"),
    (b"ward\nZ\xfcrich\n", "cannot be read as a CSV table (near row 2 the text is not UTF-8)"),
    ("ward,beds\nN,1\n".encode("utf-16-le"), "null characters"),
    (b"PK\x03\x04ward", "it is a workbook"),
])  # fmt: skip
def test_what_cannot_be_told_is_refused_with_its_place(table: str | bytes, fault: str) -> None:
    assert fault in refused(table)


def test_empty_cells_behind_the_last_column_are_named() -> None:
    table = read("ward,beds\nN,1,\nS,2,,\n")
    assert [list(row.cells.values()) for row in table.rows] == [["N", "1"], ["S", "2"]]
    assert table.notes == ("2 rows end with a comma (or other separator) more than the first row; the empty cells behind it were "
                           "ignored.",)  # fmt: skip


def test_row_numbers_are_those_of_a_spreadsheet() -> None:
    assert [row.place for row in read('sep=;\nward;note\nN;"two\nlines"\n;\nS;x\n').rows] == ["row 2", "row 4"]


def test_a_workbooks_missing_last_cells_are_empty_where_the_caller_says_so() -> None:
    table = table_of([["ward", "beds"], ["N"]], SOURCE, fill=True)
    assert table.rows[0].cells == {"ward": "N", "beds": ""}


def test_a_refusal_is_of_the_callers_class() -> None:
    with pytest.raises(QuestionsError):
        csv_table(b"", TableSource("q.csv", "Nothing was written.", QuestionsError), KNOWN)


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
shown = st.one_of(
    texts, st.sampled_from(["=1+1", "'=1", "''=", "+4", "-1", "@x", "a\rb", "a\r\nb", '"', " x ", ",", ";", "\t", "1,5"])
)
names = st.lists(st.sampled_from([*map("c{}".format, range(6)), "ward"]), min_size=2, max_size=6, unique=True)


@given(st.data(), names, st.sampled_from([",", ";", "\t"]), st.booleans())
def test_what_was_rendered_is_read_back_unchanged(data: st.DataObject, columns: list[str], separator: str, named: bool) -> None:
    row = st.lists(shown, min_size=len(columns), max_size=len(columns)).filter(lambda row: any(map(visible, row)))
    rows = data.draw(st.lists(row, max_size=6))
    text = (f"sep={separator}\n" if named else "") + csv_text(columns, rows, separator)
    table = table_of(csv_lines(text, SOURCE, {*columns}.__contains__), SOURCE)
    assert list(table.columns) == columns
    assert [list(row.cells.values()) for row in table.rows] == rows


@given(st.lists(st.lists(shown, max_size=5), max_size=5))
def test_any_table_is_read_with_each_of_its_texts_or_refused(lines: list[list[str]]) -> None:
    try:
        table = table_of(lines, SOURCE)
    except AuditError:
        return
    body = [line for line in lines if any(map(visible, line))][1:]
    kept = [cell for row in table.rows for cell in row.cells.values() if visible(cell)]
    row_numbers = len(body) if any("counts the rows" in note for note in table.notes) else 0
    assert len(kept) + row_numbers == sum(bool(visible(cell)) for line in body for cell in line)


@given(st.text())
def test_what_nobody_can_see_changes_no_name(first: str) -> None:
    assert plain_name(plain_name(first)) == plain_name(first)
    assert plain_name(f"\u200b {first}\u00a0") == plain_name(first)


def test_ids_that_a_reader_takes_for_one_are_found() -> None:
    names_found = ["Ana", "ben", "ana", "7", "7.0", "07", "x\u200by", "xy", "a b", "a\u00a0b", "e\u0301", "é"]
    assert list(alike(names_found)) == [("Ana", "ana"), ("7", "7.0"), ("x\u200by", "xy"), ("a b", "a\u00a0b"), ("e\u0301", "é")]


@pytest.mark.parametrize(("text", "number"), [("1,5", 1.5), ("1.5", 1.5), ("1234,5678", 1234.5678), ("7", 7), ("-1,25", -1.25)])
def test_a_decimal_comma_is_read_where_it_can_only_be_one(text: str, number: float) -> None:
    assert decimal_number(text) == number


@pytest.mark.parametrize("text", ["1,500", "1.500,5", "few", "", "1,,5"])
def test_what_may_be_two_numbers_is_none(text: str) -> None:
    assert decimal_number(text) != decimal_number(text)


def test_only_line_feeds_end_a_line() -> None:
    assert text_lines("a\u2028b\r\n\n  \nc\u0085d\x0be\rf\n") == [(1, "a\u2028b"), (4, "c\u0085d\x0be\rf")]


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '[{"b": {"a": 1, "c": 2, "a": 3}}]', '{"a": [[{"a": 1, "a": 2}]]}'])
def test_a_key_that_appears_twice_is_refused_however_deep_it_is(text: str) -> None:
    with pytest.raises(ValueError, match="the key 'a' appears twice"):
        strict_json(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_json_without_a_repeated_key_is_read_as_it_is(value: object) -> None:
    assert strict_json(json.dumps(value)) == value


@pytest.mark.parametrize(("name", "content", "fault"), [
    ("x.json", '[{"a": 1}', "cannot be read as JSON"),
    ("x.json", '{"a": [1], "a": [2]}', "the key 'a' appears twice"),
    ("x.json", '{"a": [1], "b": [1, 2]}', "a list of the same length for each column"),
    ("x.json", "3", "a list of records was expected"),
    ("x.jsonl", '{"a": 1}\n{"a": \n', "line 2: cannot be read as JSON"),
    ("x.json", "[" * 100_000, "cannot be read as JSON"),
    ("y.json", None, "cannot be read as JSON (no such file"),
])  # fmt: skip
def test_json_that_is_no_table_is_refused(tmp_path: Path, name: str, content: str | None, fault: str) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(AuditError) as caught:
        json_records(tmp_path / name, TableSource(name, "Nothing was counted."))
    assert fault in str(caught.value)


def test_a_number_is_the_same_cell_however_json_writes_it() -> None:
    assert [cell_of(value) for value in (1, 1.0, 1.5, None, float("nan"), True, ["x"], ["x", "y"])] == [
        "1", "1", "1.5", "", "", "true", "x", '["x", "y"]',
    ]  # fmt: skip
