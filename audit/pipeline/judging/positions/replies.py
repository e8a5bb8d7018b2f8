"""Parsing of replies on the statements of one answer, and on how those of all answers relate; nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from audit.pipeline.llm.calls import CUT
from audit.pipeline.llm.reply_models import M, ReplyModel, ReplyReading, cleaned, entries_of, faulty, read_reply
from audit.pipeline.llm.reply_text import clean_text
from audit.release.journal_files import Reply
from audit.text.quotes import find_quote
from audit.vocabulary import SIGNIFICANCES, Significance

FOR, AGAINST, OTHER = "for", "against", "other"
STANCES = (FOR, AGAINST, OTHER)
MAX_STATEMENTS, MAX_ASPECTS, MAX_POSITIONS, MAX_MEMBERS = 8, 40, 20, 400
MAX_ASPECT, MAX_STATEMENT, MAX_QUOTE, MAX_VALUE = 120, 400, 2_000, 80
DIGITS = re.compile(r"\d+")
NO_OBJECT, NO_LIST = "no JSON object", "no list"


def _whole_numbers(values: Any) -> list[int]:
    return [one for one in values if isinstance(one, int) and not isinstance(one, bool)] if isinstance(values, list) else []


class StatementEntry(ReplyModel):
    """A statement of an answer as the model wrote it, with the words that it rests on."""

    aspect: Annotated[str, Field(max_length=MAX_ASPECT), cleaned(MAX_ASPECT)]
    quote: Annotated[str, Field(max_length=MAX_QUOTE), faulty(lambda value: value if isinstance(value, str) else "")]
    statement: Annotated[str, Field(max_length=MAX_STATEMENT), cleaned(MAX_STATEMENT)]
    value: Annotated[Annotated[str, Field(max_length=MAX_VALUE)] | None, faulty(lambda value: clean_text(value, MAX_VALUE))]


class AnswerStatements(ReplyModel):
    """The statements of one answer."""

    keys, key_type = ("statements",), list
    statements: Annotated[list[StatementEntry], Field(max_length=MAX_STATEMENTS), entries_of(StatementEntry, MAX_STATEMENTS)]


class PositionEntry(ReplyModel):
    """A position, and the numbers of the statements that take it, from 1; an unreadable stance opposes nothing."""

    stance: Annotated[Literal["for", "against", "other"], faulty(lambda value: value if value in STANCES else OTHER)]
    members: Annotated[list[int], Field(max_length=MAX_MEMBERS), faulty(_whole_numbers)]


class AspectEntry(ReplyModel):
    """An aspect of a question, its positions, and what it matters to follow one instead of another."""

    aspect: Annotated[str, Field(max_length=MAX_ASPECT), cleaned(MAX_ASPECT)]
    positions: Annotated[list[PositionEntry], Field(max_length=MAX_POSITIONS), entries_of(PositionEntry)]
    significance: Annotated[Significance | None, faulty(lambda value: Significance(value) if value in SIGNIFICANCES else None)]


class MergeReply(ReplyModel):
    """How the statements of all answers relate."""

    keys, key_type = ("aspects",), list
    aspects: Annotated[list[AspectEntry], Field(max_length=MAX_ASPECTS), entries_of(AspectEntry, MAX_ASPECTS)]


STATEMENTS_SCHEMA, MERGE_SCHEMA = AnswerStatements.schema_to_send(), MergeReply.schema_to_send()


@dataclass(frozen=True)
class QuotedStatement:
    """A statement of one answer, and the words that it rests on: `answer[start:start + len(quote)]`."""

    aspect: str
    quote: str
    start: int
    statement: str
    value: str | None


@dataclass(frozen=True)
class AnswerReading:
    """The statements read from one answer; `reason`: why nothing could be read. `invented`: how many quotes are not in the
    answer.
    """

    statements: tuple[QuotedStatement, ...] = ()
    invented: int = 0
    reason: str | None = None


@dataclass(frozen=True)
class MergedPosition:
    """A position, and the numbers of the statements that take it, from 0; `stance`: for, against or other."""

    members: tuple[int, ...]
    stance: str = OTHER


@dataclass(frozen=True)
class MergedAspect:
    """An aspect of a question, its positions, and what it matters to follow one instead of another."""

    aspect: str
    positions: tuple[MergedPosition, ...]
    significance: str | None


@dataclass(frozen=True)
class MergeReading:
    """The aspects of a question; `reason`: why they could not be read."""

    aspects: tuple[MergedAspect, ...] = ()
    reason: str | None = None


def read_statements(reply: Reply, answer: str) -> AnswerReading:
    """The statements in a reply on `answer`. Those whose quote is not in the answer are left out and counted."""
    last, reason = _last(read_reply(AnswerStatements, reply))
    if last is None:
        return AnswerReading(reason=reason)
    every = [_statement(entry, answer) for entry in last.statements]
    return AnswerReading(tuple(one for one in every if one), sum(one is None for one in every))


def read_merge(reply: Reply, count: int) -> MergeReading:
    """The aspects in a reply on `count` statements, which the prompt numbers from 1.

    A number that the list does not have, or that occurs earlier, is left out; an aspect left without a position is dropped.
    """
    last, reason = _last(read_reply(MergeReply, reply))
    if last is None:
        return MergeReading(reason=reason)
    unused = set(range(count))
    aspects = [_aspect(entry, unused) for entry in last.aspects]
    return MergeReading(tuple(aspect for aspect in aspects if aspect.positions))


def _last(reading: ReplyReading[M]) -> tuple[M | None, str | None]:
    """The last object that has the list; None and the reason if there is none."""
    if reading.values:
        return reading.values[-1], None
    return None, reading.reason or (CUT if reading.cut else NO_LIST if reading.objects else NO_OBJECT)


def _statement(entry: StatementEntry, answer: str) -> QuotedStatement | None:
    span = find_quote(entry.quote, answer)
    if span is None:
        return None
    quote, amount = answer[slice(*span)], entry.value
    # An amount that its own words do not have is the model's
    quoted_amount = amount if amount and set(DIGITS.findall(amount)) <= set(DIGITS.findall(quote)) else None
    return QuotedStatement(entry.aspect, quote, span[0], entry.statement or quote, quoted_amount)


def _aspect(entry: AspectEntry, unused: set[int]) -> MergedAspect:
    positions = [MergedPosition(tuple(_taken(one.members, unused)), one.stance) for one in entry.positions]
    held = tuple(position for position in positions if position.members)
    significance = str(entry.significance) if entry.significance and len(held) > 1 else None
    return MergedAspect(entry.aspect, held, significance)


def _taken(members: Iterable[int], unused: set[int]) -> Iterator[int]:
    for number in members:
        if number - 1 in unused:
            unused.remove(number - 1)
            yield number - 1
