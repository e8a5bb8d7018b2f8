"""More than two ratings of an item, from the creation of a study to its export."""

from __future__ import annotations

import csv
import io
from collections import Counter
from itertools import cycle

import pytest
from sqlalchemy import text

from annotation.label_store.assignments import Choice, list_tasks, next_task, prefetch_tasks, release_assignments
from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.ratings import NewRating, submit_rating
from annotation.label_store.results import NewDecision, assignment_rows, submit_decision
from annotation.label_store.studies import ItemKind, StudyState, count_ratings, find_study, list_annotators, study_progress
from annotation.studies.adjudication import ADJUDICATED, AGREED, close_study, gold_labels, list_disputes
from annotation.studies.calibration import calibration_of
from annotation.studies.packets import import_packet, packet_csv
from annotation.studies.study_tables import labels_table, ratings_table
from annotation.studies.validation import validation_part
from annotation.studies.verdict_store import SampleOrigin, StoredVerdict, Stratum, store_sample
from annotation.studies.verification import verify_study
from tests.support.studies import NOW, item, people, rate, rate_all, step, study_of

THREE = ("ana", "ben", "cem")
# Item: judge, three annotators. Of 30 pairs the judge calls DIVERGENT two items were drawn, of 100 COMPLEMENTARY ones two.
LABELS = {
    1: ("DIVERGENT", "DIVERGENT", "DIVERGENT", "DIVERGENT"),
    2: ("DIVERGENT", "CONSISTENT", "CONSISTENT", "DIVERGENT"),
    3: ("COMPLEMENTARY", "COMPLEMENTARY", "COMPLEMENTARY", "DIVERGENT"),
    4: ("COMPLEMENTARY", "DIVERGENT", "COMPLEMENTARY", "CONSISTENT"),
}
JUDGE, LAYERS = 0, [Stratum("DIVERGENT", "DIVERGENT", None, 30, 2), Stratum("COMPLEMENTARY", "COMPLEMENTARY", None, 100, 2)]


@pytest.fixture
def rated(lite: LabelStore) -> LabelStore:
    """Four items rated by three people, with a judge; in adjudication."""
    study_of(lite, 4, THREE, ratings_per_item=3)
    people(lite, "jo", role="adjudicator")
    stored = [StoredVerdict(f"i{n:03}", given[JUDGE], given[JUDGE], None, None, None) for n, given in LABELS.items()]
    with lite.begin() as tx:
        store_sample(tx, "s", SampleOrigin("run@1", "d", 130, 0, {}), LAYERS, stored)
    for column, annotator in enumerate(THREE, start=1):
        for number, given in LABELS.items():
            rate(lite, annotator, number, given[column], "high" if given[column] == "DIVERGENT" else None)
    step(lite, StudyState.LABELLING)
    return lite


def test_with_as_many_annotators_everybody_rates_every_item(store: LabelStore) -> None:
    study_of(store, 3, THREE, ratings_per_item=3)
    assert find_study(store, "s").ratings_per_item == 3
    rows = assignment_rows(store, "s")
    assert Counter(row["seat"] for row in rows) == {"A": 3, "B": 3, "C": 3}
    assert list_annotators(store, "s") == list(THREE)
    assert [(part.annotator, part.rated, part.assignments) for part in study_progress(store, "s")] == [(n, 0, 3) for n in THREE]
    assert prefetch_tasks(store, "s", "ana", 3) == []  # nothing is left to claim
    with store.read() as con:
        assert count_ratings(con, "s", StudyState.LABELLING) == (9, 9)
    assert verify_study(store, "s") == []


