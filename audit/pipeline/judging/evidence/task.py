"""Judging answers by their evidence: the required calls, and the measures from the replies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from audit.evaluation.evidence_measures import (
    ANSWER_RELEVANCE,
    CITATION_CORRECTNESS,
    CONTEXT_PRECISION,
    CONTEXT_RECALL,
    FAITHFULNESS,
    JUDGED_MEASURES,
)
from audit.pipeline.judging.evidence.replies import SCHEMAS, EvidenceVerdict, read_evidence_reply
from audit.pipeline.llm.calls import Call
from audit.pipeline.llm.prompts import Prompt, PromptForm, load_templates
from audit.pipeline.llm.tasks import Replies, StageCost, batches, cost_after_replies, no_replies, unsettled
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
REPLY_TOKENS = {
    FAITHFULNESS: 200, CONTEXT_PRECISION: 80, CONTEXT_RECALL: 200, ANSWER_RELEVANCE: 50, CITATION_CORRECTNESS: 60,
}  # fmt: skip
"""Rough tokens of a reply, for estimates without a server."""


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


@dataclass
class EvidenceSummary:
    """Counts of the answers, by measure.

    read         replies with a value; `empty` replies that were read and found nothing to measure, such as no statement
    unread       replies that could not be read, with their reasons
    not_asked    calls without a reply; `not_askable` answers without evidence, reference or citations to judge by
    """

    read: Counter[str] = field(default_factory=Counter)
    empty: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    not_asked: Counter[str] = field(default_factory=Counter)
    not_askable: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    def count(self, measure: str, verdict: EvidenceVerdict | None) -> None:
        """Count one call; None: it was not asked."""
        if verdict is None:
            self.not_asked[measure] += 1
        elif not verdict.readable:
            self.unread[measure] += 1
            self.reasons[str(verdict.reason)] += 1
        else:
            (self.empty if verdict.value is None else self.read)[measure] += 1

    def lines(self, measures: Sequence[str]) -> list[str]:
        """The counts of each measure in a sentence."""
        return [
            f"{measure}: {self.read[measure]:,} judged, {self.empty[measure]:,} without a statement, "
            f"{self.unread[measure]:,} unreadable, {self.not_asked[measure]:,} not asked; "
            f"{self.not_askable[measure]:,} lack the data to be judged."
            for measure in measures
        ]


def load_evidence_prompts(folder: Path | None = None) -> dict[str, Prompt]:
    """The prompts by measure, from `folder` where it has them. Raises AuditError if a template cannot be used."""
    return load_templates(PROMPT_FORMS.values(), resources.files("audit.pipeline.judging.evidence").joinpath("templates"), folder)


@dataclass(frozen=True)
class EvidenceTask:
    """The answers to judge as calls, one for each measure that is asked of an answer; a task for `audit.pipeline.llm`.

    The answers are in the order of questions. No call needs the reply to another, so all are one stage.
    """

    prompts: dict[str, Prompt]
    model: str
    answers: Sequence[AnswerWithEvidence]
    measures: tuple[str, ...] = JUDGED_MEASURES
    stages: tuple[str, ...] = (STAGE,)
    unit: str = "questions"

    def plan(self) -> dict[str, Any]:
        """The settings that must match for a journal to be resumed; answers and measures may change."""
        return {"work": STAGE, "model": self.model, "prompts": {name: self.prompts[name].title for name in JUDGED_MEASURES}}

    def open_calls(self, stage: str, replies: Replies) -> Iterator[Call]:
        """The calls that are still to be asked, question by question."""
        return unsettled((call for _, call in self.calls()), replies, self.readable)

    def readable(self, call: Call, reply: Reply) -> bool:
        """Whether a reply could be read."""
        return read_evidence_reply(call.purpose, reply, self._expected.get(call.key, 0)).readable

    @cached_property
    def _expected(self) -> dict[str, int]:
        # A call alone does not reveal how many texts it numbers: they are other people's, and may contain numbers
        return {call.key: item.numbered(call.purpose) for item, call in self.calls()}

    def calls(self) -> Iterator[tuple[AnswerWithEvidence, Call]]:
        """Each answer with its calls, whose purpose is the measure."""
        for item in self.answers:
            for measure in self.measures:
                if texts := item.texts(measure):
                    yield item, self.prompts[measure].call(self.model, item.question_id, texts)

    def costs(self, replies: Replies) -> list[StageCost]:
        """The cost of the open calls of each measure."""
        return [self._cost(measure, replies) for measure in self.measures]

    def _cost(self, measure: str, replies: Replies) -> StageCost:
        calls = unsettled((call for _, call in self.calls() if call.purpose == measure), no_replies, self.readable)
        return cost_after_replies(measure, calls, replies, self.readable, REPLY_TOKENS[measure])


def evidence_values(task: EvidenceTask, replies: Replies, summary: EvidenceSummary) -> dict[tuple[str, str, str], float]:
    """(question id, system id, measure) -> value, of every reply that has one; `summary` counts all."""
    values: dict[tuple[str, str, str], float] = {}
    asked: Counter[str] = Counter()
    for batch in batches(task.calls()):
        latest = replies([call.key for _, call in batch])
        for item, call in batch:
            asked[call.purpose] += 1
            reply = latest.get(call.key)
            verdict = read_evidence_reply(call.purpose, reply, item.numbered(call.purpose)) if reply else None
            summary.count(call.purpose, verdict)
            if verdict and verdict.value is not None:
                values[item.question_id, item.system_id, call.purpose] = verdict.value
    summary.not_askable.update({measure: len(task.answers) - asked[measure] for measure in task.measures})
    return values
