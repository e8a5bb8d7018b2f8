"""Ratings in a labels file are used or named: none is lost, whatever tool or spreadsheet wrote the file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.agreement.tables import rater_name
from annotation.ratings.labels_file import LabelsFile, read_labels
from annotation.ratings.table import GOLD, Ratings, ratings_from
from audit.errors import AuditError
from audit.people_tables import plain_name
from audit.vocabulary import LABELS

Given = Mapping[tuple[str, str], str]
"""(item, rater) -> label"""
WORDS = list(map(str, LABELS))


def read(folder: Path, name: str, content: object) -> LabelsFile:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else str(content).encode())
    return read_labels(path)


def refused(folder: Path, name: str, content: object) -> str:
    with pytest.raises(AuditError, match="Nothing was computed") as caught:
        read(folder, name, content)
    return str(caught.value)


def used(ratings: Ratings) -> dict[tuple[str, str], str]:
    """(item, rater's column without `annotator_`) -> label"""
    return {
        (item, rater.removeprefix("annotator_")): WORDS[code]
        for rater in ratings.annotators
        for item, code in zip(ratings.items, ratings.labels[rater], strict=True)
        if code >= 0
    }


# -- any table, in any shape ---------------------------------------------------------------------------------------------


def raters_of(given_labels: Given) -> list[str]:
    return sorted({rater for _, rater in given_labels})


def items_of(given_labels: Given) -> list[str]:
    return sorted({item for item, _ in given_labels})


def rendered(rows: list[list[str]], separator: str = ",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=separator).writerows(rows)
    return out.getvalue()


def wide(given_labels: Given) -> str:
    raters = raters_of(given_labels)
    rows = [[item, *(given_labels.get((item, rater), "") for rater in raters), ""] for item in items_of(given_labels)]
    return rendered([["Item ID", *(f"Annotator {rater}" for rater in raters), "judge"], *rows], ";")


def long(given_labels: Given) -> str:
    return rendered(
        [["unit", "coder", "category"], *([item, rater, label] for (item, rater), label in given_labels.items())], "\t"
    )


def lines(given_labels: Given) -> str:
    records = ({"item": item, "user": rater, "labels": [label]} for (item, rater), label in given_labels.items())
    return "\n".join(json.dumps(record | {"text": "a\u2028b"}, ensure_ascii=False) for record in records)


def label_studio(given_labels: Given) -> str:
    return json.dumps([
        {"id": number, "data": {"item_id": item}, "annotations": [
            {"completed_by": {"email": rater}, "result": [
                {"type": "relation", "from_id": "x", "to_id": "y"},
                {"from_name": "class", "type": "choices", "value": {"choices": [label]}},
            ]}
            for (own, rater), label in given_labels.items() if own == item
        ] + [None, {"completed_by": "x", "was_cancelled": True, "result": []}, {"completed_by": "x", "result": None}]}
        for number, item in enumerate(items_of(given_labels))
    ])  # fmt: skip


def argilla(given_labels: Given) -> str:
    return json.dumps([
        {"id": item, "responses": {"label": [
            {"user_id": rater, "value": label, "status": "submitted"}
            for (own, rater), label in given_labels.items() if own == item
        ] + [{"user_id": "x", "value": "ABSENT", "status": "draft"}]}}
        for item in items_of(given_labels)
    ])  # fmt: skip


def argilla_of_users(given_labels: Given) -> str:
    return json.dumps([
        {"id": item, "responses": [
            {"user_id": rater, "values": {"label": {"value": label}}, "status": "submitted"}
            for (own, rater), label in given_labels.items() if own == item
        ] + [{"user_id": "x", "values": None, "status": "discarded"}]}
        for item in items_of(given_labels)
    ])  # fmt: skip


def argilla_table(given_labels: Given) -> str:
    rows = [["id", "label.responses", "label.responses.users"]]
    for item in items_of(given_labels):
        own = [(rater, label) for (other, rater), label in given_labels.items() if other == item]
        rows.append([item, str([label for _, label in own]), str([rater for rater, _ in own])])
    return rendered(rows)


def potato(given_labels: Given) -> str:
    rows = [["user", "instance_id", *(f"kind:::{word}" for word in WORDS)]]
    marks = ["0", "nan", "", "False", "0.0"]
    for (item, rater), label in given_labels.items():
        chosen = "1.0" if rater < "m" else label
        rows.append([rater, item, *(chosen if word == label else mark for word, mark in zip(WORDS, marks, strict=True))])
    return rendered(rows, "\t")


def doccano(given_labels: Given) -> str:
    return json.dumps([
        {"id": item, "text": "x", "annotations": [
            {"user": rater, "label": label} for (own, rater), label in given_labels.items() if own == item
        ]}
        for item in items_of(given_labels)
    ])  # fmt: skip


SHAPES: dict[str, Callable[[Given], str]] = {
    "wide.csv": wide, "long.tsv": long, "lines.jsonl": lines, "label_studio.json": label_studio, "argilla.json": argilla,
    "argilla_users.json": argilla_of_users, "argilla.csv": argilla_table, "potato.csv": potato, "doccano.json": doccano,
}  # fmt: skip
item_ids = st.sampled_from(["i1", "2", "007", "=1+1", "a b", "Zürich", "1-2", "-x"])
rater_names = st.sampled_from(["ana", "dr lee", "3", "nurse_b", "Zoë"])
tables = st.dictionaries(st.tuples(item_ids, rater_names), st.sampled_from(WORDS), min_size=2, max_size=20).filter(
    lambda given_labels: len({rater for _, rater in given_labels}) >= 2
)


@pytest.mark.slow
@given(tables)
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("name", SHAPES)
def test_no_shape_of_a_table_loses_a_rating(tmp_path: Path, name: str, given_labels: dict[tuple[str, str], str]) -> None:
    file = read(tmp_path, name, SHAPES[name](given_labels))
    names = raters_of(given_labels)
    # A wide table keeps the names of its columns; in long format raters are letters in the order of their names
    keys = {rater: rater.replace(" ", "_").casefold() if name == "wide.csv" else "abcde"[i] for i, rater in enumerate(names)}
    assert used(ratings_from(file.frame)) == {(item, keys[rater]): label for (item, rater), label in given_labels.items()}
    assert file.counts.used == len(given_labels)
    assert file.counts.in_file == len(given_labels) + sum(file.counts.left_out.values())


SURELY = ("ABSENT", "divergent")
cells_of_people = st.sampled_from(
    ["", "ABSENT", "divergent", "3", "nan", "ana", "Ana", "ben", "q1", "q1 ", "1", "1.0", "x", "true", "gold"]
)
headers = st.lists(
    st.sampled_from(["item_id", "item", "annotator", "user", "label", "choice", "annotator_a", "annotator_b", "Annotator C",
                     "annotators", "annotator_a_seconds", "judge", "gold", "ground_truth", "rater_d", "kind", "seat", ""]),
    min_size=2, max_size=7,
)  # fmt: skip


@given(headers, st.data())
@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_file_is_refused_in_a_sentence_or_every_label_in_it_is_used_or_named(
    tmp_path: Path, header: list[str], data: st.DataObject
) -> None:
    rows = data.draw(st.lists(st.lists(cells_of_people, min_size=len(header), max_size=len(header)), max_size=6))
    refusal = ""
    try:
        file = read(tmp_path, "any.csv", rendered([header, *rows]))
        ratings = ratings_from(file.frame)
    except AuditError as error:
        refusal = str(error)
    if refusal:
        assert "Nothing was computed." in refusal
        return
    in_columns = {plain_name(name): sum(row[index] in SURELY for row in rows) for index, name in enumerate(header)}
    named = sum(in_columns[name] for name in file.counts.unused_columns)
    about_items = sum(in_columns.get(name, 0) for name in ("judge", "gold", "ground_truth"))
    assert file.counts.in_file >= sum(in_columns.values()) - named - about_items
    assert len(used(ratings)) == file.counts.used == file.counts.in_file - sum(file.counts.left_out.values())


# -- raters --------------------------------------------------------------------------------------------------------------

THREE = "item_id,annotator_a,{},annotator_b,judge\nq1,ABSENT,DIVERGENT,ABSENT,ABSENT\nq2,DIVERGENT,ABSENT,ABSENT,ABSENT\n"


@pytest.mark.parametrize(
    ("column", "key"),
    [("annotator_c", "c"), ("annotator_C", "c"), ("Annotator 3", "3"), ("annotator-nurse b", "nurse_b"), ("annotatorX", "x"),
     ("ANNOTATOR_dr_Özil", "dr_özil"), (" annotator_ü\u00a0", "ü")],
)  # fmt: skip
def test_every_column_that_begins_with_annotator_is_a_rater(tmp_path: Path, column: str, key: str) -> None:
    ratings = ratings_from(read(tmp_path, "three.csv", THREE.format(column)).frame)
    assert len(ratings.annotators) == 3
    assert ratings.annotators[1].removeprefix("annotator").strip("_") == key
    assert ratings.labels[ratings.annotators[1]].tolist() == [3, 0]


def test_a_raters_significance_times_and_order_are_found_by_the_rest_of_the_name(tmp_path: Path) -> None:
    table = (
        "item_id,annotator_dr_lee,significance_dr_lee,annotator_b,annotator_b_significance,seconds_dr_lee,annotator_b_order,judge\n"
        'q1,DIVERGENT,high,DIVERGENT,low,"2,5",1,ABSENT\n'
    )
    ratings = ratings_from(read(tmp_path, "x.csv", table).frame)
    assert ratings.annotators == ("annotator_dr_lee", "annotator_b")
    assert {rater: codes.tolist() for rater, codes in ratings.significance.items()} == {
        "annotator_dr_lee": [2],
        "annotator_b": [0],
    }
    assert (ratings.seconds["annotator_dr_lee"].tolist(), ratings.order["annotator_b"].tolist()) == ([2.5], [1])


@pytest.mark.parametrize(("column", "fault"), [
    ("annotator_comment", "label 'see notes' is not in the vocabulary"),
    ("Annotator_A", "columns 'annotator_a' and 'Annotator_A' have the same name"),
    ("annotatorA", "two columns are of the rater 'a'"),
])  # fmt: skip
def test_a_column_that_cannot_be_a_rater_is_refused_by_name(tmp_path: Path, column: str, fault: str) -> None:
    table = THREE.format(column).replace("ABSENT,DIVERGENT,ABSENT,ABSENT", "ABSENT,see notes,ABSENT,ABSENT")
    with pytest.raises(AuditError, match=f"(?s){fault}.*Nothing was computed"):
        ratings_from(read(tmp_path, "x.csv", table).frame)


def test_a_column_of_numbers_among_words_may_count_raters(tmp_path: Path) -> None:
    table = (
        THREE.format("annotators")
        .replace(",DIVERGENT,ABSENT,ABSENT\n", ",2,ABSENT,ABSENT\n")
        .replace("DIVERGENT,ABSENT,A", "DIVERGENT,2,A")
    )
    with pytest.raises(AuditError, match="column annotators has numbers only and other raters gave words"):
        ratings_from(read(tmp_path, "x.csv", table).frame)


def test_labels_in_a_column_under_another_name_are_counted_and_named(tmp_path: Path) -> None:
    file = read(tmp_path, "x.csv", THREE.format("reviewer_3"))
    assert (file.counts.in_file, file.counts.used) == (6, 4)
    assert file.counts.left_out == {"labels in column reviewer_3, which is not a rater's by its name": 2}
    assert "2 left out: labels in column reviewer_3" in file.notes[-2]


@pytest.mark.parametrize("names", [("Ana", "ana"), ("ana", "ana\u200b a"), ("1", "1.0"), ("dr lee", "Dr  Lee")])
def test_names_of_one_rater_or_two_are_not_chosen_between(tmp_path: Path, names: tuple[str, str]) -> None:
    if names[1].endswith(" a"):
        names = ("ana a", "ana\u200b a")
    table = f"item,annotator,label\nq1,{names[0]},ABSENT\nq1,ben,ABSENT\nq2,{names[1]},ABSENT\n"
    assert "may be one annotator or two" in refused(tmp_path, "x.csv", table)


# -- items ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ids", [("1", "1.0"), ("a\u200bb", "ab"), ("a  b", "a b")])
def test_ids_of_one_item_or_two_are_not_chosen_between(tmp_path: Path, ids: tuple[str, str]) -> None:
    table = f"item,annotator,label\n{ids[0]},ana,ABSENT\n{ids[1]},ben,ABSENT\n"
    assert "look alike, and may be one item or two" in refused(tmp_path, "x.csv", table)


def test_what_nobody_sees_around_an_id_is_removed_with_a_note(tmp_path: Path) -> None:
    file = read(
        tmp_path, "x.csv", "item,annotator,label\nq1\u200b,ana,ABSENT\u00a0\nq1,ben,ABSENT\n\u00a0Zu\u0308rich,ben,ABSENT\n"
    )
    assert ratings_from(file.frame).items.tolist() == ["q1", "Zürich"]
    assert any("2 item ids had invisible characters around them" in note for note in file.notes)


def test_an_id_that_ends_in_a_zero_decimal_gets_a_hint(tmp_path: Path) -> None:
    file = read(tmp_path, "x.csv", "item,annotator,label\n1.0,ana,ABSENT\n1.0,ben,ABSENT\n")
    assert any("1 item ids end in .0 ('1.0')" in note for note in file.notes)
    numbers = json.dumps([{"item": 1.0, "annotator": name, "label": "ABSENT"} for name in ("ana", "ben")])
    assert any("read as 1." in note for note in read(tmp_path, "x.json", numbers).notes)


# -- gold ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("who", ["gold", "Ground Truth", "CURATION_USER", "gold-standard"])
def test_rows_of_gold_are_no_ratings(tmp_path: Path, who: str) -> None:
    table = f"item,annotator,label\nq1,ana,ABSENT\nq1,ben,DIVERGENT\nq1,{who},DIVERGENT\nq2,ana,ABSENT\nq2,ben,ABSENT\n"
    file = read(tmp_path, "x.csv", table)
    ratings = ratings_from(file.frame)
    assert len(ratings.annotators) == 2
    assert ratings.labels[GOLD].tolist() == [3, -1]
    assert file.counts.left_out == {"gold labels, which are not ratings": 1}


@pytest.mark.parametrize("column", ["gold_label", "ground_truth", "Gold Standard", "annotator_gold"])
def test_a_column_of_gold_is_no_rater_whatever_it_is_called(tmp_path: Path, column: str) -> None:
    ratings = ratings_from(read(tmp_path, "x.csv", THREE.format(column)).frame)
    assert (len(ratings.annotators), ratings.labels[GOLD].tolist()) == (2, [3, 0])


def test_two_gold_labels_of_an_item_are_refused(tmp_path: Path) -> None:
    table = "item,annotator,label\nq1,ana,ABSENT\nq1,ben,ABSENT\nq1,gold,DIVERGENT\nq1,ground_truth,ABSENT\n"
    assert "item 'q1' has two gold labels, 'DIVERGENT' and 'ABSENT'" in refused(tmp_path, "x.csv", table)
    assert "could both be the gold label" in refused(tmp_path, "x.csv", THREE.format("gold").replace("judge", "ground_truth"))


def test_a_marked_annotation_of_label_studio_is_gold(tmp_path: Path) -> None:
    answer = [{"from_name": "label", "value": {"choices": ["DIVERGENT"]}}]
    annotations = [{"completed_by": name, "result": answer, "ground_truth": name == 9} for name in (1, 2, 9)]
    file = read(tmp_path, "x.json", json.dumps([{"id": 5, "data": {}, "annotations": annotations}]))
    assert ratings_from(file.frame).labels[GOLD].tolist() == [3]
    assert (file.counts.in_file, file.counts.used) == (3, 2)


# -- one answer ----------------------------------------------------------------------------------------------------------

TWICE = [{"from_name": "label", "value": {"choices": [word]}} for word in ("ABSENT", "DIVERGENT")]


@pytest.mark.parametrize(("content", "fault"), [
    ([{"id": 3, "annotations": [{"completed_by": "ana", "result": TWICE}]}],
     "record 1 (item '3'): 'ana' answers the question 'label' twice, with 'ABSENT' and 'DIVERGENT'"),
    ([{"id": 3, "responses": {"label": [{"user_id": "u", "value": "ABSENT"}, {"user_id": "u", "value": "DIVERGENT"}]}}],
     "'u' answers the question 'label' twice"),
    ([{"id": 3, "label.responses": ["ABSENT", "DIVERGENT"], "label.responses.users": ["u"]}],
     "label.responses has 2 answers, 1 users and 2 states"),
    ([{"id": 3, "label.responses": ["ABSENT"]}], "label.responses has 1 answers, 0 users"),
    ([{"id": 3, "annotations": [{"user": 1, "label": 3}]}], "the label of an annotation is 3, a number"),
    ([{"id": 3, "annotations": ["ABSENT"]}], "an annotation is not an object"),
    ([{"id": 3, "annotations": [{"completed_by": 1, "result": "x"}]}], "the result of an annotation is not a list"),
    ([{"id": 3, "user": "ana", "label": ["ABSENT", "DIVERGENT"]}], "It has several answers, and one is allowed."),
    ([{"id": 3, "user": "ana", "label": "ABSENT", "Label ": "DIVERGENT"}], "keys 'label' and 'Label ' have the same name"),
    ([{"id": 3, "user": "CURATION_USER", "label": "ABSENT"}], "no row has a label"),
])  # fmt: skip
def test_two_answers_of_one_annotator_are_refused_and_nothing_is_a_traceback(tmp_path: Path, content: object, fault: str) -> None:
    assert fault in refused(tmp_path, "x.json", json.dumps(content))


def test_a_repeated_key_is_refused_with_the_item(tmp_path: Path) -> None:
    line = '{"item_id": "q1", "annotator": "ana", "label": "ABSENT", "label": "DIVERGENT"}'
    assert "line 2 (item 'q1'): the key 'label' appears twice" in refused(tmp_path, "x.jsonl", f"\n{line}\n")
    nested = '[{"id": 8, "annotations": [{"completed_by": 1, "result": [], "result": []}]}]'
    assert "record 1 (item '8'): the key 'result' appears twice" in refused(tmp_path, "x.json", nested)


@pytest.mark.parametrize("part", [
    None, {"type": "relation", "from_id": "a", "to_id": "b"}, {"from_name": "label", "value": None},
    {"from_name": "label", "value": {"start": 0, "end": 4, "labels": ["ABSENT"]}},
    {"from_name": None, "value": {"choices": ["ABSENT"]}},
])  # fmt: skip
def test_what_is_no_answer_in_a_result_is_skipped_and_named(tmp_path: Path, part: object) -> None:
    answer = {"from_name": "label", "value": {"choices": ["ABSENT"]}}
    annotations = [{"completed_by": name, "result": [answer, part] if name == 1 else [answer]} for name in (1, 2)]
    file = read(tmp_path, "x.json", json.dumps([{"id": 5, "annotations": annotations}]))
    assert file.counts.used == 2
    assert any("Skipped 1 times" in note for note in file.notes)


@pytest.mark.parametrize("empty", [{"annotations": None}, {"annotations": []}, {"responses": None}, {"responses": {}}])
def test_an_item_that_nobody_annotated_yet_is_no_fault(tmp_path: Path, empty: dict[str, object]) -> None:
    answer = [{"from_name": "label", "value": {"choices": ["ABSENT"]}}]
    tasks = [{"id": 1, "annotations": [{"completed_by": name, "result": answer} for name in (1, 2)]}, {"id": 2, **empty}]
    assert read(tmp_path, "x.json", json.dumps(tasks)).counts.used == 2


def test_a_rater_is_shown_by_the_name_in_the_file() -> None:
    names = ["annotator_a", "annotator_dr_lee", "annotatorlee", "annotator_3"]
    assert list(map(rater_name, names)) == ["annotator A", "annotator dr_lee", "annotator lee", "annotator 3"]


@pytest.mark.parametrize("mark", ["1", "1.0", "true", "x", "DIVERGENT", "4"])
@pytest.mark.parametrize("other", ["", "0", "0.0", "nan", "None", "FALSE", " "])
def test_zero_nan_and_empty_are_no_check_marks(tmp_path: Path, mark: str, other: str) -> None:
    rows = "".join(f"{user}\tq1\t{other}\t{mark}\n" for user in ("u1", "u2"))
    file = read(tmp_path, "x.tsv", f"user\tinstance_id\tkind:::ABSENT\tkind:::DIVERGENT\n{rows}")
    assert set(used(ratings_from(file.frame)).values()) == {"DIVERGENT"}


# -- the product's own files -----------------------------------------------------------------------------------------------


def test_a_text_that_was_escaped_for_spreadsheets_is_read_as_it_was(tmp_path: Path) -> None:
    file = read(
        tmp_path, "x.csv", "item_id,annotator_a,annotator_b,judge\n'=1+1,ABSENT,ABSENT,ABSENT\n'@x,ABSENT,ABSENT,ABSENT\n"
    )
    assert ratings_from(file.frame).items.tolist() == ["=1+1", "@x"]


def test_rows_are_named_as_a_spreadsheet_counts_them(tmp_path: Path) -> None:
    table = "sep=;\nitem_id;annotator_a;annotator_b;judge\nq1;ABSENT;ABSENT;\n;;;\nq2;ABSENT;Divergant;\n"
    with pytest.raises(AuditError, match=r"row 4 \(item 'q2'\), annotator_b: label 'Divergant'"):
        ratings_from(read(tmp_path, "x.csv", table).frame)
