"""Loading positions: what handbooks state on a question, with each quote located in the answer it is attributed to."""

from __future__ import annotations

from collections.abc import Iterator

from audit.release.rating_kinds import HOLDER, POSITION
from audit.release.record_kind import Record
from audit.release.report import NOTED
from audit.store.connection import Connection, rows
from audit.store.load_kind import entries, usable_records
from audit.store.record_reader import LoadState, Problem, RecordReader, append_records

ANSWERS = "select handbook, answer from answers where question = $question and answer is not null"
UNCHECKED = "the release came without answers, so its quotes were not checked. They were loaded without positions in the text."


def load_positions(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `positions` and `position_holders`, after the answers.

    A position is quarantined where it names an unknown question or handbook, names one handbook twice, or quotes words that are
    not in the answer. Without answers in the release quotes cannot be checked: that is noted, and they have no position in the
    text.
    """
    records = list(_usable(con, reader, state))
    append_records(con, POSITION, records)
    append_records(con, HOLDER, entries(records, "holders", "number"))


def _usable(con: Connection, reader: RecordReader, state: LoadState) -> Iterator[Record]:
    answers: tuple[int, dict[int, str]] = (-1, {})

    def problem(record: Record) -> Problem | None:
        nonlocal answers
        fault = _number_holders(record, state)
        if fault or not state.has_answers:
            return fault
        if answers[0] != record["question"]:
            # Records of one question mostly follow each other
            answers = record["question"], dict(rows(con, ANSWERS, {"question": record["question"]}))
        return _place_quotes(record, answers[1])

    for number, (line, location, record) in enumerate(usable_records(reader, state, POSITION, problem), 1):
        if number == 1 and not state.has_answers:
            reader.note(line, location, NOTED, "quotes_not_checked", UNCHECKED)
        yield record | {"number": number}


def _number_holders(record: Record, state: LoadState) -> Problem | None:
    seen: set[int] = set()
    for holder in record["holders"]:
        holder["end"] = None
        if unknown := state.resolve_ids(holder, HOLDER.id_fields):
            return unknown
        if holder["handbook"] in seen:
            return "duplicate_holder", f"handbook '{holder['handbook_id']}' is named twice among its holders."
        seen.add(holder["handbook"])
    return None


def _place_quotes(record: Record, answers: dict[int, str]) -> Problem | None:
    """Put each quote's place into its holder; the problem of the first that is not in the answer."""
    for holder in record["holders"]:
        answer, quote, start = answers.get(holder["handbook"], ""), holder["quote"], holder["start"]
        stands = start is not None and start >= 0 and answer[start : start + len(quote)] == quote
        holder["start"] = start if stands else answer.find(quote)
        if holder["start"] < 0:
            what = "which has no answer" if not answer else "in whose answer they are not"
            return "quote_not_in_answer", f"it quotes words of handbook '{holder['handbook_id']}', {what}: '{quote[:60]}'."
        holder["end"] = holder["start"] + len(quote)
    return None
