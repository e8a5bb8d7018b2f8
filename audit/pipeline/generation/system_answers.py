"""Answering systems: a model answers each question once, from its own knowledge or from the best retrieved passages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

from audit.pipeline.answers.evidence import NumberedPassage, fitting_passages, without_numbers
from audit.pipeline.generation.model_generator import MAX_ANSWER, NO_ANSWER, evidence_room
from audit.pipeline.generation.refusals import declines
from audit.pipeline.llm.calls import CUT, Call, usage_record
from audit.pipeline.llm.prompts import Prompt, PromptForm, load_templates
from audit.pipeline.llm.reply_text import clean_text, json_objects, object_obeying, unreadable_reason, without_thinking
from audit.pipeline.llm.tasks import Replies, StageCost, batches, cost_after_replies, no_replies, unsettled
from audit.pipeline.retrieval.model import Query
from audit.release.journal_files import Reply
from audit.text.tokens import cited_numbers
from audit.vocabulary import SystemMode

Record = dict[str, Any]
TEMPERATURE, MAX_TOKENS = 0.1, 512
"""The modes of the study that compares models with and without retrieval (Fensore et al.)."""
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "string", "maxLength": 2 * MAX_ANSWER}, "declined": {"type": "boolean"}},
    "required": ["answer", "declined"],
    "additionalProperties": False,
}
MAX_TEXT, MAX_QUOTE, MAX_REPLIED = 600, 600, 12
_QUOTE = {
    "type": "object",
    "properties": {"passage": {"type": "integer"}, "quote": {"type": "string", "maxLength": MAX_QUOTE}},
    "required": ["passage", "quote"],
    "additionalProperties": False,
}
_STATEMENT = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "maxLength": MAX_TEXT},
        "quotes": {"type": "array", "items": _QUOTE, "maxItems": MAX_REPLIED},
    },
    "required": ["text", "quotes"],
    "additionalProperties": False,
}
STATEMENTS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "statements": {"type": "array", "items": _STATEMENT, "maxItems": MAX_REPLIED},
        "declined": {"type": "boolean"},
        "missing": {"type": "string", "maxLength": MAX_TEXT},
    },
    "required": ["statements", "declined", "missing"],
    "additionalProperties": False,
}
FORMS = {
    SystemMode.CLOSED_BOOK: PromptForm("closed_book", "closed_book", ("question",), SCHEMA),
    SystemMode.RETRIEVAL: PromptForm("with_evidence", "with_evidence", ("passages", "question"), SCHEMA),
    SystemMode.MULTI_SOURCE: PromptForm("several_sources", "several_sources", ("passages", "question"), STATEMENTS_SCHEMA),
}
MODE_NAMES = {
    SystemMode.CLOSED_BOOK: "alone", SystemMode.RETRIEVAL: "with retrieval", SystemMode.MULTI_SOURCE: "several sources",
}  # fmt: skip
QUESTIONS_PER_LOOKUP = 100
# The rough number of tokens of an answer, for estimates without a server.
REPLY_TOKENS = 300
FORBIDDEN_IN_ID = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class AnsweringSystem:
    """A model with its mode and settings, as systems.jsonl stores it; `system_id` and `name` have derived defaults."""

    model: str
    mode: SystemMode
    system_id: str = ""
    name: str = ""
    retriever: str = ""
    temperature: float = TEMPERATURE
    max_tokens: int = MAX_TOKENS

    @property
    def id(self) -> str:
        """The id, by default the model's name and the mode."""
        return self.system_id or FORBIDDEN_IN_ID.sub("-", f"{self.model}-{self.mode}").strip("-")

    def prompt(self, folder: Path | None = None) -> Prompt:
        """The prompt of its mode with its settings; from `folder` if that has it. Raises AuditError for an unusable template."""
        form = FORMS[self.mode]
        prompt = load_templates([form], resources.files("audit.pipeline.generation").joinpath("templates"), folder)[form.name]
        return replace(prompt, temperature=self.temperature, max_tokens=self.max_tokens)

    def record(self, prompt: Prompt) -> Record:
        """The record of systems.jsonl."""
        settings = {"temperature": self.temperature, "max_tokens": self.max_tokens, "prompt": prompt.title}
        named = f"{self.model}, {MODE_NAMES[self.mode]}"
        return {
            "system_id": self.id, "name": self.name or named, "model": self.model, "mode": self.mode,
            "retriever": self.retriever or None, "settings": settings,
        }  # fmt: skip


@dataclass(frozen=True)
class SystemPassage:
    """A passage in a system's prompt, with its handbook and the retriever's score."""

    handbook_id: str
    passage: NumberedPassage
    score: float | None = None

    def record(self) -> Record:
        """The passage as the evidence of system_answers.jsonl; its rank is its number."""
        passage = self.passage
        return {
            "handbook_id": self.handbook_id, "section_id": passage.section_id, "rank": passage.number, "score": self.score,
            "text": "\n".join((*passage.leads, passage.text)),
        }  # fmt: skip


@dataclass(frozen=True)
class SystemQuestion:
    """A question and its passages, best first; no passages in closed-book mode."""

    query: Query
    passages: tuple[SystemPassage, ...] = ()


