"""A model grades short answers to sub-questions: 1 right, 0.5 partly right, 0 wrong, as in MedRGB's model-based score."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from audit.evaluation.stress_measures import exact_match
from audit.pipeline.llm.item_task import ItemTask
from audit.pipeline.llm.prompts import Prompt, PromptForm, load_template
from audit.pipeline.llm.reply_models import ReplyModel, cleaned, read_reply, spelled
from audit.pipeline.llm.summary import Summary
from audit.pipeline.llm.tasks import Replies
from audit.release.journal_files import Reply
from audit.vocabulary import plain

GRADES = {"full": 1.0, "part": 0.5, "none": 0.0}
AS_SCORES = {"1": "full", "1.0": "full", "0.5": "part", "0": "none", "0.0": "none"}
"""The scores that MedRGB's own prompt asks for."""
MAX_REASONING, REPLY_TOKENS = 240, 45
WORDS = "{exact:,} exact, {graded:,} graded, {unreadable:,} unreadable, {not_asked:,} not asked."


class GradeReply(ReplyModel):
    """A grade, after its reasons."""

    keys, other_names = ("grade",), {"score": "grade"}
    reasoning: Annotated[str, Field(max_length=MAX_REASONING), cleaned(MAX_REASONING)]
    grade: Annotated[Literal["full", "part", "none"], spelled(lambda value: AS_SCORES.get(str(value), plain(str(value))))]


FORM = PromptForm("stress_grade", "grade", ("sub_question", "right_answer", "answer"), GradeReply.schema_to_send())


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

    @property
    def texts(self) -> dict[str, str]:
        """The texts of its prompt."""
        return {"sub_question": self.sub_question, "right_answer": self.right_answer, "answer": self.answer}


def load_grade_prompt(folder: Path | None = None) -> Prompt:
    """The prompt `stress_grade`, from `folder` if it is given. Raises AuditError if the template cannot be used."""
    return load_template(FORM, __package__, folder)


def read_grade(reply: Reply) -> float | None:
    """The grade in a reply; None if it has none, or several, or words after it, which may take it back."""
    reading = read_reply(GradeReply, reply)
    grades = {value.grade for value in reading.values}
    return GRADES[grades.pop()] if len(grades) == 1 and not (reading.unread or reading.goes_on) else None


def grade_task(prompt: Prompt, model: str, answers: Sequence[SubAnswer]) -> ItemTask[SubAnswer]:
    """The answers that a model has to grade, in the order of questions."""
    return ItemTask(
        {FORM.purpose: prompt},
        model,
        FORM.name,
        lambda: (item for item in answers if item.needs_grade),
        calls_of=lambda item: [prompt.call(model, item.question_id, item.texts)],
        is_read=lambda _, reply: read_grade(reply) is not None,
        tokens={FORM.purpose: REPLY_TOKENS},
    )


def grades_of(
    task: ItemTask[SubAnswer], answers: Sequence[SubAnswer], replies: Replies, summary: Summary
) -> dict[SubAnswer, float | None]:
    """The grade of every answer; None: unreadable, or not asked. `summary` counts them."""
    grades: dict[SubAnswer, float | None] = {item: 1.0 for item in answers if not item.needs_grade}
    summary.count(exact=len(grades))
    for item, _, reply in task.results(replies):
        grades[item] = read_grade(reply) if reply else None
        outcome = "not_asked" if reply is None else "unreadable" if grades[item] is None else "graded"
        summary.counts[outcome] += 1
    return grades
