"""A model's answer from several sources: quotes that are checked, replies that cannot be read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from audit.pipeline.generation.several_sources_model import (
    answer_from_reply,
    model_answers,
    passages_in_prompt,
    read_sourced_reply,
    sourced_task,
)
from audit.pipeline.generation.source_passages import SourceQuoter
from audit.pipeline.generation.system_answers import AnsweringSystem, SystemQuestion
from audit.pipeline.llm.calls import ANSWERED
from audit.pipeline.retrieval.across.evidence import GatheredEvidence, gather
from audit.pipeline.retrieval.across.library import Library
from audit.pipeline.retrieval.model import Query
from audit.release.journal_files import Reply
from audit.release.sourced_answers import SourcedAnswer
from audit.release.system_kinds import SYSTEM_ANSWER
from audit.vocabulary import SystemMode
from tests.pipeline.generation.sourced import LIFT, lifting_library

SIX = "Avoid lifting anything over 10 pounds for 6 weeks"


@pytest.fixture(scope="module")
def library() -> Library:
    return lifting_library()


@pytest.fixture(scope="module")
def evidence(library: Library) -> GatheredEvidence:
    return gather(library, LIFT)


def replied(*statements: tuple[str, list[tuple[int, str]]], declined: bool = False, missing: str = "") -> Reply:
    value = {
        "statements": [
            {"text": text, "quotes": [{"passage": number, "quote": quote} for number, quote in quotes]}
            for text, quotes in statements
        ],
        "declined": declined,
        "missing": missing,
    }
    return reply(json.dumps(value))


def reply(text: str) -> Reply:
    return Reply("key", ANSWERED, text=text, model="small")


def number_of(evidence: GatheredEvidence, center: str) -> int:
    return next(entry["rank"] for entry in evidence.record()["evidence"] if entry["source_id"] == center)


def answered(library: Library, evidence: GatheredEvidence, given: Reply) -> SourcedAnswer:
    return answer_from_reply(given, evidence, SourceQuoter(library), "small")


def test_a_statement_with_a_copied_quote_is_supported_and_one_with_an_invented_quote_is_not(library, evidence):
    cedar = number_of(evidence, "cedar")
    answer = answered(
        library, evidence,
        replied(
            ("Lift nothing over 10 pounds for 12 weeks.", [(cedar, "avoid lifting  anything over 10 pounds for 12 weeks")]),
            ("You may lift again when it feels right.", [(cedar, "Lift again when it feels right.")]),
            ("Eat well.", [(99, "Eat fresh vegetables every day.")]),
        ),
    )  # fmt: skip
    assert [(one.mark, one.supported_by) for one in answer.statements] == [
        ("supported", ("cedar",)), ("unsupported", ()), ("unsupported", ()),
    ]  # fmt: skip
    (citation,) = answer.statements[0].citations
    section = library.indexes[citation.handbook_id].document.by_id[citation.section_id]
    assert section.text[citation.start : citation.end] == citation.quote == "Avoid lifting anything over 10 pounds for 12 weeks"
    assert answer.notes[-1].endswith(": 2.")
    assert SYSTEM_ANSWER.read(answer.record("q", "s"), [])["refused"] is False


def test_an_amount_that_the_quote_lacks_makes_a_statement_unsupported(library, evidence):
    quotes = [(number_of(evidence, "cedar"), "Avoid lifting anything over 10 pounds for 12 weeks")]
    answer = answered(library, evidence, replied(("Lift nothing heavy for 6 weeks.", quotes)))
    assert [one.mark for one in answer.statements] == ["unsupported"]
    spelled = answered(library, evidence, replied(("Lift nothing heavy for twelve weeks.", quotes)))
    assert [one.mark for one in spelled.statements] == ["supported"]


def test_a_negation_that_the_quote_lacks_makes_a_statement_unsupported(library, evidence):
    quotes = [(number_of(evidence, "cedar"), "anything over 10 pounds for 12 weeks after surgery")]
    statements = ("Do not lift after surgery.", "It is about anything over 10 pounds.")
    answer = answered(library, evidence, replied(*((text, quotes) for text in statements)))
    assert [one.mark for one in answer.statements] == ["unsupported", "supported"]


def test_statements_that_differ_are_not_marked_because_nothing_has_compared_them(library, evidence):
    twelve = SIX.replace("6", "12")
    quotes = {"alder": SIX, "cedar": twelve}
    answer = answered(
        library, evidence, replied(*((f"{words}.", [(number_of(evidence, name), words)]) for name, words in quotes.items()))
    )
    assert [one.mark for one in answer.statements] == ["supported", "supported"]


def test_a_refusal_keeps_what_the_model_says_is_missing(library, evidence):
    answer = answered(library, evidence, replied(declined=True, missing="The passages do not speak of driving."))
    assert (answer.refused, answer.text) == (True, "The passages do not speak of driving.")


@pytest.mark.parametrize("text", ["", "Six weeks.", '{"answer": "six"}', '{"statements": [], "declined": false, "missing": ""}'])
def test_a_reply_without_statements_is_unread_and_no_refusal(text: str, library, evidence):
    answer = answered(library, evidence, reply(text))
    assert not answer.refused
    record: dict[str, Any] = SYSTEM_ANSWER.read(answer.record("q", "s"), [])
    assert record["answer"] is None
    assert record["refused"] is None
    assert record["unread_reason"]


def test_a_statement_without_text_is_left_out():
    assert [one.text for one in read_sourced_reply(replied(("", []), ("Rest.", []))).statements] == ["Rest."]


def test_the_prompt_names_the_sources_and_a_question_without_reply_has_no_answer(library, evidence):
    system = AnsweringSystem("small", SystemMode.MULTI_SOURCE)
    passages = passages_in_prompt(SourceQuoter(library).passages(evidence))
    question = SystemQuestion(Query("q1", LIFT), passages)
    task = sourced_task(system, system.prompt(), lambda: [question], 8_000)
    (call,) = task.open_calls(task.stages[0], lambda _: {})
    assert "[1] cedar: Lifting" in call.body["messages"][-1]["content"]
    stored = {call.key: replied((f"{SIX}.", [(2, SIX)]))}
    for replies, statements in (({}, None), (stored, 1)):
        ((_, answer),) = model_answers(task, lambda _, r=replies: r, {"q1": evidence}, SourceQuoter(library))
        assert (answer and len(answer.statements)) == statements
