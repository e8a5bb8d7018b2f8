"""Loading stress tests: their instances with documents, and what systems replied."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from audit.release.record_kind import Record
from audit.release.report import REPAIRED
from audit.release.stress_kinds import (
    STRESS_CALL,
    STRESS_DOCUMENT,
    STRESS_INSTANCE,
    STRESS_REPLY,
    STRESS_SUB_ANSWER,
    UNKNOWN_OPTION,
)
from audit.store.connection import Connection
from audit.store.load_kind import Usable, entries, in_chunks, usable_records
from audit.store.record_reader import LoadState, RecordReader, append_records
from audit.vocabulary import STRESS_CALLS, StressTest


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
    for chunk in in_chunks(_instances(reader, state, instances)):
        append_records(con, STRESS_INSTANCE, chunk)
        append_records(con, STRESS_DOCUMENT, entries(chunk, "documents", "instance"))
    replies = (_checked(reader, usable, instances) for usable in usable_records(reader, state, STRESS_REPLY))
    for chunk in in_chunks(replies):
        append_records(con, STRESS_REPLY, chunk)
        append_records(con, STRESS_CALL, entries(chunk, "documents", "instance", "system"))
        append_records(con, STRESS_SUB_ANSWER, entries(chunk, "sub_answers", "instance", "system"))


def _instances(reader: RecordReader, state: LoadState, instances: dict[int, _Instance]) -> Iterator[Record]:
    for *_, record in usable_records(reader, state, STRESS_INSTANCE):
        places = {document["document_id"]: index for index, document in enumerate(record["documents"])}
        instances[record["instance"]] = _Instance(record["test"], frozenset(record["options"]), places)
        for document in record["documents"]:
            document["edit"] = _as_json(document["edit"])
        yield record | {"options": _as_json(record["options"])}


def _as_json(value: Record | None) -> str | None:
    return json.dumps(value, ensure_ascii=False) if value else None


def _checked(reader: RecordReader, usable: Usable, instances: dict[int, _Instance]) -> Record:
    """The reply without entries that its instance does not have; each dropped entry is noted."""
    line, position, record = usable
    instance = instances[record["instance"]]
    if record["choice"] and instance.letters and record["choice"] not in instance.letters:
        words = f"it chooses '{record['choice'][:80]}', but the options are {', '.join(sorted(instance.letters))}"
        reader.note(line, position, REPAIRED, "unknown_option", f"{words}. It was loaded as unreadable.")
        record |= {"choice": None, "insufficient": None, "unread_reason": UNKNOWN_OPTION}
    for name in ("documents", "sub_answers"):
        record[name] = list(_entries_of_documents(reader, usable, name, instance))
    return record


def _entries_of_documents(reader: RecordReader, usable: Usable, name: str, instance: _Instance) -> Iterator[Record]:
    """The entries about documents, with the place of each; one that cannot be about this instance is dropped with a sentence."""
    line, position, record = usable
    asked = STRESS_CALLS.get(StressTest(instance.test), ())
    for item in record[name]:
        index = instance.places.get(item["document_id"])
        if index is None:
            words = f"'{name}' names document '{item['document_id']}', which its instance does not have"
        elif name == "documents" and item["call"] not in asked:
            words = f"'{item['call']}' is not a call of the test {instance.test}"
        else:
            if name == "sub_answers" and item["read_from"] not in (None, *instance.places):
                words = f"an answer is said to be from document '{item['read_from']}', which its instance does not have"
                reader.note(line, position, REPAIRED, "unknown_document", f"{words}. It was loaded without that document.")
                yield item | {"place": index, "read_from": None}
                continue
            yield item | {"place": index}
            continue
        reader.note(line, position, REPAIRED, "entry_dropped", f"{words}. The reply was loaded without that entry.")
