"""Answering systems: a model answers each question once, from its own knowledge or from the best retrieved passages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from audit.pipeline.answers.evidence import NumberedPassage, fitting_passages, without_numbers
from audit.pipeline.generation.model_generator import MAX_ANSWER, NO_ANSWER, answer_in, evidence_room
from audit.pipeline.llm.calls import Call, usage_record
from audit.pipeline.llm.item_task import ItemTask
from audit.pipeline.llm.prompts import Prompt, PromptForm, load_template
from audit.pipeline.llm.reply_models import ReplyModel, cleaned, entries_of, faulty, needed, read_reply
from audit.pipeline.llm.summary import Summary
from audit.pipeline.llm.tasks import Replies
from audit.pipeline.retrieval.model import Query
from audit.release.journal_files import Reply
from audit.text.tokens import cited_numbers
from audit.vocabulary import SystemMode

# -- refusals ------------------------------------------------------------------------------------------------
# Refusals in prose: some models decline in the text and not in the field for it.

# Only at the beginning: "I cannot say how long, but most people wait a month" is an answer
_OPENING = (
    r"(?:(?:i['’]?m|i am) (?:very |so |really )?sorry|i apologi[sz]e|sorry|unfortunately|"
    r"as an? (?:ai|language|virtual)\b[^,.]*)[,.;:]?\s+"
)
_CANNOT = (
    r"(?:can\s?not|can['’]?t|could not|(?:am|['’]m|are) (?:not able|unable)(?: to)?|"
    r"(?:must|have to|will|would) (?:decline|refuse)(?: to)?)"
)
_ACT = r"(?:answer|assist|help|provide|give|offer|respond|advise|diagnose|discuss|fulfil|comply)"
_NO_EVIDENCE = (
    r"(?:the|these|your) (?:given |provided |retrieved |reference )*(?:passages?|documents?|context|texts?|sources?|information)"
)
_LACKS = r"(?:provided |given )?(?:do(?:es)? not|don['’]t|doesn['’]t) (?:answer|address|contain|include|provide|mention|say)"
DECLINES = re.compile(
    rf"\W*(?:{_OPENING})*(?:but )?(?:i|we) (?:{_CANNOT}) {_ACT}\b"
    rf"|\W*(?:{_OPENING})*(?:but )?i (?:must |have to |will )?(?:decline|refuse)\b"
    rf"|\W*(?:{_OPENING})*(?:but )?{_NO_EVIDENCE} {_LACKS}\b",
    re.IGNORECASE,
)


# "I cannot diagnose you, but I can tell you ..." is an answer
GOES_ON = re.compile(r"\b(?:however|nevertheless|that said|but (?:i|we|here|they|in general))\b", re.IGNORECASE)


def declines(text: str) -> bool:
    """Whether the text begins with a refusal ("I'm sorry, but I cannot answer ...") and gives no answer after it."""
    opening = DECLINES.match(text.strip())
    return opening is not None and GOES_ON.search(text.strip(), opening.end()) is None


Record = dict[str, Any]
TEMPERATURE, MAX_TOKENS = 0.1, 512
"""The modes of the study that compares models with and without retrieval (Fensore et al.)."""
MAX_TEXT, MAX_QUOTE, MAX_REPLIED = 600, 600, 12


def _declared(value: Any) -> bool:
    return value is True


class SystemAnswerReply(ReplyModel):
    """An answer, and whether it declines to give one."""

    keys, thinks_inside = ("answer",), True
    answer: Annotated[str, Field(max_length=2 * MAX_ANSWER), faulty(lambda value: answer_in(value, 2 * MAX_ANSWER))]
    declined: Annotated[bool, Field(strict=True), faulty(_declared)]


class RepliedQuote(ReplyModel):
    """The words of a passage that a statement rests on, by the number of the passage; not checked yet."""

    passage: Annotated[int, Field(strict=True)]
    quote: Annotated[str, Field(max_length=MAX_QUOTE), needed(MAX_QUOTE)]


class RepliedStatement(ReplyModel):
    """A statement as the model wrote it."""

    text: Annotated[str, Field(max_length=MAX_TEXT), needed(MAX_TEXT)]
    quotes: Annotated[list[RepliedQuote], Field(max_length=MAX_REPLIED), entries_of(RepliedQuote)]


class StatementsReply(ReplyModel):
    """An answer in statements, or what is missing where it declines; a statement without text is left out."""

    keys, key_type = ("statements",), list
    statements: Annotated[list[RepliedStatement], Field(max_length=MAX_REPLIED), entries_of(RepliedStatement)]
    declined: Annotated[bool, Field(strict=True), faulty(_declared)]
    missing: Annotated[str, Field(max_length=MAX_TEXT), cleaned(MAX_TEXT)]


QUESTION_TYPE = ("question_type",)
"""What a prompt of one's own may name beside the question: its type, from the references."""
ANSWER_SCHEMA = SystemAnswerReply.schema_to_send()
FORMS = {
    SystemMode.CLOSED_BOOK: PromptForm("closed_book", "closed_book", ("question",), ANSWER_SCHEMA, QUESTION_TYPE),
    SystemMode.RETRIEVAL: PromptForm("with_evidence", "with_evidence", ("passages", "question"), ANSWER_SCHEMA, QUESTION_TYPE),
    SystemMode.MULTI_SOURCE: PromptForm(
        "several_sources", "several_sources", ("passages", "question"), StatementsReply.schema_to_send()
    ),
}
MODE_NAMES = {
    SystemMode.CLOSED_BOOK: "alone",
    SystemMode.RETRIEVAL: "with retrieval",
    SystemMode.MULTI_SOURCE: "several sources",
}
# The rough number of tokens of an answer, for estimates without a server.
REPLY_TOKENS = 300
WORDS = "{answered:,} answered, {refused:,} refused, {unread:,} unread, {not_asked:,} not asked."
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
        prompt = load_template(form, __package__, folder)
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
            "handbook_id": self.handbook_id,
            "section_id": passage.section_id,
            "rank": passage.number,
            "score": self.score,
            "text": "\n".join((*passage.leads, passage.text)),
        }


