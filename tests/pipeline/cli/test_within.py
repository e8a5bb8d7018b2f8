"""`audit within`: a folder of documents in, two files of a release out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.cli.main import main
from audit.text.documents import write_document
from tests.pipeline.judging.test_within_handbook import FEVER, handbook


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    write_document(handbook(*FEVER), folder / "heart_alder_post.json")
    return folder


def within(*arguments: object) -> int:
    return main(["within", *map(str, arguments)])


def test_rules_write_the_disagreements_and_what_was_compared(documents, tmp_path, capsys):
    out = tmp_path / "out"
    assert within(documents, "--out", out) == 0
    assert "disagreements: 1." in capsys.readouterr().out
    (finding,) = map(json.loads, (out / "within_handbook.jsonl").read_text().splitlines())
    assert [place["page"] for place in finding["places"]] == [5, 18, 40]
    (counts,) = map(json.loads, (out / "within_handbook_counts.jsonl").read_text().splitlines())
    assert (counts["handbook_id"], counts["compared"], counts["agreeing"]) == ("heart_alder_post", 2, 1)


def test_a_plan_writes_nothing(documents, tmp_path, capsys):
    out = tmp_path / "out"
    assert within(documents, "--out", out, "--dry-run") == 0
    assert "Pairs of statements: 2, handbooks: 1." in capsys.readouterr().out
    assert within(documents, "--out", out, "--judge", "model", "--dry-run") == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:3] == ["structured", "0", "2"]
    assert not out.exists()


def test_a_model_is_asked_and_its_replies_are_kept(documents, tmp_path, monkeypatch, real_judge):
    monkeypatch.setenv("AUDIT_JUDGE_URL", real_judge)
    out = tmp_path / "out"
    # A random model may give what cannot be read: then the pairs are unscored, and the exit code says so
    code = within(documents, "--out", out, "--judge", "model")
    (counts,) = map(json.loads, (out / "within_handbook_counts.jsonl").read_text().splitlines())
    assert (counts["compared"] + counts["unscored"], counts["not_asked"]) == (2, 0)
    assert code == (1 if counts["unscored"] else 0)
    monkeypatch.delenv("AUDIT_JUDGE_URL")
    assert within(documents, "--out", out, "--judge", "model", "--parse-again") == code


def test_rules_have_no_replies_to_parse(documents, tmp_path, capsys):
    assert within(documents, "--out", tmp_path / "out", "--parse-again") == 2
    assert "The rules call no model" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_file_cannot_be_the_folder(documents, tmp_path, capsys):
    (tmp_path / "out").write_text("a file")
    assert within(documents, "--out", tmp_path / "out") == 2
    assert "is a file. Nothing was written." in capsys.readouterr().err
