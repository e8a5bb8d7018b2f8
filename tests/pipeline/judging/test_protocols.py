"""Protocols: which calls there are and in which order, what is never asked, and what is asked repeatedly on purpose."""

from __future__ import annotations

import json

import pytest

from audit.pipeline.judging.corpus import first_pairs, with_centers
from audit.pipeline.judging.parse import is_readable, load_prompts
from audit.pipeline.judging.protocols import Protocol
from audit.pipeline.llm.calls import ANSWERED, CUT, FAILED, REFUSED
from audit.pipeline.llm.tasks import ask_stages, is_settled
from audit.release.journal_files import Reply
from tests.pipeline.judging.corpora import Judge, Shelf, corpus, protocol, texts, verdict

THREE = {"q1": {"a": "Alder says 1.", "b": "B says 2.", "c": "C says 3."}}


def asked(calls) -> list[tuple[str, str]]:
    return [(fields["answer_a"], fields["answer_b"]) for fields in map(texts, calls)]


def run_protocol(chosen, of, say=lambda _: verdict("CONSISTENT"), shelf=None) -> Judge:
    shelf = Shelf() if shelf is None else shelf
    judge = Judge(shelf.put, say)
    ask_stages(chosen.task(of), shelf.latest, judge)
    return judge


def test_a_pair_with_an_absent_answer_is_not_asked():
    answers = {"q1": {"a": "Yes.", "b": "NOT ADDRESSED.", "c": "No."}}
    assert asked(run_protocol(protocol(), corpus(answers)).asked) == [("Yes.", "No.")]


def test_questions_come_one_after_the_other_with_equal_first_answers_together():
    calls = run_protocol(protocol(), corpus({**THREE, "q2": {"a": "x", "b": "y"}})).asked
    assert [call.group for call in calls] == ["q1", "q1", "q1", "q2"]
    assert [a for a, _ in asked(calls)] == ["Alder says 1.", "Alder says 1.", "B says 2.", "x"]


def test_swap_asks_about_each_pair_in_the_other_order_and_keeps_first_answers_together():
    a, b, c = THREE["q1"].values()
    assert asked(run_protocol(protocol(swap=True), corpus(THREE)).asked) == [(a, b), (a, c), (b, a), (b, c), (c, a), (c, b)]


def test_repeats_are_the_same_request_but_separate_calls():
    calls = run_protocol(protocol(repeats=2), corpus({"q1": {"a": "x", "b": "y"}})).asked
    assert [call.repeat for call in calls] == [0, 1, 2]
    assert len({call.key for call in calls}) == 3
    assert len({str(call.body) for call in calls}) == 1


def test_blinding_masks_names_and_asks_only_if_there_is_one():
    calls = run_protocol(protocol(blind=True), corpus({"q1": {"a": "At Alder Clinic: 3.", "b": "4.", "c": "5."}})).asked
    assert asked(calls)[3:] == [("At [name]: 3.", "4."), ("At [name]: 3.", "5.")]


def test_blinding_masks_contacts_and_asks_only_if_there_is_one():
    calls = run_protocol(protocol(blind=True), corpus({"q1": {"a": "Call 555-0110.", "b": "4 mg."}})).asked
    assert asked(calls)[1:] == [("Call [contact].", "4 mg.")]


def test_a_check_that_would_repeat_the_request_is_left_out():
    assert len(run_protocol(protocol(swap=True, blind=True), corpus({"q1": {"a": "same", "b": "same"}})).asked) == 1


def test_two_pairs_with_the_same_texts_are_asked_once():
    assert asked(run_protocol(protocol(), corpus({"q1": {"a": "x", "b": "y", "c": "y"}})).asked) == [("x", "y"), ("y", "y")]


def test_the_prefix_settles_absence_and_every_other_answer_is_checked_once():
    answers = {"q1": {"a": "Yes.", "b": "Not addressed: the leaflet has other topics.", "c": "See page 9.", "d": "No."}}

    def say(call):
        if call.purpose == "absence":
            return '{"addressed": "NO"}' if "page" in texts(call)["answer"] else '{"addressed": "YES"}'
        return verdict("CONTRADICTORY", "low")

    calls = run_protocol(protocol(absence="check"), corpus(answers), say).asked
    assert [texts(call)["answer"] for call in calls if call.purpose == "absence"] == ["Yes.", "See page 9.", "No."]
    assert asked(call for call in calls if call.purpose == "structured") == [("Yes.", "No.")]


def test_an_unparseable_absence_check_is_not_an_absence_and_its_pairs_are_not_asked():
    calls = run_protocol(protocol(absence="check"), corpus(THREE), lambda call: "perhaps").asked
    assert {call.purpose for call in calls} == {"absence"}


def test_extract_is_asked_for_pairs_that_differ_and_gets_the_label():
    labels = {"B says 2.": "DIVERGENT", "C says 3.": "CONSISTENT"}

    def say(call):
        return "" if call.purpose == "extract" else json.dumps({"classification": labels[texts(call)["answer_b"]]})

    calls = run_protocol(protocol("label_only"), corpus(THREE), say).asked
    (extract,) = [call for call in calls if call.purpose == "extract"]
    assert texts(extract) == {
        "question": "What about q1?", "answer_a": "Alder says 1.", "answer_b": "B says 2.", "label": "DIVERGENT",
    }  # fmt: skip


