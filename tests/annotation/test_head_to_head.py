"""Head-to-head studies: choices are made on sides and kept as systems, whatever side each annotator saw an answer on."""

from __future__ import annotations

import csv
import io
import json
import pickle
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from openpyxl import Workbook, load_workbook
from sqlalchemy import text

from annotation.agreement.report import AgreementReport, report_without_judge
from annotation.label_store.assignments import Choice, list_tasks, open_reference
from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.ratings import NewRating, save_draft, submit_rating
from annotation.label_store.results import NewDecision, assignment_rows, submit_decision
from annotation.label_store.studies import ItemKind, StudyState, find_study
from annotation.schemes import HEAD_TO_HEAD, PAIRS, SCHEMES
from annotation.studies.adjudication import close_study, gold_labels, list_disputes
from annotation.studies.backup import back_up
from annotation.studies.head_to_head import (
    comparisons_of,
    couples_frame,
    preference_records,
    preferences_jsonl,
    side_sentence,
    strengths_frame,
    system_names,
)
from annotation.studies.packets import import_packet, packet_csv, packet_xlsx
from annotation.studies.study_tables import codebook, labels_table, ratings_table, repeats_table, study_ratings
from annotation.studies.verification import verify_study
from tests.support.studies import NOW, compared, head_to_head_of, later, people, prefer, seat_at, step, study_of


def test_a_choice_is_kept_in_terms_of_systems_and_shown_again_in_terms_of_sides(store: LabelStore) -> None:
    head_to_head_of(store, 12)
    sides = Counter()
    for task in list_tasks(store, "s", "ana"):
        submit_rating(store, "ana", NewRating(task.assignment_id, Choice("A"), task.assignment_id), NOW)
        sides[task.first.split()[0]] += 1
    assert {task.choice.label for task in list_tasks(store, "s", "ana")} == {"A"}
    stored = {row["item_id"]: row["label"] for row in assignment_rows(store, "s") if row["label"]}
    # Answer A of the screen is the plain system's where its sides are as in the release, the other's where they are swapped.
    assert Counter(stored.values()) == {"A": sides["Plain"], "B": sides["Found"]}
    assert min(sides.values()) >= 2
    assert verify_study(store, "s") == []


def test_each_annotator_has_sides_of_their_own_and_neither_system_one_side(store: LabelStore) -> None:
    head_to_head_of(store, 200)
    swapped = {(row["item_id"], row["seat"]): row["swapped"] for row in assignment_rows(store, "s")}
    for seat in "AB":
        # 200 draws: outside 75 to 125 once in 2,000 studies; the seed is fixed.
        assert 75 < sum(swapped[item_id, seat] for item_id, _ in swapped) / 2 < 125
    differ = sum(swapped[f"i{number:03}", "A"] != swapped[f"i{number:03}", "B"] for number in range(1, 201))
    assert 75 < differ < 125


def test_a_draft_comes_back_on_the_side_it_was_chosen_on(lite: LabelStore) -> None:
    head_to_head_of(lite, 8)
    for task in list_tasks(lite, "s", "ana"):
        save_draft(lite, "ana", task.assignment_id, Choice("B", comment="hm"), NOW)
    assert {task.choice.label for task in list_tasks(lite, "s", "ana")} == {"B"}


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (Choice("DIVERGENT", "high"), "'DIVERGENT' is not in the vocabulary. Allowed: A, B, tie, both_bad."),
        (Choice("A", "high"), "A has no significance. Nothing was saved."),
        (Choice(), "Choose one with the keys A, B, T and X."),
    ],
)
def test_a_choice_of_the_other_scheme_is_refused(lite: LabelStore, choice: Choice, message: str) -> None:
    head_to_head_of(lite, 1)
    with pytest.raises(StudyError, match=message.replace(".", r"\.")):
        submit_rating(lite, "ana", NewRating(seat_at(lite, "ana", 1).assignment_id, choice, "k"), NOW)


def test_a_study_of_pairs_takes_no_preference(lite: LabelStore) -> None:
    study_of(lite, 1)
    with pytest.raises(StudyError, match="'tie' is not in the vocabulary"):
        submit_rating(lite, "ana", NewRating(seat_at(lite, "ana", 1).assignment_id, Choice("tie"), "k"), NOW)


def test_opening_the_reference_answer_is_recorded_once_and_sealed(store: LabelStore) -> None:
    head_to_head_of(store, 2)
    task = seat_at(store, "ana", 1)
    assert open_reference(store, task.assignment_id, "ana", NOW) == "Reference 1."
    assert open_reference(store, task.assignment_id, "ana", later(60)) == "Reference 1."
    opened = {row["seat_id"]: row["reference_opened"] for row in assignment_rows(store, "s") if row["reference_opened"]}
    assert opened == {task.assignment_id: "2026-03-01T09:00:00.000000+00:00"}
    assert verify_study(store, "s") == []
    with pytest.raises(StudyError, match="You have no task"):
        open_reference(store, task.assignment_id, "ben", NOW)


