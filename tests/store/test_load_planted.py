"""Loading planted changes: what a release brings is in the store, and bad records are set aside one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from audit.release.schema import json_schema
from tests.support.loading import ask, load, messages, quarantined
from tests.support.planted import planted_item, write_planted

AMOUNT = planted_item(1, "amount", "CONSISTENT", "DIVERGENT", ["DIVERGENT", "CONTRADICTORY"], usage={"input_tokens": 90})
SWAP = planted_item(2, "swap", None, "CONSISTENT", change={"side": "both"}, handbook_a="b", handbook_b="a")
ITEMS = (
    "select item_id, question_id, a.handbook_id, b.handbook_id, kind::varchar, expected::varchar[], side, before, after, start, \
label_before::varchar, label::varchar, input_tokens from planted join questions using (question) \
join handbooks a on a.handbook = handbook_a join handbooks b on b.handbook = handbook_b order by item_id"
)


def test_planted_changes_are_loaded_with_their_run(release: Path, tmp_path: Path) -> None:
    loaded = load(write_planted(release, [AMOUNT, SWAP]), tmp_path / "data")
    assert ask(loaded, ITEMS) == [
        ("amount-1", "q1", "a", "b", "amount", ["DIVERGENT", "CONTRADICTORY"], "a", "3", "9", 5, "CONSISTENT", "DIVERGENT", 90),
        ("swap-2", "q1", "b", "a", "swap", [], "both", None, None, None, None, "CONSISTENT", None),
    ]  # fmt: skip
    assert "planted: 2 found; the manifest declares no number." in [check["message"] for check in loaded.run.report["checks"]]
    assert messages(loaded, "repaired") == []


def test_a_run_without_planted_changes_says_nothing_of_them(release: Path, tmp_path: Path) -> None:
    loaded = load(release, tmp_path / "data")
    assert ask(loaded, "select count(*) from planted") == [(0,)]
    assert not any("planted" in check["message"] for check in loaded.run.report["checks"])


def test_what_is_written_is_valid() -> None:
    schema = json_schema()
    validator = Draft202012Validator({"$defs": schema["$defs"], "$ref": "#/$defs/planted"})
    for record in (AMOUNT, SWAP):
        validator.validate(record)
    assert not validator.is_valid(AMOUNT | {"kind": "colour"})


BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"kind": "colour"}, "unknown_kind", "kind 'colour' is not in the vocabulary."),
    ({"kind": ""}, "missing_field", "field 'kind' is empty."),
    ({"question_id": "q9"}, "unknown_question", "question 'q9' is not in questions."),
    ({"handbook_b": "z"}, "unknown_handbook", "handbook 'z' is not in handbooks."),
    ({"expected": ["DIVERGNT"]}, "unknown_expected", "Did you mean 'DIVERGENT'?"),
    ({"label": "agree?"}, "unknown_label", "label 'agree?' is not in the vocabulary."),
    ({"label": None, "judge": None}, "no_verdict", "neither a label nor any trace of a judge"),
    ({"item_id": "amount-1"}, "duplicate_planted", "item_id 'amount-1' by the same judge occurs earlier"),
]


@pytest.mark.parametrize(("change", "code", "words"), BAD)
def test_a_bad_record_is_set_aside_and_the_others_are_loaded(
    release: Path, tmp_path: Path, change: dict[str, Any], code: str, words: str
) -> None:
    loaded = load(write_planted(release, [AMOUNT, AMOUNT | {"item_id": "other"} | change]), tmp_path / "data")
    assert quarantined(loaded) == [("planted.jsonl", "line 2", code)]
    assert words in messages(loaded, "quarantined")[0]
    assert ask(loaded, "select item_id from planted") == [("amount-1",)]


def test_a_change_that_is_not_where_it_says_loses_its_place(release: Path, tmp_path: Path) -> None:
    moved = AMOUNT | {"change": AMOUNT["change"] | {"start": 6}}
    loaded = load(write_planted(release, [moved]), tmp_path / "data")
    assert ask(loaded, "select before, after, start, side from planted") == [("3", "9", None, "a")]
    assert "its words are not at that position" in messages(loaded, "repaired")[0]


def test_a_declared_count_is_compared_with_the_one_found(release: Path, tmp_path: Path) -> None:
    manifest = json.loads((release / "manifest.json").read_text())
    (release / "manifest.json").write_text(json.dumps(manifest | {"planted": 3}))
    loaded = load(write_planted(release, [AMOUNT]), tmp_path / "data")
    (check,) = [check for check in loaded.run.report["checks"] if "planted" in check["message"]]
    assert (check["ok"], check["message"]) == (False, "planted: 1 found, 3 declared in the manifest.")
