"""`audit agreement` compares the judge with any column of labels."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from audit.cli.main import main
from audit.formatting import escape_markdown

LABELS = """item_id,question_id,handbook_a,handbook_b,annotator_a,annotator_b,judge,second_judge
x1,q1,a,b,DIVERGENT,DIVERGENT,DIVERGENT,DIVERGENT
x2,q1,a,c,CONSISTENT,CONSISTENT,COMPLEMENTARY,CONSISTENT
x3,q1,b,c,DIVERGENT,DIVERGENT,DIVERGENT,COMPLEMENTARY
x4,q1,a,d,ABSENT,ABSENT,ABSENT,
"""


@pytest.fixture
def labels(tmp_path: Path) -> str:
    (tmp_path / "labels.csv").write_text(LABELS)
    return str(tmp_path / "labels.csv")


def accuracy(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, str]:
    assert main(["agreement", *arguments, "--format", "csv", "--table", "beside"]) == 0
    rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
    return next(row for row in rows if row["by"] == "majority" and row["name"] == "accuracy")


def test_any_column_can_be_compared_with_the_judge(labels, capsys):
    row = accuracy(capsys, "--labels", labels, "--against", "second_judge")
    assert (float(row["judge"]), float(row["other"])) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert row["n"] == "3", "the item that the second judge left out counts for neither"


def test_a_column_called_baseline_needs_no_option(tmp_path, capsys):
    (tmp_path / "labels.csv").write_text(LABELS.replace("second_judge", "baseline"))
    assert accuracy(capsys, "--labels", str(tmp_path / "labels.csv"))["n"] == "3"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--against", "third_judge"], "column 'third_judge' is missing"),
        (["--table", "beside", "--format", "csv"], "there are no labels to compare the judge with"),
    ],
)
def test_a_comparison_that_is_not_possible_explains_why(arguments, words, labels, capsys):
    assert main(["agreement", "--labels", labels, *arguments]) == 2
    assert words in capsys.readouterr().err


def test_the_other_judge_is_named_by_its_column(labels, capsys):
    assert main(["agreement", "--labels", labels, "--against", "second_judge"]) == 0
    assert f"## The judge compared with a baseline: {escape_markdown('second_judge')}" in capsys.readouterr().out
    assert main(["agreement", "--labels", labels, "--against", "second_judge", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["other"] == "second_judge"
    assert {row["by"] for row in data["beside"]} == {"majority", "annotator_a", "annotator_b"}


def test_a_study_has_no_such_column(capsys):
    assert main(["agreement", "--study", "s", "--against", "second_judge"]) == 2
    assert "a study has no such column" in capsys.readouterr().err
