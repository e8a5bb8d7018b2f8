"""Judges planted changes: the required calls, and the records of planted.jsonl from the verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from audit.evaluation.planted_changes import expected_labels
from audit.pipeline.judging.parse import is_readable, read_verdict
from audit.pipeline.judging.protocols import LABEL, STRUCTURED
from audit.pipeline.judging.verdict_sources import Rules
from audit.pipeline.llm.calls import Call, usage_record
from audit.pipeline.llm.prompts import Prompt
from audit.pipeline.llm.tasks import Replies, StageCost, batches, cost_after_replies, no_replies, unsettled
from audit.pipeline.stress.planted.changes import PlantedChange
from audit.pipeline.stress.planted.planting import item_id
from audit.pipeline.verdict import Verdict
from audit.release.journal_files import Reply
from audit.vocabulary import Label

PROMPTS = {"structured": STRUCTURED, "label_only": LABEL}
"""Protocol, which is also the name of its prompt -> the purpose of its calls."""
REPLY_TOKENS = {STRUCTURED: 130, LABEL: 10}
Record = dict[str, Any]


@dataclass
class PlantedSummary:
    """Counts of the planted changes by outcome.

    judged     changes with both verdicts; `unscored`: those of them without a label before or after the change
    not_asked  changes without one of the replies; they are not written
    """

    judged: int = 0
    not_asked: int = 0
    unscored: Counter[str] = field(default_factory=Counter)

    def count(self, before: Verdict, after: Verdict) -> None:
        """Count one change."""
        self.judged += 1
        if reason := next((verdict.reason for verdict in (before, after) if verdict.label is None), None):
            self.unscored[reason] += 1


@dataclass(frozen=True)
class PlantedTask:
    """Planted changes as calls: each pair before its change and after it, with the judge's own prompt.

    A pair that is the same before several changes is judged once.
    """

    prompt: Prompt
    model: str
    changes: Sequence[PlantedChange]
    unit: str = "questions"

    @property
    def stage(self) -> str:
        """The purpose of its calls."""
        return self.prompt.form.purpose

    @property
    def stages(self) -> tuple[str, ...]:
        """Its one stage."""
        return (self.stage,)

    def plan(self) -> Record:
        """The settings that must match for a journal to be resumed; the changes may differ."""
        return {"work": "planted changes", "model": self.model, "prompts": {self.stage: self.prompt.title}}

    def open_calls(self, stage: str, replies: Replies) -> Iterator[Call]:
        """The calls without a usable reply, question by question."""
        return unsettled(self._calls(), replies, is_readable)

    def readable(self, call: Call, reply: Reply) -> bool:
        """Whether a reply contains a verdict."""
        return is_readable(call, reply)

    def costs(self, replies: Replies) -> list[StageCost]:
        """The cost of the open calls."""
        calls = unsettled(self._calls(), no_replies, is_readable)
        return [cost_after_replies(self.stage, calls, replies, is_readable, REPLY_TOKENS[self.stage])]

    def pair_of_calls(self, change: PlantedChange) -> tuple[Call, Call]:
        """The call about the pair before the change, and the one after it."""
        before, after = (self._call(change, answers) for answers in (change.before, change.after))
        return before, after

    def _calls(self) -> Iterator[Call]:
        # The calls of a question together, for the server's prefix cache
        for change in sorted(self.changes, key=lambda change: change.start.question_id):
            yield from self.pair_of_calls(change)

    def _call(self, change: PlantedChange, answers: tuple[str, str]) -> Call:
        texts = {"question": change.start.question, "answer_a": answers[0], "answer_b": answers[1]}
        return self.prompt.call(self.model, change.start.question_id, texts)


def model_records(task: PlantedTask, replies: Replies, summary: PlantedSummary) -> Iterator[Record]:
    """The records of planted.jsonl from a model's replies; a change without both replies has none. `summary` counts both."""
    for batch in batches((change, *task.pair_of_calls(change)) for change in task.changes):
        latest = replies([call.key for _, *calls in batch for call in calls])
        for change, *calls in batch:
            answered = [latest[call.key] for call in calls if call.key in latest]
            if len(answered) < len(calls):
                summary.not_asked += 1
                continue
            verdicts = [read_verdict(reply, task.prompt.name) for reply in answered]
            usage = {**usage_record(answered[1:]), "prompt": task.prompt.title}
            summary.count(verdicts[0], verdicts[1])
            yield planted_record(change, verdicts[0], verdicts[1], task.model) | {"usage": usage}


def rule_records(changes: Sequence[PlantedChange], rules: Rules, name: str, summary: PlantedSummary) -> Iterator[Record]:
    """The records of planted.jsonl with the verdicts of the rules."""
    for change in changes:
        before, after = (rules(change.start.question, *answers) for answers in (change.before, change.after))
        summary.count(before, after)
        yield planted_record(change, before, after, name)


def planted_record(change: PlantedChange, before: Verdict, after: Verdict, judge: str) -> Record:
    """The record of planted.jsonl of one change, from a judge's verdicts before and after it."""
    label_before = Label(before.label) if before.label else None
    edit: Mapping[str, Any] = change.edit.record() if change.edit else {}
    return {
        "item_id": item_id(change),
        "question_id": change.start.question_id,
        "handbook_a": change.start.handbook_a,
        "handbook_b": change.start.handbook_b,
        "kind": change.kind,
        "variant": change.variant,
        "ordered": change.ordered,
        "expected": list(expected_labels(change.kind, label_before)),
        "change": {**{name: edit.get(name) for name in ("before", "after", "start")}, "side": change.side},
        "answer_a": change.after[0],
        "answer_b": change.after[1],
        "label_before": before.label,
        "label": after.label,
        "reasoning": after.reasoning,
        "unscored_reason": after.reason if after.label is None else before.reason if before.label is None else None,
        "judge": judge,
    }
