"""`audit questions`: exit codes, printed text, and the report as JSON."""

import json
from pathlib import Path

import pytest

from audit.cli.main import main

VALID = "question_id,question,organ,topics\na,May I fly?,heart,travel\nb,What may I eat?,heart,nutrition\n"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "source.csv").write_text(VALID)
    return tmp_path / "source.csv"


def import_file(path: Path, *more: str) -> int:
    return main(["questions", str(path), "--out", str(path.with_name("questions.jsonl")), "--encoder", "words", *more])


def test_a_valid_file_ends_with_zero(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert import_file(source, "--taxonomy", "transplant") == 0
    assert "2 of 2 questions written" in capsys.readouterr().out


def test_near_duplicates_end_with_one_until_they_are_decided_on(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source.write_text(VALID + "c,MAY I FLY?,heart,travel\n")
    assert import_file(source) == 1
    table = source.with_name("questions.decisions.csv")
    assert str(table) in capsys.readouterr().out
    table.write_text(table.read_text(encoding="utf-8-sig").replace("MAY I FLY?,,", "MAY I FLY?,drop_second,"))
    assert import_file(source) == 0
    assert len(source.with_name("questions.jsonl").read_text().splitlines()) == 2


def test_json_has_every_finding(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source.write_text(VALID.replace("travel", "travell").replace("May I fly?", "May I write to a@b.org?"))
    assert import_file(source, "--json", "--taxonomy", "transplant") == 1
    report = json.loads(capsys.readouterr().out)
    assert report["codes"] == {"unknown_topic": 1, "identifying": 1}
    assert report["identifying"] == {"a": ["e-mail address"]}


def test_without_screening_the_report_says_so(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source.write_text(VALID.replace("May I fly?", "May I write to a@b.org?"))
    assert import_file(source, "--no-screen") == 0
    assert "not screened" in capsys.readouterr().out


def test_a_file_that_cannot_be_read_ends_with_two(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert import_file(source.with_name("other.csv")) == 2
    assert "no such file" in capsys.readouterr().err


@pytest.mark.parametrize("cosine", ["0", "1.5", "many"])
def test_a_threshold_must_be_a_cosine(source: Path, cosine: str) -> None:
    with pytest.raises(SystemExit):
        import_file(source, "--threshold", cosine)