@dataclass(frozen=True)
class SystemTask:
    """The calls of one system, as a task for `audit.pipeline.llm`. `questions` may be called repeatedly.

    context  tokens that the model accepts for prompt and answer together; passages at the end that do not fit are left out
    """

    system: AnsweringSystem
    prompt: Prompt
    questions: Callable[[], Iterable[SystemQuestion]]
    context: int
    unit: str = "questions"

    @property
    def model(self) -> str:
        """The model that is asked."""
        return self.system.model

    @property
    def stages(self) -> tuple[str, ...]:
        """The only purpose of its calls."""
        return (self.prompt.form.purpose,)

    def plan(self) -> dict[str, Any]:
        """The settings that must match for a journal to be resumed; the questions may change."""
        settings = {"temperature": self.system.temperature, "context": self.context}
        return {"work": self.prompt.name, "model": self.model, "prompts": {self.stages[0]: self.prompt.title}, **settings}

    def open_calls(self, stage: str, replies: Replies) -> Iterator[Call]:
        """The calls that have no usable reply yet, in the order of the questions."""
        return unsettled((call for _, call in self.calls()), replies, self.readable)

    def readable(self, call: Call, reply: Reply) -> bool:
        """Whether a reply contains an answer or a refusal."""
        return read_system_reply(reply).reason is None

    def calls(self) -> Iterator[tuple[SystemQuestion, Call]]:
        """Each question with the passages that fit, and its call."""
        for question in self.questions():
            room = evidence_room(self.prompt, self.context)
            n_fitting = len(fitting_passages([system_passage.passage for system_passage in question.passages], room))
            asked = replace(question, passages=question.passages[:n_fitting])
            yield asked, self._call(asked)

    def _call(self, question: SystemQuestion) -> Call:
        texts = {
            "passages": "\n\n".join(system_passage.passage.in_prompt for system_passage in question.passages),
            "question": without_numbers(question.query.text),
        }
        return self.prompt.call(self.model, question.query.question_id, texts)

    def cost(self, replies: Replies) -> StageCost:
        """The cost of the calls that are still open."""
        calls = self.open_calls(self.stages[0], no_replies)
        return cost_after_replies(self.stages[0], calls, replies, self.readable, REPLY_TOKENS)


# -- replies and records ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SystemReply:
    """A parsed reply: its text and whether it declines, or the reason why it could not be read."""

    text: str | None = None
    refused: bool | None = None
    reason: str | None = None


def read_system_reply(reply: Reply) -> SystemReply:
    """An answer, a refusal (`declined` is true, or the text begins by declining), or why neither could be read."""
    if reason := unreadable_reason(reply):
        return SystemReply(reason=reason)
    reply_text = (reply.text or "").strip()
    text = without_thinking(reply_text)
    valid = object_obeying(reply_text, SCHEMA) or object_obeying(text, SCHEMA)
    objects = [valid] if valid else [match.value for match in json_objects(text) if "answer" in match.value]
    if len(objects) != 1:
        return SystemReply(reason=CUT if reply.outcome == CUT else NO_ANSWER)
    value = objects[0]["answer"]
    answer = clean_text(without_thinking(value) if isinstance(value, str) else None, 2 * MAX_ANSWER)
    declined = objects[0].get("declined") is True
    if not answer and not declined:
        return SystemReply(reason=NO_ANSWER)
    return SystemReply(answer or None, declined or declines(answer or ""))


@dataclass
class SystemSummary:
    """Counts of a system's answers: answered, refused, unread by reason, and questions without a reply."""

    answered: int = 0
    refused: int = 0
    unread: Counter[str] = field(default_factory=Counter)
    not_asked: int = 0

    def count(self, record: Mapping[str, Any]) -> None:
        """Count one record."""
        if record["unread_reason"]:
            self.unread[record["unread_reason"]] += 1
        else:
            self.refused += record["refused"]
            self.answered += not record["refused"]

    @property
    def clean(self) -> bool:
        """Whether every question has an answer or a refusal."""
        return not (self.unread or self.not_asked)

    def as_record(self) -> Record:
        """The counts as JSON values."""
        return {**vars(self), "unread": dict(self.unread)}

    @property
    def text(self) -> str:
        """One line, and a line for each reason why replies could not be read."""
        counts = (
            f"{self.answered:,} answered, {self.refused:,} refused, {self.unread.total():,} unread, {self.not_asked:,} not asked."
        )
        return "\n".join([counts, *(f"  unread, {reason}: {count:,}" for reason, count in self.unread.most_common())])


def system_answers(task: SystemTask, replies: Replies, summary: SystemSummary) -> Iterator[Record]:
    """The records of system_answers.jsonl from the replies to a task's calls; `summary` counts them and missing replies."""
    for batch in batches(task.calls(), QUESTIONS_PER_LOOKUP):
        latest = replies([call.key for _, call in batch])
        for question, call in batch:
            if reply := latest.get(call.key):
                record = _record(task.system, question, reply)
                summary.count(record)
                yield record
            else:
                summary.not_asked += 1


def _record(system: AnsweringSystem, question: SystemQuestion, reply: Reply) -> Record:
    read = read_system_reply(reply)
    cited = dict.fromkeys(cited_numbers(read.text or "")) if question.passages else {}
    return {
        "question_id": question.query.question_id,
        "system_id": system.id,
        "answer": read.text,
        "refused": read.refused,
        "unread_reason": read.reason,
        "evidence": [passage.record() for passage in question.passages],
        "citations": [_citation(number, question.passages) for number in cited],
        "usage": usage_record([reply]),
    }


def _citation(number: int, passages: tuple[SystemPassage, ...]) -> Record:
    passage = passages[number - 1] if 1 <= number <= len(passages) else None
    section = passage.passage.section_id if passage else None
    return {
        "passage": number,
        "handbook_id": passage.handbook_id if passage else None,
        "section_id": section,
        "known": passage is not None,
    }
