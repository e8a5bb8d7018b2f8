"""Figures of stress tests, with counts done by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import t

from audit.errors import NotInRunError
from audit.metrics import METRICS
from audit.metrics.stress import stress_contexts, stress_curves, stress_paired, stress_selective
from audit.store.connection import Connection
from tests.support.stress import Record, Tables, altered, document, instance, replied, stress_store

QUESTIONS = tuple(f"q{number}" for number in range(12))
SYSTEMS = [{"system_id": "a"}, {"system_id": "b", "name": "Model B"}]


def curve(con: Connection, measure: str, system: str = "a", **options: Any) -> dict[str, Any]:
    """The only row of a measure of one system."""
    table = stress_curves(con, **options)
    (row,) = table[(table["measure"] == measure) & (table["system_id"] == system)].to_dict("records")
    return row


def store_of(folder: Path, instances: list[Record], replies: list[Record]) -> Connection:
    tables: Tables = {"systems": SYSTEMS, "stress_instances": instances, "stress_replies": replies}
    return stress_store(folder, tables, QUESTIONS)


@pytest.fixture(scope="module")
def sufficiency(tmp_path_factory: pytest.TempPathFactory) -> Connection:
    """12 questions, one signal and one noise document. `a`: 6 right, 3 wrong, 2 insufficient, 1 unreadable; `b`: all right."""
    called = {"a": "relevant", "x": "relevant"}
    own = [
        *(replied(f"{name}-sufficiency-50", "a", "A", called=called) for name in QUESTIONS[:6]),
        *(replied(f"{name}-sufficiency-50", "a", "B", called={"a": "relevant"}) for name in QUESTIONS[6:9]),
        *(replied(f"{name}-sufficiency-50", "a", None, insufficient=True, called={"a": "noise", "x": "noise"})
          for name in QUESTIONS[9:11]),
        replied("q11-sufficiency-50", "a", None, unread_reason="cut"),
    ]  # fmt: skip
    others = [replied(f"{name}-sufficiency-50", "b", "A") for name in QUESTIONS]
    instances = [instance(name, "sufficiency", 50, document("a"), document("x", signal=False)) for name in QUESTIONS]
    return store_of(tmp_path_factory.mktemp("sufficiency"), instances, own + others)


def test_insufficient_is_not_right_and_an_unreadable_reply_is_in_no_denominator(sufficiency):
    row = curve(sufficiency, "accuracy")
    assert (row["count"], row["of"], row["questions"], row["unread"]) == (6, 6 + 3 + 2, 11, 1)
    assert (row["at_least"], row["at_most"]) == (6 / 12, 7 / 12)
    assert row["value_low"] < row["value"] == 6 / 11 < row["value_high"]
    row = curve(sufficiency, "insufficient")
    assert (row["count"], row["of"], row["unread"]) == (2, 11, 1)
    # One reply a question: p (1 - p) / (n - 1) on the scale of logits, Student's t with 10 degrees of freedom
    half = t.ppf(0.975, 10) / np.sqrt(10 * (2 / 11) * (9 / 11))
    assert [row["value_low"], row["value_high"]] == pytest.approx([*expit(logit(2 / 11) + np.array([-half, half]))])
    row = curve(sufficiency, "unread")
    assert (row["count"], row["of"]) == (1, 12)


def test_detection_counts_documents_that_are_called_what_they_are(sufficiency):
    # 6 replies call both relevant (one of two right), 3 call only the signal (right), 2 call both noise (one of two right)
    row = curve(sufficiency, "noise_detection")
    assert (row["of"], row["items"], row["unread"]) == (6 + 3 + 2, 12 + 3 + 4, 3 + 2)
    assert np.isnan(row["count"])
    assert row["value"] == pytest.approx((6 / 2 + 3 + 2 / 2) / 11)
    assert curve(sufficiency, "noise_found")["value"] == 2 / 8
    assert curve(sufficiency, "signal_kept")["value"] == 9 / 11


def test_what_a_system_never_gives_has_no_row(sufficiency):
    measures = set(stress_curves(sufficiency).query("system_id == 'b'")["measure"])
    assert measures == {"accuracy", "insufficient", "unread"}


def test_selective_answering_leaves_the_declined_out_of_accuracy(sufficiency):
    row = stress_selective(sufficiency).iloc[0]
    assert (row["readable"], row["answered"], row["right"]) == (11, 9, 6)
    assert (row["coverage"], row["accuracy"]) == (pytest.approx(9 / 11), pytest.approx(6 / 9))
    assert row["coverage_low"] < row["coverage"] < row["coverage_high"]


def test_systems_are_compared_on_the_instances_that_both_could_be_read_on(sufficiency):
    row = stress_paired(sufficiency, baseline="a").query("measure == 'accuracy'").iloc[0]
    assert (row["system_id"], row["name"], row["against"], row["of"], row["questions"]) == ("b", "Model B", "a", 11, 5)
    assert row["change"] == pytest.approx(1 - 6 / 11)
    assert row["change_low"] <= row["change"] <= row["change_high"]
    assert row["moves"] == "rises"


def test_errors_and_sub_answers_of_altered_documents(tmp_path):
    facts = document("b", sub_question="How much?", sub_answer="2 mg", false_answer="4 mg")
    instances = [instance(name, "robustness", 50, facts, altered("a~")) for name in QUESTIONS[:2]]
    replies = [
        replied("q0-robustness-50", "a", called={"b": "factual", "a~": "factual"}, answered={"b": "2mg", "a~": "9 days"}),
        replied("q1-robustness-50", "a", called={"b": "wrong", "a~": "wrong"}, answered={"a~": "3 days"}),
    ]
    replies[0]["sub_answers"][1]["score"] = 0.5
    con = store_of(tmp_path, instances, replies)
    assert (curve(con, "error_detection")["value"], curve(con, "error_detection")["items"]) == ((1 / 2 + 1 / 2) / 2, 4)
    assert (curve(con, "errors_found")["value"], curve(con, "facts_kept")["value"]) == (1 / 2, 1 / 2)
    row = curve(con, "sub_exact")
    # One reply has one of two right, the other the only one that it gives
    assert (row["value"], row["of"], row["items"], row["unread"]) == ((1 / 2 + 1) / 2, 2, 3, 1)
    # "9 days" shares one of two words with "3 days"
    assert curve(con, "sub_f1")["value"] == pytest.approx(((1 + 0.5) / 2 + 1) / 2)
    assert (curve(con, "sub_score")["value"], curve(con, "sub_score")["of"]) == (0.5, 1)


def test_a_sub_answer_is_right_about_its_document_where_it_names_the_one_asked_about(tmp_path):
    documents = [document(name, sub_question=f"How much in {name}?", sub_answer="2 mg") for name in "ab"]
    instances = [instance(name, "integration", 100, *documents) for name in QUESTIONS[:2]]
    replies = [replied(f"{name}-integration-100", "a", answered={"a": "2 mg", "b": "2 mg"}) for name in QUESTIONS[:2]]
    replies[0]["sub_answers"][0]["read_from"] = "a"
    replies[0]["sub_answers"][1]["read_from"] = "a"
    replies[1]["sub_answers"][1]["read_from"] = "b"
    replies.append(replied("q0-integration-100", "b", answered={"a": "2 mg"}))
    con = store_of(tmp_path, instances, replies)
    row = curve(con, "sub_document")
    # One reply names the right document once in two, the other once in one; one answer names none
    assert (row["value"], row["of"], row["items"], row["unread"]) == ((1 / 2 + 1) / 2, 2, 3, 1)
    assert "sub_document" not in set(stress_curves(con).query("system_id == 'b'")["measure"])


def test_one_set_of_questions_can_be_chosen(tmp_path):
    instances = [instance("q0", "standard", 100, document("a"), dataset="one"), instance("q1", "standard", 100, document("a"))]
    con = store_of(tmp_path, instances, [replied("q0-standard-100", "a", "B"), replied("q1-standard-100", "a")])
    assert [curve(con, "accuracy", dataset=name)["value"] for name in ("one", "own")] == [0, 1]


def test_open_questions_have_shared_words_and_no_accuracy(tmp_path):
    instances = [instance("q0", "standard", 100, document("a"), options={}, gold="2 mg")]
    con = store_of(tmp_path, instances, [replied("q0-standard-100", "a", "2 mg daily")])
    assert curve(con, "open_f1")["value"] == pytest.approx(0.8)
    assert "accuracy" not in set(stress_curves(con)["measure"])
    assert stress_selective(con).empty


def test_of_a_system_that_nobody_graded_replies_that_decline_are_no_score(tmp_path):
    instances = [instance(name, "standard", 100, document("a"), options={}, gold="2 mg") for name in QUESTIONS[:4]]
    replies = [
        replied("q0-standard-100", "a", "2 mg", score=1),
        replied("q1-standard-100", "a", "4 mg", score=0),
        replied("q2-standard-100", "a", "Two mg"),
        replied("q3-standard-100", "a", None, insufficient=True),
        replied("q0-standard-100", "b", "2 mg"),
        replied("q3-standard-100", "b", None, insufficient=True),
    ]
    con = store_of(tmp_path, instances, replies)
    # Two graded and one that declines; the answer without a grade counts nowhere
    assert (curve(con, "open_score")["value"], curve(con, "open_score")["of"]) == (pytest.approx(1 / 3), 3)
    assert "open_score" not in set(stress_curves(con).query("system_id == 'b'")["measure"])


def test_contexts_tell_the_real_share_beside_the_one_asked_for(tmp_path):
    instances = [
        instance("q0", "sufficiency", 40, document("a"), document("x", signal=False), size=5),
        instance("q1", "sufficiency", 40, document("a"), document("x", signal=False), document("y", signal=False), size=5),
        instance("q2", "standard", 100, size=0),
        instance("q3", "robustness", 50, document("b"), altered("a~")),
    ]
    table = stress_contexts(store_of(tmp_path, instances, [])).set_index("test")
    assert table.loc["sufficiency", ["instances", "documents", "share", "smaller"]].tolist() == pytest.approx([2, 2.5, 5 / 12, 2])
    assert table.loc["robustness", "share"] == 0.5
    assert np.isnan(table.loc["standard", "share"])
    assert table.loc["standard", ["documents", "smaller"]].tolist() == [0, 0]


def test_a_test_and_a_size_can_be_chosen_and_an_unknown_test_is_refused(sufficiency):
    assert stress_curves(sufficiency, test="standard").empty
    assert len(stress_curves(sufficiency, test="sufficiency", size=2)) == len(stress_curves(sufficiency))
    with pytest.raises(NotInRunError, match="Did you mean 'sufficiency'"):
        stress_curves(sufficiency, test="suficiency")


def test_a_run_without_stress_tests_has_no_rows(store):
    con = store("q1 kidney ab=CONSISTENT")
    assert [len(METRICS[name](con)) for name in ("stress_curves", "stress_contexts", "stress_selective", "stress_paired")] == [
        0
    ] * 4


@pytest.mark.parametrize("name", ["stress_curves", "stress_contexts"])
def test_a_printed_statement_runs_as_it_stands(sufficiency, name):
    assert sufficiency.cursor().execute(METRICS[name].sql, {"test": None, "size": None, "dataset": None}).description
