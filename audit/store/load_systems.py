"""Loading answering systems, their answers and references, and the scores of the answers by judges, raters and metrics."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path
from typing import Any

from audit.evaluation.criteria import CRITERIA, REFERENCE
from audit.release import validate_systems
from audit.release.report import NOTED, WHOLE_FILE, FileCount
from audit.store.connection import Connection, append
from audit.store.record_reader import LoadState, RecordReader, append_records

SYSTEM_COLUMNS = ("system", "system_id", "name", "model", "mode", "retriever", "settings", "description")
USAGE_COLUMNS = ("input_tokens", "output_tokens", "latency_s")
ANSWER_COLUMNS = ("question", "system", "answer", "refused", "unread_reason", "evidence", "citations", *USAGE_COLUMNS)
SCORES = tuple(name.value for name in CRITERIA)
CRITERIA_COLUMNS = ("question", "system", "judge", *SCORES, "explanations", "parse", "unscored_reason", *USAGE_COLUMNS)
PREFERENCE_COLUMNS = ("question", "system_a", "system_b", "preference", "rater", "rater_kind", "shown_first", "comment")
MEASURE_COLUMNS = ("question", "system", "measure", "value")
TYPE_COLUMNS = ("question", "question_type", "gold_sections", "url")
QUESTION_SOURCE_COLUMNS = ("question", "source", "is_primary")

Record = dict[str, Any]
Problem = tuple[str, str]
"""Code and sentence of a record that cannot be loaded."""


def load_systems(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill the eight tables of answering systems, after questions and sources are loaded.

    Records with an unknown question or system, and duplicate records, are quarantined. Scores of answers that the
    release does not bring are loaded and counted in a note.
    """
    answered: set[Hashable] = set()
    append_records(con, "systems", SYSTEM_COLUMNS, _systems(reader, state))
    _load_references(con, reader, state, answered)
    for record_kind, table, columns, records in (
        ("system_answer", "system_answers", ANSWER_COLUMNS, _answers),
        ("criteria", "criteria", CRITERIA_COLUMNS, _criteria),
        ("preference", "preferences", PREFERENCE_COLUMNS, _preferences),
        ("measure", "system_measures", MEASURE_COLUMNS, _measures),
    ):
        seen: set[Hashable] = set()
        for path in reader.layout.parts[record_kind]:
            append_records(con, table, columns, records(reader, state, path, seen, answered))


def _usable(
    reader: RecordReader, path: Path, kind: str, problem: Callable[[Record], Problem | None]
) -> Iterator[tuple[FileCount, str, Record]]:
    """The records of a file without a problem; the others are quarantined."""
    for line, position, raw, record in reader.records(path, kind, getattr(validate_systems, kind)):
        if fault := problem(record):
            reader.requarantine(line, position, *fault, raw)
        else:
            yield line, position, record


def _duplicate_problem(seen: set[Hashable], key: Hashable, kind: str, words: str) -> Problem | None:
    """The problem of a record whose key occurred before."""
    if key in seen:
        return f"duplicate_{kind}", f"{words} occurs earlier; the first record was kept."
    seen.add(key)
    return None


def _systems(reader: RecordReader, state: LoadState) -> Iterator[Record]:
    def problem(record: Record) -> Problem | None:
        if record["system_id"] in state.systems:
            return "duplicate_system", f"system_id '{record['system_id']}' occurs earlier; the first record was kept."
        state.systems[record["system_id"]] = record["system"] = len(state.systems)
        return None

    for path in reader.layout.parts["system"]:
        yield from (record for _, _, record in _usable(reader, path, "system", problem))


def _load_references(con: Connection, reader: RecordReader, state: LoadState, answered: set[Hashable]) -> None:
    """Fill `reference_answers`, `question_types` and `question_sources`.

    Enters (question, None) in `answered` for each reference answer.
    """
    seen: set[Hashable] = set()

    def problem(record: Record) -> Problem | None:
        words = f"a reference of question '{record['question_id']}'"
        unknown = state.resolve_ids(record, ("question",)) or _unknown_source(record, state)
        return unknown or _duplicate_problem(seen, record["question"], "reference", words)

    records = [
        record for path in reader.layout.parts["reference"] for _, _, record in _usable(reader, path, "reference", problem)
    ]
    append_records(con, "question_types", TYPE_COLUMNS, iter(records))
    append_records(con, "question_sources", QUESTION_SOURCE_COLUMNS, _question_sources(records, state))
    answers = [(record["question"], index, text) for record in records for index, text in enumerate(record["answers"])]
    answered.update((question, None) for question, _, _ in answers)
    if answers:
        append(con, "reference_answers", dict(zip(("question", "place", "answer"), zip(*answers, strict=True), strict=True)))