def test_a_backup_keeps_a_head_to_head_study_as_it_was_written(lite: LabelStore, tmp_path: Path) -> None:
    head_to_head_of(lite, 2)
    prefer(lite, "ana", 1, "both_bad")
    open_reference(lite, seat_at(lite, "ana", 2).assignment_id, "ana", NOW)
    checked = back_up(str(lite.engine.url), tmp_path / "backup.db")
    assert (checked.studies, checked.ratings, checked.faults) == (1, 1, ())


def test_an_altered_scheme_reference_or_side_is_found(lite: LabelStore) -> None:
    head_to_head_of(lite, 2)
    for change, fault in (
        ("update studies set scheme = 'pairs'", "studies: 1 row was changed"),
        ("update items set reference = 'x' where item_id = 'i001'", "items: 1 row was changed"),
        ("update seats set swapped = not swapped where item_id = 'i002'", "seats: 2 rows were changed"),
    ):
        with lite.begin() as tx:
            tx.execute(text(change))
        assert any(found.startswith(fault) for found in verify_study(lite, "s"))


# -- from two annotators to the results --------------------------------------------------------------------------------

CHOICES = {  # item: what ana and ben prefer, in terms of systems
    1: ("A", "A"), 2: ("A", "A"), 3: ("A", "B"), 4: ("B", "B"), 5: ("tie", "tie"), 6: ("both_bad", "tie"),
}  # fmt: skip


@pytest.fixture
def rated(lite: LabelStore) -> LabelStore:
    """Six items, and a silent repeat of the first; ana changes her mind on the repeat."""
    repeat = compared(7, ItemKind.REPEAT, "i001", question="Question 7?")
    head_to_head_of(lite, 6, more=[repeat])
    for number, (ana, ben) in CHOICES.items():
        prefer(lite, "ana", number, ana)
        prefer(lite, "ben", number, ben, comment="=1+1" if number == 3 else "")
    prefer(lite, "ana", 7, "B")
    prefer(lite, "ben", 7, "A")
    return lite


def report(store: LabelStore) -> AgreementReport:
    return report_without_judge(study_ratings(store, "s"), repeats_table(store, "s"))


def test_agreement_is_unweighted_kappa_of_systems_and_not_of_sides(rated: LabelStore) -> None:
    figures = report(rated).figures.query("name != 'prevalence'").set_index("name")
    # Observed 4/6. By chance: A 3 and 2, B 1 and 2, tie 1 and 2, both bad 1 and 0 of 6: (6 + 2 + 2) / 36.
    assert figures.loc["kappa", "value"] == pytest.approx((4 / 6 - 10 / 36) / (1 - 10 / 36))
    assert (figures.loc["agreement", "value"], figures.loc["agreement", "n"]) == (pytest.approx(4 / 6), 6)
    assert not {"kappa_quadratic", "kappa_linear", "alpha_ordinal"} & set(figures.index)
    cells = report(rated).confusion
    assert cells[(cells["first_label"] == "A") & (cells["second_label"] == "B")]["count"].tolist() == [1]


def test_a_silent_repeat_is_compared_whatever_side_it_was_shown_on(rated: LabelStore) -> None:
    retest = report(rated).retest.set_index(["annotator", "name"])["value"]
    assert (retest["ana", "agreement"], retest["ben", "agreement"]) == (0.0, 1.0)


def test_the_choices_are_exported_as_a_release_has_preferences(rated: LabelStore) -> None:
    records = preference_records(rated, "s")
    assert Counter((record["rater"], record["preference"]) for record in records) == Counter(
        (name, choices[place]) for choices in CHOICES.values() for place, name in enumerate(("ana", "ben"))
    )
    assert {(record["system_a"], record["system_b"], record["rater_kind"]) for record in records} == {("plain", "found", "human")}
    shown = {(row["question_id"], row["annotator"]): "B" if row["swapped"] else "A" for row in assignment_rows(rated, "s")}
    assert all(record["shown_first"] == shown[record["question_id"], record["rater"]] for record in records)
    assert [json.loads(line) for line in preferences_jsonl(rated, "s").splitlines()] == records


def test_results_name_who_was_preferred_how_often(rated: LabelStore) -> None:
    comparisons, names = comparisons_of(rated, "s"), system_names(rated, "s")
    (row,) = couples_frame(comparisons, names).to_dict("records")
    assert (row["first"], row["second"], row["n"]) == ("Plain model", "Model with retrieval", 12)
    assert (row["a"], row["b"], row["tie"], row["both_bad"]) == (5, 3, 3, 1)
    assert row["share"] == pytest.approx(5 / 8)
    strengths = strengths_frame(comparisons, names)
    # Two systems: the odds are (5 + 4 / 2) to (3 + 4 / 2).
    assert strengths["system"].tolist() == ["Plain model", "Model with retrieval"]
    assert strengths["strength"].iloc[0] - strengths["strength"].iloc[1] == pytest.approx(np.log(7 / 5), abs=1e-3)
    assert side_sentence(comparisons).startswith("Answer A of the screen was preferred in ")
    assert side_sentence(comparisons.head(0)) == "No choice is decided yet, so the effect of the side is unknown."