def test_with_more_annotators_each_item_gets_three_of_them_and_its_repeat_the_same(store: LabelStore) -> None:
    names = (*THREE, "dan", "eva")
    study_of(
        store,
        [*(item(n) for n in range(1, 11)), item(11, ItemKind.REPEAT, "i001", question="Question 1?")],
        names,
        ratings_per_item=3,
    )
    done, turns = 0, cycle(names)
    for name in (next(turns) for _ in range(200)):
        if (task := next_task(store, "s", name, NOW, "v")) is not None:
            submit_rating(store, name, NewRating(task.assignment_id, Choice("ABSENT"), f"k/{task.assignment_id}"), NOW)
            done += 1
    assert done == 33
    who = {(row["item_id"], row["annotator"]) for row in assignment_rows(store, "s")}
    assert len(who) == 33  # nobody rated an item twice
    assert {name for item_id, name in who if item_id == "i011"} == {name for item_id, name in who if item_id == "i001"}


def test_what_somebody_claimed_and_did_not_rate_is_released(lite: LabelStore) -> None:
    study_of(lite, 8, (*THREE, "dan"), ratings_per_item=3)
    claimed = prefetch_tasks(lite, "s", "ana", 4)
    assert len(claimed) == 4
    assert release_assignments(lite, "s", "ana") == 4