@dataclass(frozen=True)
class SystemQuestion:
    """A question and its passages, best first; no passages in closed-book mode."""

    query: Query
    passages: tuple[SystemPassage, ...] = ()


@dataclass(frozen=True)
class SystemTask(ItemTask[SystemQuestion]):
    """The calls of one answering system."""

    system: AnsweringSystem = field(kw_only=True)

    @property
    def record(self) -> Record:
        """The system's record of systems.jsonl."""
        (prompt,) = self.prompts.values()
        return self.system.record(prompt)


def system_task(
    system: AnsweringSystem, prompt: Prompt, questions: Callable[[], Iterable[SystemQuestion]], context: int
) -> SystemTask:
    """The calls of one system: each question with the passages that fit.

    questions  may be called repeatedly
    context    tokens that the model accepts for prompt and answer together; passages at the end that do not fit are left out
    """
    room, purpose = evidence_room(prompt, context), prompt.form.purpose

    def items() -> Iterator[SystemQuestion]:
        for question in questions():
            fitting = fitting_passages([one.passage for one in question.passages], room)
            yield replace(question, passages=question.passages[: len(fitting)])

    def calls_of(question: SystemQuestion) -> list[Call]:
        passages = "\n\n".join(one.passage.in_prompt for one in question.passages)
        query = question.query
        texts = {"passages": passages, "question": without_numbers(query.text), "question_type": query.question_type}
        return [prompt.call(system.model, question.query.question_id, texts)]

    return SystemTask(
        {purpose: prompt},
        system.model,
        prompt.name,
        items,
        calls_of,
        is_read=lambda call, reply: read_system_reply(reply, in_text=call.in_text).reason is None,
        tokens={purpose: REPLY_TOKENS},
        settings={"temperature": system.temperature, "context": context},
        system=system,
    )


# -- replies and records ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SystemReply:
    """A parsed reply: its text and whether it declines, or the reason why it could not be read."""

    text: str | None = None
    refused: bool | None = None
    reason: str | None = None


def read_system_reply(reply: Reply, *, in_text: bool = False) -> SystemReply:
    """An answer, a refusal (`declined` is true, or the text begins by declining), or why neither could be read.

    in_text  the prompt asked for plain words, so a text without an object is the answer
    """
    reading = read_reply(SystemAnswerReply, reply)
    if in_text and (words := answer_in(reading.plain_words, 2 * MAX_ANSWER)):
        return SystemReply(words, declines(words))
    read, reason = reading.only(NO_ANSWER)
    if read is None or not (read.answer or read.declined):
        return SystemReply(reason=reason or NO_ANSWER)
    return SystemReply(read.answer or None, read.declined or declines(read.answer))


class SystemSummary(Summary):
    """Counts of a system's answers: answered, refused, not asked, and why others could not be read."""

    def count_record(self, record: Mapping[str, Any]) -> None:
        """Count one record of system_answers.jsonl."""
        reason, refused = record["unread_reason"], bool(record["refused"])
        self.count(answered=not (reason or refused), refused=refused and not reason, unread=bool(reason), reason=reason)

    def as_record(self) -> Record:
        """The counts as JSON values."""
        return {
            "answered": self.counts["answered"],
            "refused": self.counts["refused"],
            "unread": dict(self.reasons),
            "not_asked": self.not_asked,
        }

    @property
    def text(self) -> str:
        """One line, and a line for each reason why replies could not be read."""
        return "\n".join([WORDS.format_map(self.counts), *self.lines("unread, ")])


def system_answers(task: SystemTask, replies: Replies, summary: SystemSummary) -> Iterator[Record]:
    """The records of system_answers.jsonl from the replies to a task's calls; `summary` counts them and missing replies."""
    for question, call, reply in task.results(replies):
        if reply is None:
            summary.count(not_asked=1)
            continue
        record = _record(task.system, question, reply, in_text=call.in_text)
        summary.count_record(record)
        yield record


def _record(system: AnsweringSystem, question: SystemQuestion, reply: Reply, *, in_text: bool) -> Record:
    read = read_system_reply(reply, in_text=in_text)
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
