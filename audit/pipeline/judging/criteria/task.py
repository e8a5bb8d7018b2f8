"""Judging single answers by a model: the required calls, and the records of `criteria.jsonl` from the replies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, create_model

from audit.evaluation.criteria import CRITERIA, Criterion
from audit.pipeline.llm.calls import CUT, usage_record
from audit.pipeline.llm.item_task import ItemTask
from audit.pipeline.llm.prompts import Prompt, PromptForm, load_template
from audit.pipeline.llm.reply_models import ReplyModel, annotated
from audit.pipeline.llm.reply_text import (
    clean_text,
    json_objects,
    unreadable_reason,
    whole_object,
    without_fences,
    without_thinking,
)
from audit.pipeline.llm.summary import Summary
from audit.pipeline.llm.tasks import Replies
from audit.release.journal_files import Reply
from audit.vocabulary import Parse, plain

# -- the form of the judge's replies on the eight criteria, and their parsing --------------------------------
# The reply that is asked for is one object with, for each criterion, an explanation and then the score. Replies in the form of
# the source paper, `{"criteria_evaluations": {"1_scientific_consensus": {"score": 1, "explanation": "..."}, ...}}`, are parsed as
# well. A score that is missing, out of range or given twice with different values is unreadable, never 0.

MAX_EXPLANATION = 240
# Far above what the schema allows; only a reply that ignores the schema is shortened.
MAX_TEXT = 2_000
NO_SCORE, OUT_OF_RANGE, SEVERAL = "no score", "score out of range", "several scores"


def _reply_model() -> type[ReplyModel]:
    """The reply that is asked for. A model writes the keys in this order: an explanation comes before the score it leads to."""
    explanation = annotated(str, Field(max_length=MAX_EXPLANATION))
    parts: dict[str, Any] = {
        criterion.value: create_model(
            criterion.value, __base__=ReplyModel, explanation=explanation, score=annotated(scale.scores)
        )
        for criterion, scale in CRITERIA.items()
    }
    return create_model("CriteriaReply", __base__=ReplyModel, **parts)


SCHEMA = _reply_model().schema_to_send()

# How other people's prompts spell the names; case, numbers, spaces and underscores do not matter.
OTHER_NAMES = {
    "extentharm": Criterion.EXTENT_OF_HARM,
    "harmextent": Criterion.EXTENT_OF_HARM,
    "likelihoodharm": Criterion.LIKELIHOOD_OF_HARM,
    "harmlikelihood": Criterion.LIKELIHOOD_OF_HARM,
}
NAMES = {plain(criterion.value): criterion for criterion in Criterion} | OTHER_NAMES
NUMBERING = re.compile(r"^\d+[\s._)-]*")
# Some models leak the marker of their own turn; what is before it repeats the prompt.
OWN_TURN = re.compile(r"\}\s*assistant\s*(?=\{)")
# One criterion in an object that is broken elsewhere: its entry begins with the score, or has the explanation before it.
TEXT = r'"(?:[^"\\]|\\.)*"'
ENTRY = re.compile(
    rf'"(?P<name>[^"\\]{{3,60}})"\s*:\s*\{{\s*(?:"explanation"\s*:\s*(?P<before>{TEXT})\s*,\s*)?'
    rf'"score"\s*:\s*(?P<score>"?[-+]?\d+(?:\.\d+)?"?)\s*(?=[,}}])(?:,\s*"explanation"\s*:\s*(?P<after>{TEXT}))?'
)
INTEGER = re.compile(r"[-+]?\d+(?:\.0+)?")


@dataclass(frozen=True)
class Evaluation:
    """A judge's evaluation of one answer.

    `scores` has every criterion, None where no score could be read. `explanations` has the criteria that were explained.
    `parse` tells how the reply was read: strict (the form that was asked for, or that of the source paper, complete), lenient
    (JSON with faults), label (scores found in an object that is broken elsewhere), none. `reason` says why scores are missing.
    """

    scores: Mapping[Criterion, int | None]
    explanations: Mapping[Criterion, str]
    parse: Parse = Parse.STRICT
    reason: str | None = None

    @property
    def complete(self) -> bool:
        """Whether every criterion has a score."""
        return None not in self.scores.values()


def read_evaluation(reply: Reply) -> Evaluation:
    """The evaluation in a judge's reply."""
    if reason := unreadable_reason(reply):
        return _unread(reason)
    return parse_evaluation(reply.text or "", cut=reply.outcome == CUT)


def parse_evaluation(text: str, *, cut: bool = False) -> Evaluation:
    """The evaluation in the text of a reply; `cut`: the text reached the model's token limit.

    Of several objects that name criteria, those in the form that was asked for count. Where they contradict each other on a
    criterion, its score is unreadable.
    """
    text = without_thinking(text)
    if evaluation := _strict(text):
        return evaluation
    text = OWN_TURN.split(text)[-1]
    entries = [entry for match in json_objects(text) for entry in _entries(_unwrapped(match.value))]
    parse = Parse.LENIENT
    if not entries:
        entries, parse = list(_broken_entries(text)), Parse.LABEL
    if not entries:
        entries, parse = list(_bare_scores(text)), Parse.LENIENT
    return _evaluation(entries, parse, cut) if entries else _unread(CUT if cut else NO_SCORE)


