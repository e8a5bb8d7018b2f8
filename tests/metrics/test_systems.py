"""Answering systems: what they answered, how long, and their measures, by counts that a person can check."""

from __future__ import annotations

import numpy as np
import pytest

from audit.errors import AuditError, NotInRunError
from audit.metrics.systems import system_differences, system_measures, systems
from audit.stats.intervals import wilson
from tests.support.systems import answered, judged, measured, system_tables, systems_store

TEN = tuple(f"q{number}" for number in range(1, 11))
WORSE = (1, 0, -2, 0, 0, 0, 1, 1)


@pytest.fixture(scope="module")
def con(tmp_path_factory):
    """`alone` and `rag` on q1 to q3: see tests.support.systems."""
    return systems_store(tmp_path_factory.mktemp("three"), system_tables())


@pytest.fixture(scope="module")
def ten(tmp_path_factory):
    """Ten questions: rouge_l of `rag` is .1 higher on q1 to q8; it refuses q9, and nobody asked it q10."""
    tables = system_tables()
    asked = {"alone": TEN, "rag": TEN[:9]}
    tables["system_answers"] = [
        answered(question, system, "I cannot say." if (system, question) == ("rag", "q9") else "One two three.",
                 refused=(system, question) == ("rag", "q9"))
        for system, questions in asked.items() for question in questions
    ]  # fmt: skip
    tables["measures"] = [
        measured(question, system, "rouge_l", number / 20 + (0.1 if system == "rag" else 0))
        for system, questions in asked.items() for number, question in enumerate(questions)
    ] + [measured(question, "rag", "mrr", 1.0) for question in TEN[:9]]  # fmt: skip
    # Names of what is counted here: a release's own values of these do not mix with ours
    tables["measures"] += [measured("q1", "rag", name, 99.0) for name in ("words", "composite", "refusal")]
    tables["references"] = [
        {"question_id": question, "answers": ["A reference."], "question_type": "causes" if number < 5 else "treatment"}
        for number, question in enumerate(TEN)
    ]
    tables["criteria"] = [judged(question, "alone", *WORSE) for question in TEN] + [judged(question, "rag") for question in TEN]
    return systems_store(tmp_path_factory.mktemp("ten"), tables, TEN)


def test_answered_refused_unread_and_not_asked_are_four_counts(con, ten):
    table = systems(con).set_index("system_id")
    counts = ["asked", "not_asked", "answered", "refused", "unread"]
    assert table.loc["alone", counts].tolist() == [3, 0, 2, 0, 1]
    assert table.loc["rag", counts].tolist() == [3, 0, 2, 1, 0]
    assert table.loc["reference", "answered"] == 2
    assert table.loc["reference", ["asked", "not_asked", "refused", "unread"]].isna().all()
    assert systems(ten).set_index("system_id").loc["rag", counts].tolist() == [9, 1, 8, 1, 0]


def test_refusals_are_a_share_of_readable_replies(con):
    table = systems(con).set_index("system_id")
    assert table.loc["alone", "refusal"] == 0  # of two; the third could not be read
    low, high = (float(end) for end in wilson(1, 3))
    assert table.loc["rag", ["refusal", "refusal_low", "refusal_high"]].tolist() == pytest.approx([1 / 3, low, high])
    assert np.isnan(table.loc["reference", "refusal"])


def test_lengths_are_words_of_answers_and_of_first_references(con):
    table = systems(con).set_index("system_id")
    assert table["words"].to_dict() == {"alone": 1, "rag": 2, "reference": 2}  # `Drink water.` and `Call us.`; not the refusal
    assert table.loc["rag", ["words_min", "words_max", "words_sd"]].tolist() == [2, 2, 0]


def test_a_question_type_counts_its_own_questions_only(con, ten):
    table = systems(con, question_type="treatment").set_index("system_id")
    assert table.loc["rag", ["asked", "not_asked", "words"]].tolist() == [1, 0, 2]
    assert systems(con, organ="lung")["asked"].dropna().tolist() == [0, 0]
    assert systems(ten, question_type="treatment").set_index("system_id").loc["rag", "not_asked"] == 1