@pytest.mark.parametrize(
    ("wanted", "message"),
    [(1, "ratings per item must be 2 to 5, not 1"), (6, "must be 2 to 5, not 6"), (3, "needs at least 3 different annotators")],
)
def test_an_impossible_number_is_refused(lite: LabelStore, wanted: int, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        study_of(lite, 1, ratings_per_item=wanted)


def test_a_changed_number_is_detected(store: LabelStore) -> None:
    study_of(store, 1, THREE, ratings_per_item=3)
    with store.begin() as tx:
        tx.execute(text("update studies set ratings_per_item = 2"))
    assert verify_study(store, "s") == ["studies: 1 row was changed after the study was sealed (s)"]


def test_a_majority_is_gold_and_an_item_without_one_is_decided(rated: LabelStore) -> None:
    (dispute,) = list_disputes(rated, "s")
    assert (dispute.item_id, len(dispute.ratings)) == ("i004", 3)
    assert Counter(rating.label for rating in dispute.ratings) == {"DIVERGENT": 1, "COMPLEMENTARY": 1, "CONSISTENT": 1}
    submit_decision(rated, "jo", NewDecision("i004", "DIVERGENT", "low", "Other months.", "k"), NOW)
    close_study(rated, "s", NOW)
    gold = {name: (label.label, label.significance, label.source) for name, label in gold_labels(rated, "s").items()}
    assert gold == {
        "i001": ("DIVERGENT", "high", AGREED), "i002": ("CONSISTENT", None, AGREED), "i003": ("COMPLEMENTARY", None, AGREED),
        "i004": ("DIVERGENT", "low", ADJUDICATED),
    }  # fmt: skip


def test_of_three_ratings_that_stay_incomplete_two_equal_ones_are_gold_and_two_different_ones_a_dispute(lite: LabelStore) -> None:
    study_of(lite, 3, THREE, ratings_per_item=3)
    rate(lite, "ana", 1, "ABSENT"), rate(lite, "ben", 1, "ABSENT")
    rate(lite, "ana", 2, "ABSENT"), rate(lite, "cem", 2, "CONSISTENT")
    rate(lite, "ana", 3, "ABSENT")
    step(lite, StudyState.LABELLING, incomplete=True)
    assert set(gold_labels(lite, "s")) == {"i001"}
    assert [dispute.item_id for dispute in list_disputes(lite, "s")] == ["i002"]


def test_five_ratings_need_three_equal_ones(lite: LabelStore) -> None:
    five = (*THREE, "dan", "eva")
    study_of(lite, 2, five, ratings_per_item=5)
    for name, first, second in zip(
        five, ["ABSENT"] * 3 + ["CONSISTENT"] * 2, ["ABSENT"] * 2 + ["CONSISTENT"] * 2 + ["COMPLEMENTARY"], strict=True
    ):
        rate(lite, name, 1, first), rate(lite, name, 2, second)
    step(lite, StudyState.LABELLING)
    assert set(gold_labels(lite, "s")) == {"i001"}
    assert [dispute.item_id for dispute in list_disputes(lite, "s")] == ["i002"]


def test_a_packet_has_the_items_of_its_annotator_alone_and_comes_back(lite: LabelStore) -> None:
    study_of(lite, 3, THREE, ratings_per_item=3)
    rate_all(lite, "ana")
    packet = packet_csv(lite, "s", "cem")
    rows = list(csv.DictReader(io.StringIO(packet.decode("utf-8-sig"))))
    assert [row["label"] for row in rows] == ["", "", ""]
    assert {row["item"] for row in rows} == {task.assignment_id for task in list_tasks(lite, "s", "cem")}
    filled = packet.decode("utf-8-sig").replace(",,,,,,,\r\n", ",ABSENT,,,,,,\r\n")
    assert import_packet(lite, "s", "cem", "cem.csv", filled.encode(), NOW).stored == 3
    assert {row["annotator"] for row in assignment_rows(lite, "s") if row["label"] == "ABSENT"} == {"cem"}


def test_calibration_is_about_all_three(lite: LabelStore) -> None:
    study_of(lite, [*(item(n, ItemKind.CALIBRATION) for n in (1, 2, 3, 4)), item(5)], THREE, ratings_per_item=3)
    given = {"ana": "AACC", "ben": "AACC", "cem": "ACCC"}
    for name, letters in given.items():
        for number, letter in enumerate(letters, start=1):
            rate(lite, name, number, {"A": "ABSENT", "C": "CONSISTENT"}[letter])
    calibration = calibration_of(lite, "s")
    assert calibration is not None
    assert calibration.share.value == pytest.approx((1 + 1 / 3 + 1 + 1) / 4)  # pairs of ratings of each item that are equal
    assert [len(found.ratings) for found in calibration.differing] == [3]
    frame = calibration.frame()
    assert frame["who"].tolist() == [
        "all annotators", "annotator A and annotator B", "annotator A and annotator C", "annotator B and annotator C",
    ]  # fmt: skip
    assert frame["value"].tolist() == pytest.approx([5 / 6, 1, 3 / 4, 3 / 4])
    assert frame["n"].tolist() == [4, 4, 4, 4]


def test_the_export_has_every_rating_and_the_agreement_of_all(rated: LabelStore) -> None:
    submit_decision(rated, "jo", NewDecision("i004", "DIVERGENT", "low", "Other months.", "k"), NOW)
    close_study(rated, "s", NOW)
    assert ratings_table(rated, "s").groupby("item_id").size().tolist() == [3, 3, 3, 3]
    wide = labels_table(rated, "s").set_index("item_id")
    assert wide.loc["i002", ["annotator_a", "annotator_b", "annotator_c", "gold"]].tolist() == [
        "CONSISTENT", "CONSISTENT", "DIVERGENT", "CONSISTENT",
    ]  # fmt: skip
    part = validation_part(rated, "s")
    tables = {table.name: table.frame for table in part.chapter.tables}
    steps = tables["study_flow"].set_index("step")["n"]
    assert (steps["drawn"], steps["agreed"], steps["adjudicated"]) == (4, 3, 1)
    together = tables["study_agreement"].query("who == 'all annotators' and figure == 'agreement'").iloc[0]
    # Equal pairs of the three ratings: 3 of 3, 1 of 3, 1 of 3, 0 of 3
    assert together["sample"] == pytest.approx((1 + 1 / 3 + 1 / 3 + 0) / 4)
    assert part.figures["study.agreed"].value == 1  # type: ignore[union-attr]
    assert part.figures["study.agreement"].value == pytest.approx(5 / 12)  # type: ignore[union-attr]
    assert "labelled by 3 annotators" in part.chapter.paragraphs["Methods"]
    assert "Of two annotators of an item, the labels are the same with a share of 42 %" in part.chapter.paragraphs[
        "Results"
    ].replace("\xa0", " ")
    assert not any(name in part.chapter.paragraphs["Results"] for name in THREE)
