"""A model answers from the passages of several sources: each statement with quotes, which are checked against the passages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from audit.generation.several_sources import SourcePassage, SourceReader
from audit.generation.sourced_answers import PackedEvidence, SourceCitation, SourcedAnswer, SourcedStatement
from audit.generation.statement_marks import Compare, marked
from audit.generation.system_answers import MAX_QUOTE, MAX_TEXT, QUESTIONS_PER_LOOKUP, SystemPassage, SystemTask
from audit.llm.calls import CUT, Call, Reply, usage_record
from audit.llm.reply_text import clean_text, json_objects, unreadable_reason, without_thinking
from audit.llm.tasks import Replies, batches
from audit.text.quantity import find_quantities

NO_STATEMENTS = "no statements"
# A quote of one or two words is in nearly every passage
MIN_QUOTE_WORDS = 3
# Typesetting may differ between a passage and its copy; words and figures may not
SAME_CHARACTER = {
    "'": "['’‘]",
    "’": "['’‘]",
    "‘": "['’‘]",
    '"': '["“”]',
    "“": '["“”]',
    "”": '["“”]',
    "-": "[-‐‑–]",
    "–": "[-‐‑–]",
}


@dataclass(frozen=True)
class SourcedTask(SystemTask):
    """The calls of a system that answers from several sources, as a task for `audit.llm`."""

    def readable(self, call: Call, reply: Reply) -> bool:
        """Whether a reply contains statements, or declines."""
        return read_sourced_reply(reply).reason is None


# -- replies -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RepliedStatement:
    """A statement as the model wrote it, with (passage, quote) pairs that are not checked yet."""

    text: str
    quotes: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class SourcedReply:
    """What a reply says: its statements, or the sentence with which it declines, or the reason why it could not be read."""

    statements: tuple[RepliedStatement, ...] = ()
    declined: str = ""
    reason: str | None = None


def read_sourced_reply(reply: Reply) -> SourcedReply:
    """Statements, a refusal, or why neither could be read; a statement without text is left out."""
    if reason := unreadable_reason(reply):
        return SourcedReply(reason=reason)
    text = without_thinking((reply.text or "").strip())
    objects = [match.value for match in json_objects(text) if isinstance(match.value.get("statements"), list)]
    if len(objects) != 1:
        return SourcedReply(reason=CUT if reply.outcome == CUT else NO_STATEMENTS)
    statements = tuple(filter(None, map(_replied, objects[0]["statements"])))
    if statements:
        return SourcedReply(statements)
    if objects[0].get("declined") is True:
        return SourcedReply(declined=clean_text(objects[0].get("missing"), MAX_TEXT) or "")
    return SourcedReply(reason=NO_STATEMENTS)


def _replied(value: object) -> RepliedStatement | None:
    fields = value if isinstance(value, dict) else {}
    text = clean_text(fields.get("text"), MAX_TEXT)
    return RepliedStatement(text, tuple(_quotes(fields.get("quotes")))) if text else None


def _quotes(values: object) -> Iterator[tuple[int, str]]:
    for value in values if isinstance(values, list) else []:
        fields = value if isinstance(value, dict) else {}
        number, quote = fields.get("passage"), clean_text(fields.get("quote"), MAX_QUOTE)
        if isinstance(number, int) and quote:
            yield number, quote


# -- quotes checked against the passages ---------------------------------------------------------------------------------


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Where a text has a quote word for word, in characters from 0; white space, quotation marks and case may differ."""
    words = quote.split()
    if len(words) < MIN_QUOTE_WORDS:
        return None
    pattern = r"\s+".join("".join(SAME_CHARACTER.get(letter, re.escape(letter)) for letter in word) for word in words)
    match = re.search(pattern, text, re.IGNORECASE)
    return match.span() if match else None


def checked_statement(replied: RepliedStatement, passages: Sequence[SourcePassage], reader: SourceReader) -> SourcedStatement:
    """The statement with the quotes that its passages have; with none where these lack an amount that it states."""
    given = {one.passage.number: one for one in passages}
    citations = tuple(
        citation
        for number, quote in replied.quotes
        if number in given and (citation := _checked(quote, given[number], reader)) is not None
    )
    quoted = find_quantities(" ".join(citation.stated for citation in citations))
    amounts_agree = all(any(amount.agrees(other) for other in quoted) for amount in find_quantities(replied.text))
    return SourcedStatement(replied.text, citations if amounts_agree else ())


def _checked(quote: str, given: SourcePassage, reader: SourceReader) -> SourceCitation | None:
    passage = given.passage
    section = reader.documents[given.handbook_id].by_id.get(passage.section_id)
    if section is None:
        return None
    # Its leads stand before the passage, and the prompt shows them with it
    ranges = [
        (passage.start, passage.end),
        *((start, start + len(lead)) for lead in passage.leads if (start := section.text.find(lead)) >= 0),
    ]
    for first, last in ranges:
        if place := find_quote(quote, section.text[first:last]):
            start, end = first + place[0], first + place[1]
            exact = section.text[start:end]
            return SourceCitation(
                passage.number, given.source_id, given.handbook_id, section.section_id, start, end, exact, " ".join(exact.split())
            )
    return None


# -- answers -------------------------------------------------------------------------------------------------------------


def passages_in_prompt(passages: Sequence[SourcePassage]) -> tuple[SystemPassage, ...]:
    """The passages as a prompt has them, their source in front of their title."""
    return tuple(
        SystemPassage(
            one.handbook_id, replace(one.passage, title=f"{one.source_id}: {one.passage.title}".rstrip(": ")), one.score
        )
        for one in passages
    )


def model_answers(
    task: SourcedTask, replies: Replies, evidence: Mapping[str, PackedEvidence], reader: SourceReader, compare: Compare
) -> Iterator[tuple[str, SourcedAnswer | None]]:
    """Question id -> the answer from its reply; None where there is none.

    evidence  question id -> the evidence that its call was made from
    """
    for batch in batches(task.calls(), QUESTIONS_PER_LOOKUP):
        latest = replies([call.key for _, call in batch])
        for question, call in batch:
            reply, question_id = latest.get(call.key), question.query.question_id
            given = len(question.passages)
            own = evidence[question_id]
            yield question_id, answer_from_reply(reply, own, reader, compare, task.model, given) if reply else None


def answer_from_reply(
    reply: Reply, evidence: PackedEvidence, reader: SourceReader, compare: Compare, model: str, given: int | None = None
) -> SourcedAnswer:
    """The answer that a reply gives: its statements, checked and marked.

    given  the first so many passages were in the prompt; None: all
    """
    read, passages = read_sourced_reply(reply), reader.passages(evidence)[:given]
    duplicates = evidence.duplicates()
    checked = [checked_statement(replied, passages, reader) for replied in read.statements]
    drafts = [replace(one, citations=(*one.citations, *reader.same_elsewhere(one.citations, duplicates))) for one in checked]
    statements = marked(evidence.question, drafts, compare)
    unsupported = sum(not one.citations for one in statements)
    note = f"Statements without a quote that the passages have, or with an amount that it lacks: {unsupported:,}."
    return SourcedAnswer(
        evidence.question, statements, evidence, (*evidence.notes, *([note] if unsupported else [])), reply.model or model,
        read.declined, read.reason, usage_record([reply]),
    )  # fmt: skip
