"""Loading positions: what handbooks state on a question, with each quote located in the answer it is attributed to."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from audit.release.report import NOTED
from audit.release.validate_positions import position
from audit.store.connection import Connection, append, rows
from audit.store.record_reader import LoadState, RecordReader

COLUMNS = ("number", "question", "aspect", "statement", "value", "method")
HOLDER_COLUMNS = ("number", "handbook", "quote", "lead", "start", "end")
ANSWERS = "select handbook, answer from answers where question = $question and answer is not null"
Record = dict[str, Any]


def load_positions(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `positions` and `position_holders`, after the answers.

    A position is quarantined where it names an unknown question or handbook, names one handbook twice, or quotes words that are
    not in the answer. Without answers in the release quotes cannot be checked: that is noted, and they have no position in the
    text.
    """
    records = list(_usable(con, reader, state))
    if records:
        append(con, "positions", {name: [record[name] for record in records] for name in COLUMNS})
        holders = list(chain.from_iterable(record["holders"] for record in records))
        append(con, "position_holders", {name: [holder[name] for holder in holders] for name in HOLDER_COLUMNS})


def _usable(con: Connection, reader: RecordReader, state: LoadState) -> Iterator[Record]:
    number, unchecked = 0, False
    answers: tuple[int, dict[int, str]] = (-1, {})
    for path in reader.layout.parts["position"]:
        for line, location, raw, record in reader.records(path, "position", position):
            problem = state.resolve_ids(record, ("question",)) or _number_holders(record, state)
            if problem is None and state.has_answers and answers[0] != record["question"]:
                # Records of one question mostly follow each other
                answers = record["question"], dict(rows(con, ANSWERS, {"question": record["question"]}))
            if problem is None and state.has_answers:
                problem = _place_quotes(record, answers[1])
            if problem:
                reader.requarantine(line, location, *problem, raw)
                continue
            if not state.has_answers and not unchecked:
                unchecked = True
                message = (
                    "the release came without answers, so its quotes were not checked. They were loaded without positions in "
                    "the text."
                )
                reader.note(line, location, NOTED, "quotes_not_checked", message)
            number += 1
            yield {**record, "number": number, "holders": [{**holder, "number": number} for holder in record["holders"]]}


def _number_holders(record: Record, state: LoadState) -> tuple[str, str] | None:
    seen: set[int] = set()
    for holder in record["holders"]:
        if holder["handbook_id"] not in state.handbooks:
            return state.unknown_id("handbook", holder["handbook_id"])
        holder["handbook"], holder["end"] = state.handbooks[holder["handbook_id"]], None
        if holder["handbook"] in seen:
            return "duplicate_holder", f"handbook '{holder['handbook_id']}' is named twice among its holders."
        seen.add(holder["handbook"])
    return None


def _place_quotes(record: Record, answers: dict[int, str]) -> tuple[str, str] | None:
    """Put each quote's place into its holder; code and sentence for the first that is not in the answer."""
    for holder in record["holders"]:
        answer, quote, start = answers.get(holder["handbook"], ""), holder["quote"], holder["start"]
        stands = start is not None and start >= 0 and answer[start : start + len(quote)] == quote
        holder["start"] = start if stands else answer.find(quote)
        if holder["start"] < 0:
            what = "which has no answer" if not answer else "in whose answer they are not"
            return "quote_not_in_answer", f"it quotes words of handbook '{holder['handbook_id']}', {what}: '{quote[:60]}'."
        holder["end"] = holder["start"] + len(quote)
    return None
