"""A model grades short answers to sub-questions: 1 right, 0.5 partly right, 0 wrong, as in MedRGB's model-based score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from audit.evaluation.stress_measures import exact_match
from audit.pipeline.llm.calls import Call
from audit.pipeline.llm.prompts import Prompt, PromptForm, load_templates
from audit.pipeline.llm.reply_text import json_objects, unreadable_reason, without_thinking
from audit.pipeline.llm.tasks import Replies, StageCost, batches, cost_after_replies, no_replies, unsettled
from audit.release.journal_files import Reply
from audit.vocabulary import plain

GRADES = {"full": 1.0, "part": 0.5, "none": 0.0}
MAX_REASONING, REPLY_TOKENS = 240, 45
SCHEMA = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string", "maxLength": MAX_REASONING}, "grade": {"type": "string", "enum": list(GRADES)},
    },
    "required": ["reasoning", "grade"],
    "additionalProperties": False,
}  # fmt: skip
FORM = PromptForm("stress_grade", "grade", ("sub_question", "right_answer", "answer"), SCHEMA)


class SubAnswer(NamedTuple):
    """A short answer to grade; equal ones are graded once."""

    question_id: str
    sub_question: str
    right_answer: str
    answer: str

    @property
    def needs_grade(self) -> bool:
        """Whether a model has to grade it: an exact match is right without one."""
        return not exact_match(self.answer, self.right_answer)


def load_grade_prompt(folder: Path | None = None) -> Prompt:
    """The prompt `stress_grade`, from `folder` if it is given. Raises AuditError if the template cannot be used."""
    return load_templates([FORM], resources.files("audit.pipeline.stress.running").joinpath("templates"), folder)[FORM.name]


def read_grade(reply: Reply) -> float | None:
    """The grade in a reply; None if it has none, or several."""
    if unreadable_reason(reply):
        return None
    objects = [match.value for match in json_objects(without_thinking(reply.text or ""))]
    grades = {plain(str(value["grade"])) for value in objects if "grade" in value}
    return GRADES.get(grades.pop()) if len(grades) == 1 else None


@dataclass(frozen=True)
class GradeTask:
    """The short answers to grade as calls, a task for `audit.pipeline.llm`. Calls are in the order of questions."""

    prompt: Prompt
    model: str
    answers: Sequence[SubAnswer]
    stages: tuple[str, ...] = (FORM.purpose,)
    unit: str = "questions"

    def plan(self) -> dict[str, Any]:
        """The settings that must match for a journal to be resumed; the answers may change."""
        return {"work": FORM.name, "model": self.model, "prompts": {FORM.purpose: self.prompt.title}}

    def calls(self) -> Iterator[tuple[SubAnswer, Call]]:
        """Each answer that is not an exact match, with its call."""
        for item in self.answers:
            if item.needs_grade:
                texts = {"sub_question": item.sub_question, "right_answer": item.right_answer, "answer": item.answer}
                yield item, self.prompt.call(self.model, item.question_id, texts)

    def open_calls(self, stage: str, replies: Replies) -> Iterator[Call]:
        """The calls without a usable reply, question by question."""
        return unsettled((call for _, call in self.calls()), replies, self.readable)

    def readable(self, call: Call, reply: Reply) -> bool:
        """Whether a reply has one grade."""
        return read_grade(reply) is not None

    def costs(self, replies: Replies) -> list[StageCost]:
        """The cost of the open calls."""
        calls = unsettled((call for _, call in self.calls()), no_replies, self.readable)
        return [cost_after_replies(FORM.purpose, calls, replies, self.readable, REPLY_TOKENS)]


def grades_of(task: GradeTask, replies: Replies, counts: Counter[str]) -> dict[SubAnswer, float | None]:
    """The grade of every answer; None: unreadable, or not asked. `counts` gets exact, graded, unreadable and not asked."""
    grades: dict[SubAnswer, float | None] = {item: 1.0 for item in task.answers if not item.needs_grade}
    counts["exact"] += len(grades)
    for batch in batches(task.calls()):
        latest = replies([call.key for _, call in batch])
        for item, call in batch:
            reply = latest.get(call.key)
            grades[item] = read_grade(reply) if reply else None
            counts["not asked" if reply is None else "unreadable" if grades[item] is None else "graded"] += 1
    return grades
