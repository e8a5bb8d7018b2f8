"""Loading answering systems: what a release brings is in the store, and bad records are set aside one by one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit.errors import ReleaseError
from audit.evaluation.criteria import REFERENCE
from audit.settings import Settings
from audit.store.load import Loaded, load_release
from audit.store.runs import read_run
from tests.support.loading import ask, load, messages, quarantined
from tests.support.systems import GOOD, answered, judged, measured, preferred, scores, system_tables, systems_release
from tests.support.tiny import release_from

TABLES = ("systems", "reference_answers", "question_types", "system_answers", "criteria", "preferences", "system_measures")
WHOLE = (2, 3, 2, 6, 6, 3, 2)
"""Rows of each table of the sound release."""
ANSWERS = "select question_id, system_id, answer, refused, unread_reason from system_answers join questions using (question) \
join systems using (system) order by all"


def counts(loaded: Loaded) -> tuple[int, ...]:
    return tuple(ask(loaded, f"select count(*) from {table}")[0][0] for table in TABLES)


def load_with(tmp_path: Path, change: Callable[[dict[str, list[dict[str, Any]]]], Any]) -> Loaded:
    tables = system_tables()
    change(tables)
    return load(systems_release(tmp_path / "release", tables), tmp_path / "data")


# -- what is sound -------------------------------------------------------------------------------------------------------


def test_a_release_of_answering_systems_needs_no_handbooks_and_no_pairs(tmp_path: Path) -> None:
    loaded = load(systems_release(tmp_path / "release"), tmp_path / "data")
    assert counts(loaded) == WHOLE
    assert (loaded.run.has_systems, loaded.run.has_pairs, loaded.run.has_answers) == (True, False, False)
    assert loaded.run.report["clean"], messages(loaded, "repaired")
    assert loaded.run.report["verdict"].startswith("6 answers of systems loaded, 0 quarantined; 24 of 24 records in all")
    assert read_run(loaded.run.path) == loaded.run
    assert not any("pairs" in check["message"] or "handbooks" in check["message"] for check in loaded.run.report["checks"])


def test_declared_counts_are_compared_with_those_found(tmp_path: Path) -> None:
    folder = systems_release(tmp_path / "release")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert {name: manifest[name] for name in ("systems", "references", "system_answers", "criteria")} == {
        "systems": 2, "references": 2, "system_answers": 6, "criteria": 6,
    }  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(manifest | {"criteria": 7}))
    loaded = load(folder, tmp_path / "data")
    (check,) = [check for check in loaded.run.report["checks"] if check["ok"] is False]
    assert check["message"] == "criteria: 6 found, 7 declared in the manifest."


def test_pairs_and_answering_systems_may_be_in_one_release(tmp_path: Path) -> None:
    folder = release_from(tmp_path, "q1 kidney ab=DIVERGENT/low\nq2 kidney ab=CONSISTENT\nq3 kidney ab=CONSISTENT")
    for path in systems_release(tmp_path / "systems").glob("*.jsonl"):
        if path.name != "questions.jsonl":
            path.rename(folder / path.name)
    loaded = load(folder, tmp_path / "data")
    assert counts(loaded) == WHOLE
    assert (loaded.run.has_systems, loaded.run.has_pairs) == (True, True)


def test_a_run_of_pairs_has_no_systems(release: Path, tmp_path: Path) -> None:
    loaded = load(release, tmp_path / "data")
    assert (loaded.run.has_systems, loaded.run.has_pairs) == (False, True)
    assert not any("systems" in check["message"] for check in loaded.run.report["checks"])


def test_refused_unread_and_not_asked_are_different_things(tmp_path: Path) -> None:
    rows = {
        (question, system): rest
        for question, system, *rest in ask(load(systems_release(tmp_path / "r"), tmp_path / "d"), ANSWERS)
    }
    assert rows["q1", "alone"] == ["Drink.", False, None]
    assert rows["q3", "rag"] == ["I cannot say.", True, None]
    assert rows["q3", "alone"] == [None, None, "cut_short"]


def test_fields_arrive_as_written(tmp_path: Path) -> None:
    loaded = load(systems_release(tmp_path / "release"), tmp_path / "data")
    assert ask(loaded, "select question, place, answer from reference_answers") == [
        (0, 0, "Drink; rest."), (0, 1, "Drink more."), (1, 0, "Call us."),
    ]  # fmt: skip
    ((evidence, tokens),) = ask(loaded, "select evidence, input_tokens from system_answers where evidence is not null")
    assert [(passage["section_id"], passage["rank"], passage["score"]) for passage in json.loads(evidence)] == [
        ("s1", 1, 0.9), ("s2", 2, 0.5),
    ]  # fmt: skip
    assert tokens == 90
    assert ask(loaded, "select question, system, missing_content from criteria where missing_content < 0") == [(1, 0, -1)]
    assert ask(loaded, "select count(*) from criteria where system is null") == [(2,)]
    assert ask(loaded, "select preference, rater, rater_kind, shown_first from preferences where question = 0") == [
        ("tie", "rater-1", "human", None)
    ]
    assert ask(loaded, "select organ from questions where question = 0") == [("general",)]


@pytest.mark.parametrize("file", ["systems", "questions"])
def test_without_systems_or_questions_it_is_no_release(tmp_path: Path, file: str) -> None:
    folder = systems_release(tmp_path / "release")
    (folder / f"{file}.jsonl").unlink()
    with pytest.raises(
        ReleaseError, match=rf"it has no {file}\. Nothing was loaded\. Expected in one folder: systems, questions"
    ):
        load_release(folder, Settings(data_dir=tmp_path / "data"))


def test_a_release_without_a_usable_system_and_without_pairs_is_not_loaded(tmp_path: Path) -> None:
    folder = systems_release(tmp_path / "release", system_tables() | {"systems": [{"system_id": REFERENCE}]})
    with pytest.raises(
        ReleaseError, match=r"no usable system in systems\.jsonl\. systems\.jsonl, line 1: the id 'reference' stands"
    ):
        load_release(folder, Settings(data_dir=tmp_path / "data"))


# -- what is not ---------------------------------------------------------------------------------------------------------


BAD = (
    ("systems", {"system_id": "alone"}, "duplicate_system", "system_id 'alone' occurs earlier; the first record was kept."),
    ("systems", {"system_id": REFERENCE}, "reserved_id", "'reference' stands for the reference answer"),
    ("systems", {"name": "nameless"}, "missing_field", "it has no field 'system_id'"),
    ("references", {"question_id": "q9", "answers": ["x"]}, "unknown_question", "question 'q9' is not in questions."),
    ("references", {"question_id": "q1", "answers": ["x"]}, "duplicate_reference", "a reference of question 'q1' occurs"),
    ("references", {"question_id": "q3", "answers": ["", " "]}, "empty_reference", "neither a reference answer nor"),
    ("system_answers", answered("q1", "ragg", "x"), "unknown_system", "system 'ragg' is not in systems. Did you mean 'rag'?"),
    ("system_answers", answered("q1", "rag", "x"), "duplicate_system_answer", "answer of 'rag' to question 'q1' occurs"),
    ("system_answers", {"question_id": "q1", "system_id": "rag"}, "missing_field", "neither an answer nor an 'unread_reason'"),
    ("system_answers", answered("q1", "rag", None) | {"answer": ["x"]}, "wrong_type", "'answer' is a list, but must be text"),
    ("criteria", judged("q1", "other"), "unknown_system", "system 'other' is not in systems."),
    ("criteria", judged("q1", "rag"), "duplicate_criteria", "a judgement of 'rag' on question 'q1' by the same judge occurs"),
    ("criteria", judged("q3", "rag", *[None] * 8), "no_scores", "nothing shows that the judge was asked"),
    ("preferences", preferred("q1", "C"), "unknown_preference", "preference 'C' is not in the vocabulary."),
    ("preferences", preferred("q1", "none"), "missing_field", "field 'preference' is empty."),
    ("preferences", preferred("q1", "B"), "duplicate_preference", "a preference of 'rater-1' between these two systems"),
    ("preferences", preferred("q1", "B") | {"system_b": "alone"}, "self_pair", "a system is not compared with itself"),
    ("preferences", preferred("q3", "B") | {"system_a": "al"}, "unknown_system", "system 'al' is not in systems."),
    ("measures", measured("q1", "rag", "bleu_1", 1), "duplicate_measure", "'bleu_1' of 'rag' on question 'q1' occurs"),
    ("measures", measured("q2", "rag", "bleu_1", None), "missing_field", "field 'value' is empty"),
    ("measures", measured("q2", "x", "mrr", 1), "unknown_system", "system 'x' is not in systems."),
)  # fmt: skip
"""Table, bad record, code and words of its sentence."""


def test_a_bad_record_is_quarantined_with_a_sentence_and_affects_nothing_else(tmp_path: Path) -> None:
    loaded = load_with(tmp_path, lambda tables: [tables[table].append(record) for table, record, *_ in BAD])
    assert [(file, code) for file, _, code in quarantined(loaded)] == [(f"{table}.jsonl", code) for table, _, code, _ in BAD]
    for (*_, words), message in zip(BAD, messages(loaded, "quarantined"), strict=True):
        assert words in message
    assert counts(loaded) == WHOLE


def test_the_same_couple_in_the_other_order_is_a_duplicate(tmp_path: Path) -> None:
    turned = preferred("q1", "A") | {"system_a": "rag", "system_b": "alone"}
    loaded = load_with(tmp_path, lambda tables: tables["preferences"].append(turned))
    assert [code for _, _, code in quarantined(loaded)] == ["duplicate_preference"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (3, "field 'missing_content' is 3, but must be one of 0, -1, -2. It was loaded without that field."),
        (-0.5, "field 'missing_content' is -0.5, but must be a whole number."),
        ("bad", "field 'missing_content' is 'bad', but must be a number."),
        (True, "field 'missing_content' is True, but must be a number."),
    ],
)
def test_a_score_that_is_not_allowed_is_unreadable_and_the_other_seven_stay(tmp_path: Path, value: Any, words: str) -> None:
    loaded = load_with(tmp_path, lambda tables: tables["criteria"].append(judged("q3", "rag") | {"missing_content": value}))
    assert words in messages(loaded, "repaired")[0]
    columns = ", ".join(scores(*GOOD))
    assert ask(loaded, f"select {columns} from criteria where question = 2") == [(1, 0, None, 0, 0, 0, 1, 1)]
    assert "1 of 7 records lack at least one of the eight scores. They were loaded." in messages(loaded, "noted")


def test_missing_criteria_are_counted_once(tmp_path: Path) -> None:
    def change(tables: dict[str, list[dict[str, Any]]]) -> None:
        for record in tables["criteria"][:3]:
            del record["empathy"], record["bias"]

    loaded = load_with(tmp_path, change)
    assert messages(loaded, "noted") == ["3 of 6 records lack at least one of the eight scores. They were loaded."]
    assert ask(loaded, "select count(*) from criteria where empathy is null and bias is null") == [(3,)]


def test_nan_is_no_value(tmp_path: Path) -> None:
    folder = systems_release(tmp_path / "release")
    for name, record in (
        ("criteria", judged("q3", "rag", 1, 0, 0, 0, 0, 0, 1, 9)),
        ("measures", measured("q2", "rag", "bleu_1", 9)),
    ):
        with (folder / f"{name}.jsonl").open("a") as file:
            file.write(json.dumps(record).replace(": 9", ": NaN") + "\n")
    loaded = load(folder, tmp_path / "data")
    assert quarantined(loaded) == [("measures.jsonl", "line 3", "missing_field")]
    assert ask(loaded, "select grammaticality, empathy from criteria where question = 2") == [(None, 1)]
    assert "NaN read as no value (1 times)." in messages(loaded, "repaired")


def test_an_empty_answer_is_one_that_could_not_be_read(tmp_path: Path) -> None:
    loaded = load_with(tmp_path, lambda tables: tables["system_answers"][0].update(answer="  "))
    assert ask(loaded, ANSWERS)[0] == ("q1", "alone", None, None, "empty")
    assert messages(loaded, "repaired") == ["the answer is empty. It was loaded as one that could not be read."]
    assert counts(loaded) == WHOLE


def test_a_reason_on_an_answer_that_was_read_is_dropped(tmp_path: Path) -> None:
    loaded = load_with(tmp_path, lambda tables: tables["system_answers"][0].update(unread_reason="cut_short"))
    assert ask(loaded, ANSWERS)[0] == ("q1", "alone", "Drink.", False, None)
    assert "unread_reason 'cut_short' on an answer that was parsed" in messages(loaded, "repaired")[0]


def test_a_reply_of_the_judge_that_was_cut_off_is_unscored_and_not_zero(tmp_path: Path) -> None:
    cut = judged("q3", "rag", *[None] * 8, parse="none", unscored_reason="cut_short")
    loaded = load_with(tmp_path, lambda tables: tables["criteria"].append(cut))
    assert ask(loaded, "select parse::varchar, unscored_reason, empathy from criteria where question = 2") == [
        ("none", "cut_short", None)
    ]
    assert quarantined(loaded) == []


def test_a_file_that_stops_in_the_middle_of_a_record_loses_that_record_only(tmp_path: Path) -> None:
    folder = systems_release(tmp_path / "release")
    path = folder / "system_answers.jsonl"
    path.write_text(path.read_text()[:-20])
    loaded = load(folder, tmp_path / "data")
    assert quarantined(loaded) == [("system_answers.jsonl", "line 6", "broken_json")]
    assert counts(loaded) == (2, 3, 2, 5, 6, 3, 2)


def test_an_empty_reference_keeps_the_type_of_its_question(tmp_path: Path) -> None:
    loaded = load_with(tmp_path, lambda tables: tables["references"][0].update(answers=[]))
    assert messages(loaded, "repaired") == ["field 'answers' has no text. The question was loaded without a reference answer."]
    assert ask(loaded, "select question_type from question_types where question = 0") == [("treatment",)]
    assert "1 of 6 records are about an answer that is not in the release. They were loaded." in messages(loaded, "noted")


def test_criteria_of_answers_that_are_not_in_the_release_are_loaded_and_counted(tmp_path: Path) -> None:
    loaded = load_with(tmp_path, lambda tables: tables.pop("system_answers"))
    assert messages(loaded, "noted") == ["4 of 6 records are about an answer that is not in the release. They were loaded."]
    assert counts(loaded) == (2, 3, 2, 0, 6, 3, 2)


def test_evidence_that_is_not_an_object_is_dropped_alone(tmp_path: Path) -> None:
    loaded = load_with(tmp_path, lambda tables: tables["system_answers"][1]["evidence"].append("s3"))
    assert messages(loaded, "repaired") == ["entry 3 of 'evidence' is text, not an object. It was loaded without that entry."]
    ((evidence,),) = ask(loaded, "select evidence from system_answers where evidence is not null")
    assert len(json.loads(evidence)) == 2


def test_other_peoples_field_names_are_understood(tmp_path: Path) -> None:
    folder = systems_release(tmp_path / "release")
    (folder / "systems.jsonl").unlink()
    (folder / "systems.csv").write_text("id,label,llm,kind\nalone,Alone,m,vanilla\nrag,With,m,RAG\n")
    loaded = load(folder, tmp_path / "data")
    assert ask(loaded, "select system_id, name, model, mode from systems") == [
        ("alone", "Alone", "m", "closed_book"), ("rag", "With", "m", "retrieval"),
    ]  # fmt: skip
