"""Marked sentences in packets: they leave with the rating and come back with it; other words are refused."""

from __future__ import annotations

import csv
import io

import pytest

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.rationales import MarkedSentence, marked_texts
from annotation.label_store.results import assignment_rows
from annotation.schemes import HEAD_TO_HEAD, PAIRS
from annotation.studies.packet_reader import read_lines
from annotation.studies.packets import COLUMNS, import_packet, marked_lines, packet_csv, packet_xlsx, sentences_of_lines
from tests.support.studies import NOW, head_to_head_of, item, rate, study_of

ALDER = "Drink two litres a day.\nAvoid  grapefruit. Call us at 38.5 °C. Avoid grapefruit."
BIRCH = "Drink one litre a day."


def as_rows(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))


def as_csv(rows: list[dict[str, str]], without: tuple[str, ...] = ()) -> bytes:
    buffer = io.StringIO(newline="")
    names = [name for name in rows[0] if name not in without]
    writer = csv.DictWriter(buffer, names, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue().encode()


def filled(store: LabelStore, annotator: str, marks: dict[str, str], label: str = "DIVERGENT") -> list[dict[str, str]]:
    """The packet with a label, and these sentences of answers a and b on whatever sides they are."""
    (row,) = as_rows(packet_csv(store, "s", annotator))
    sides = {"1": "a", "2": "b"} if "two litres" in row["answer_1"] else {"1": "b", "2": "a"}
    marked = {f"marked_{side}": marks.get(letter, "") for side, letter in sides.items()}
    return [{**row, "label": label, "significance": "low", **marked}]


def stored(store: LabelStore, annotator: str) -> list[str]:
    (row,) = [row for row in assignment_rows(store, "s") if row["annotator"] == annotator]
    return [marked_texts(row["rationale"], (row["answer_a"], row["answer_b"]), side) for side in (0, 1)]


@pytest.fixture
def one(lite: LabelStore) -> LabelStore:
    study_of(lite, [item(1, answer_a=ALDER, answer_b=BIRCH)])
    return lite


def test_sentences_come_back_on_the_sides_of_each_annotator(one: LabelStore) -> None:
    for name in ("ana", "ben"):
        rows = filled(one, name, {"a": "Drink two litres a day.\nCall us at 38.5 °C.", "b": BIRCH})
        assert import_packet(one, "s", name, "p.csv", as_csv(rows), NOW).stored == 1
        assert stored(one, name) == ["Drink two litres a day.\nCall us at 38.5 °C.", BIRCH]


def test_a_packet_that_is_imported_again_changes_nothing_and_other_sentences_are_a_revision(one: LabelStore) -> None:
    import_packet(one, "s", "ana", "p.csv", as_csv(filled(one, "ana", {"b": BIRCH})), NOW)
    again = packet_csv(one, "s", "ana")
    assert import_packet(one, "s", "ana", "p.csv", again, NOW).unchanged == 1
    assert import_packet(one, "s", "ana", "p.csv", as_csv(filled(one, "ana", {"a": "Avoid grapefruit."})), NOW).stored == 1
    assert stored(one, "ana") == ["Avoid  grapefruit.", ""]


def test_a_packet_whose_columns_of_marks_were_deleted_is_refused_and_takes_no_marks_away(one: LabelStore) -> None:
    rows = filled(one, "ana", {"b": BIRCH})
    import_packet(one, "s", "ana", "p.csv", as_csv(rows), NOW)
    with pytest.raises(StudyError, match="column 'marked_1' is missing"):
        import_packet(one, "s", "ana", "p.csv", as_csv(rows, without=("marked_1", "marked_2")), NOW)
    assert stored(one, "ana") == ["", BIRCH]


def test_the_workbook_has_the_marked_sentences_too(one: LabelStore) -> None:
    import_packet(one, "s", "ana", "p.csv", as_csv(filled(one, "ana", {"b": BIRCH})), NOW)
    lines = read_lines("p.xlsx", packet_xlsx(one, "s", "ana"))
    row = dict(zip(lines[0], lines[1], strict=False))
    assert {row.get("marked_1", ""), row.get("marked_2", "")} == {"", BIRCH}


@pytest.mark.parametrize(
    "line", ["Drink three litres a day.", "Drink two litres", "Avoid grapefruit.\nAvoid grapefruit.\nAvoid grapefruit."]
)
def test_what_is_no_sentence_of_the_answer_is_refused_with_row_and_column(one: LabelStore, line: str) -> None:
    with pytest.raises(StudyError, match=r"p\.csv, row 2, column marked_[12]: .* is not a sentence of this answer"):
        import_packet(one, "s", "ana", "p.csv", as_csv(filled(one, "ana", {"a": line})), NOW)
    assert stored(one, "ana") == ["", ""]


def test_marks_without_a_label_are_refused(one: LabelStore) -> None:
    rows = [{**filled(one, "ana", {"b": BIRCH})[0], "label": "", "significance": ""}]
    with pytest.raises(StudyError, match="column label: it is empty, but another column is filled in"):
        import_packet(one, "s", "ana", "p.csv", as_csv(rows), NOW)


def test_sentences_that_follow_each_other_may_stand_in_one_line() -> None:
    found = sentences_of_lines("Avoid grapefruit. Call us at 38.5 °C.", ALDER, 0)
    assert [ALDER[one.start : one.end] for one in found] == ["Avoid  grapefruit.", "Call us at 38.5 °C."]
    assert marked_lines(found, (ALDER, BIRCH)) == ["Avoid grapefruit.\nCall us at 38.5 °C.", ""]
    assert sentences_of_lines(" \n\n", ALDER, 0) == []


def test_a_head_to_head_packet_has_them_for_its_answers(lite: LabelStore) -> None:
    head_to_head_of(lite, 1)
    assert COLUMNS[PAIRS.name][-2:] == ("marked_1", "marked_2")
    assert COLUMNS[HEAD_TO_HEAD.name][-2:] == ("marked_a", "marked_b")
    (row,) = as_rows(packet_csv(lite, "s", "ana"))
    row |= {"label": "A", "marked_b": row["answer_b"]}
    assert import_packet(lite, "s", "ana", "p.csv", as_csv([row]), NOW).stored == 1
    assert sorted(stored(lite, "ana")) == ["", row["answer_b"]]


def test_what_was_marked_on_the_page_is_in_the_packet(one: LabelStore) -> None:
    rate(one, "ana", 1, "ABSENT", rationale=(MarkedSentence(0, 0, 22 if "one litre" in _first(one) else 23),))
    (row,) = as_rows(packet_csv(one, "s", "ana"))
    assert row["marked_1"].startswith("Drink ")
    assert row["marked_2"] == ""


def _first(store: LabelStore) -> str:
    return as_rows(packet_csv(store, "s", "ana"))[0]["answer_1"]
