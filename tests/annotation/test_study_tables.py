"""The exported tables: one row per (item, annotator), from which every figure can be recomputed."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from annotation.label_store.assignments import Choice, list_tasks
from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.ratings import NewRating, submit_rating
from annotation.label_store.results import NewDecision, submit_decision
from annotation.label_store.studies import ItemKind, StudyState
from annotation.studies.adjudication import close_study
from annotation.studies.study_tables import CODEBOOK, codebook, labels_table, ratings_table, repeats_table
from annotation.studies.verdict_store import SampleOrigin, StoredVerdict, Stratum, store_sample
from audit.exports.text_writers import csv_bytes
from tests.support.studies import NOW, item, people, step, study_of

# Item: judge, Ana, Ben. Of 30 pairs the judge calls DIVERGENT two items were drawn, of 100 COMPLEMENTARY ones two.
LABELS = {
    1: ("DIVERGENT", "DIVERGENT", "DIVERGENT"),
    2: ("DIVERGENT", "COMPLEMENTARY", "COMPLEMENTARY"),
    3: ("COMPLEMENTARY", "COMPLEMENTARY", "DIVERGENT"),
    4: ("COMPLEMENTARY", "COMPLEMENTARY", "COMPLEMENTARY"),
}


@pytest.fixture
def finished(lite: LabelStore) -> LabelStore:
    study_of(lite, [*(item(n) for n in LABELS), item(5, ItemKind.REPEAT, "i001", question="Question 1?")])
    people(lite, "jo", role="adjudicator")
    judged = [(f"i{n:03}", judge) for n, (judge, _, _) in LABELS.items()] + [("i005", "DIVERGENT")]
    stored = [StoredVerdict(item_id, judge, judge, None, None, None) for item_id, judge in judged]
    layers = [Stratum("DIVERGENT", "DIVERGENT", None, 30, 2), Stratum("COMPLEMENTARY", "COMPLEMENTARY", None, 100, 2)]
    with lite.begin() as tx:
        store_sample(tx, "s", SampleOrigin("run@1", "d", 131, 1, {}), layers, stored)
    for column, annotator in ((1, "ana"), (2, "ben")):
        for number, labels in LABELS.items():
            both(lite, annotator, number, labels[column])
    step(lite, StudyState.LABELLING)
    submit_decision(lite, "jo", NewDecision("i003", "DIVERGENT", "high", "Other months.", "k"), NOW)
    close_study(lite, "s", NOW)
    return lite


def both(store: LabelStore, annotator: str, number: int, label: str) -> None:
    """Rate an item and, where it is repeated, its repeat, with the same label."""
    significance = "high" if label == "DIVERGENT" else None
    for task in list_tasks(store, "s", annotator):
        if task.question == f"Question {number}?":
            submit_rating(
                store,
                annotator,
                NewRating(task.assignment_id, Choice(label, significance), f"{annotator}/{task.assignment_id}"),
                NOW,
            )


def test_every_item_and_annotator_has_one_row_and_every_column_is_explained(finished: LabelStore) -> None:
    table = ratings_table(finished, "s")
    assert list(table.columns) == list(CODEBOOK) == list(codebook()["column"])
    assert len(table) == 5 * 2
    assert not table.duplicated(["item_id", "annotator"]).any()


def test_a_figure_can_be_recomputed_from_the_exported_file(finished: LabelStore) -> None:
    exported = pd.read_csv(io.BytesIO(csv_bytes(ratings_table(finished, "s"))))
    study = exported[exported["kind"] == "study"]
    wide = study.pivot(index="item_id", columns="seat", values="label")
    assert (wide["A"] == wide["B"]).mean() == 3 / 4
    items = study.drop_duplicates("item_id")
    assert (items["judge"] == items["gold"]).mean() == 2 / 4
    # Gold: one of two of the 30 is DIVERGENT, and one of two of the 100: (30 / 2 + 100 / 2) / 130.
    divergent = items.loc[items["gold"] == "DIVERGENT", "design_weight"].sum()
    assert divergent / items["design_weight"].sum() == (30 / 2 + 100 / 2) / 130


def test_the_wide_table_has_the_labels_side_by_side_in_seat_order(finished: LabelStore) -> None:
    table = labels_table(finished, "s").set_index("item_id")
    shown = {n: tuple(table.loc[f"i{n:03}", ["judge", "annotator_a", "annotator_b"]]) for n in LABELS}
    assert shown == LABELS
    assert list(table["design_weight"]) == [15.0, 15.0, 50.0, 50.0]
    assert tuple(table.loc["i003", ["gold", "gold_source", "adjudicator", "adjudication_reason"]]) == (
        "DIVERGENT", "adjudicated", "jo", "Other months.",
    )  # fmt: skip
    assert table.loc["i001", "significance_a"] == "high"
    assert pd.isna(table.loc["i004", "significance_a"])


def test_repeats_are_listed_with_the_item_they_repeat_and_in_no_other_table(finished: LabelStore) -> None:
    table = repeats_table(finished, "s")
    assert table[["annotator", "item_id", "first", "second"]].to_numpy().tolist() == [
        ["ana", "i001", "DIVERGENT", "DIVERGENT"],
        ["ben", "i001", "DIVERGENT", "DIVERGENT"],
    ]
    assert (table["positions_apart"] > 0).all()
    assert "i005" not in set(labels_table(finished, "s")["item_id"])


def test_a_study_without_ratings_still_has_its_rows(lite: LabelStore) -> None:
    study_of(lite, 2)
    assert ratings_table(lite, "s")["label"].isna().tolist() == [True] * 4
    assert labels_table(lite, "s")[["annotator_a", "annotator_b", "gold"]].isna().all(axis=None)
    assert len(repeats_table(lite, "s")) == 0


def test_an_unknown_study_is_named(lite: LabelStore) -> None:
    with pytest.raises(StudyError, match="There is no study 'x'"):
        ratings_table(lite, "x")
