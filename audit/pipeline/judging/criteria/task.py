"""Judging single answers by a model: the required calls, and the records of `criteria.jsonl` from the replies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from audit.pipeline.judging.criteria.replies import SCHEMA, Evaluation, read_evaluation
from audit.pipeline.llm.calls import Call, usage_record
from audit.pipeline.llm.prompts import Prompt, PromptForm, load_templates
from audit.pipeline.llm.tasks import Replies, StageCost, batches, cost_after_replies, no_replies, unsettled
from audit.release.journal_files import Reply
from audit.vocabulary import Parse

# The reference before the answer: the calls of a question share all but the answer, which a prefix cache reuses.
FORM = PromptForm("criteria", "criteria", ("question", "reference_answer", "answer"), SCHEMA)
NO_REFERENCE = "(no reference answer)"
REPLY_TOKENS = 330


@dataclass(frozen=True)
class AnswerToScore:
    """One answer that is judged, with its question and the question's first reference answer (None if it has none).

    `system_id` is `audit.evaluation.criteria.REFERENCE` where the reference answer itself is judged.
    """

    question_id: str
    question: str
    system_id: str
    answer: str
    reference: str | None


@dataclass
class CriteriaSummary:
    """Counts of the answers: judged ones by parse status, unreadable scores by reason, and answers not asked about."""

    judged: int = 0
    complete: int = 0
    not_asked: int = 0
    parse: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def unscored(self) -> int:
        """Judged answers without any readable score."""
        return self.parse[Parse.NONE]

    @property
    def sentence(self) -> str:
        """The counts in one sentence."""
        return (
            f"{self.judged:,} answers judged: {self.complete:,} on all eight criteria, "
            f"{self.judged - self.complete - self.unscored:,} on some, {self.unscored:,} unscored; {self.not_asked:,} not asked."
        )

    def count(self, evaluation: Evaluation) -> None:
        """Count one judged answer."""
        self.judged += 1
        self.complete += evaluation.complete
        self.parse[str(evaluation.parse)] += 1
        if evaluation.reason:
            self.reasons[evaluation.reason] += 1


def load_criteria_prompt(folder: Path | None = None) -> Prompt:
    """The prompt `criteria`, from `folder` if it is given. Raises AuditError if the template cannot be used."""
    return load_templates([FORM], resources.files("audit.pipeline.judging.criteria").joinpath("templates"), folder)[FORM.name]


@dataclass(frozen=True)
class CriteriaTask:
    """The answers to judge as calls, a task for `audit.pipeline.llm`. They are in the order of questions."""

    prompt: Prompt
    model: str
    answers: Sequence[AnswerToScore]
    stages: tuple[str, ...] = (FORM.purpose,)
    unit: str = "questions"

    def plan(self) -> dict[str, Any]:
        """The settings that must match for a journal to be resumed; the answers may change."""
        return {"work": FORM.name, "model": self.model, "prompts": {FORM.purpose: self.prompt.title}}

    def open_calls(self, stage: str, replies: Replies) -> Iterator[Call]:
        """The calls that are still to be asked, question by question."""
        return unsettled((call for _, call in self.calls()), replies, self.readable)

    def readable(self, call: Call, reply: Reply) -> bool:
        """Whether a reply has a score for every criterion."""
        return read_evaluation(reply).complete

    def calls(self) -> Iterator[tuple[AnswerToScore, Call]]:
        """Each answer with its call."""
        for item in self.answers:
            texts = {"question": item.question, "reference_answer": item.reference or NO_REFERENCE, "answer": item.answer}
            yield item, self.prompt.call(self.model, item.question_id, texts)

    def costs(self, replies: Replies) -> list[StageCost]:
        """The cost of the open calls."""
        calls = unsettled((call for _, call in self.calls()), no_replies, self.readable)
        return [cost_after_replies(FORM.purpose, calls, replies, self.readable, REPLY_TOKENS)]


def criteria_records(task: CriteriaTask, replies: Replies, summary: CriteriaSummary) -> Iterator[dict[str, Any]]:
    """The records of criteria.jsonl; an answer that was not asked about has none. `summary` counts both."""
    for batch in batches(task.calls()):
        latest = replies([call.key for _, call in batch])
        for item, call in batch:
            if reply := latest.get(call.key):
                evaluation = read_evaluation(reply)
                summary.count(evaluation)
                yield _record(task, item, reply, evaluation)
            else:
                summary.not_asked += 1


def _record(task: CriteriaTask, item: AnswerToScore, reply: Reply, evaluation: Evaluation) -> dict[str, Any]:
    return {
        "question_id": item.question_id,
        "system_id": item.system_id,
        "judge": task.model,
        **evaluation_fields(evaluation),
        "usage": {**usage_record([reply]), "prompt": task.prompt.title},
    }


def evaluation_fields(evaluation: Evaluation) -> dict[str, Any]:
    """An evaluation as criteria.jsonl has it: the eight scores, explanations, parse, and why a score is missing."""
    return {
        **{criterion.value: score for criterion, score in evaluation.scores.items()},
        "explanations": {criterion.value: text for criterion, text in evaluation.explanations.items()},
        "parse": str(evaluation.parse),
        **({"unscored_reason": evaluation.reason} if evaluation.reason else {}),
    }
