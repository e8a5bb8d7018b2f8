"""The figures that two validation studies print, from their labels, through the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audit.cli.main import main
from audit.vocabulary import LABELS


class Printed:
    """What `audit agreement --format json` prints of a labels file."""

    def __init__(self, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["agreement", "--labels", str(path), "--format", "json"]) == 0
        self.report: dict[str, Any] = json.loads(capsys.readouterr().out)

    def value(self, first: str, second: str, name: str, label: str = "", scope: str = "sample", about: str = "label") -> float:
        key = (about, first, second, scope, name, label)
        (row,) = [
            r
            for r in self.report["figures"]
            if key == tuple(r[k] for k in ("about", "first", "second", "scope", "name", "label"))
        ]
        assert row["low"] is None or row["low"] <= row["value"] <= row["high"]
        return float(row["value"])

    def errors(self, by: str = "majority") -> dict[tuple[str, str], list[str]]:
        return {(row["right"], row["judged"]): row["items"] for row in self.report["errors"] if row["by"] == by}


@pytest.fixture
def paper(paper_labels: Path, capsys: pytest.CaptureFixture[str]) -> Printed:
    return Printed(paper_labels, capsys)


@pytest.fixture
def nih(nih_labels: Path, capsys: pytest.CaptureFixture[str]) -> Printed:
    return Printed(nih_labels, capsys)


def test_the_paper_two_clinicians(paper: Printed) -> None:
    assert round(paper.value("annotator_a", "annotator_b", "kappa"), 3) == 0.655
    assert round(paper.value("annotator_a", "annotator_b", "agreement"), 3) == 0.730
    assert paper.report["counts"]["items"] - paper.report["counts"]["without a majority"] == 146


def test_the_paper_the_judge_by_the_majority(paper: Printed) -> None:
    assert round(paper.value("majority", "judge", "accuracy"), 3) == 0.877
    assert round(paper.value("majority", "judge", "kappa"), 3) == 0.842
    assert round(paper.value("majority", "judge", "f1_weighted"), 3) == 0.876
    assert round(paper.value("majority", "judge", "f1_macro"), 3) == 0.841
    by_label = [round(paper.value("majority", "judge", "f1", label.value), 2) for label in LABELS]
    assert by_label == [1.00, 0.83, 0.70, 0.69, 0.99]


def test_the_paper_18_errors_14_of_them_on_the_complementary_boundary(paper: Printed) -> None:
    errors = paper.errors()
    assert sum(map(len, errors.values())) == 18
    assert len(errors["COMPLEMENTARY", "DIVERGENT"]) == 8
    assert len(errors["COMPLEMENTARY", "CONSISTENT"]) == 6


def test_the_paper_has_no_figures_of_a_population(paper: Printed) -> None:
    assert "design_weight" in paper.report["population"]
    assert {row["scope"] for row in paper.report["figures"]} == {"sample"}


def test_nih_two_raters(nih: Printed) -> None:
    assert round(nih.value("annotator_a", "annotator_b", "kappa"), 4) == 0.9156
    assert round(nih.value("annotator_a", "annotator_b", "agreement"), 4) == 0.9527
    assert nih.report["counts"]["items"] - nih.report["counts"]["without a majority"] == 141


def test_nih_the_judge_by_the_majority(nih: Printed) -> None:
    assert round(nih.value("majority", "judge", "accuracy"), 4) == 0.9291
    assert round(nih.value("majority", "judge", "kappa"), 4) == 0.8776
    assert round(nih.value("majority", "judge", "f1_weighted"), 4) == 0.9326
    assert round(nih.value("majority", "judge", "f1_macro"), 4) == 0.9160


def test_nih_weighted_by_design_the_judge_finds_more_disagreement_than_either_rater(nih: Printed) -> None:
    disagree = {
        seat: sum(nih.value(seat, "", "prevalence", label, scope="population") for label in ("DIVERGENT", "CONTRADICTORY"))
        for seat in ("judge", "annotator_a", "annotator_b")
    }
    assert {seat: round(share, 4) for seat, share in disagree.items()} == {
        "judge": 0.0886, "annotator_a": 0.0675, "annotator_b": 0.0612
    }  # fmt: skip


def test_nih_significance_is_compared_where_all_three_gave_one(nih: Printed) -> None:
    counts = {row["n"] for row in nih.report["figures"] if row["about"] == "significance" and row["scope"] == "sample"}
    assert counts == {29}


@pytest.mark.parametrize(("seat", "expected"), [("annotator_a", 0.0675), ("annotator_b", 0.0612)])
def test_nih_corrected_prevalence_of_disagreement(
    nih_labels: Path, capsys: pytest.CaptureFixture[str], seat: str, expected: float
) -> None:
    assert main(["prevalence", "--labels", str(nih_labels), "--human", seat, "--format", "json"]) == 0
    rows = {(row["method"], row["label"]): row for row in json.loads(capsys.readouterr().out)["rows"]}
    corrected = rows["corrected", "disagrees"]
    assert round(corrected["value"], 4) == expected
    assert corrected["low"] < expected < corrected["high"]
    assert round(rows["judge", "disagrees"]["value"], 4) == 0.0886
    assert rows["judge", "disagrees"]["low"] is None