def _unknown_source(record: Record, state: LoadState) -> Problem | None:
    named = (record["primary_source"], *record["required_sources"])
    return next((state.unknown_id("source", name) for name in named if name and name not in state.sources), None)


def _question_sources(records: Iterable[Record], state: LoadState) -> Iterator[Record]:
    """One row for each source that a question needs, each once, the primary one among them."""
    for record in records:
        primary = record["primary_source"]
        for name in dict.fromkeys((*([primary] if primary else []), *record["required_sources"])):
            yield {"question": record["question"], "source": state.sources[name], "is_primary": name == primary}


def _answers(
    reader: RecordReader, state: LoadState, path: Path, seen: set[Hashable], answered: set[Hashable]
) -> Iterator[Record]:
    def problem(record: Record) -> Problem | None:
        words = f"an answer of '{record['system_id']}' to question '{record['question_id']}'"
        unknown = state.resolve_ids(record, ("question", "system"))
        return unknown or _duplicate_problem(seen, (record["question"], record["system"]), "system_answer", words)

    for _, _, record in _usable(reader, path, "system_answer", problem):
        answered.add((record["question"], record["system"]))
        yield record


def _criteria(
    reader: RecordReader, state: LoadState, path: Path, seen: set[Hashable], answered: set[Hashable]
) -> Iterator[Record]:
    def problem(record: Record) -> Problem | None:
        words = f"a judgement of '{record['system_id']}' on question '{record['question_id']}' by the same judge"
        record["system"] = None
        kinds = ("question",) if record["system_id"] == REFERENCE else ("question", "system")
        key = record["question_id"], record["system_id"], record["judge"]
        return state.resolve_ids(record, kinds) or _duplicate_problem(seen, key, "criteria", words)

    file, incomplete, without_text = None, 0, 0
    for line, _, record in _usable(reader, path, "criteria", problem):
        file = line
        incomplete += any(record[name] is None for name in SCORES)
        without_text += (record["question"], record["system"]) not in answered
        yield record
    if file is not None:
        _note_count(reader, file, "incomplete_criteria", incomplete, "lack at least one of the eight scores")
        _note_count(reader, file, "criteria_without_answer", without_text, "are about an answer that is not in the release")


def _note_count(reader: RecordReader, line: FileCount, code: str, count: int, words: str) -> None:
    if count:
        reader.note(line, WHOLE_FILE, NOTED, code, f"{count:,} of {line.loaded:,} records {words}. They were loaded.")


def _preferences(reader: RecordReader, state: LoadState, path: Path, seen: set[Hashable], _: set[Hashable]) -> Iterator[Record]:
    def problem(record: Record) -> Problem | None:
        for side in ("system_a", "system_b"):
            if record[side] not in state.systems:
                return state.unknown_id("system", record[side])
            record[side] = state.systems[record[side]]
        if unknown := state.resolve_ids(record, ("question",)):
            return unknown
        # Raters without a name may be several people
        if record["rater"] is None:
            return None
        key = record["question"], frozenset((record["system_a"], record["system_b"])), record["rater"], record["rater_kind"]
        return _duplicate_problem(
            seen, key, "preference", f"a preference of '{record['rater']}' between these two systems on this question"
        )

    yield from (record for _, _, record in _usable(reader, path, "preference", problem))


def _measures(reader: RecordReader, state: LoadState, path: Path, seen: set[Hashable], _: set[Hashable]) -> Iterator[Record]:
    def problem(record: Record) -> Problem | None:
        words = f"'{record['measure']}' of '{record['system_id']}' on question '{record['question_id']}'"
        unknown = state.resolve_ids(record, ("question", "system"))
        return unknown or _duplicate_problem(seen, (record["question"], record["system"], record["measure"]), "measure", words)

    yield from (record for _, _, record in _usable(reader, path, "measure", problem))
