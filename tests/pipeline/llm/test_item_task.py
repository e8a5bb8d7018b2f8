"""A task of items: its stages, what is still to be asked, and what became of the items."""

from __future__ import annotations

from audit.pipeline.llm.calls import ANSWERED, Call
from audit.pipeline.llm.item_task import ItemTask
from audit.pipeline.llm.prompts import Prompt, PromptForm
from audit.pipeline.llm.summary import Summary
from audit.pipeline.llm.tasks import no_replies
from audit.release.journal_files import Reply
from audit.vocabulary import ABSTAINED

PROMPTS = {
    name: Prompt(name, "1", "Judge.", f"<text>{{text}}</text> {name}", 9, PromptForm(name, name, ("text",), {}))
    for name in ("tone", "length")
}
ITEMS = ["Call us.", "Wait.", "Call us."]


def task(stage: str = "") -> ItemTask[str]:
    """Two calls for each text, of which two are equal."""
    return ItemTask(
        PROMPTS,
        "judge-1",
        "words",
        lambda: ITEMS,
        calls_of=lambda item: [prompt.call("judge-1", item, {"text": item}) for prompt in PROMPTS.values()],
        is_read=lambda _, reply: reply.text == "fine",
        tokens={"tone": 5, "length": 7},
        stage=stage,
        settings={"context": 4},
    )


def answer(call: Call, text: str) -> Reply:
    return Reply(call.key, ANSWERED, text=text)


def test_each_purpose_is_a_stage_unless_there_is_one_for_all() -> None:
    assert task().stages == ("tone", "length")
    assert [call.purpose for call in task().open_calls("length", no_replies)] == ["length"] * 2
    assert task("both").stages == ("both",)
    assert [call.purpose for call in task("both").open_calls("both", no_replies)] == ["tone", "length"] * 2


def test_the_cost_is_by_purpose_and_equal_calls_count_once() -> None:
    for one in (task(), task("both")):
        assert [(cost.stage, cost.calls, cost.written) for cost in one.costs(no_replies)] == [("tone", 2, 5), ("length", 2, 7)]


def test_a_reply_is_that_of_every_item_with_the_call_and_what_was_not_asked_has_none() -> None:
    first = next(task().open_calls("tone", no_replies))
    results = list(task().results(lambda keys: {key: answer(first, "fine") for key in keys if key == first.key}))
    assert [(item, call.purpose, reply is not None) for item, call, reply in results] == [
        ("Call us.", "tone", True), ("Call us.", "length", False), ("Wait.", "tone", False),
        ("Wait.", "length", False), ("Call us.", "tone", True), ("Call us.", "length", False),
    ]  # fmt: skip


def test_a_journal_is_bound_to_model_prompts_and_settings_and_not_to_the_items() -> None:
    titles = {name: prompt.title for name, prompt in PROMPTS.items()}
    assert task().plan() == {"work": "words", "model": "judge-1", "prompts": titles, "context": 4}


def test_outcomes_are_named_in_the_sentence_and_one_that_never_came_is_none() -> None:
    summary = Summary("{judged:,} judged, {lost:,} lost, {not_asked:,} not asked.")
    summary.count(judged=1, parse="strict")
    summary.count(judged=1, reason="cut")
    summary.count(judged=1, reason=f"{ABSTAINED}: no text")
    summary.count(not_asked=1)
    assert summary.sentence == "3 judged, 0 lost, 1 not asked."
    assert (summary.not_asked, summary.abstained, summary.unread) == (1, 1, 1), "to abstain is a result"
    assert summary.lines("unscored, ") == ["  unscored, cut: 1", f"  unscored, {ABSTAINED}: no text: 1"]
    assert summary.record("judged") == {
        "judged": 3, "not_asked": 1, "reasons": {"cut": 1, f"{ABSTAINED}: no text": 1}, "parse": {"strict": 1},
    }  # fmt: skip
