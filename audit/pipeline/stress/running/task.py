"""Stress tests with a model: the required calls, and the records of `stress_replies.jsonl` from its replies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from audit.pipeline.llm.calls import Call, usage_record
from audit.pipeline.llm.item_task import ItemTask
from audit.pipeline.llm.prompts import Prompt
from audit.pipeline.llm.summary import Summary
from audit.pipeline.llm.tasks import Replies
from audit.pipeline.stress.instances import StressInstance
from audit.pipeline.stress.running.forms import StressReplyForm, sub_questions_of
from audit.pipeline.stress.running.prompts import stress_call
from audit.pipeline.stress.running.readers import Reader
from audit.pipeline.stress.running.replies import StressReply, read_reply
from audit.release.journal_files import Reply
from audit.vocabulary import STRESS_TESTS, StressTest

WORK = "stress"
# Tokens of a reply, for estimates without a server: the reasons, and those added by each document or sub-question
REPLY_TOKENS, TOKENS_PER_ENTRY = 130, 9
WORDS = (
    "{asked:,} instances asked: {chosen:,} with a choice, {insufficient:,} insufficient, {unread:,} unreadable; "
    "{not_asked:,} not asked."
)


def stress_task(
    prompts: Mapping[StressTest, Prompt], model: str, instances: Sequence[StressInstance]
) -> ItemTask[StressInstance]:
    """One stage for each test that has instances, one call for each instance; those of a question follow each other."""
    options = {instance.question_id: instance.options for instance in instances}
    by_test = {test: [instance for instance in instances if instance.test == test] for test in STRESS_TESTS}
    return ItemTask(
        {str(test): prompt for test, prompt in prompts.items()},
        model,
        WORK,
        lambda: sorted(instances, key=lambda instance: instance.question_id),
        calls_of=lambda instance: [stress_call(prompts[instance.test], model, instance)],
        is_read=lambda call, reply: _has_choice(call, reply, options[call.group]),
        tokens={str(test): _reply_tokens(own) for test, own in by_test.items() if own},
    )


def _has_choice(call: Call, reply: Reply, options: Mapping[str, str]) -> bool:
    return read_reply(reply, _form_of(call), options).reason is None


def _form_of(call: Call) -> StressReplyForm:
    return StressReplyForm.from_schema(call.schema)


def _reply_tokens(instances: Sequence[StressInstance]) -> float:
    entries = sum(StressReplyForm.of(instance).documents + len(sub_questions_of(instance)) for instance in instances)
    return REPLY_TOKENS + TOKENS_PER_ENTRY * (entries / len(instances))


def model_records(task: ItemTask[StressInstance], system_id: str, replies: Replies, summary: Summary) -> Iterator[dict[str, Any]]:
    """The records of stress_replies.jsonl; an instance that was not asked has none. `summary` counts both."""
    for instance, call, reply in task.results(replies):
        if reply is None:
            summary.count(not_asked=1)
            continue
        parsed = read_reply(reply, _form_of(call), instance.options)
        _count(summary, parsed)
        usage = {**usage_record([reply]), "prompt": task.prompts[call.purpose].title}
        yield reply_record(instance, system_id, parsed) | {"usage": usage}


def reader_records(
    instances: Iterable[StressInstance], system_id: str, reader: Reader, summary: Summary
) -> Iterator[dict[str, Any]]:
    """The records of stress_replies.jsonl of a reader without a model."""
    for instance in instances:
        reply = reader(instance)
        _count(summary, reply)
        yield reply_record(instance, system_id, reply)


def _count(summary: Summary, reply: StressReply) -> None:
    chosen = not (reply.insufficient or reply.reason)
    summary.count(
        asked=1, chosen=chosen, insufficient=reply.insufficient, unread=bool(reply.reason), parse=reply.parse, reason=reply.reason
    )
    summary.faults.update(reply.faults)


def reply_record(instance: StressInstance, system_id: str, reply: StressReply) -> dict[str, Any]:
    """A reply as in stress_replies.jsonl: with the ids of the documents instead of their numbers."""
    documents, asked = instance.documents, sub_questions_of(instance)
    return {
        "instance_id": instance.instance_id,
        "system_id": system_id,
        "reasoning": reply.reasoning,
        "choice": reply.choice,
        "insufficient": None if reply.reason else reply.insufficient,
        "documents": [
            {"document_id": documents[number - 1].document_id, "call": str(call)} for number, call in sorted(reply.calls.items())
        ],
        "sub_answers": [
            {
                "document_id": asked[number - 1].document_id,
                "answer": text,
                **({"read_from": documents[place - 1].document_id} if (place := reply.read_from.get(number)) else {}),
            }
            for number, text in sorted(reply.sub_answers.items())
        ],
        **({"unread_reason": reply.reason} if reply.reason else {}),
    }
