"""Loading stress tests: their instances with documents, and what systems replied."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from audit.release import validate_stress
from audit.release.report import REPAIRED, FileCount
from audit.release.validate_stress import UNKNOWN_OPTION
from audit.store.connection import Connection
from audit.store.record_reader import LoadState, RecordReader, append_records
from audit.vocabulary import STRESS_CALLS, StressTest

INSTANCE_COLUMNS = (
    "instance", "instance_id", "test", "question", "options", "gold", "signal_share", "size", "dataset", "seed",
)  # fmt: skip
DOCUMENT_COLUMNS = (
    "instance", "place", "document_id", "text", "is_signal", "is_factual", "edited_from", "edit", "sub_question", "sub_answer",
    "false_answer",
)  # fmt: skip
REPLY_COLUMNS = (
    "instance", "system", "reasoning", "choice", "insufficient", "score", "unread_reason", "input_tokens", "output_tokens",
    "latency_s",
)  # fmt: skip
CALL_COLUMNS = ("instance", "system", "place", "call")
SUB_ANSWER_COLUMNS = ("instance", "system", "place", "answer", "score")
CHUNK_RECORDS = 2_000
"""Records in memory at once: each may have many documents."""

Record = dict[str, Any]
Problem = tuple[str, str]
Entry = tuple[FileCount, str, Record]
"""Line of the report, position in the file, record."""


@dataclass(frozen=True)
class _Instance:
    """The facts against which a reply is checked: the test, the letters of the options, and the place of each document."""

    test: str
    letters: frozenset[str]
    places: dict[str, int]


def load_stress(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill the five tables of stress tests; after questions and systems are loaded.

    Records with an unknown question, system or instance, and duplicate records, are quarantined. A reply whose choice
    is not an option is loaded as unreadable; calls and sub-answers about documents that its instance lacks are dropped.
    """
    instances: dict[int, _Instance] = {}
    records = _usable(reader, "stress_instance", lambda record: _register(record, state, instances))
    while chunk := [record for _, _, record in islice(records, CHUNK_RECORDS)]:
        append_records(con, "stress_instances", INSTANCE_COLUMNS, iter(chunk))
        append_records(con, "stress_documents", DOCUMENT_COLUMNS, _documents(chunk))
    seen: set[tuple[int, int]] = set()
    replies = _usable(reader, "stress_reply", lambda record: _reply_problem(record, state, seen))
    while batch := [_checked(reader, entry, instances) for entry in islice(replies, CHUNK_RECORDS)]:
        append_records(con, "stress_replies", REPLY_COLUMNS, iter(batch))
        append_records(con, "stress_calls", CALL_COLUMNS, _entries(batch, "documents"))
        append_records(con, "stress_sub_answers", SUB_ANSWER_COLUMNS, _entries(batch, "sub_answers"))


def _usable(reader: RecordReader, kind: str, problem: Callable[[Record], Problem | None]) -> Iterator[Entry]:
    """The records of all files of a kind without a problem; the others are quarantined."""
    for path in reader.layout.parts[kind]:
        for line, position, raw, record in reader.records(path, kind, getattr(validate_stress, kind)):
            if fault := problem(record):
                reader.requarantine(line, position, *fault, raw)
            else:
                yield line, position, record


def _register(record: Record, state: LoadState, instances: dict[int, _Instance]) -> Problem | None:
    """Number an instance, or state why that is not possible."""
    if record["instance_id"] in state.instances:
        return "duplicate_instance", f"instance_id '{record['instance_id']}' occurs earlier; the first record was kept."
    if unknown := state.resolve_ids(record, ("question",)):
        return unknown
    record["instance"] = number = state.instances[record["instance_id"]] = len(state.instances)
    places = {document["document_id"]: index for index, document in enumerate(record["documents"])}
    instances[number] = _Instance(record["test"], frozenset(record["options"]), places)
    record["options"] = json.dumps(record["options"], ensure_ascii=False) if record["options"] else None
    return None


def _documents(records: list[Record]) -> Iterator[Record]:
    for record in records:
        for index, document in enumerate(record["documents"]):
            edit = json.dumps(document["edit"], ensure_ascii=False) if document["edit"] else None
            yield document | {"instance": record["instance"], "place": index, "edit": edit}


def _reply_problem(record: Record, state: LoadState, seen: set[tuple[int, int]]) -> Problem | None:
    if unknown := state.resolve_ids(record, ("instance", "system")):
        return unknown
    key = record["instance"], record["system"]
    if key in seen:
        words = f"a reply of '{record['system_id']}' to instance '{record['instance_id']}' occurs earlier"
        return "duplicate_stress_reply", f"{words}; the first record was kept."
    seen.add(key)
    return None


def _checked(reader: RecordReader, entry: Entry, instances: dict[int, _Instance]) -> Record:
    """The reply without entries that its instance does not have; each dropped entry is noted."""
    line, position, record = entry
    instance = instances[record["instance"]]
    if record["choice"] and instance.letters and record["choice"] not in instance.letters:
        words = f"it chooses '{record['choice'][:80]}', but the options are {', '.join(sorted(instance.letters))}"
        reader.note(line, position, REPAIRED, "unknown_option", f"{words}. It was loaded as unreadable.")
        record |= {"choice": None, "insufficient": None, "unread_reason": UNKNOWN_OPTION}
    for name in ("documents", "sub_answers"):
        record[name] = list(_entries_of_documents(reader, entry, name, instance))
    return record


def _entries_of_documents(reader: RecordReader, entry: Entry, name: str, instance: _Instance) -> Iterator[Record]:
    """The entries about documents, with the place of each; one that cannot be about this instance is dropped with a sentence."""
    line, position, record = entry
    asked = STRESS_CALLS.get(StressTest(instance.test), ())
    for item in record[name]:
        index = instance.places.get(item["document_id"])
        if index is None:
            words = f"'{name}' names document '{item['document_id']}', which its instance does not have"
        elif name == "documents" and item["call"] not in asked:
            words = f"'{item['call']}' is not a call of the test {instance.test}"
        else:
            yield item | {"place": index}
            continue
        reader.note(line, position, REPAIRED, "entry_dropped", f"{words}. The reply was loaded without that entry.")


def _entries(records: list[Record], name: str) -> Iterator[Record]:
    return (entry | {key: record[key] for key in ("instance", "system")} for record in records for entry in record[name])
