"""Positions on one question: what handbooks state, each position in one sentence, with the handbooks that hold it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pandas as pd

from audit.metrics import metric
from audit.metrics._disputes import Dispute, clashing_shares, disputes_on
from audit.metrics.position_groups import ANSWERS, REASONINGS, position_groups
from audit.queries.lookup import question_number
from audit.store.connection import Connection, rows
from audit.tables import Column, TableSpec
from audit.text.position_quotes import (
    AnswerGroup,
    QuotedPosition,
    most_typical,
    own_quantities,
    position_quotes,
    similarity,
    yes_or_no,
)
from audit.text.quantity import Quantity, find_quantities
from audit.text.tokens import stems

RULES = "rules"
# Words with a lower overlap with those of a disagreeing handbook, the question's own left out, are about something else
MIN_SIMILARITY = 0.15
POSITIONS_SQL = """
select q.text, p.divergence_topic, count(*) as pairs
from questions q
left join judged_pairs p on p.question = q.question and p.disagrees and p.divergence_topic is not null
where q.question = $question
group by all order by pairs desc, p.divergence_topic
"""
STORED = """
select number, aspect, statement, value, method::varchar, handbook_id, quote, lead, start, "end"
from positions join position_holders using (number) join handbooks using (handbook)
where question = $question order by number, position_holders.rowid
"""
TABLE = TableSpec(
    "Positions on one {question}",
    (
        Column.count("position", "Position"), Column.text("aspect", "About"), Column.text("statement", "Statement"),
        Column.text("value", "Value"), Column.count("size", "Held by", "{handbooks}"),
        Column.named("handbook_id", "{Handbook}"), Column.text("quote", "Its words"), Column.text("lead", "Above them"),
        Column.count("start", "From character"), Column.count("end", "To character"), Column.text("method", "Found by"),
    ),
    (
        "Taken from the release if it has any, else found by rules: which {handbooks} hold a position follows from the judge's "
        "labels of their answers, and the statement is a sentence of one of them, word for word.",
    ),
)  # fmt: skip


INTEGERS = {"position": "int64", "size": "int64", "start": "Int64", "end": "Int64"}
COLUMN_TYPES = {column.name: INTEGERS.get(column.name, "str") for column in TABLE.columns}


@dataclass(frozen=True)
class Holder:
    """A handbook that takes a position, and its own words: `answer[start:end]`.

    start, end  None where the release came without answers
    lead        the line that introduces the words in the answer, where they are an item of a list ("Avoid the following:"), or ""
    """

    handbook_id: str
    quote: str
    start: int | None
    end: int | None
    lead: str = ""


@dataclass(frozen=True)
class Position:
    """What one or more handbooks state on one aspect of a question.

    aspect     what the question's answers disagree about, in the judge's words; "" where it names nothing
    statement  the quote of the holder that best represents all of them
    value      the quantity, or Yes or No, that sets the position apart; None if there is none
    method     how it was found: "rules", "judge" or "release"
    """

    aspect: str
    statement: str
    value: str | None
    holders: tuple[Holder, ...]
    method: str = RULES


ScoredHolders = list[tuple[Holder, float]]


@metric(
    sql=POSITIONS_SQL,
    table=TABLE,
    glossary={
        "position on a question": "What one or more {handbooks} state on one aspect of a {question}: a sentence of one of them, "
        "a value where there is one, and the {handbooks} that hold it, each with its own words."
    },
)
def question_positions(con: Connection, question_id: str, groups: pd.DataFrame | None = None) -> pd.DataFrame:
    """The positions on one question, the most common first, one row per handbook that holds one.

    Which handbooks hold one position: those of one position group (`position_groups`). The words are the sentence of each answer
    that best shows the position: the one that clashes with another group's answer (audit.text.clashing), by the quantity that
    sets the group apart, words that its other answers use and those of other groups do not, the judge's reasoning on pairs that
    disagree, and the words of the question (audit.text.position_quotes).

        position   int, from 1
        aspect, statement, value, method  as in `Position`; value missing if there is none
        size       int, handbooks that hold it
        handbook_id, quote, lead, start, end  as in `Holder`; start and end count characters of the answer, from 0,
                   and are missing where the release came without answers

    A handbook whose answer is absent, unread or not asked for holds no position; a release without answers has none. Where
    handbooks disagree, one that disagrees with none of them holds a position only if its words are like theirs beyond the words
    of the question, or state an amount that theirs state: the others answer the question but not the disputed point.

    groups  of `position_groups` on this question, if already known
    Raises NotInRunError when the question is not in the run.
    """
    records = [
        {
            "position": number, "aspect": position.aspect, "statement": position.statement, "value": position.value,
            "size": len(position.holders), "handbook_id": holder.handbook_id, "quote": holder.quote, "lead": holder.lead,
            "start": holder.start, "end": holder.end, "method": position.method,
        }
        for number, position in enumerate(positions_of(con, question_id, groups), start=1)
        for holder in position.holders
    ]  # fmt: skip
    # Typed, so the tables of all questions have the same types, even those without rows
    return pd.DataFrame(records, columns=list(COLUMN_TYPES)).astype(COLUMN_TYPES)


def positions_in(frame: pd.DataFrame) -> tuple[Position, ...]:
    """The positions of a table of `question_positions`, as `positions_of` gives them."""
    plain = frame.astype(object).where(frame.notna(), None)
    held = groupby(plain.itertuples(index=False), lambda row: row.position)
    return tuple(_position(list(held_by)) for _, held_by in held)


def _position(held_by: list[Any]) -> Position:
    """A position from its rows, one per holder."""
    first, holders = held_by[0], (Holder(row.handbook_id, row.quote, row.start, row.end, row.lead) for row in held_by)
    return Position(first.aspect, first.statement, first.value, tuple(holders), first.method)


def positions_of(con: Connection, question_id: str, groups: pd.DataFrame | None = None) -> tuple[Position, ...]:
    """The positions on one question, the most common first: from the release if it has any, else found by rules.

    groups  of `position_groups` on this question, if already known

    Raises NotInRunError when the question is not in the run.
    """
    stored = rows(con, STORED, {"question": question_number(con, question_id)})
    return _stored_positions(stored) if stored else positions_by_rules_of(con, question_id, groups)


def positions_by_rules_of(con: Connection, question_id: str, groups: pd.DataFrame | None = None) -> tuple[Position, ...]:
    """Positions found by rules only, ignoring those of the release. Raises NotInRunError when the question is not in the run."""
    number = {"question": question_number(con, question_id)}
    question, aspect, _ = rows(con, POSITIONS_SQL, number)[0]
    reasonings = [reasoning for (reasoning,) in rows(con, REASONINGS, number)]
    grouped = position_groups(con, question_id) if groups is None else groups
    answering = grouped[(grouped["state"] == ANSWERS) & grouped["answer"].notna()]
    return positions_by_rules(question, answering, reasonings, aspect or "", disputes_on(con, number["question"]))


def _stored_positions(stored: list[tuple[Any, ...]]) -> tuple[Position, ...]:
    """Positions from rows of `STORED`."""
    positions: dict[int, Position] = {}
    for number, aspect, statement, value, method, handbook_id, quote, lead, start, end in stored:
        holder = Holder(handbook_id, quote, start, end, lead or "")
        before = positions[number].holders if number in positions else ()
        positions[number] = Position(aspect or "", statement, value, (*before, holder), method)
    return tuple(sorted(positions.values(), key=lambda position: -len(position.holders)))


def positions_by_rules(
    question: str, answering: pd.DataFrame, reasonings: list[str], aspect: str = "", disputes: Sequence[Dispute] = ()
) -> tuple[Position, ...]:
    """The positions of answers that are already grouped, the most common first.

    answering   handbook_id, center, answer, group, name and basis of each answer, as in the table of `position_groups`
    reasonings  the judge's reasons on disagreeing pairs
    disputes    these pairs, one by one
    """
    texts, numbers = (dict(zip(answering["handbook_id"], answering[name], strict=True)) for name in ("answer", "group"))
    clashing = clashing_shares(question, aspect, texts, numbers, disputes)
    parts = [part for _, part in answering.groupby("group")]
    groups = [_answer_group(part) for part in parts]
    marked = [[clashing[handbook_id] for handbook_id in part["handbook_id"]] for part in parts]
    quotes = position_quotes(question, groups, reasonings, aspect, [*answering["center"], *answering["handbook_id"]], marked)
    held = [list(_holders(part, group, quoted)) for part, group, quoted in zip(parts, groups, quotes, strict=True)]
    disputing = {handbook_id for one in disputes for handbook_id in (one.a, one.b)}
    held = _on_the_dispute(held, groups, disputing, frozenset(stems(question)))
    typical = [
        holders[most_typical([holder.quote for holder, _ in holders], [score for _, score in holders])][0] for holders in held
    ]
    values = _values(parts, groups, [holder.quote for holder in typical])
    positions = [
        Position(aspect, f"{best.lead} {best.quote}".strip(), value, tuple(holder for holder, _ in holders))
        for best, value, holders in zip(typical, values, held, strict=True)
    ]
    return tuple(sorted(positions, key=lambda position: -len(position.holders)))


def _on_the_dispute(
    held: list[ScoredHolders], groups: list[AnswerGroup], disputing: set[str], subject: frozenset[str]
) -> list[ScoredHolders]:
    """The holders, without those that disagree with nobody and whose words are not about the disputed point.

    subject  the stems of the question, which every answer may have whatever it is about
    """
    own = [[holder.quote for holder, _ in holders if holder.handbook_id in disputing] for holders in held]
    if len(held) < 2 or not all(own):
        return held
    return [
        [
            (holder, score)
            for holder, score in holders
            if holder.handbook_id in disputing or _says_the_like(holder.quote, quotes, group.quantity, subject)
        ]
        for holders, quotes, group in zip(held, own, groups, strict=True)
    ]


def _says_the_like(words: str, quotes: list[str], quantity: Quantity | None, subject: frozenset[str]) -> bool:
    # A group may share an amount that is not at issue: then no sentence that disputes states it
    if quantity is not None and _states(quantity, words) and any(_states(quantity, quote) for quote in quotes):
        return True
    telling = frozenset(stems(words)) - subject
    return max(similarity(telling, frozenset(stems(quote)) - subject) for quote in quotes) >= MIN_SIMILARITY


def _states(quantity: Quantity, text: str) -> bool:
    return any(map(quantity.agrees, find_quantities(text)))


def _values(parts: list[pd.DataFrame], groups: list[AnswerGroup], quotes: list[str]) -> list[str | None]:
    """The value of each position: that of its group if the statement has it, else one that sets the statement apart."""
    values: list[str | None] = []
    for part, group, quote, own in zip(parts, groups, quotes, own_quantities(quotes), strict=True):
        named = group.quantity is not None and _states(group.quantity, quote)
        values.append(part["name"].iloc[0] if named else own.text if own else yes_or_no(group.answers))
    return values


def _answer_group(part: pd.DataFrame) -> AnswerGroup:
    by_value = part["basis"].iloc[0] == "value"
    return AnswerGroup(tuple(part["answer"]), next(iter(find_quantities(part["name"].iloc[0])), None) if by_value else None)


def _holders(part: pd.DataFrame, group: AnswerGroup, quoted: list[QuotedPosition]) -> Iterator[tuple[Holder, float]]:
    for handbook_id, answer, quote in zip(part["handbook_id"], group.answers, quoted, strict=True):
        yield Holder(str(handbook_id), answer[quote.start : quote.end], quote.start, quote.end, quote.lead), quote.score
