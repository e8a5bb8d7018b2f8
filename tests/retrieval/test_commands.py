"""`audit retrieve`: files for the next stage, trials, and no work twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audit.cli.main import main
from audit.corpus.documents import write_document
from tests.retrieval.handbooks import ALDER

QUESTIONS = [
    {"question_id": "q1", "question": "When may I fly?", "organ": "kidney"},
    {"question_id": "q2", "question": "Is raw fish safe?", "organ": "general"},
    {"question_id": "q3", "question": "When may I lift?", "organ": "heart"},
]


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _written(path: Path, records: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "documents").mkdir()
    write_document(ALDER, tmp_path / "documents" / "alder.json")
    gold = [
        {"question_id": "q1", "handbook_id": ALDER.handbook_id, "gold": ["s2"]},
        {"question_id": "q2", "gold_sections": {"a": ["s5"]}},
    ]
    return [
        "retrieve", str(tmp_path / "documents"), "--questions", _written(tmp_path / "questions.jsonl", QUESTIONS),
        "--gold", _written(tmp_path / "gold.jsonl", gold), "--out", str(tmp_path / "out"),
        "--encoder", "words", "--strategy", "hero", "bm25", "--whole-characters", "0",
    ]  # fmt: skip


def test_questions_of_another_organ_are_not_put_to_a_handbook(command: list[str], tmp_path: Path) -> None:
    assert main(command) == 0
    found = _lines(tmp_path / "out" / "kidney_alder_post.jsonl")
    assert [each["question_id"] for each in found] == ["q1", "q2"]
    assert found[0]["retrieval"]["passages"][0]["section_id"] == "s2"


def test_trials_hold_what_each_strategy_ranked_and_the_gold(command: list[str], tmp_path: Path) -> None:
    main(command)
    trials = _lines(tmp_path / "out" / "trials.jsonl")
    assert [(each["question_id"], each["strategy"], each["ranked"][0], each["gold"]) for each in trials] == [
        ("q1", "hero", "s2", ["s2"]), ("q1", "bm25", "s2", ["s2"]), ("q2", "hero", "s5", ["s5"]), ("q2", "bm25", "s5", ["s5"]),
    ]  # fmt: skip


def test_what_was_searched_is_not_searched_again(command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(command)
    before = (tmp_path / "out" / "kidney_alder_post.jsonl").stat().st_mtime_ns
    main(command)
    assert "1, of which 1 were searched before" in capsys.readouterr().out
    assert (tmp_path / "out" / "kidney_alder_post.jsonl").stat().st_mtime_ns == before
    main([*command, "--passages", "1"])
    assert len(_lines(tmp_path / "out" / "kidney_alder_post.jsonl")[0]["retrieval"]["passages"]) == 1


def test_the_papers_fusion_is_asked_for_by_name_and_searched_anew(command: list[str], tmp_path: Path) -> None:
    main(command)
    scored = _lines(tmp_path / "out" / "kidney_alder_post.jsonl")[0]["retrieval"]["passages"][0]["score"]
    main([*command, "--fusion", "ranks"])
    ranked = _lines(tmp_path / "out" / "kidney_alder_post.jsonl")[0]["retrieval"]["passages"][0]["score"]
    assert ranked == pytest.approx(3 / 61) != scored, "first of three retrievers by words"


def test_settings_that_cannot_be_are_refused(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--overlap-words", "200"]) == 2
    assert "chunks of 160 words cannot share 200" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], "gold.jsonl: there is no gold in it for these handbooks"),
        ([{"question_id": "q1", "gold_sections": {"elsewhere": ["s99"]}}], "names of no handbook and no center: 1"),
        ([{"question_id": "q9", "handbook_id": ALDER.handbook_id, "gold": ["s2"]}], "questions that are not asked: 1"),
    ],
)
def test_gold_that_counts_nowhere_is_said_and_costs_no_passage(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: list[dict[str, Any]], told: str
) -> None:
    _written(tmp_path / "gold.jsonl", lines)
    assert main(command) == 0
    assert told in capsys.readouterr().err
    assert {trial["question_id"] for trial in _lines(tmp_path / "out" / "trials.jsonl")} == {"q1", "q2"}
