"""Judging answers by their evidence: the required calls, and the measures from the replies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from audit.evaluation.evidence_measures import (
    ANSWER_RELEVANCE,
    CITATION_CORRECTNESS,
    CONTEXT_PRECISION,
    CONTEXT_RECALL,
    FAITHFULNESS,
    JUDGED_MEASURES,
)
from audit.pipeline.judging.evidence.replies import SCHEMAS, read_evidence_reply
from audit.pipeline.llm.calls import Call
from audit.pipeline.llm.item_task import ItemTask
from audit.pipeline.llm.prompts import Prompt, PromptForm, load_templates
from audit.pipeline.llm.summary import Summary
from audit.pipeline.llm.tasks import Replies
from audit.release.journal_files import Reply

STAGE = "evidence"
FIELDS = {
    FAITHFULNESS: ("question", "passages", "answer"),
    CONTEXT_PRECISION: ("question", "reference_answer", "passages"),
    CONTEXT_RECALL: ("question", "passages", "reference_answer"),
    ANSWER_RELEVANCE: ("question", "answer"),
    CITATION_CORRECTNESS: ("question", "citations"),
}
PROMPT_FORMS = {name: PromptForm(name, name, FIELDS[name], SCHEMAS[name]) for name in JUDGED_MEASURES}
REPLY_TOKENS: dict[str, float] = {
    FAITHFULNESS: 200, CONTEXT_PRECISION: 80, CONTEXT_RECALL: 200, ANSWER_RELEVANCE: 50, CITATION_CORRECTNESS: 60,
}  # fmt: skip
"""Rough tokens of a reply, for estimates without a server."""
OUTCOMES = ("read", "empty", "unread", "not_asked", "not_askable")
WORDS = (
    "{read:,} judged, {empty:,} without a statement, {unread:,} unreadable, {not_asked:,} not asked; "
    "{not_askable:,} lack the data to be judged."
)


@dataclass(frozen=True)
class CitedStatement:
    """A statement of an answer, and the passage that it cites."""

    statement: str
    passage: str


@dataclass(frozen=True)
class AnswerWithEvidence:
    """One answer that is judged by its evidence.

    passages   texts of the evidence, best first; () if the release has none
    reference  the first reference answer; None: the question has none
    """

    question_id: str
    question: str
    system_id: str
    answer: str
    passages: tuple[str, ...] = ()
    reference: str | None = None
    citations: tuple[CitedStatement, ...] = ()

    def texts(self, measure: str) -> dict[str, str] | None:
        """The texts for the prompt of a measure; None if the measure does not apply to this answer."""
        if measure in (CONTEXT_PRECISION, CONTEXT_RECALL) and not self.reference:
            return None
        if measure in (FAITHFULNESS, CONTEXT_PRECISION, CONTEXT_RECALL) and not self.passages:
            return None
        if measure == CITATION_CORRECTNESS and not self.citations:
            return None
        cited = [f"Statement: {one.statement}\nPassage: {one.passage}" for one in self.citations]
        every = {
            "question": self.question, "answer": self.answer, "reference_answer": self.reference or "",
            "passages": _numbered(self.passages), "citations": _numbered(cited),
        }  # fmt: skip
        return {name: every[name] for name in FIELDS[measure]}

    def numbered(self, measure: str) -> int:
        """How many numbered texts the prompt of a measure has that its reply must answer one by one."""
        return {CONTEXT_PRECISION: len(self.passages), CITATION_CORRECTNESS: len(self.citations)}.get(measure, 0)


def _numbered(texts: Sequence[str]) -> str:
    return "\n\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))


def load_evidence_prompts(folder: Path | None = None) -> dict[str, Prompt]:
    """The prompts by measure, from `folder` where it has them. Raises AuditError if a template cannot be used."""
    return load_templates(PROMPT_FORMS.values(), __package__, folder)


def evidence_task(
    prompts: Mapping[str, Prompt], model: str, answers: Sequence[AnswerWithEvidence], measures: Sequence[str] = JUDGED_MEASURES
) -> ItemTask[AnswerWithEvidence]:
    """The answers to judge, in the order of questions: one call for each measure that is asked of an answer."""

    def calls_of(item: AnswerWithEvidence) -> Iterator[Call]:
        for measure in measures:
            if texts := item.texts(measure):
                yield prompts[measure].call(model, item.question_id, texts)

    @cache
    def numbered() -> dict[str, int]:
        # A call alone does not reveal how many texts it numbers: they are other people's, and may contain numbers
        return {call.key: item.numbered(call.purpose) for item in answers for call in calls_of(item)}

    def is_read(call: Call, reply: Reply) -> bool:
        return read_evidence_reply(call.purpose, reply, numbered().get(call.key, 0)).readable

    tokens = {measure: REPLY_TOKENS[measure] for measure in measures}
    return ItemTask(prompts, model, STAGE, lambda: answers, calls_of, is_read, tokens=tokens, stage=STAGE)


def evidence_values(
    task: ItemTask[AnswerWithEvidence], replies: Replies, summaries: Mapping[str, Summary]
) -> dict[tuple[str, str, str], float]:
    """(question id, system id, measure) -> value, of every reply that has one.

    The summary of each measure counts replies with a value (read), those that were read and found nothing to measure, such as
    no statement (empty), those that could not be read (unread), and answers without the data to be judged by (not_askable).
    """
    values: dict[tuple[str, str, str], float] = {}
    for item, call, reply in task.results(replies):
        summary = summaries[call.purpose]
        if reply is None:
            summary.count(not_asked=1)
            continue
        verdict = read_evidence_reply(call.purpose, reply, item.numbered(call.purpose))
        has_value, readable = verdict.value is not None, verdict.readable
        summary.count(
            read=has_value, empty=readable and not has_value, unread=not readable, reason=None if readable else verdict.reason
        )
        if verdict.value is not None:
            values[item.question_id, item.system_id, call.purpose] = verdict.value
    answers = sum(1 for _ in task.items())
    for summary in summaries.values():
        summary.count(not_askable=answers - summary.counts.total())
    return values