def test_refusals_count_as_their_text_or_as_0_without_one_where_a_reader_asks_for_it(con, ten):
    rouge = system_measures(ten, refusals="count").set_index(["system_id", "measure"]).loc[("rag", "rouge_l")]
    own = [number / 20 + 0.1 for number in range(9)]  # q9, the refusal, among them
    assert (rouge["answers"], rouge["mean"]) == (9, pytest.approx(sum(own) / 9))
    # BLEU-1 of `rag` is known on q1 alone; the refusal of q3 has no value, and adds a 0 where refusals count
    left_out, counted = (
        system_measures(con, refusals=refusals).set_index(["system_id", "measure"]).loc[("rag", "bleu_1")]
        for refusals in ("exclude", "count")
    )
    assert (left_out["answers"], left_out["mean"]) == (1, 0.5)
    assert (counted["answers"], counted["mean"], counted["least"]) == (2, 0.25, 0)
    with pytest.raises(AuditError, match="Refusals 'zero'"):
        system_measures(con, refusals="zero")


def test_a_refusal_has_no_reference_measure_and_its_search_is_measured(ten):
    table = system_measures(ten).set_index(["system_id", "measure"])
    rouge = table.loc[("rag", "rouge_l")]
    assert rouge["answers"] == 8  # the value that the release has for the refusal of q9 does not count
    assert rouge["mean"] == pytest.approx(np.mean([number / 20 + 0.1 for number in range(8)]))
    assert rouge["sd"] == pytest.approx(np.std([number / 20 for number in range(8)], ddof=1))
    assert (rouge["least"], rouge["most"]) == pytest.approx((0.1, 0.45))
    assert rouge["mean_low"] < rouge["mean"] < rouge["mean_high"]
    assert table.loc[("rag", "mrr"), "answers"] == 9
    assert ("alone", "mrr") not in table.index
    assert list(dict.fromkeys(system_measures(ten)["measure"])) == ["rouge_l", "words", "mrr"]


def test_measures_by_question_type_are_those_of_its_questions(ten):
    table = system_measures(ten, by="question_type")
    whole = system_measures(ten)
    assert set(table["question_type"]) == {"causes", "treatment"}
    parts = table[(table["system_id"] == "alone") & (table["measure"] == "rouge_l")]
    assert parts["answers"].tolist() == [5, 5]
    one = whole[(whole["system_id"] == "alone") & (whole["measure"] == "rouge_l")]
    assert parts["mean"].mean() == pytest.approx(one["mean"].iloc[0])
    with pytest.raises(AuditError, match="Group 'organ' is not available"):
        system_measures(ten, by="organ")


def test_a_difference_is_over_the_questions_that_both_have(ten):
    table = system_differences(ten).set_index("measure")
    rouge = table.loc["rouge_l"]
    assert (rouge["of"], rouge["questions"]) == (8, 8)
    assert (rouge["against"], rouge["name"]) == ("Model alone", "Model with retrieval")
    assert rouge["change"] == pytest.approx(0.1)
    assert rouge["value"] - rouge["first"] == pytest.approx(0.1)
    assert rouge["moves"] == "rises"
    assert "mrr" not in table.index  # the baseline does not search
    assert table.loc["composite", ["of", "change"]].tolist() == pytest.approx([10, 2 / 14 * 10])
    refusal = table.loc["refusal"]
    assert (refusal["of"], refusal["change"], refusal["moves"]) == (9, pytest.approx(1 / 9), "too few questions")
    assert table.loc["words", "moves"] == "the same"


def test_another_baseline_turns_the_sign(ten):
    table = system_differences(ten, baseline="rag").set_index("measure")
    assert set(table["system_id"]) == {"alone"}
    assert table.loc["rouge_l", "change"] == pytest.approx(-0.1)
    with pytest.raises(NotInRunError, match=r"System 'rog' is not in this run. Did you mean 'rag'\?"):
        system_differences(ten, baseline="rog")


def test_a_run_without_systems_has_no_rows(store):
    con = store("q1 kidney ab=CONSISTENT")
    for metric in (systems, system_measures, system_differences):
        assert metric(con).empty
        assert len(metric(con).columns) > 5