def test_with_the_label_first_one_call_gives_the_label_and_its_reasons():
    reply = {"classification": "DIVERGENT", "reasoning": "so", "divergence_topic": "travel", "clinical_significance": "low"}
    shelf, label_first = Shelf(), protocol("label_first")
    calls = run_protocol(label_first, corpus(THREE), lambda _: json.dumps(reply), shelf=shelf).asked
    assert [call.purpose for call in calls] == ["structured"] * 3
    (item, *_) = corpus(THREE).items()
    findings = label_first.absence_findings(item, shelf.latest)
    read = [verdict for _, _, verdict in label_first.verdicts(corpus(THREE), item, findings, shelf.latest)]
    assert {(v.label, v.reasoning, v.topic, v.significance, v.parse) for v in read} == {
        ("DIVERGENT", "so", "travel", "low", "strict")
    }


def test_a_template_with_a_place_for_centers_gets_their_names_there_and_not_in_the_answers(tmp_path):
    front = "---\nname: label_first\nversion: 1\nmax_tokens: 99\ndelimiters: none\n---\n"
    (tmp_path / "label_first.md").write_text(front + "{question}|{center_a}|{answer_a}|{center_b}|{answer_b}")
    asked_as_printed = Protocol("label_first", "m", load_prompts(tmp_path), blind=True)
    calls = run_protocol(asked_as_printed, with_centers(corpus(THREE))).asked
    shown = [call.body["messages"][0]["content"] for call in calls]
    assert shown[0] == "What about q1?|Alder Clinic|Alder says 1.|Birch Clinic|B says 2."
    assert next(text.split("|")[1::2] for text in shown if "[name]" in text) == ["[name]", "[name]"]


def test_what_is_stored_is_not_asked_again():
    shelf = Shelf()
    first = run_protocol(protocol(swap=True), corpus(THREE), shelf=shelf).asked
    assert len(first) == 6
    assert run_protocol(protocol(swap=True), corpus(THREE), shelf=shelf).asked == []


def test_an_interrupted_task_continues_with_the_rest():
    shelf, all_of_them = Shelf(), list(protocol().task(corpus(THREE)).open_calls("structured", lambda _: {}))
    shelf.put(Reply(all_of_them[1].key, ANSWERED, text=verdict("ABSENT")))
    assert run_protocol(protocol(), corpus(THREE), shelf=shelf).asked == [all_of_them[0], all_of_them[2]]


SETTLED = [
    # outcome   text                     attempt  settled
    (ANSWERED,  verdict("CONSISTENT"),   1,       True),
    (ANSWERED,  "who knows",             1,       False),
    (ANSWERED,  "who knows",             2,       True),
    (CUT,       '{"reasoning": "',       1,       False),
    (CUT,       '{"reasoning": "',       2,       True),
    (REFUSED,   None,                    1,       True),
    (FAILED,    None,                    3,       False),
]  # fmt: skip


@pytest.mark.parametrize(("outcome", "text", "attempt", "done"), SETTLED)
def test_a_failed_call_is_asked_again_and_an_unparseable_one_once_more(outcome, text, attempt, done):
    (call, *_) = protocol().task(corpus(THREE)).open_calls("structured", lambda _: {})
    assert is_settled(call, Reply(call.key, outcome, attempt, text), is_readable) is done


def test_an_empty_reply_is_asked_for_twice_at_most():
    (call, *_) = protocol().task(corpus(THREE)).open_calls("structured", lambda _: {})
    assert is_settled(call, Reply(call.key, ANSWERED, 2, None), is_readable)


def test_a_limit_counts_pairs_that_need_a_judge():
    answers = {"q1": {"a": "1", "b": "NOT ADDRESSED", "c": "3"}, "q2": {"a": "4", "b": "5"}, "q3": {"a": "6", "b": "7"}}
    assert asked(run_protocol(protocol(), first_pairs(corpus(answers), 2)).asked) == [("1", "3"), ("4", "5")]
    assert [len(item.pairs) for item in first_pairs(corpus(answers), 1).items()] == [2]


def test_a_judge_may_be_told_whose_answer_it_reads_and_then_the_blind_check_masks_that():
    told = with_centers(corpus(THREE))
    plain, named = (run_protocol(protocol(blind=True), source).asked for source in (corpus(THREE), told))
    assert texts(named[0])["answer_a"].splitlines() == ["From Alder Clinic:", texts(plain[0])["answer_a"]]
    # The masked request has no name at all, so that it is another request even where the text itself names nobody
    masked = [call for call in named if not texts(call)["answer_a"].startswith("From ")]
    assert len(masked) == 3
    assert all("Alder" not in json.dumps(texts(call)) for call in masked)
    assert protocol().task(told).plan()["name_centers"] is True
    assert "name_centers" not in protocol().task(corpus(THREE)).plan()
