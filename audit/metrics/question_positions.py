"""Positions on one question: what handbooks state, each position in one sentence, with the handbooks that hold it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from audit.metrics import metric
from audit.metrics._disputes import Dispute, disputes_on
from audit.metrics._held import Held, Sentence, read_positions
from audit.metrics.position_groups import ANSWERS, HowSure, doubted_groups
from audit.own_process import TooMuchError, within_limits
from audit.queries.lookup import question_number
from audit.store.connection import Connection, rows
from audit.tables import Column, TableSpec
from audit.text.clashing import Clash, ClashSentence
from audit.text.position_quotes import sentences_of
from audit.vocabulary import Label, PositionMethod

POSITIONS_SQL = """
select q.text, p.divergence_topic, count(*) as pairs
from questions q
left join judged_pairs p on p.question = q.question and p.disagrees and p.divergence_topic is not null
where q.question = $question
group by all order by pairs desc, p.divergence_topic
"""
STORED = """
select number, aspect, statement, value, method::varchar, handbook_id, quote, lead, start, "end", null
from positions join position_holders using (number) join handbooks using (handbook)
where question = $question order by number, position_holders.rowid
"""
STORED_COLUMNS = (
    "position", "aspect", "statement", "value", "method", "handbook_id", "quote", "lead", "start", "end", "at_least",
)  # fmt: skip
CONSISTENT = f"""
select a.handbook_id, b.handbook_id
from judged_pairs p join handbooks a on a.handbook = p.handbook_a join handbooks b on b.handbook = p.handbook_b
where question = $question and label = '{Label.CONSISTENT}' order by a.handbook, b.handbook
"""
COMPARED = """
select distinct unnest([a.handbook_id, b.handbook_id])
from judged_pairs p join handbooks a on a.handbook = p.handbook_a join handbooks b on b.handbook = p.handbook_b
where question = $question and present
"""
SOMETHING_ELSE = "says something else, or one of these positions in other words"
TABLE = TableSpec(
    "Positions on one {question}",
    (
        Column.count("position", "Position"), Column.text("aspect", "About"), Column.text("statement", "Statement"),
        Column.text("value", "Value"), Column.count("size", "Held by", "{handbooks}"),
        Column.count("at_least", "At least", "{handbooks}"),
        Column.named("handbook_id", "{Handbook}"), Column.text("quote", "Its words"), Column.text("lead", "Above them"),
        Column.count("start", "From character"), Column.count("end", "To character"), Column.text("method", "Found by"),
    ),
    (
        "Taken from the release if it has any, else from the judge's labels: they propose which {handbooks} agree; each holds a "
        "position only if a sentence of its own states it. The others that speak of it have no position number.",
        "At least: so many of them share one position, the judge's errors taken into account (the lower end of a 95 % credible "
        "interval, from the labels of all pairs; how often the judge errs is assumed).",
    ),
)  # fmt: skip


INTEGERS = {"position": "Int64", "size": "int64", "at_least": "Int64", "start": "Int64", "end": "Int64"}
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
    value      the quantity that all holders state and that sets the position apart ("6 months"); None if there is none
    method     how it was found: "labels", "judge" or "release"
    at_least   of the holders, those that share one position by the labels of all pairs: lower end of a 95 % credible interval
    """

    aspect: str
    statement: str
    value: str | None
    holders: tuple[Holder, ...]
    method: str = PositionMethod.LABELS
    at_least: int | None = None


@dataclass(frozen=True)
class ClearestPair:
    """The pair of handbooks that shows best what is disputed: the judge's sentences on it, and the words that clash.

    reasoning, topic  the judge's; "" where it gave none
    a, b              the handbooks, with "" as quote where no sentence of theirs clearly states what the judge says
    """

    reasoning: str
    topic: str
    a: Holder
    b: Holder


@dataclass(frozen=True)
class QuestionPositions:
    """Who says what on one question: what `positions_of` returns to every page, mark, export and command.

    positions  the most common first; none where the handbooks' own words state none that could be told apart
    others     handbooks that say something else on what is disputed, or one of these in other words, each with its best sentence
    certain    the clearest pair that disagrees; None where no pair does, or the positions come from the release
    unread     why the answers were not read, where they are too long
    """

    positions: tuple[Position, ...] = ()
    others: tuple[Holder, ...] = ()
    certain: ClearestPair | None = None
    unread: str = ""

    def quote_of(self, handbook_id: str) -> Holder | None:
        """The words of a handbook, by which it holds its first position or says something else; None where it has none."""
        everyone = (*(holder for position in self.positions for holder in position.holders), *self.others)
        return next((holder for holder in everyone if holder.handbook_id == handbook_id), None)


@metric(
    sql=POSITIONS_SQL,
    table=TABLE,
    glossary={
        "position on a question": "What one or more {handbooks} state on one aspect of a {question}: a sentence of one of them, "
        "a value where there is one, and the {handbooks} that hold it, each with its own words that state it."
    },
)
def question_positions(con: Connection, question_id: str) -> pd.DataFrame:
    """The positions on one question, the most common first, one row per handbook that holds one or says something else.

    The judge's labels propose which handbooks agree (`position_groups`). A handbook holds the position of its group if a sentence
    of its own states it: the sentence that has the amount or the words which the judge says of it on a pair that disagrees
    (audit.text.clashing); the amount that most of the group's sentences state and the others do not; or, where there is no
    such amount, nearly the words of such a sentence. One that does not, and speaks of the disputed aspect, says something else.
    Where fewer than two positions are stated in the handbooks' own words, there is none.
    Where no pair disagrees, only handbooks whose answers the judge calls consistent share a position.

        position   int, from 1; missing for a handbook that says something else
        aspect, statement, value, method  as in `Position`; value missing if there is none
        size       int, handbooks that hold it; at_least as in `Position`
        handbook_id, quote, lead, start, end  as in `Holder`; start and end count characters of the answer, from 0,
                   and are missing where the release came without answers

    A handbook whose answer is absent, unread or not asked for holds no position; a release without answers has none.
    Raises NotInRunError when the question is not in the run.
    """
    found = positions_of(con, question_id)
    records = [
        _row(holder, position, number) for number, position in enumerate(found.positions, 1) for holder in position.holders
    ] + [_row(holder, _alone(holder, found), None) for holder in found.others]
    # Typed, so the tables of all questions have the same types, even those without rows
    return pd.DataFrame(records, columns=list(COLUMN_TYPES)).astype(COLUMN_TYPES)