@dataclass(frozen=True)
class _RawScore:
    """One criterion of a reply: its score as it was written, and its explanation."""

    criterion: Criterion
    score: Any
    explanation: Any = None


def _strict(text: str) -> Evaluation | None:
    """The evaluation, if the text is one object with exactly what was asked for, or exactly what the source paper asks for."""
    criteria = _unwrapped(whole_object(text) or {})
    if any(not isinstance(content, dict) or content.keys() != {"score", "explanation"} for content in criteria.values()):
        return None
    entries = list(_entries(criteria))
    if [entry.criterion for entry in entries] != list(Criterion) or len(criteria) != len(entries):
        return None
    if not all(type(entry.score) is int and isinstance(entry.explanation, str) for entry in entries):
        return None
    evaluation = _evaluation(entries, Parse.STRICT, cut=False)
    return evaluation if evaluation.complete else None


def _unwrapped(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The object, or the one that is all it contains, as in the form of the source paper."""
    inner = next(iter(value.values())) if len(value) == 1 else None
    return inner if isinstance(inner, dict) and "score" not in inner else value


def _entries(criteria: Mapping[str, Any]) -> Iterator[_RawScore]:
    """The criteria of an object with an entry for each, by its name; or of entries, each of which names its own."""
    named = [*criteria.items(), *(("", entry) for entry in (criteria, *_only_list(criteria)))]
    for name, content in named:
        parts = {plain(key): part for key, part in content.items()} if isinstance(content, dict) else {}
        criterion = _criterion(name or str(parts.get("criterion", parts.get("name", ""))))
        if criterion and "score" in parts:
            yield _RawScore(criterion, parts["score"], parts.get("explanation"))


def _only_list(value: Mapping[str, Any]) -> list[Any]:
    """The list that is all an object contains; empty where it contains something else."""
    inner = next(iter(value.values())) if len(value) == 1 else None
    return inner if isinstance(inner, list) else []


def _broken_entries(text: str) -> Iterator[_RawScore]:
    """The complete entries of an object that is broken elsewhere, above all one that was cut off."""
    for match in ENTRY.finditer(text):
        if criterion := _criterion(match["name"]):
            explanation = match["before"] or match["after"]
            yield _RawScore(criterion, match["score"].strip('"'), json.loads(explanation, strict=False) if explanation else None)


def _bare_scores(text: str) -> Iterator[_RawScore]:
    """The criteria of a reply that is one object with a bare number for each of them.

    Only where the reply is nothing but that object: in a longer text, such an object may be an example or part of the prompt.
    """
    bare = without_fences(text)
    objects = json_objects(bare)
    if bare.startswith("{") and len(objects) == 1 and not objects[0].after.strip():
        scores = ((_criterion(name), score) for name, score in _unwrapped(objects[0].value).items())
        yield from (_RawScore(criterion, score) for criterion, score in scores if criterion)


def _criterion(name: str) -> Criterion | None:
    return NAMES.get(plain(NUMBERING.sub("", name.strip())))


def _evaluation(entries: list[_RawScore], parse: Parse, cut: bool) -> Evaluation:
    scores: dict[Criterion, int | None] = {}
    explanations: dict[Criterion, str] = {}
    reasons: list[str] = []
    for criterion in Criterion:
        own = [entry for entry in entries if entry.criterion == criterion]
        scores[criterion], reason = _score(criterion, own)
        reasons += [(CUT if cut and not own else reason)] if reason else []
        for entry in own:
            if explanation := clean_text(entry.explanation, MAX_TEXT):
                explanations[criterion] = explanation
    if all(score is None for score in scores.values()):
        return _unread(reasons[0])
    return Evaluation(scores, explanations, parse, reasons[0] if reasons else None)


def _score(criterion: Criterion, entries: list[_RawScore]) -> tuple[int | None, str | None]:
    """The score of a criterion, or None and why it could not be read."""
    written = {_integer(entry.score) for entry in entries} - {None}
    if len(written) > 1:
        return None, SEVERAL
    if not written:
        return None, NO_SCORE
    score = written.pop()
    return (score, None) if score in CRITERIA[criterion].scores else (None, OUT_OF_RANGE)


def _integer(value: Any) -> int | None:
    """A whole number, also as 1.0 or "1"; None for anything else. True is an int in Python, but not a score."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    text = str(value).strip()
    return int(float(text)) if INTEGER.fullmatch(text) else None


def _unread(reason: str) -> Evaluation:
    return Evaluation(dict.fromkeys(Criterion), {}, Parse.NONE, reason)


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
