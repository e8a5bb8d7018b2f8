"""Stress tests with a model: the required calls, and the records of `stress_replies.jsonl` from its replies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from audit.pipeline.llm.calls import Call, usage_record
from audit.pipeline.llm.prompts import Prompt
from audit.pipeline.llm.tasks import Replies, StageCost, batches, cost_after_replies, no_replies, unsettled
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


@dataclass
class StressSummary:
    """Counts of the instances by outcome, and of the faults of replies."""

    asked: int = 0
    not_asked: int = 0
    insufficient: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    parse: Counter[str] = field(default_factory=Counter)

    @property
    def unread(self) -> int:
        """Replies without any readable choice."""
        return self.reasons.total()

    @property
    def sentence(self) -> str:
        """The counts in one sentence."""
        chosen = self.asked - self.insufficient - self.unread
        return (
            f"{self.asked:,} instances asked: {chosen:,} with a choice, {self.insufficient:,} insufficient, "
            f"{self.unread:,} unreadable; {self.not_asked:,} not asked."
        )

    def summary_lines(self) -> list[str]:
        """The reasons for unreadable replies and the faults of calls and sub-answers, each with its count."""
        return [f"  {words}: {number:,}" for part in (self.reasons, self.faults) for words, number in part.most_common()]

    def count(self, reply: StressReply) -> None:
        """Count one reply."""
        self.asked += 1
        self.insufficient += reply.insufficient
        self.parse[str(reply.parse)] += 1
        self.faults.update(reply.faults)
        if reply.reason:
            self.reasons[reply.reason] += 1


@dataclass(frozen=True)
class StressTask:
    """Instances as calls, a task for `audit.pipeline.llm`: one stage for each test, one call for each instance."""

    prompts: Mapping[StressTest, Prompt]
    model: str
    instances: Sequence[StressInstance]
    unit: str = "questions"

    @property
    def stages(self) -> tuple[str, ...]:
        """The tests that have instances, in their order."""
        present = {instance.test for instance in self.instances}
        return tuple(str(test) for test in STRESS_TESTS if test in present)

    def plan(self) -> dict[str, Any]:
        """The settings that must match for a journal to be resumed; the instances may change."""
        return {"work": WORK, "model": self.model, "prompts": {str(test): prompt.title for test, prompt in self.prompts.items()}}

    def calls(self, stage: str | None = None) -> Iterator[tuple[StressInstance, Call]]:
        """Each instance (of one test) with its call; those of a question follow each other."""
        chosen = (instance for instance in self.instances if stage in (None, str(instance.test)))
        for instance in sorted(chosen, key=lambda instance: instance.question_id):
            yield instance, stress_call(self.prompts[instance.test], self.model, instance)

    def open_calls(self, stage: str, replies: Replies) -> Iterator[Call]:
        """The calls of a test without a usable reply, question by question."""
        return unsettled((call for _, call in self.calls(stage)), replies, self.readable)

    def readable(self, call: Call, reply: Reply) -> bool:
        """Whether a reply has one of the choices offered."""
        form = StressReplyForm.from_schema(call.body["response_format"]["json_schema"]["schema"])
        return read_reply(reply, form, {}).reason is None

    def costs(self, replies: Replies) -> list[StageCost]:
        """The cost of the open calls of each test."""
        return [self._cost(stage, replies) for stage in self.stages]

    def _cost(self, stage: str, replies: Replies) -> StageCost:
        own = [instance for instance in self.instances if str(instance.test) == stage]
        entries = sum(StressReplyForm.of(instance).documents + len(sub_questions_of(instance)) for instance in own) / max(
            len(own), 1
        )
        calls = unsettled((call for _, call in self.calls(stage)), no_replies, self.readable)
        return cost_after_replies(stage, calls, replies, self.readable, REPLY_TOKENS + TOKENS_PER_ENTRY * entries)


def model_records(task: StressTask, system_id: str, replies: Replies, summary: StressSummary) -> Iterator[dict[str, Any]]:
    """The records of stress_replies.jsonl; an instance that was not asked has none. `summary` counts both."""
    for batch in batches(task.calls()):
        latest = replies([call.key for _, call in batch])
        for instance, call in batch:
            if reply := latest.get(call.key):
                parsed = read_reply(reply, StressReplyForm.of(instance), instance.options)
                summary.count(parsed)
                usage = {**usage_record([reply]), "prompt": task.prompts[instance.test].title}
                yield reply_record(instance, system_id, parsed) | {"usage": usage}
            else:
                summary.not_asked += 1


def reader_records(
    instances: Iterable[StressInstance], system_id: str, reader: Reader, summary: StressSummary
) -> Iterator[dict[str, Any]]:
    """The records of stress_replies.jsonl of a reader without a model."""
    for instance in instances:
        reply = reader(instance)
        summary.count(reply)
        yield reply_record(instance, system_id, reply)


def reply_record(instance: StressInstance, system_id: str, reply: StressReply) -> dict[str, Any]:
    """A reply as in stress_replies.jsonl: with the ids of the documents instead of their numbers."""
    documents, asked = instance.documents, sub_questions_of(instance)
    return {
        "instance_id": instance.instance_id, "system_id": system_id, "reasoning": reply.reasoning, "choice": reply.choice,
        "insufficient": None if reply.reason else reply.insufficient,
        "documents": [
            {"document_id": documents[number - 1].document_id, "call": str(call)} for number, call in sorted(reply.calls.items())
        ],
        "sub_answers": [
            {"document_id": asked[number - 1].document_id, "answer": text} for number, text in sorted(reply.sub_answers.items())
        ],
        **({"unread_reason": reply.reason} if reply.reason else {}),
    }  # fmt: skip
