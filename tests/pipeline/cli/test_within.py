"""`audit within`: a folder of documents in, two files of a release out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.cli.main import main
from audit.text.documents import write_document
from tests.pipeline.judging.test_within_handbook import DIET, FEVER, candidates, handbook


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    write_document(handbook(*FEVER, *DIET), folder / "heart_alder_post.json")
    return folder


PAIRS = len(candidates(handbook(*FEVER, *DIET)).pairs)


def within(*arguments: object) -> int:
    return main(["within", *map(str, arguments)])


def test_a_plan_counts_the_pairs_and_writes_nothing(documents, tmp_path, capsys):
    out = tmp_path / "out"
    assert within(documents, "--out", out, "--dry-run") == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:3] == ["structured", "0", str(PAIRS)]
    assert within(documents, "--out", out, "--dry-run", "--pairs", 1) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:3] == ["structured", "0", "1"]
    assert not out.exists()


def test_questions_add_the_passages_that_are_closest_to_them(documents, tmp_path, capsys):
    questions = tmp_path / "questions.jsonl"
    questions.write_text(json.dumps({"question_id": "q1", "question": "Which temperature?", "organ": "heart"}) + "\n")
    assert within(documents, "--out", tmp_path / "out", "--dry-run", "--questions", questions) == 0
    assert int(capsys.readouterr().out.splitlines()[1].split()[2]) >= PAIRS


def test_a_model_is_asked_and_its_replies_are_kept(documents, tmp_path, monkeypatch, real_judge):
    monkeypatch.setenv("AUDIT_JUDGE_URL", real_judge)
    out = tmp_path / "out"
    # A random model may give what cannot be read: then the pairs are unscored, and the exit code says so
    code = within(documents, "--out", out)
    (counts,) = map(json.loads, (out / "within_handbook_counts.jsonl").read_text().splitlines())
    assert (counts["compared"] + counts["unscored"], counts["not_asked"]) == (PAIRS, 0)
    assert code == (1 if counts["unscored"] else 0)
    monkeypatch.delenv("AUDIT_JUDGE_URL")
    assert within(documents, "--out", out, "--parse-again") == code


def test_without_a_model_nothing_is_compared(documents, tmp_path, capsys):
    assert within(documents, "--out", tmp_path / "out") == 2
    assert "No model endpoint is set." in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_file_cannot_be_the_folder(documents, tmp_path, capsys):
    (tmp_path / "out").write_text("a file")
    assert within(documents, "--out", tmp_path / "out") == 2
    assert "is a file. Nothing was written." in capsys.readouterr().err
