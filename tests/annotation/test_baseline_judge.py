"""`audit agreement` compares the judge with the baseline judge, or with any column of labels."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from audit.cli.main import main
from audit.formatting import escape_markdown
from audit.release.write import write_release
from audit.vocabulary import RULES_JUDGE as NAME

LABELS = """item_id,question_id,handbook_a,handbook_b,annotator_a,annotator_b,judge,second_judge
x1,q1,a,b,DIVERGENT,DIVERGENT,DIVERGENT,DIVERGENT
x2,q1,a,c,CONSISTENT,CONSISTENT,COMPLEMENTARY,CONSISTENT
x3,q1,b,c,DIVERGENT,DIVERGENT,DIVERGENT,COMPLEMENTARY
x4,q1,a,d,ABSENT,ABSENT,ABSENT,
"""
ANSWERS = {
    "a": "Do not drive for 6 weeks.", "b": "Do not drive for eight weeks.", "c": "Do not drive for six weeks.", "d": None,
}  # fmt: skip


@pytest.fixture
def labels(tmp_path: Path) -> str:
    (tmp_path / "labels.csv").write_text(LABELS)
    return str(tmp_path / "labels.csv")


@pytest.fixture
def release(tmp_path: Path) -> str:
    book = {"organ": "kidney", "phase": "post"}
    folder = write_release(
        tmp_path / "release",
        manifest={"run_id": "driving", "title": "Driving"},
        handbooks=[{"handbook_id": letter, "center": letter, **book} for letter in ANSWERS],
        questions=[{"question_id": "q1", "question": "When can I drive?", "organ": "kidney", "topics": [], "subtopics": []}],
        answers=[
            {"question_id": "q1", "handbook_id": letter, "answer": text, "absent": text is None}
            for letter, text in ANSWERS.items()
        ],
        comparisons=[{"question_id": "q1", "handbooks": list(ANSWERS), "pairs": []}],
    )
    return str(folder)


def accuracy(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, str]:
    assert main(["agreement", *arguments, "--format", "csv", "--table", "beside"]) == 0
    rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
    return next(row for row in rows if row["by"] == "majority" and row["name"] == "accuracy")


def test_the_baseline_reads_the_texts_of_the_release(labels, release, capsys):
    row = accuracy(capsys, "--labels", labels, "--release", release)
    assert (float(row["judge"]), float(row["other"]), row["n"]) == (0.75, 1.0, "4")


def test_any_column_can_be_compared_with_the_judge(labels, capsys):
    row = accuracy(capsys, "--labels", labels, "--against", "second_judge")
    assert (float(row["judge"]), float(row["other"])) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert row["n"] == "3", "the item that the second judge left out counts for neither"


def test_a_column_called_baseline_needs_no_option(tmp_path, capsys):
    (tmp_path / "labels.csv").write_text(LABELS.replace("second_judge", "baseline"))
    assert accuracy(capsys, "--labels", str(tmp_path / "labels.csv"))["n"] == "3"


def test_the_baseline_is_named_as_rules_in_what_people_and_machines_read(labels, release, capsys):
    assert main(["agreement", "--labels", labels, "--release", release]) == 0
    assert f"## The judge compared with a baseline: {escape_markdown(NAME)}" in capsys.readouterr().out
    assert main(["agreement", "--labels", labels, "--release", release, "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["other"] == NAME
    assert {row["by"] for row in data["beside"]} == {"majority", "annotator_a", "annotator_b"}


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


def test_a_pair_missing_from_the_release_is_named(tmp_path, release, capsys):
    (tmp_path / "labels.csv").write_text(LABELS.replace("x4,q1,a,d", "x4,q1,a,zebra"))
    assert main(["agreement", "--labels", str(tmp_path / "labels.csv"), "--release", release]) == 2
    assert "zebra" in capsys.readouterr().err


def test_a_study_uses_only_its_own_texts(tmp_path, capsys):
    assert main(["agreement", "--study", "s", "--release", str(tmp_path)]) == 2
    assert "a study has its own texts" in capsys.readouterr().err