def test_ratings_of_pairs_have_no_preferences(lite: LabelStore) -> None:
    study_of(lite, 1)
    with pytest.raises(StudyError, match="labels pairs of handbooks"):
        preference_records(lite, "s")


def test_the_tables_have_systems_and_no_judge(rated: LabelStore) -> None:
    table = ratings_table(rated, "s")
    assert list(table) == list(codebook(HEAD_TO_HEAD)["column"])
    assert {"system_a", "system_b", "reference_opened"} <= set(table)
    assert not [name for name in (*table, *labels_table(rated, "s")) if "judge" in name or "handbook" in name]
    assert [find_study(rated, "s").scheme, PAIRS.ordered] == [HEAD_TO_HEAD, True]


def test_the_adjudicator_decides_on_sides_and_the_gold_choice_is_a_system(rated: LabelStore) -> None:
    people(rated, "ada", role="adjudicator")
    step(rated, StudyState.LABELLING)
    disputes = {dispute.question: dispute for dispute in list_disputes(rated, "s")}
    assert set(disputes) == {"Question 3?", "Question 6?"}
    for number, dispute in enumerate(disputes.values()):
        plain_side = "A" if dispute.first.startswith("Plain") else "B"
        shown = HEAD_TO_HEAD.turned("A", dispute.swapped)
        assert shown == plain_side  # what is stored as system A is shown on the side where its answer is
        chosen = str(HEAD_TO_HEAD.turned(plain_side, dispute.swapped))
        submit_decision(rated, "ada", NewDecision(dispute.item_id, chosen, None, "safer", str(number)), NOW)
    close_study(rated, "s", NOW)
    gold = gold_labels(rated, "s")
    assert {gold[item_id].label for item_id in ("i001", "i002", "i003", "i006")} == {"A"}
    assert (gold["i004"].label, gold["i005"].label, "i007" in gold) == ("B", "tie", False)
    assert verify_study(rated, "s") == []


# -- packets -------------------------------------------------------------------------------------------------------------


def rows_of(name: str, data: bytes) -> list[dict[str, str]]:
    if name == "p.csv":
        return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    header, *lines = load_workbook(io.BytesIO(data)).active.iter_rows(values_only=True)
    return [dict(zip(header, (cell or "" for cell in line), strict=True)) for line in lines]


def file_of(name: str, rows: list[dict[str, str]]) -> bytes:
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    if name == "p.csv":
        text_out = io.StringIO(newline="")
        csv.writer(text_out).writerows(lines)
        return text_out.getvalue().encode()
    book, out = Workbook(), io.BytesIO()
    for line in lines:
        book.active.append(line)
    book.save(out)
    return out.getvalue()


@pytest.mark.parametrize("name", ["p.csv", "p.xlsx"])
def test_a_packet_is_filled_in_on_sides_and_read_back_as_systems(lite: LabelStore, name: str) -> None:
    head_to_head_of(lite, 10)
    rows = rows_of(name, packet_csv(lite, "s", "ana") if name == "p.csv" else packet_xlsx(lite, "s", "ana"))
    words = ["a", "Answer B", "TIE", "both bad", "neither", "B", "A", "equal", "b", ""]
    random.Random(3).shuffle(words)
    for row, word in zip(rows, words, strict=True):
        row["label"] = word
        row["unsure"] = "yes" if word == "TIE" else ""
    assert list(rows[0]) == [
        "item", "order", "question", "answer_a", "answer_b", "reference", "label", "unsure", "comment", "marked_a", "marked_b",
    ]  # fmt: skip
    result = import_packet(lite, "s", "ana", name, file_of(name, rows), NOW)
    assert (result.stored, result.empty) == (9, 1)
    meant = {"a": "A", "A": "A", "Answer B": "B", "B": "B", "b": "B", "TIE": "tie", "equal": "tie"}
    for row, task in zip(rows, list_tasks(lite, "s", "ana"), strict=True):
        assert task.choice.label == (meant.get(row["label"], "both_bad") if row["label"] else None)
        assert row["answer_a"] == task.first
    assert import_packet(lite, "s", "ana", name, file_of(name, rows), NOW).stored == 0


def test_a_packet_refuses_labels_of_pairs(lite: LabelStore) -> None:
    head_to_head_of(lite, 1)
    (header, row) = csv.reader(io.StringIO(packet_csv(lite, "s", "ana").decode("utf-8-sig"), newline=""))
    row[header.index("label")] = "divergent"
    out = io.StringIO(newline="")
    csv.writer(out).writerows([header, row])
    with pytest.raises(StudyError, match="'divergent' is not in the vocabulary"):
        import_packet(lite, "s", "ana", "p.csv", out.getvalue().encode(), NOW)


def test_a_scheme_is_itself_after_a_page_has_cached_it() -> None:
    assert all(pickle.loads(pickle.dumps(scheme)) is scheme for scheme in SCHEMES.values())
