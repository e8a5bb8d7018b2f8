"""Answers by a model from the passages of several sources; the quotes of each statement are checked against the passages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from audit.pipeline.answers.backing import states_more
from audit.pipeline.generation.source_passages import SourcePassage, SourceReader
from audit.pipeline.generation.system_answers import (
    AnsweringSystem,
    RepliedStatement,
    StatementsReply,
    SystemPassage,
    SystemQuestion,
    SystemTask,
    system_task,
)
from audit.pipeline.llm.calls import usage_record
from audit.pipeline.llm.prompts import Prompt
from audit.pipeline.llm.reply_models import read_reply
from audit.pipeline.llm.tasks import Replies
from audit.release.journal_files import Reply
from audit.release.sourced_answers import PackedEvidence, SourceCitation, SourcedAnswer, SourcedStatement
from audit.text.quotes import find_quote

NO_STATEMENTS = "no statements"
# Nearly every passage contains any quote of one or two words
MIN_QUOTE_WORDS = 3


def sourced_task(
    system: AnsweringSystem, prompt: Prompt, questions: Callable[[], Iterable[SystemQuestion]], context: int
) -> SystemTask:
    """The calls of a system that answers from several sources; a readable reply contains statements or a refusal."""
    task = system_task(system, prompt, questions, context)
    return replace(task, is_read=lambda _, reply: read_sourced_reply(reply).reason is None)


# -- replies -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SourcedReply:
    """A parsed reply: its statements, or the sentence with which it declines, or the reason why it could not be read."""

    statements: tuple[RepliedStatement, ...] = ()
    declined: str = ""
    reason: str | None = None


def read_sourced_reply(reply: Reply) -> SourcedReply:
    """Statements, a refusal, or why neither could be read; a statement without text is left out."""
    read, reason = read_reply(StatementsReply, reply).only(NO_STATEMENTS)
    if read is None or not (read.statements or read.declined):
        return SourcedReply(reason=reason or NO_STATEMENTS)
    return SourcedReply(tuple(read.statements), "" if read.statements else read.missing)


# -- quotes checked against the passages ---------------------------------------------------------------------------------


def checked_statement(replied: RepliedStatement, passages: Sequence[SourcePassage], reader: SourceReader) -> SourcedStatement:
    """The statement with the quotes that are in its passages; without any if they lack an amount or a negation that it states."""
    by_number = {one.passage.number: one for one in passages}
    citations = tuple(
        citation
        for one in replied.quotes
        if one.passage in by_number and (citation := _checked_citation(one.quote, by_number[one.passage], reader)) is not None
    )
    more = states_more(replied.text, " ".join(citation.stated for citation in citations))
    return SourcedStatement(replied.text, () if more else citations)


def _checked_citation(quote: str, source_passage: SourcePassage, reader: SourceReader) -> SourceCitation | None:
    passage = source_passage.passage
    section = reader.documents[source_passage.handbook_id].by_id.get(passage.section_id)
    if section is None:
        return None
    # The leads precede the passage in its section, and the prompt shows them with it
    ranges = [
        (passage.start, passage.end),
        *((start, start + len(lead)) for lead in passage.leads if (start := section.text.find(lead)) >= 0),
    ]
    for first, last in ranges:
        if len(quote.split()) >= MIN_QUOTE_WORDS and (span := find_quote(quote, section.text[first:last])):
            start, end = first + span[0], first + span[1]
            exact = section.text[start:end]
            return SourceCitation(
                passage.number,
                source_passage.source_id,
                source_passage.handbook_id,
                section.section_id,
                start,
                end,
                exact,
                " ".join(exact.split()),
            )
    return None


# -- answers -------------------------------------------------------------------------------------------------------------


def passages_in_prompt(passages: Sequence[SourcePassage]) -> tuple[SystemPassage, ...]:
    """The passages for a prompt, with the source in front of the title."""
    return tuple(
        SystemPassage(
            one.handbook_id, replace(one.passage, title=f"{one.source_id}: {one.passage.title}".rstrip(": ")), one.score
        )
        for one in passages
    )


def model_answers(
    task: SystemTask, replies: Replies, evidence: Mapping[str, PackedEvidence], reader: SourceReader
) -> Iterator[tuple[str, SourcedAnswer | None]]:
    """Pairs of question id and the answer from its reply (None without a reply).

    evidence  question id -> the evidence that its call was made from
    """
    for question, _, reply in task.results(replies):
        question_id, own = question.query.question_id, evidence[question.query.question_id]
        n_prompted = len(question.passages)
        yield question_id, answer_from_reply(reply, own, reader, task.model, n_prompted) if reply else None


def answer_from_reply(
    reply: Reply, evidence: PackedEvidence, reader: SourceReader, model: str, n_prompted: int | None = None
) -> SourcedAnswer:
    """The answer in a reply: its statements, checked.

    n_prompted  number of passages in the prompt, counted from the first; None: all
    """
    read, passages = read_sourced_reply(reply), reader.passages(evidence)[:n_prompted]
    duplicates = evidence.duplicates()
    checked = [checked_statement(replied, passages, reader) for replied in read.statements]
    statements = tuple(
        replace(one, citations=(*one.citations, *reader.same_elsewhere(one.citations, duplicates))) for one in checked
    )
    unsupported = sum(not one.citations for one in statements)
    note = f"Statements without a quote from the passages, or with an amount or negation that the quote lacks: {unsupported:,}."
    return SourcedAnswer(
        evidence.question, statements, evidence, (*evidence.notes, *([note] if unsupported else [])), reply.model or model,
        read.declined, read.reason, usage_record([reply]),
    )  # fmt: skip
