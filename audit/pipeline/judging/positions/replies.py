"""Parsing of replies on the statements of one answer, and on how those of all answers relate; nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from audit.pipeline.llm.calls import CUT
from audit.pipeline.llm.reply_text import clean_text, json_objects, unreadable_reason, without_thinking
from audit.release.journal_files import Reply
from audit.vocabulary import SIGNIFICANCES

FOR, AGAINST, OTHER = "for", "against", "other"
STANCES = (FOR, AGAINST, OTHER)
MAX_STATEMENTS, MAX_ASPECTS, MAX_POSITIONS, MAX_MEMBERS = 8, 40, 20, 400
MAX_ASPECT, MAX_STATEMENT, MAX_QUOTE, MAX_VALUE = 120, 400, 2_000, 80
DIGITS = re.compile(r"\d+")
NO_OBJECT, NO_LIST = "no JSON object", "no list"


def _text(limit: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": limit}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(properties), "additionalProperties": False}


NUMBERS = {"type": "array", "maxItems": MAX_MEMBERS, "items": {"type": "integer"}}
STANCE = {"type": "string", "enum": list(STANCES)}
VALUE = {"type": ["string", "null"], "maxLength": MAX_VALUE}
STATEMENTS_SCHEMA = _object({
    "statements": {
        "type": "array", "maxItems": MAX_STATEMENTS,
        "items": _object(
            {"aspect": _text(MAX_ASPECT), "quote": _text(MAX_QUOTE), "statement": _text(MAX_STATEMENT), "value": VALUE}
        ),
    }
})  # fmt: skip
MERGE_SCHEMA = _object({
    "aspects": {
        "type": "array", "maxItems": MAX_ASPECTS,
        "items": _object({
            "aspect": _text(MAX_ASPECT),
            "positions": {
                "type": "array", "maxItems": MAX_POSITIONS,
                "items": _object({"stance": STANCE, "members": NUMBERS}),
            },
            "significance": {"type": ["string", "null"], "enum": [*map(str, SIGNIFICANCES), None]},
        }),
    }
})  # fmt: skip


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
    listed, reason = _list_in(reply, "statements")
    if listed is None:
        return AnswerReading(reason=reason)
    every = [_statement(value, answer) for value in listed[:MAX_STATEMENTS] if isinstance(value, dict)]
    return AnswerReading(tuple(one for one in every if one), sum(one is None for one in every))


def read_merge(reply: Reply, count: int) -> MergeReading:
    """The aspects in a reply on `count` statements, which the prompt numbers from 1.

    A number that the list does not have, or that occurs earlier, is left out; what is left without a position is no aspect.
    """
    listed, reason = _list_in(reply, "aspects")
    if listed is None:
        return MergeReading(reason=reason)
    unused = set(range(count))
    aspects = [_aspect(value, unused) for value in listed[:MAX_ASPECTS] if isinstance(value, dict)]
    return MergeReading(tuple(aspect for aspect in aspects if aspect.positions))


def _list_in(reply: Reply, name: str) -> tuple[list[Any] | None, str | None]:
    """The list under `name` in the last object that has one; None and the reason if there is none."""
    if reason := unreadable_reason(reply):
        return None, reason
    objects = [match.value for match in json_objects(without_thinking(reply.text or ""))]
    lists = [value[name] for value in objects if isinstance(value.get(name), list)]
    if lists:
        return lists[-1], None
    return None, CUT if reply.outcome == CUT else NO_LIST if objects else NO_OBJECT


def _statement(value: Mapping[str, Any], answer: str) -> QuotedStatement | None:
    text = value.get("quote")
    words = text.strip().strip('"“”').split() if isinstance(text, str) else []
    # Models copy words well and line breaks badly
    match = re.search(r"\s+".join(map(re.escape, words)), answer) if words else None
    if match is None:
        return None
    quote, amount = match[0], clean_text(value.get("value"), MAX_VALUE)
    statement, aspect = (
        clean_text(value.get(name), limit) for name, limit in (("statement", MAX_STATEMENT), ("aspect", MAX_ASPECT))
    )
    # An amount that its own words do not have is the model's
    quoted_amount = amount if amount and set(DIGITS.findall(amount)) <= set(DIGITS.findall(quote)) else None
    return QuotedStatement(aspect or "", quote, match.start(), statement or quote, quoted_amount)


def _aspect(value: Mapping[str, Any], unused: set[int]) -> MergedAspect:
    listed = value.get("positions")
    positions = [_position(one, unused) for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    held = tuple(position for position in positions if position.members)
    significance = value.get("significance")
    return MergedAspect(
        clean_text(value.get("aspect"), MAX_ASPECT) or "",
        held,
        str(significance) if significance in SIGNIFICANCES and len(held) > 1 else None,
    )


def _position(value: Mapping[str, Any], unused: set[int]) -> MergedPosition:
    members = tuple(_taken(value.get("members"), unused))
    # An unreadable stance opposes nothing
    stance = str(value.get("stance")) if value.get("stance") in STANCES else OTHER
    return MergedPosition(members, stance)


def _taken(members: Any, unused: set[int]) -> Iterable[int]:
    for number in members if isinstance(members, list) else ():
        if isinstance(number, int) and not isinstance(number, bool) and number - 1 in unused:
            unused.remove(number - 1)
            yield number - 1
