"""A packet is read back as it was written, reports its faults, and never contains a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook, load_workbook
from sqlalchemy import update

from annotation.label_store.assignments import Choice, list_tasks
from annotation.label_store.engine import LabelStore, StudyError, open_label_store
from annotation.label_store.ratings import NewRating, add_rating, save_draft
from annotation.label_store.results import assignment_rows
from annotation.label_store.schema import assignments
from annotation.label_store.stored_values import storable_text
from annotation.schemes import PAIRS
from annotation.studies.packets import COLUMNS, MAX_XLSX_CELL, PacketImport, import_packet, packet_csv, packet_xlsx
from audit.errors import AuditError
from audit.formatting import plain_cell, safe_cell
from tests.support.studies import NOW, history, item, rate, rating_history, seat_at, study_of

PACKET_COLUMNS = COLUMNS[PAIRS.name]
MAKERS = {"p.csv": packet_csv, "p.xlsx": packet_xlsx}
NASTY = [
    '=HYPERLINK("http://x","y")',
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "'=1",
    "''+",
    "_x0041_x0042_",
    "#N/A",
    "1e5",
    "007",
    "a\r\nb",
    " x ",
]


def fill(data: bytes, change: Callable[[dict[str, str]], None]) -> bytes:
    """A packet as an annotator fills it in: every row through `change`."""
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    for row in rows:
        change(row)
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def imported(store: LabelStore, data: bytes, name: str = "p.csv", annotator: str = "ana") -> PacketImport:
    return import_packet(store, "s", annotator, name, data, NOW)


def refused(store: LabelStore, data: bytes, name: str = "p.csv") -> str:
    with pytest.raises(AuditError) as caught:
        imported(store, data, name)
    assert rating_history(store, "s") == []
    return str(caught.value)


def as_xlsx(data: bytes) -> bytes:
    book = Workbook()
    for line in csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")):
        book.active.append(line)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


@pytest.mark.parametrize("name", MAKERS)
def test_a_completed_packet_is_stored_and_importing_it_again_changes_nothing(store: LabelStore, name: str) -> None:
    study_of(store, 3)

    def answer(row: dict[str, str]) -> None:
        if row["question"] != "Question 3?":
            row.update(label="Divergent", significance="HIGH", unsure="x", comment="=1+1, öÖ")

    filled = fill(packet_csv(store, "s", "ana"), answer)
    data = filled if name.endswith("csv") else as_xlsx(filled)
    assert imported(store, data, name) == PacketImport(stored=2, unchanged=0, empty=1)
    assert imported(store, data, name) == PacketImport(stored=0, unchanged=2, empty=1)
    assert seat_at(store, "ana", 1).rated == Choice("DIVERGENT", "high", True, "=1+1, öÖ")
    assert {row["milliseconds"] for row in rating_history(store, "s")} == {None}
    assert imported(store, MAKERS[name](store, "s", "ana"), name) == PacketImport(0, 2, 1)


def test_why_the_advice_differs_is_read_from_a_packet_and_never_lost_by_one_without_the_column(lite: LabelStore) -> None:
    study_of(lite, 2)
    rate(lite, "ana", 1, "DIVERGENT", "high", difference="other time")
    assert imported(lite, packet_csv(lite, "s", "ana")) == PacketImport(stored=0, unchanged=1, empty=1)
    earlier = fill(packet_csv(lite, "s", "ana"), lambda row: row.pop("difference"))
    assert imported(lite, earlier) == PacketImport(stored=0, unchanged=1, empty=1)
    stated = fill(
        packet_csv(lite, "s", "ana"), lambda row: row.update(label="DIVERGENT", significance="high", difference="Timing")
    )
    assert imported(lite, stated) == PacketImport(stored=1, unchanged=1, empty=0)
    assert seat_at(lite, "ana", 2).rated == Choice("DIVERGENT", "high", difference="other time")


def test_a_packet_with_another_label_is_a_revision(lite: LabelStore) -> None:
    study_of(lite, 1)
    rate(lite, "ana", 1, "ABSENT")
    assert imported(lite, fill(packet_csv(lite, "s", "ana"), lambda row: row.update(label="consistent"))).stored == 1
    assert [r.label for r in history(lite, seat_at(lite, "ana", 1).assignment_id, "ana")] == ["ABSENT", "CONSISTENT"]


def test_a_draft_is_not_a_rating_and_is_in_no_packet(lite: LabelStore) -> None:
    study_of(lite, 1)
    save_draft(lite, "ana", seat_at(lite, "ana", 1).assignment_id, Choice("DIVERGENT", None, False, "half a thought"), NOW)
    assert b"half a thought" not in packet_csv(lite, "s", "ana")


text_of_people = st.one_of(
    st.sampled_from(NASTY), st.text(st.characters(codec="utf-8"), max_size=40), st.text("=+-@'\t\r\n_x0041", max_size=12)
)


TRIPLES = st.lists(st.tuples(text_of_people, text_of_people, text_of_people, st.booleans()), min_size=5, max_size=30)


@pytest.mark.slow
@given(TRIPLES)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("name", MAKERS)
def test_every_text_is_read_back_unchanged(tmp_path: Path, name: str, rows: list[tuple[str, str, str, bool]]) -> None:
    store = open_label_store(f"sqlite:///{Path(mkdtemp(dir=tmp_path)) / 'round.db'}")
    study_of(store, [item(n, question=storable_text(q), answer_a=storable_text(a)) for n, (q, a, _, _) in enumerate(rows)])
    empty = list_tasks(store, "s", "ana")
    with store.begin() as tx:
        for task, (_, _, comment, flagged) in zip(empty, rows, strict=True):
            add_rating(
                tx,
                "ana",
                NewRating(task.assignment_id, Choice("ABSENT", None, flagged, storable_text(comment)), task.assignment_id),
                NOW,
            )
    before = list_tasks(store, "s", "ana")
    assert imported(store, MAKERS[name](store, "s", "ana"), name) == PacketImport(stored=0, unchanged=len(rows), empty=0)
    assert list_tasks(store, "s", "ana") == before
    store.close()


@given(st.text())
def test_a_safe_cell_is_read_back_as_its_original_text(text: str) -> None:
    assert plain_cell(str(safe_cell(text))) == text


@given(text_of_people)
def test_no_safe_cell_begins_like_a_formula(text: str) -> None:
    assert not str(safe_cell(text)).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_no_cell_of_a_workbook_is_a_formula(lite: LabelStore) -> None:
    study_of(lite, [item(n, question=text, answer_a=text) for n, text in enumerate(NASTY)])
    sheet = load_workbook(io.BytesIO(packet_xlsx(lite, "s", "ana"))).active
    cells = [cell for line in sheet.iter_rows(min_row=2) for cell in line if cell.value is not None]
    assert {cell.data_type for cell in cells} == {"s"}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"label": "Divergant"}, "p.csv, row 2, column label: 'Divergant' is not in the vocabulary"),
        ({"label": "3"}, "row 2, column label: '3' is not in the vocabulary"),
        ({"label": "widersprüchlich"}, "row 2, column label: 'widersprüchlich' is not in the vocabulary"),
        ({"label": "DIVERGENT"}, "row 2, column significance: DIVERGENT needs a significance: low, medium, high."),
        ({"label": "ABSENT", "significance": "low"}, "row 2, column significance: ABSENT has no significance"),
        ({"label": "DIVERGENT", "significance": "huge"}, "row 2, column significance: 'huge' is not in the vocabulary"),
        ({"label": "ABSENT", "difference": "timing"}, "row 2, column difference: ABSENT has no reason why the advice differs"),
        ({"label": "DIVERGENT", "difference": "mood"}, "row 2, column difference: 'mood' is not in the vocabulary"),
        ({"label": "ABSENT", "unsure": "maybe"}, "row 2, column unsure: 'maybe' is not yes or no"),
        ({"comment": "but no label"}, "row 2, column label: it is empty, but another column is filled in"),
        ({"label": "ABSENT", "comment": "x" * 4_001}, "row 2, column comment: it has 4,001 characters"),
        ({"label": "ABSENT", "item": "zzz"}, "row 2, column item: 'zzz' is not an item of this packet"),
        ({"label": "ABSENT", "question": "Question 9?"}, "row 2, column question: this is not the question of the item"),
    ],
)
def test_a_fault_is_reported_by_row_and_column_and_nothing_is_stored(
    lite: LabelStore, wrong: dict[str, str], message: str
) -> None:
    study_of(lite, 3)
    rows = iter(range(3))
    message_text = refused(
        lite, fill(packet_csv(lite, "s", "ana"), lambda row: row.update(wrong if next(rows) == 0 else {"label": "absent"}))
    )
    assert message in message_text
    assert message_text.endswith("No rating was stored. Correct the file and import it again.")


def test_one_invalid_row_rejects_the_whole_packet(lite: LabelStore) -> None:
    study_of(lite, 30)
    message_text = refused(
        lite, fill(packet_csv(lite, "s", "ana"), lambda row: row.update(label="agrees" if row["order"] != "7" else "absent"))
    )
    assert message_text.count("column label") == 20
    assert "... and 9 more." in message_text


def test_a_duplicate_item_is_a_fault(lite: LabelStore) -> None:
    study_of(lite, 2)
    first = packet_csv(lite, "s", "ana").decode().splitlines()
    assert "already appears in row 2" in refused(lite, "\r\n".join([*first, first[1]]).encode())


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("p.csv", b"", "it is empty"),
        ("p.csv", b"item,label\n", "row 1: column 'order' is missing"),
        ("p.csv", ",".join([*PACKET_COLUMNS, "label"]).encode(), "row 1: column 'label' appears twice"),
        ("p.csv", ",".join([*PACKET_COLUMNS, "my notes"]).encode(), "row 1: column 'my notes' is not one of a packet"),
        ("p.csv", b"item\n\xff\xfe", "near row 2 the text is not UTF-8"),
        ("p.ods", b"", "Allowed: .csv and .xlsx"),
        ("p.xlsx", b"not a zip", "cannot be read as a workbook"),
        ("p.csv", b"x" * (20 * 2**20 + 1), "larger than 20 MB"),
    ],
)
def test_a_file_that_is_not_a_packet_is_refused(lite: LabelStore, name: str, data: bytes, message: str) -> None:
    study_of(lite, 1)
    assert message in refused(lite, data, name)


@pytest.mark.parametrize(("separator", "above", "encoding"), [
    (";", "", "utf-8"), ("\t", "", "utf-8-sig"), (";", "sep=;\r\n", "utf-8"), (",", "sep=,\n", "utf-8"), ("\t", "", "utf-16"),
])  # fmt: skip
def test_a_packet_from_a_spreadsheet_of_any_country_is_read(lite: LabelStore, separator: str, above: str, encoding: str) -> None:
    study_of(lite, 1)
    (header, row) = csv.reader(io.StringIO(packet_csv(lite, "s", "ana").decode("utf-8-sig"), newline=""))
    row[PACKET_COLUMNS.index("label")] = "complementary"
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=separator).writerows([[name.title() for name in header], row, [""] * len(row)])
    assert imported(lite, (above + out.getvalue()).encode(encoding)).stored == 1
    assert seat_at(lite, "ana", 1).rated.label == "COMPLEMENTARY"


def test_a_row_without_its_last_empty_cells_is_read_and_one_with_a_text_too_many_is_not(lite: LabelStore) -> None:
    study_of(lite, 1)
    (header, row) = csv.reader(io.StringIO(packet_csv(lite, "s", "ana").decode("utf-8-sig"), newline=""))
    row[PACKET_COLUMNS.index("label")] = "absent"
    out = io.StringIO(newline="")
    csv.writer(out).writerows([header, [*row, "", "my note"]])
    assert "row 2: it has 16 cells, and the first row names 14 columns; 'my note' is in none" in refused(
        lite, out.getvalue().encode()
    )
    csv.writer(out := io.StringIO(newline="")).writerows([header, row[: PACKET_COLUMNS.index("label") + 1]])
    assert imported(lite, out.getvalue().encode()).stored == 1


@pytest.mark.parametrize("study_id", ["2026", "1e3", "may"])
def test_no_id_of_an_item_looks_like_a_number_or_a_date(lite: LabelStore, study_id: str) -> None:
    # About one in 250 ids of 12 hexadecimal digits is a number such as 404614e6
    study_of(lite, 300, study_id=study_id)
    ids = [row["seat_id"] for row in assignment_rows(lite, study_id)]
    assert all(re.fullmatch("q[0-9a-f]{12}", name) for name in ids)
    assert len(set(ids)) == len(ids) == 600


@pytest.mark.parametrize("number", ["4.04614E+11", "4,04614E+11", "1.23e+17", "404614000000", "12.03.2026"])
def test_an_id_that_a_spreadsheet_took_for_a_number_is_explained(lite: LabelStore, number: str) -> None:
    study_of(lite, 1)
    sentence = refused(lite, fill(packet_csv(lite, "s", "ana"), lambda row: row.update(item=number, label="absent")))
    assert f"row 2, column item: '{number}' is a number: a spreadsheet took the item's id for one" in sentence


def test_a_packet_with_ids_of_an_older_version_is_still_read(lite: LabelStore) -> None:
    study_of(lite, 1)
    with lite.begin() as tx:
        tx.execute(update(assignments).where(assignments.c.annotator == "ana").values(seat_id="40461e000012"))
    assert imported(lite, fill(packet_csv(lite, "s", "ana"), lambda row: row.update(label="absent"))).stored == 1


def test_the_packet_of_another_annotator_is_refused(lite: LabelStore) -> None:
    study_of(lite, 2)
    data = fill(packet_csv(lite, "s", "ben"), lambda row: row.update(label="absent"))
    assert "is not an item of this packet" in refused(lite, data)


def test_a_text_too_long_for_a_cell_is_not_cut_silently(lite: LabelStore) -> None:
    study_of(lite, [item(1, answer_a="x" * (MAX_XLSX_CELL + 1))])
    with pytest.raises(StudyError, match="Export it as CSV"):
        packet_xlsx(lite, "s", "ana")
    assert b"x" * (MAX_XLSX_CELL + 1) in packet_csv(lite, "s", "ana")


def test_sides_of_a_packet_are_those_of_the_page(lite: LabelStore) -> None:
    study_of(lite, 20)
    rows = csv.DictReader(io.StringIO(packet_csv(lite, "s", "ben").decode("utf-8-sig"), newline=""))
    shown = {row["item"]: (row["answer_1"], row["answer_2"]) for row in rows}
    assert shown == {task.assignment_id: (task.first, task.second) for task in list_tasks(lite, "s", "ben")}
    assert len(assignment_rows(lite, "s")) == 40


def test_a_workbook_has_menus_locked_texts_and_the_rubric(lite: LabelStore) -> None:
    study_of(lite, 2)
    book = load_workbook(io.BytesIO(packet_xlsx(lite, "s", "ana")))
    sheet, head = book["packet"], list(PACKET_COLUMNS)
    menus = {str(menu.sqref): menu.formula1 for menu in sheet.data_validations.dataValidation}
    letters = {name: sheet.cell(1, head.index(name) + 1).column_letter for name in head}
    assert menus[f"{letters['label']}2:{letters['label']}3"] == f'"{",".join(PAIRS.words)}"'
    assert menus[f"{letters['significance']}2:{letters['significance']}3"] == '"low,medium,high"'
    assert menus[f"{letters['unsure']}2:{letters['unsure']}3"] == '"yes,no"'
    assert sheet.protection.sheet
    unlocked = {name for name, letter in letters.items() if not sheet[f"{letter}2"].protection.locked}
    assert unlocked == {"label", "significance", "difference", "unsure", "comment", "marked_1", "marked_2"}
    rubric = [str(cell.value) for row in book["rubric"].iter_rows() for cell in row if cell.value]
    assert {*PAIRS.words} <= {*rubric}
    assert any("Can one patient follow both answers" in text for text in rubric)


@pytest.mark.parametrize(("value", "merged", "fault"), [
    (datetime(2026, 3, 1), "", "row 2, column label: '2026-03-01 00:00:00' is not in the vocabulary"),
    ("ABSENT", "H2:H3", "p.xlsx, row 2, column H: cells H2:H3 are merged"),
])  # fmt: skip
def test_a_date_as_a_label_and_merged_cells_are_refused(lite: LabelStore, value: object, merged: str, fault: str) -> None:
    study_of(lite, 2)
    book = load_workbook(io.BytesIO(packet_xlsx(lite, "s", "ana")))
    sheet = book["packet"]
    sheet.cell(2, PACKET_COLUMNS.index("label") + 1).value = value
    if merged:
        sheet.merge_cells(merged)
    out = io.BytesIO()
    book.save(out)
    assert fault in refused(lite, out.getvalue(), "p.xlsx")
