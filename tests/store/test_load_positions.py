"""Loading positions: every quote is looked for in the answer that it is said to come from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from audit.cli.main import main
from audit.metrics.question_positions import positions_of
from audit.release.schema import json_schema
from audit.store.connection import open_store
from tests.support.loading import ask, load, messages, quarantined

Record = dict[str, Any]
HOLDERS = (
    'select number, handbook_id, quote, lead, start, "end" from position_holders join handbooks using (handbook) order by 1, 2'
)


@pytest.fixture
def answer(release: Path) -> str:
    """What handbook a answers to q1 in the small release."""
    records = map(json.loads, (release / "answers.jsonl").read_text().splitlines())
    return next(str(record["answer"]) for record in records if (record["question_id"], record["handbook_id"]) == ("q1", "a"))


def position(*holders: Record, **others: Any) -> Record:
    return {
        "question_id": "q1",
        "aspect": "waiting",
        "statement": "Wait.",
        "value": "3 months",
        "holders": list(holders),
        **others,
    }


def written(release: Path, *records: Record) -> Path:
    (release / "positions.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return release


def test_positions_are_loaded_with_their_places_and_a_question_shows_them(release: Path, tmp_path: Path, answer: str) -> None:
    quote = answer.split()[-1]
    loaded = load(written(release, position({"handbook_id": "a", "quote": quote}, method="judge")), tmp_path / "data")
    assert ask(loaded, HOLDERS) == [(1, "a", quote, None, answer.find(quote), answer.find(quote) + len(quote))]
    assert "positions: 1 found; the manifest declares no number." in [check["message"] for check in loaded.run.report["checks"]]
    with open_store(loaded.run.path) as con:
        (taken,) = positions_of(con, "q1").positions
        assert positions_of(con, "q2").certain is not None
    assert (taken.statement, taken.value, taken.aspect, taken.method) == ("Wait.", "3 months", "waiting", "judge")
    assert [(holder.handbook_id, holder.quote) for holder in taken.holders] == [("a", quote)]


def test_a_wrong_place_is_mended_where_the_words_stand_in_the_answer(release: Path, tmp_path: Path, answer: str) -> None:
    holder = {"handbook_id": "a", "quote": answer.split()[0], "start": 900}
    assert ask(load(written(release, position(holder)), tmp_path / "data"), HOLDERS)[0][4] == 0


BAD: list[tuple[Record, str, str]] = [
    (
        {"holders": [{"handbook_id": "a", "quote": "words that nobody wrote"}]},
        "quote_not_in_answer",
        "handbook 'a', in whose answer",
    ),
    ({"holders": []}, "no_holders", "needs a handbook that takes it"),
    ({"holders": [{"handbook_id": "a", "quote": ""}]}, "missing_field", "'quote'"),
    ({"holders": [{"handbook_id": "z", "quote": "x"}]}, "unknown_handbook", "handbook 'z' is not in handbooks."),
    ({"question_id": "q9"}, "unknown_question", "question 'q9' is not in questions."),
    ({"method": "guess"}, "unknown_method", "method 'guess' is not in the vocabulary."),
    ({"statement": " "}, "missing_field", "'statement'"),
]


@pytest.mark.parametrize(("change", "code", "words"), BAD)
def test_a_bad_position_is_set_aside_and_the_others_are_loaded(
    release: Path, tmp_path: Path, answer: str, change: Record, code: str, words: str
) -> None:
    sound = position({"handbook_id": "a", "quote": answer})
    loaded = load(written(release, sound | change, sound), tmp_path / "data")
    assert quarantined(loaded) == [("positions.jsonl", "line 1", code)]
    assert words in messages(loaded, "quarantined")[0]
    assert ask(loaded, "select count(*) from positions") == [(1,)]


def test_a_handbook_named_twice_in_one_position_sets_it_aside(release: Path, tmp_path: Path, answer: str) -> None:
    twice = {"handbook_id": "a", "quote": answer}
    assert quarantined(load(written(release, position(twice, twice)), tmp_path / "data"))[0][2] == "duplicate_holder"


def test_without_answers_quotes_are_noted_as_unchecked(release: Path, tmp_path: Path) -> None:
    (release / "answers.jsonl").unlink()
    loaded = load(written(release, position({"handbook_id": "a", "quote": "anything"})), tmp_path / "data")
    assert ask(loaded, HOLDERS) == [(1, "a", "anything", None, None, None)]
    assert any("quotes were not checked" in message for message in messages(loaded, "noted"))


def test_what_is_written_is_valid() -> None:
    schema = json_schema()
    validator = Draft202012Validator({"$defs": schema["$defs"], "$ref": "#/$defs/position"})
    validator.validate(position({"handbook_id": "a", "quote": "Wait.", "start": 0, "end": 5}))
    assert not validator.is_valid(position(method="guess"))


def test_the_command_writes_what_the_release_can_bring_back(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    found = load(release, tmp_path / "data")
    out = release / "positions.jsonl"
    assert main(["positions", "build", "--out", str(out)]) == 0
    assert main(["positions", "build", "--out", str(out)]) == 2  # nothing is written over
    again = load(release, tmp_path / "data")
    assert quarantined(again) == []
    with open_store(found.run.path) as first, open_store(again.run.path) as second:
        for question_id in ("q1", "q2"):
            assert positions_of(first, question_id) == positions_of(second, question_id) != ()
