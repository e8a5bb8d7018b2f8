"""Loading stress tests: instances, replies, and what is set aside or dropped with a sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from audit.release.layout import PARTS, STRESS_PARTS
from audit.release.schema import json_schema
from audit.store.load import Loaded
from audit.store.runs import read_run
from tests.support.loading import ask, load, messages, quarantined
from tests.support.stress import Tables, document, instance, replied, stress_release, stress_tables

TABLES = ("stress_instances", "stress_documents", "stress_replies", "stress_calls", "stress_sub_answers")
WHOLE = (4, 6, 7, 5, 2)


def counts(loaded: Loaded) -> tuple[int, ...]:
    return tuple(ask(loaded, f"select count(*) from {table}")[0][0] for table in TABLES)


def load_with(tmp_path: Path, change: Callable[[Tables], Any]) -> Loaded:
    tables = stress_tables()
    change(tables)
    return load(stress_release(tmp_path / "release", tables), tmp_path / "data")


def test_a_release_of_stress_tests_needs_no_handbooks_answers_and_pairs(tmp_path: Path) -> None:
    loaded = load(stress_release(tmp_path / "release"), tmp_path / "data")
    assert counts(loaded) == WHOLE
    assert loaded.run.report["clean"], messages(loaded, "repaired")
    assert loaded.run.report["verdict"].startswith("7 replies to stress tests loaded, 0 quarantined; 15 of 15 records in all")
    assert (loaded.run.has_stress, loaded.run.has_systems, loaded.run.has_pairs) == (True, True, False)
    assert read_run(loaded.run.path) == loaded.run


def test_instances_that_no_system_has_seen_are_a_release(tmp_path: Path) -> None:
    tables = {"stress_instances": stress_tables()["stress_instances"]}
    loaded = load(stress_release(tmp_path / "release", tables), tmp_path / "data")
    assert counts(loaded) == (4, 6, 0, 0, 0)
    assert loaded.run.report["verdict"].startswith("4 stress instances loaded, 0 quarantined;")
    assert loaded.run.report["clean"]


def test_insufficient_unreadable_and_not_asked_are_different_things(tmp_path: Path) -> None:
    loaded = load(stress_release(tmp_path / "release"), tmp_path / "data")
    replies = ask(loaded, "select instance, choice, insufficient, unread_reason from stress_replies where system = 1 order by 1")
    assert replies == [(0, "B", False, None), (1, None, True, None), (2, None, None, "cut")]


def test_a_planted_error_and_the_calls_on_it_are_stored(tmp_path: Path) -> None:
    loaded = load(stress_release(tmp_path / "release"), tmp_path / "data")
    (row,) = ask(
        loaded,
        "select document_id, edit ->> 'after', sub_answer, false_answer, call, answer from stress_documents "
        "join stress_calls using (instance, place) join stress_sub_answers using (instance, place, system) "
        "where system = 0 and not is_factual",
    )
    assert row == ("a~", "9 days", "3 days", "9 days", "wrong", "3 days")


@pytest.mark.parametrize("kind", STRESS_PARTS)
def test_what_the_writer_writes_is_valid(tmp_path: Path, kind: str) -> None:
    validator = Draft202012Validator({"$defs": json_schema()["$defs"], "$ref": f"#/$defs/{kind}"})
    lines = (stress_release(tmp_path / "r") / f"{PARTS[kind][0]}.jsonl").read_text().splitlines()
    assert lines
    assert all(validator.is_valid(json.loads(line)) for line in lines)


def broken(**changes: Any) -> dict[str, Any]:
    """An instance that is sound but for `changes`."""
    return instance("q2", "standard", 100, document("a")) | changes


BAD: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    ("stress_instances", broken(gold="C"), "unknown_option", "its gold 'C' is not an option. Options: A, B."),
    ("stress_instances", broken(gold=""), "missing_field", "field 'gold' is empty."),
    ("stress_instances", broken(test="speed"), "unknown_test", "test 'speed' is not in the vocabulary."),
    ("stress_instances", broken(signal_share=120), "out_of_range", "'signal_share' is 120, but must be from 0 to 100."),
    ("stress_instances", broken(documents=[{"document_id": "a", "text": "x"}]), "missing_field", "document 1: it has no field"),
    ("stress_instances", broken(documents=["a"]), "wrong_type", "document 1: this is text, but each record must be an object."),
    ("stress_instances", broken(instance_id="q1-standard-100"), "duplicate_instance", "occurs earlier; the first record was"),
    ("stress_instances", broken(question_id="q9"), "unknown_question", "question 'q9' is not in questions."),
    ("stress_replies", replied("q1-standard", "good"), "unknown_instance", "Did you mean 'q1-standard-100'?"),
    ("stress_replies", replied("q1-standard-100", "goo"), "unknown_system", "system 'goo' is not in systems."),
    ("stress_replies", replied("q1-standard-100", "good"), "duplicate_stress_reply", "a reply of 'good' to instance"),
)  # fmt: skip
"""Table, bad record, code and words of its sentence."""


def test_a_bad_record_is_quarantined_with_a_sentence_and_affects_nothing_else(tmp_path: Path) -> None:
    loaded = load_with(tmp_path, lambda tables: [tables[table].append(record) for table, record, *_ in BAD])
    assert [(file, code) for file, _, code in quarantined(loaded)] == [(f"{table}.jsonl", code) for table, _, code, _ in BAD]
    for (*_, words), message in zip(BAD, messages(loaded, "quarantined"), strict=True):
        assert words in message
    assert counts(loaded) == WHOLE


def test_a_choice_that_is_not_an_option_is_unreadable(tmp_path: Path) -> None:
    loaded = load_with(tmp_path, lambda tables: tables["stress_replies"].append(replied("q2-integration-100", "weak", "4 mg")))
    assert loaded.run.report["clean"], "an open question has no options"
    loaded = load_with(tmp_path / "2", lambda tables: tables["stress_replies"][0].update(choice="E"))
    assert messages(loaded, "repaired") == ["it chooses 'E', but the options are A, B. It was loaded as unreadable."]
    assert ask(loaded, "select choice, insufficient, unread_reason from stress_replies limit 1") == [
        (None, None, "unknown option")
    ]


def test_a_choice_beside_insufficient_is_unreadable(tmp_path: Path) -> None:
    loaded = load_with(tmp_path, lambda tables: tables["stress_replies"][0].update(insufficient=True))
    assert "says that the documents do not suffice. It was loaded as unreadable." in messages(loaded, "repaired")[0]
    assert ask(loaded, "select choice, insufficient from stress_replies limit 1") == [(None, None)]


def test_documents_that_occur_twice_and_calls_that_fit_nothing_are_dropped_one_by_one(tmp_path: Path) -> None:
    def change(tables: Tables) -> None:
        tables["stress_instances"][0]["documents"] *= 2
        reply = tables["stress_replies"][1]
        reply["documents"] += [
            {"document_id": "x", "call": "relevant"}, {"document_id": "y", "call": "noise"},
            {"document_id": "a", "call": "maybe"},
        ]  # fmt: skip
        tables["stress_replies"][2]["documents"][0]["call"] = "noise"
        tables["stress_replies"][2]["sub_answers"][0] |= {"score": 0.7, "read_from": "zz"}

    loaded = load_with(tmp_path, change)
    assert counts(loaded) == (4, 6, 7, 3, 2)
    assert messages(loaded, "repaired") == [
        "document 'a' occurs twice. Only the first was loaded.",
        "entry 5 of 'documents': call 'maybe' is not in the vocabulary. Allowed: relevant, noise, factual, wrong. It was loaded "
        "without that entry.",
        "'documents' has document 'x' twice, with different content. It was loaded without both.",
        "'documents' names document 'y', which its instance does not have. The reply was loaded without that entry.",
        "field 'score' is 0.7, but must be 0, 0.5 or 1. It was loaded without that field.",
        "'noise' is not a call of the test robustness. The reply was loaded without that entry.",
        "an answer is said to be from document 'zz', which its instance does not have. It was loaded without that document.",
    ]
