"""Judging single answers by a model: the required calls, and the records of `criteria.jsonl` from the replies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.pipeline.judging.criteria.replies import SCHEMA, Evaluation, read_evaluation
from audit.pipeline.llm.calls import usage_record
from audit.pipeline.llm.item_task import ItemTask
from audit.pipeline.llm.prompts import Prompt, PromptForm, load_template
from audit.pipeline.llm.summary import Summary
from audit.pipeline.llm.tasks import Replies
from audit.vocabulary import Parse

# The reference before the answer: the calls of a question share all but the answer, which a prefix cache reuses.
FORM = PromptForm("criteria", "criteria", ("question", "reference_answer", "answer"), SCHEMA)
NO_REFERENCE = "(no reference answer)"
REPLY_TOKENS = 330
WORDS = (
    "{judged:,} answers judged: {complete:,} on all eight criteria, {some:,} on some, {unscored:,} unscored; "
    "{not_asked:,} not asked."
)


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

    @property
    def texts(self) -> dict[str, str]:
        """The texts of its prompt."""
        return {"question": self.question, "reference_answer": self.reference or NO_REFERENCE, "answer": self.answer}


def load_criteria_prompt(folder: Path | None = None) -> Prompt:
    """The prompt `criteria`, from `folder` if it is given. Raises AuditError if the template cannot be used."""
    return load_template(FORM, __package__, folder)


def criteria_task(prompt: Prompt, model: str, answers: Sequence[AnswerToScore]) -> ItemTask[AnswerToScore]:
    """The answers to judge, in the order of questions: one call for each."""
    return ItemTask(
        {FORM.purpose: prompt},
        model,
        FORM.name,
        lambda: answers,
        calls_of=lambda item: [prompt.call(model, item.question_id, item.texts)],
        is_read=lambda _, reply: read_evaluation(reply).complete,
        tokens={FORM.purpose: REPLY_TOKENS},
    )


def criteria_records(task: ItemTask[AnswerToScore], replies: Replies, summary: Summary) -> Iterator[dict[str, Any]]:
    """The records of criteria.jsonl; an answer that was not asked about has none. `summary` counts both."""
    for item, _, reply in task.results(replies):
        if reply is None:
            summary.count(not_asked=1)
            continue
        evaluation = read_evaluation(reply)
        unscored = evaluation.parse == Parse.NONE
        some = not (evaluation.complete or unscored)
        summary.count(
            judged=1, complete=evaluation.complete, some=some, unscored=unscored, parse=evaluation.parse, reason=evaluation.reason
        )
        yield {
            "question_id": item.question_id,
            "system_id": item.system_id,
            "judge": task.model,
            **evaluation_fields(evaluation),
            "usage": {**usage_record([reply]), "prompt": task.prompts[FORM.purpose].title},
        }


def evaluation_fields(evaluation: Evaluation) -> dict[str, Any]:
    """An evaluation as criteria.jsonl has it: the eight scores, explanations, parse, and why a score is missing."""
    return {
        **{criterion.value: score for criterion, score in evaluation.scores.items()},
        "explanations": {criterion.value: text for criterion, text in evaluation.explanations.items()},
        "parse": str(evaluation.parse),
        **({"unscored_reason": evaluation.reason} if evaluation.reason else {}),
    }
