"""Labels that raters gave to pairs: what a release brings is in the store, bad records are set aside one by one."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from annotation.agreement.report import agreement_report
from annotation.prevalence.estimates import prevalence
from annotation.ratings.table import ratings_from
from audit.queries.human_ratings import human_ratings
from audit.release.schema import json_schema
from audit.store.connection import open_store
from tests.support.loading import ask, load, messages, quarantined

ITEM = {
    "item_id": "i1", "question_id": "q1", "handbook_a": "b", "handbook_b": "a", "stratum": "DIVERGENT", "design_weight": "1.5",
    "judge": "DIVERGENT", "annotator_a": "divergent", "significance_a": "low", "annotator_b": "COMPLEMENTARY",
    "comment_b": "other words", "annotator_c": "", "gold": "DIVERGENT",
}  # fmt: skip
STORED = "select item_id, rater, label::varchar, significance::varchar, comment from rated_pairs join ratings using (item)"


def with_ratings(folder: Path, items: list[dict[str, Any]]) -> Path:
    (folder / "annotations").mkdir(exist_ok=True)
    with (folder / "annotations" / "validation_labels.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ITEM.keys())
        writer.writeheader()
        writer.writerows(items)
    return folder


def test_each_label_is_stored_and_one_that_nobody_gave_has_no_row(release: Path, tmp_path: Path) -> None:
    loaded = load(with_ratings(release, [ITEM]), tmp_path / "data")
    assert ask(loaded, STORED) == [
        ("i1", "a", "DIVERGENT", "low", None),
        ("i1", "b", "COMPLEMENTARY", None, "other words"),
        ("i1", "gold", "DIVERGENT", None, None),
    ]
    assert "human ratings: 1 found; the manifest declares no number." in [
        check["message"] for check in loaded.run.report["checks"]
    ]
    with open_store(loaded.run.path) as con:
        (row,) = human_ratings(con).to_dict("records")
    assert (row["handbook_a"], row["judge"], row["annotator_a"], row["gold"]) == ("b", "DIVERGENT", "DIVERGENT", "DIVERGENT")


def test_a_rater_may_have_any_name(release: Path, tmp_path: Path) -> None:
    folder = with_ratings(release, [ITEM])
    file = folder / "annotations" / "validation_labels.csv"
    text = file.read_text(encoding="utf-8").replace("annotator_c,gold", "Annotator-Dr Lee,annotator_gold")
    file.write_text(text.replace(",,DIVERGENT", ",ABSENT,DIVERGENT"), encoding="utf-8")
    loaded = load(folder, tmp_path / "data")
    assert [(rater, label) for _, rater, label, *_ in ask(loaded, STORED)] == [
        ("a", "DIVERGENT"), ("b", "COMPLEMENTARY"), ("dr_lee", "ABSENT"), ("gold", "DIVERGENT"),
    ]  # fmt: skip


def test_a_run_without_ratings_says_nothing_of_them(release: Path, tmp_path: Path) -> None:
    loaded = load(release, tmp_path / "data")
    assert not loaded.run.ratings_digest
    assert not any("ratings" in check["message"] for check in loaded.run.report["checks"])
    with open_store(loaded.run.path) as con:
        assert human_ratings(con).empty


def test_ratings_that_are_added_later_are_read_and_leave_the_run_its_name(release: Path, tmp_path: Path) -> None:
    before = load(release, tmp_path / "data")
    after = load(with_ratings(release, [ITEM]), tmp_path / "data")
    assert after.fresh
    assert after.run.digest == before.run.digest  # studies know their run by it
    assert not load(release, tmp_path / "data").fresh


BAD: list[tuple[dict[str, str], str, str]] = [
    ({"annotator_b": "DIVERGNT"}, "unknown_annotator_b", "Did you mean 'DIVERGENT'?"),
    ({"annotator_c": "colour"}, "unknown_annotator_c", "is not in the vocabulary"),
    ({"question_id": "q9"}, "unknown_question", "question 'q9' is not in questions."),
    ({"handbook_b": "z"}, "unknown_handbook", "handbook 'z' is not in handbooks."),
    ({"handbook_b": "c"}, "unknown_pair", "the run has no such pair"),
    ({"design_weight": "0.5"}, "wrong_weight", "an item represents at least itself"),
    ({"design_weight": "many"}, "wrong_type", "must be a number"),
    ({"item_id": "i1"}, "duplicate_rating", "occurs earlier; the first record was kept."),
    ({"handbook_a": "a", "handbook_b": "b"}, "duplicate_rating", "or its pair occurs earlier"),
]


@pytest.mark.parametrize(("change", "code", "words"), BAD)
def test_a_bad_record_is_set_aside_and_the_others_are_loaded(
    release: Path, tmp_path: Path, change: dict[str, str], code: str, words: str
) -> None:
    other = {"item_id": "i2", "handbook_a": "c", "judge": "COMPLEMENTARY"} if "handbook_a" not in change else {"item_id": "i2"}
    loaded = load(with_ratings(release, [ITEM, ITEM | other | change]), tmp_path / "data")
    assert [finding[2] for finding in quarantined(loaded)] == [code]
    assert words in messages(loaded, "quarantined")[0]
    assert ask(loaded, "select item_id from rated_pairs") == [("i1",)]


def test_a_verdict_that_differs_from_the_run_is_noted_and_the_run_counts(release: Path, tmp_path: Path) -> None:
    loaded = load(with_ratings(release, [ITEM | {"judge": "CONSISTENT"}]), tmp_path / "data")
    assert "the judge's label is CONSISTENT here and DIVERGENT in the run. The run's is used." in messages(loaded, "noted")
    with open_store(loaded.run.path) as con:
        assert human_ratings(con)["judge"].tolist() == ["DIVERGENT"]


def test_the_schema_knows_what_the_reader_takes() -> None:
    schema = json_schema()
    validator = Draft202012Validator({"$defs": schema["$defs"], "$ref": "#/$defs/human_rating"})
    validator.validate(ITEM | {"design_weight": 1.5, "annotator_a": "DIVERGENT", "annotator_c": None})
    assert not validator.is_valid(ITEM | {"design_weight": 1.5, "gold": "colour"})


def test_the_ratings_of_the_nih_release_give_its_published_figures(nih: Path, tmp_path: Path) -> None:
    loaded = load(nih, tmp_path / "data")
    assert not quarantined(loaded)
    with open_store(loaded.run.path) as con:
        ratings = ratings_from(human_ratings(con))
    report, shares = agreement_report(ratings), prevalence(ratings).set_index(["method", "label"])["value"]
    sample = report.figures[(report.figures["scope"] == "sample") & (report.figures["label"] == "")]
    values = sample[sample["about"] == "label"].set_index(["first", "second", "name"])["value"].round(4)
    assert (report.counts["items"], report.counts["items"] - report.counts["without a majority"]) == (148, 141)
    assert values["annotator_a", "annotator_b", "kappa"] == 0.9156
    assert values["annotator_a", "annotator_b", "agreement"] == 0.9527
    assert values["majority", "judge", "accuracy"] == 0.9291
    assert values["majority", "judge", "kappa"] == 0.8776
    assert values["majority", "judge", "f1_weighted"] == 0.9326
    assert values["majority", "judge", "f1_macro"] == 0.9160
    assert round(shares["judge", "disagrees"], 4) == 0.0886
    assert shares["corrected", "disagrees"] == pytest.approx((0.0675 + 0.0612) / 2, abs=1e-4)  # items they differ on are split