def _row(holder: Holder, position: Position, number: int | None) -> dict[str, object]:
    return {
        "position": number, "aspect": position.aspect, "statement": position.statement if number else SOMETHING_ELSE,
        "value": position.value, "size": len(position.holders), "at_least": position.at_least,
        "handbook_id": holder.handbook_id, "quote": holder.quote,
        "lead": holder.lead, "start": holder.start, "end": holder.end, "method": position.method,
    }  # fmt: skip


def _alone(holder: Holder, found: QuestionPositions) -> Position:
    return Position(found.positions[0].aspect if found.positions else "", words_of(holder), None, (holder,))


def words_of(holder: Holder) -> str:
    """The words of a holder with the line above them."""
    return f"{holder.lead} {holder.quote}".strip()


def positions_of(con: Connection, question_id: str) -> QuestionPositions:
    """Who says what on one question: the positions of the release if it has any, else those that follow from its labels.

    Raises NotInRunError when the question is not in the run.
    """
    stored = rows(con, STORED, {"question": question_number(con, question_id)})
    if not stored:
        return positions_from_labels(con, question_id)
    doubt = doubted_groups(con, question_id)[1]
    return QuestionPositions(tuple(_doubted(position, doubt) for position in _stored_positions(stored)))


def positions_from_labels(con: Connection, question_id: str) -> QuestionPositions:
    """Positions from labels only, ignoring those of the release. Raises NotInRunError when the question is not in the run."""
    number = {"question": question_number(con, question_id)}
    question, aspect, _ = rows(con, POSITIONS_SQL, number)[0]
    grouped, doubt = doubted_groups(con, question_id)
    # Whose every pair is judged ABSENT does not speak of it, whatever its text is like
    compared = [handbook_id for (handbook_id,) in rows(con, COMPARED, number)]
    answering = grouped[(grouped["state"] == ANSWERS) & grouped["answer"].notna() & grouped["handbook_id"].isin(compared)]
    answers, groups = (dict(zip(answering["handbook_id"], answering[name], strict=True)) for name in ("answer", "group"))
    consistent = [frozenset(pair) for pair in rows(con, CONSISTENT, number)]
    disputes = disputes_on(con, number["question"])
    try:
        read = within_limits(read_positions, question, aspect or "", answers, groups, disputes, consistent)
    except TooMuchError as error:
        return QuestionPositions(unread=str(error))
    return QuestionPositions(
        tuple(_doubted(_position(held, aspect or ""), doubt) for held in read.held),
        tuple(map(_holder, read.others)),
        _clearest(read.clearest, answers),
    )


def _position(held: Held, aspect: str) -> Position:
    holders = tuple(map(_holder, held.sentences))
    return Position(aspect, words_of(holders[0]), held.value, holders)


def _doubted(position: Position, doubt: HowSure) -> Position:
    return replace(position, at_least=doubt.at_least({holder.handbook_id for holder in position.holders}))


def _holder(sentence: Sentence) -> Holder:
    said = sentence.statement
    return Holder(sentence.handbook_id, said.text, said.start, said.end, " ".join(said.leads))


def _clearest(pair: tuple[Dispute, Clash] | None, answers: dict[str, str]) -> ClearestPair | None:
    if pair is None:
        return None
    dispute, clash = pair
    a, b = (_clashing(one, answers[one], said) for one, said in zip((dispute.a, dispute.b), clash, strict=True))
    return ClearestPair(dispute.reasoning, dispute.topic, a, b)


def _clashing(handbook_id: str, answer: str, found: ClashSentence) -> Holder:
    if not found.stated:
        return Holder(handbook_id, "", None, None)
    lead = next((" ".join(one.leads) for one in sentences_of(answer) if one.start == found.start), "")
    return Holder(handbook_id, answer[found.start : found.end], found.start, found.end, lead)


def positions_in(table: pd.DataFrame) -> QuestionPositions:
    """What a table of `question_positions` says; the clearest pair is not in it."""
    known = table.astype(object).where(table.notna(), None)
    held, others = known[table["position"].notna()], known[table["position"].isna()]
    return QuestionPositions(
        _stored_positions(list(held[list(STORED_COLUMNS)].itertuples(index=False, name=None))),
        tuple(
            Holder(*row) for row in others[["handbook_id", "quote", "start", "end", "lead"]].itertuples(index=False, name=None)
        ),
    )


def _stored_positions(stored: list[tuple[Any, ...]]) -> tuple[Position, ...]:
    """Positions from rows of `STORED`."""
    positions: dict[int, Position] = {}
    for number, aspect, statement, value, method, handbook_id, quote, lead, start, end, at_least in stored:
        holder = Holder(handbook_id, quote, start, end, lead or "")
        before = positions[number].holders if number in positions else ()
        positions[number] = Position(aspect or "", statement, value, (*before, holder), method, at_least)
    return tuple(sorted(positions.values(), key=lambda position: -len(position.holders)))
