"""Building instances: composition of contexts, noise, determinism, and what is left out with a sentence."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from audit.errors import QuestionsError
from audit.pipeline.stress.building.builder import BuildSettings, BuildSummary, build_instances, write_build
from audit.pipeline.stress.building.contexts import Composition, NoisePool, composition, correct_and_edited
from audit.pipeline.stress.building.facts import find_fact, rule_facts
from audit.pipeline.stress.building.questions import (
    BuildReport,
    SignalDocument,
    StressQuestion,
    checked_questions,
    with_unique_document_ids,
)
from audit.pipeline.stress.building.stress_questions import read_questions
from audit.pipeline.stress.instances import StressInstance
from audit.vocabulary import StressTest

PUBMEDQA = Path(__file__).resolve().parents[3].parent / "shared/data/stress/pubmedqa.jsonl.gz"
YES_NO = {"A": "yes", "B": "no"}


def question(number: int, documents: int) -> StressQuestion:
    """A question whose documents each give one length of time of their own."""
    texts = [f"Group {number} of part {part} took the tablets for {10 + part} weeks." for part in range(documents)]
    signal = tuple(SignalDocument(f"d{number}-{part}", text) for part, text in enumerate(texts))
    return StressQuestion(f"q{number:03}", f"How long in group {number}?", "A", YES_NO, signal)


def built(questions: list[StressQuestion], **settings: Any) -> list[StressInstance]:
    report = BuildReport()
    facts = rule_facts(questions, 0, report)
    return list(build_instances(questions, facts, BuildSettings(**settings), report))


# -- composition -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "share", "available", "expected"),
    [
        (5, 60, 9, {Composition(3, 2)}),
        (20, 20, 4, {Composition(4, 16)}),
        (5, 0, 3, {Composition(0, 5)}),
        (5, 100, 3, {Composition(3, 0)}),
        (20, 20, 3, {Composition(3, 12)}),
        (5, 80, 3, {Composition(3, 0), Composition(3, 1)}),  # 3 of 3.75: sometimes 3 of 3, sometimes 3 of 4
        (5, 40, 1, {Composition(1, 1), Composition(1, 2)}),
    ],
)
def test_few_signal_documents_make_a_smaller_context_with_the_share_asked_for_on_average(size, share, available, expected):
    drawn = [composition(size, share, available, place / 1000) for place in range(1000)]
    assert set(drawn) == expected
    assert fmean(100 * parts.signal / sum(parts) for parts in drawn if parts) == pytest.approx(share, abs=0.1)


@pytest.mark.parametrize("share", [0, 20, 40, 60, 80, 100])
@pytest.mark.parametrize("available", [1, 2, 3, 7])
def test_the_mean_share_of_correct_documents_is_the_one_asked_for(share, available):
    drawn = [correct_and_edited(5, share, available, place / 1000) for place in range(1000)]
    assert {sum(parts) for parts in drawn if parts} == {min(5, available)}
    assert fmean(100 * parts.signal / sum(parts) for parts in drawn if parts) == pytest.approx(share, abs=0.1)


def test_without_signal_a_context_of_noise_alone_is_possible_and_no_other():
    assert composition(5, 0, 0, 0.5) == Composition(0, 5)
    assert composition(5, 20, 0, 0.5) is None
    assert correct_and_edited(5, 20, 0, 0.5) is None


# -- instances ---------------------------------------------------------------------------------------------------------


def test_each_test_has_the_documents_that_its_definition_asks_for():
    questions = [question(number, 10) for number in range(8)]
    instances = built(questions)
    by_id = {instance.instance_id: instance for instance in instances}
    assert Counter(instance.test for instance in instances) == {
        StressTest.STANDARD: 3 * 8, StressTest.SUFFICIENCY: 2 * 6 * 8, StressTest.INTEGRATION: 2 * 5 * 8,
        StressTest.ROBUSTNESS: 2 * 6 * 8,
    }  # fmt: skip
    assert by_id["standard-0-100-q003"].documents == ()
    for instance in instances:
        own = f"d{int(instance.question_id[1:])}-"
        assert all(document.document_id.startswith(own) == document.is_signal for document in instance.documents)
        signal = [document for document in instance.documents if document.is_signal]
        is_asked = instance.test in (StressTest.INTEGRATION, StressTest.ROBUSTNESS)
        assert all((document.sub_question is not None) == is_asked for document in signal)
    assert sum(document.is_signal for document in by_id["sufficiency-5-40-q003"].documents) == 2
    assert sum(document.is_factual for document in by_id["robustness-10-40-q003"].documents) == 4


def test_an_edited_document_supports_the_false_answer_and_records_the_smallest_change():
    (instance,) = (one for one in built([question(1, 3), question(2, 3)]) if one.instance_id == "robustness-5-0-q001")
    for document in instance.documents:
        assert document.edit is not None
        assert document.false_answer is not None
        start, after = document.edit["start"], document.edit["after"]
        assert document.text[start : start + len(after)] == after == document.false_answer
        original = document.text[:start] + document.edit["before"] + document.text[start + len(after) :]
        assert document.sub_answer == document.edit["before"]
        assert document.sub_answer in original
        assert document.sub_answer not in document.text
        assert document.edited_from == document.document_id.removesuffix("~edited")


def test_the_order_of_questions_and_documents_changes_nothing_and_the_seed_does(tmp_path):
    questions = [question(number, 4) for number in range(9)]
    turned = [StressQuestion(**{**vars(one), "documents": one.documents[::-1]}) for one in reversed(questions)]
    assert built(turned) == built(questions)
    assert built(questions, seed=1) != built(questions)
    for name in ("first", "second"):
        report = BuildReport()
        write_build(tmp_path / name, iter(built(questions)), BuildSummary(report), {"seed": 0})
    files = [path.read_bytes() for path in sorted(tmp_path.rglob("*.json*"))]
    assert files[:2] == files[2:]


def test_contexts_with_the_same_documents_have_the_same_order():
    contexts = {one.instance_id: one.documents for one in built([question(number, 3) for number in range(4)])}
    assert contexts["standard-5-100-q001"] == contexts["standard-20-100-q001"]
    assert contexts["robustness-5-40-q001"] == contexts["robustness-10-40-q001"]


def test_noise_is_never_a_text_that_the_question_or_its_topic_has():
    shared = SignalDocument("copy", "Group 0 of  part 0 took the tablets for 10 weeks.")
    other = StressQuestion("q900", "How long?", "A", YES_NO, (shared, SignalDocument("x", "Something else.")))
    sibling = StressQuestion("q901", "How long?", "A", YES_NO, (SignalDocument("y", "Elsewhere."),), topic="q000")
    pool = NoisePool([question(0, 2), other, sibling])
    assert {document.document_id for document in pool.draw(question(0, 2), 9, 0)} == {"x"}


def test_a_statement_that_documents_of_several_topics_share_is_asked_about_in_none():
    text = "Entry {}. The tablets are taken twice a day with water."
    apart, sibling = (
        [StressQuestion(f"q{n}", "How?", "A", YES_NO, (SignalDocument(f"d{n}", text.format(n)),), topic=topic) for n in range(2)]
        for topic in (None, "how")
    )
    report = BuildReport()
    assert rule_facts(apart, 0, report) == {}
    assert report.counts["document without a statement that a rule can change"] == 2
    assert set(rule_facts(sibling, 0, report)) == {"d0", "d1"}


def test_a_statement_that_two_documents_of_a_question_share_is_asked_about_in_none():
    texts = ("One. The tablets are taken twice a day with water.", "Two. The tablets are taken twice a day with water.")
    own = StressQuestion("q", "How?", "A", YES_NO, tuple(SignalDocument(text[:3], text) for text in texts))
    assert rule_facts([own], 0, BuildReport()) == {}


def test_the_statement_that_shares_words_with_the_question_is_asked_about():
    text = "Birds at the window are fed twice a day. The deposit is paid back within 14 days."
    for seed in range(9):
        fact = find_fact(text, "When is my deposit paid back?", str(seed))
        assert fact is not None
        assert "deposit" in fact.sub_question


def test_a_question_with_a_gap_does_not_give_its_answer_away():
    fact = find_fact("Patients waited 3 months before they travelled again.", "How long?", "seed")
    assert fact is not None
    assert fact.sub_answer not in fact.sub_question.split('"', 1)[1] or fact.edit.kind == "direction"


# -- what is left out --------------------------------------------------------------------------------------------------

GOOD = {"question_id": "q1", "question": "Is it safe?", "options": YES_NO, "gold": "A"}
DOCUMENT = {"document_id": "d1", "text": "It is safe."}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"gold": None}, "without gold"),
        ({"gold": "D"}, "option letter does not exist"),
        ({"gold": "perhaps"}, "gold is not an option"),
        ({"options": {"A": "yes"}}, "fewer than two options"),
        ({"options": "yes or no"}, "unreadable options"),
        ({"question": " "}, "without id or question"),
    ],
)
def test_a_question_that_cannot_be_used_is_one_sentence_and_the_others_stay(change, reason):
    report = BuildReport()
    records = [("line 1", {**GOOD, "question_id": "bad", **change}), ("line 2", GOOD)]
    assert [one.question_id for one in checked_questions(iter(records), None, report)] == ["q1"]
    assert report.counts == {reason: 1}
    assert report.examples[reason][0].startswith("line 1: ")
    assert report.examples[reason][0].endswith("The question was left out.")


def test_the_first_of_several_reference_answers_is_the_gold_of_an_open_question():
    record = {"question_id": "q1", "question": "Is it safe?", "reference_answers": ["It is safe.", "Yes."]}
    (one,) = checked_questions(iter([("line 1", record)]), None, BuildReport())
    assert (one.gold, one.options) == ("It is safe.", {})


def test_empty_and_duplicate_documents_and_ids_are_dropped_and_counted():
    report = BuildReport()
    documents = [
        DOCUMENT,
        {"document_id": "d2", "text": " "},
        {"document_id": "d3", "text": "It  is SAFE."},
        {"document_id": "d1"},
    ]
    records = [("line 1", {**GOOD, "documents": documents}), ("line 2", GOOD)]
    (one,) = checked_questions(iter(records), None, report)
    assert [document.document_id for document in one.documents] == ["d1"]
    assert report.counts == {"empty document": 2, "duplicate document": 1, "question id used twice": 1}


def test_too_little_signal_or_noise_for_a_share_leaves_out_that_instance_alone():
    report = BuildReport()
    questions = [question(1, 2), StressQuestion("q2", "Is it?", "A", YES_NO)]
    instances = list(build_instances(questions, rule_facts(questions, 0, report), BuildSettings(), report))
    assert report.counts["not enough signal (sufficiency)"] == 2 * 5
    # Question 1 has no other question's document as noise: what has signal alone remains
    left = Counter(one.test for one in instances if one.question_id == "q001")
    assert left == {"standard": 3, "sufficiency": 2, "integration": 2, "robustness": 12}
    assert report.counts["not enough noise (sufficiency)"] == 2 * 5 + 2
    assert [one.instance_id for one in instances if one.question_id == "q2"] == ["standard-0-100-q2"]


def test_a_broken_line_is_counted_and_the_others_are_read(tmp_path):
    path, report = tmp_path / "set.jsonl", BuildReport()
    path.write_text(f'{{"question_id": "q0", \n{json.dumps(GOOD)}\n[1]\n')
    assert [one.question_id for one in read_questions(path, 2**20, report)] == ["q1"]
    assert report.counts == {"unreadable line": 1, "not a record": 1}


def test_a_file_without_a_usable_question_is_refused_with_the_reasons(tmp_path):
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps({**GOOD, "gold": ""}) + "\n")
    with pytest.raises(QuestionsError, match=r"no question can be used \(without gold: 1"):
        read_questions(path, 2**20, BuildReport())


# -- layouts -----------------------------------------------------------------------------------------------------------


def test_pubmedqas_layout_is_read_without_the_conclusion(tmp_path):
    path, report = tmp_path / "ori_pqal.json", BuildReport()
    record = {
        "QUESTION": "Do tablets help?", "CONTEXTS": ["Half took tablets.", "Fewer were ill."], "LABELS": ["METHODS", "RESULTS"],
        "LONG_ANSWER": "Tablets help.", "final_decision": "maybe",
    }  # fmt: skip
    path.write_text(json.dumps({"123": record, "124": {**record, "final_decision": "unsure"}}))
    (one,) = read_questions(path, 2**20, report)
    assert (one.question_id, one.gold, one.options["C"]) == ("pubmed-123", "C", "maybe")
    assert [document.text for document in one.documents] == record["CONTEXTS"]
    assert "Tablets help." not in repr(one)
    assert report.counts == {"gold is not an option": 1}


def test_mirages_layout_is_read_with_documents_from_another_file(tmp_path):
    path, documents, report = tmp_path / "benchmark.json.gz", tmp_path / "found.jsonl", BuildReport()
    record = {"question": "Which drug?", "options": {"A": "Aspirin", "B": "Heparin"}, "answer": "B", "PMID": [1]}
    path.write_bytes(gzip.compress(json.dumps({"medqa": {"0000": record}, "bioasq": {"x1": record}}).encode()))
    lines = [
        {"question_id": "medqa-0000", "documents": [{"document_id": "p1", "text": "Heparin works."}]},
        {"question_id": "medqa-0000", "document_id": "p2", "text": "Aspirin does not."},
        {"text": "of no question"},
    ]
    documents.write_text("".join(json.dumps(line) + "\n" for line in lines))
    first, second = read_questions(path, 2**20, report, documents=documents)
    assert (first.question_id, first.dataset, first.documents) == ("bioasq-x1", "bioasq", ())
    assert [document.document_id for document in second.documents] == ["p1", "p2"]
    assert report.counts == {"document without question": 1}


def test_documents_of_two_questions_with_one_id_get_the_question_before_it():
    questions = [StressQuestion(f"q{n}", "?", "A", YES_NO, (SignalDocument("0", f"Text {n}."),)) for n in range(2)]
    assert [one.documents[0].document_id for one in with_unique_document_ids(questions)] == ["q0/0", "q1/0"]


@pytest.mark.skipif(not PUBMEDQA.is_file(), reason="the shared data is not beside the checkout")
def test_pubmedqa_has_every_question_in_every_cell_with_the_share_asked_for():
    report = BuildReport()
    questions = with_unique_document_ids(read_questions(PUBMEDQA, 2**26, report))
    facts = rule_facts(questions[:150], 0, report, pool=questions)
    summary = BuildSummary(report)
    for instance in build_instances(questions[:150], facts, BuildSettings(), report, pool=questions):
        summary.count(instance)
    assert len(facts) > 0.6 * sum(len(one.documents) for one in questions[:150])
    for cell in summary.records():
        assert cell["instances"] >= 148
        if cell["size"] and cell["test"] != "standard":
            assert cell["mean_share"] == pytest.approx(cell["signal_share"], abs=1.5)
