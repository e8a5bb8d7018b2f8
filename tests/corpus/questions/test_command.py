"""`audit questions`: exit codes, what is printed, and the report for machines."""

import json
from pathlib import Path

import pytest

from audit.cli.main import main

SOUND = "question_id,question,organ,topics\na,May I fly?,heart,travel\nb,What may I eat?,heart,nutrition\n"


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "asked.csv").write_text(SOUND)
    return tmp_path / "asked.csv"


def ask(path: Path, *more: str) -> int:
    return main(["questions", str(path), "--out", str(path.with_name("questions.jsonl")), "--encoder", "words", *more])


def test_a_sound_file_ends_well(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(asked, "--taxonomy", "transplant") == 0
    assert "2 of 2 questions written" in capsys.readouterr().out


def test_near_duplicates_end_with_one_until_they_are_decided(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked.write_text(SOUND + "c,MAY I FLY?,heart,travel\n")
    assert ask(asked) == 1
    table = asked.with_name("questions.decisions.csv")
    assert str(table) in capsys.readouterr().out
    table.write_text(table.read_text(encoding="utf-8-sig").replace("MAY I FLY?,,", "MAY I FLY?,drop_second,"))
    assert ask(asked) == 0
    assert len(asked.with_name("questions.jsonl").read_text().splitlines()) == 2


def test_machines_get_every_finding(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked.write_text(SOUND.replace("travel", "travell").replace("May I fly?", "May I write to a@b.org?"))
    assert ask(asked, "--json", "--taxonomy", "transplant") == 1
    report = json.loads(capsys.readouterr().out)
    assert report["codes"] == {"unknown_topic": 1, "identifying": 1}
    assert report["identifying"] == {"a": ["e-mail address"]}


def test_without_screening_nothing_is_looked_for_and_that_is_said(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked.write_text(SOUND.replace("May I fly?", "May I write to a@b.org?"))
    assert ask(asked, "--no-screen") == 0
    assert "not screened" in capsys.readouterr().out


def test_what_cannot_be_read_ends_with_two(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(asked.with_name("other.csv")) == 2
    assert "no such file" in capsys.readouterr().err


@pytest.mark.parametrize("cosine", ["0", "1.5", "many"])
def test_a_threshold_is_a_cosine(asked: Path, cosine: str) -> None:
    with pytest.raises(SystemExit):
        ask(asked, "--threshold", cosine)
