"""Loading reference answers, and the scores of answers of systems on the eight criteria."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from audit.evaluation.criteria import CRITERIA, REFERENCE
from audit.release.record_kind import Record
from audit.release.report import NOTED, WHOLE_FILE, FileCount
from audit.release.system_kinds import CRITERIA_SCORES, REFERENCE_RECORD
from audit.store.connection import Connection, append, rows
from audit.store.load_kind import Usable, usable_records
from audit.store.record_reader import LoadState, Problem, RecordReader, append_records

SCORES = tuple(name.value for name in CRITERIA)
ANSWERED = "select question, system from system_answers union all select question, null from reference_answers"


def load_references(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `reference_answers`, `question_types` and `question_sources`, after questions and sources."""

    def unknown_source(record: Record) -> Problem | None:
        named = (record["primary_source"], *record["required_sources"])
        return next((state.unknown_id("source", name) for name in named if name and name not in state.sources), None)

    records = [record for *_, record in usable_records(reader, state, REFERENCE_RECORD, unknown_source)]
    append_records(con, REFERENCE_RECORD, records)
    sources = list(_question_sources(records, state))
    answers = [(record["question"], index, text) for record in records for index, text in enumerate(record["answers"])]
    for table, columns, found in (
        ("question_sources", ("question", "source", "is_primary"), sources),
        ("reference_answers", ("question", "place", "answer"), answers),
    ):
        if found:
            append(con, table, dict(zip(columns, zip(*found, strict=True), strict=True)))


def _question_sources(records: Iterable[Record], state: LoadState) -> Iterator[tuple[int, int, bool]]:
    """One row for each source that a question needs, each once, the primary one among them."""
    for record in records:
        primary = record["primary_source"]
        for name in dict.fromkeys((*([primary] if primary else []), *record["required_sources"])):
            yield record["question"], state.sources[name], name == primary


def _judged(record: Record) -> Mapping[str, str]:
    """The ids of a judgement; that of the reference answer names no system."""
    record["system"] = None
    named = CRITERIA_SCORES.id_fields
    return {"question": named["question"]} if record["system_id"] == REFERENCE else named


def load_criteria(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `criteria`, after the answers and references. Scores of answers that the release does not bring are noted."""
    answered = set(rows(con, ANSWERED))
    usable = usable_records(reader, state, CRITERIA_SCORES, ids=_judged)
    append_records(con, CRITERIA_SCORES, _noted(reader, usable, answered))


def _noted(reader: RecordReader, usable: Iterator[Usable], answered: set[tuple[int, int | None]]) -> Iterator[Record]:
    """The scores; how many of a file lack a score, or an answer in the release, is noted."""
    for _, of_file in groupby(usable, lambda one: one[0].file):
        incomplete = without_answer = 0
        line: FileCount
        for line, _, record in of_file:  # noqa: B007 - the line of the file, used after the loop
            incomplete += any(record[name] is None for name in SCORES)
            without_answer += (record["question"], record["system"]) not in answered
            yield record
        for code, count, words in (
            ("incomplete_criteria", incomplete, "lack at least one of the eight scores"),
            ("criteria_without_answer", without_answer, "are about an answer that is not in the release"),
        ):
            if count:
                message = f"{count:,} of {line.loaded:,} records {words}. They were loaded."
                reader.note(line, WHOLE_FILE, NOTED, code, message)
