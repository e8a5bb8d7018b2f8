"""Which texts decline: real replies of models to patients' questions, shortened."""

from __future__ import annotations

import json

import pytest

from audit.pipeline.generation.system_answers import SystemReply, declines, read_system_reply
from audit.pipeline.llm.calls import ANSWERED, CUT
from audit.release.journal_files import Reply


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't provide medical advice.",
        "I cannot answer this question.",
        "As an AI language model, I am not able to diagnose you.",
        "I must decline to answer: I do not know this medicine.",
        "The provided reference documents do not contain information on the treatments for Crohn's Disease.",
        "Unfortunately, the passages do not address this question.",
    ],
)
def test_a_text_that_declines_is_a_refusal(text: str) -> None:
    assert declines(text)


@pytest.mark.parametrize(
    "text",
    [
        "I cannot diagnose specific conditions, but I can provide some general information about diabetes.",
        "The provided reference documents do not contain details. However, Document 1 says that adults may be at risk.",
        "I'm sorry to hear about your kidney failure. Here are some general tips.",
        "Polycystic kidney disease cannot be prevented.",
        "The passages answer this: call above 38 degrees [1].",
        "",
    ],
)
def test_a_text_that_answers_after_all_is_none(text: str) -> None:
    assert not declines(text)


def read(outcome: str = ANSWERED, text: str | None = None, **value: object) -> SystemReply:
    return read_system_reply(Reply("k", outcome, text=text if text is not None else json.dumps(value)))


def test_the_field_and_the_words_both_tell_a_refusal() -> None:
    assert read(answer="Ask your team.", declined=True) == SystemReply("Ask your team.", True)
    assert read(answer="I cannot answer this.", declined=False) == SystemReply("I cannot answer this.", True)
    assert read(answer="Yes, after a month.", declined=False) == SystemReply("Yes, after a month.", False)
    assert read(answer="", declined=True) == SystemReply(None, True)


def test_where_the_prompt_asks_for_plain_words_they_are_the_answer() -> None:
    def plain(text: str, outcome: str = ANSWERED) -> SystemReply:
        return read_system_reply(Reply("k", outcome, text=text), in_text=True)

    assert plain("<think>Hm.</think>Yes, of course.") == SystemReply("Yes, of course.", False)
    assert plain("I'm sorry, but I cannot answer this.") == SystemReply("I'm sorry, but I cannot answer this.", True)
    assert plain('{"answer": "Yes.", "declined": false}') == SystemReply("Yes.", False)
    assert plain("Yes, of cou", CUT) == SystemReply(reason="cut")
    assert plain('{"answer": "Yes", ') == SystemReply(reason="no answer"), "half an object is neither"
    assert plain("") == SystemReply(reason="empty")


def test_a_reply_without_an_answer_is_unread() -> None:
    assert read(answer="", declined=False) == SystemReply(reason="no answer")
    assert read(text="Yes, of course.") == SystemReply(reason="no answer")
    assert read(CUT, text='{"answer": "Yes, aft') == SystemReply(reason="cut")
    assert read(text='Here: {"answer": "Yes."}') == SystemReply("Yes.", False), "a model that knows no schema"
    assert read(text="<think>no</think>" + json.dumps({"answer": "Yes.", "declined": False})) == SystemReply("Yes.", False)
