"""Loading the records of one kind: ids become row numbers; unknown ids and second records are quarantined."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice

from audit.release.record_kind import Record, RecordKind
from audit.release.report import FileCount
from audit.store.connection import Connection
from audit.store.record_reader import LoadState, Problem, RecordReader, append_records

Usable = tuple[FileCount, str, Record]
"""Line of the report, position in the file, record."""
CHUNK_RECORDS = 1_000
"""Records in memory at once of a kind with lists: each may have a hundred entries."""


def load_kind(con: Connection, reader: RecordReader, state: LoadState, kind: RecordKind) -> None:
    """Append every usable record of a kind to its table."""
    append_records(con, kind, (record for *_, record in usable_records(reader, state, kind)))


def usable_records(
    reader: RecordReader,
    state: LoadState,
    kind: RecordKind,
    problem: Callable[[Record], Problem | None] = lambda _: None,
    ids: Callable[[Record], Mapping[str, str]] | None = None,
    take: Callable[[set[Hashable], list[bytes]], bool] | None = None,
) -> Iterator[Usable]:
    """The records of a kind that can be loaded, with row numbers in place of ids; the others are quarantined.

    problem  further reasons against a record
    ids      the ids that a record names, where that depends on the record
    take     loads lines of a file at once, given the keys of earlier records; False: they are to be read by record
    """
    seen: set[Hashable] = set()
    for path in reader.layout.parts[kind.name]:
        for line, position, raw, record in reader.records(path, kind, take and partial(take, seen)):
            fault = (
                _numbered_before(record, state, kind)
                or state.resolve_ids(record, ids(record) if ids else kind.id_fields)
                or problem(record)
                or _seen_before(record, seen, kind)
            )
            if fault:
                reader.requarantine(line, position, *fault, raw)
                continue
            if kind.numbers:
                numbers = state.numbers(kind.numbers)
                record[kind.numbers] = numbers[record[f"{kind.numbers}_id"]] = len(numbers)
            yield line, position, record


def _numbered_before(record: Record, state: LoadState, kind: RecordKind) -> Problem | None:
    if kind.numbers and record[f"{kind.numbers}_id"] in state.numbers(kind.numbers):
        return f"duplicate_{kind.numbers}", kind.same.format(**record)
    return None


def _seen_before(record: Record, seen: set[Hashable], kind: RecordKind) -> Problem | None:
    key = kind.key_of(record)
    if key is None:
        return None
    if key in seen:
        return f"duplicate_{kind.name}", kind.same.format(**record)
    seen.add(key)
    return None


def in_chunks(records: Iterable[Record]) -> Iterator[list[Record]]:
    """The records, some at a time."""
    left = iter(records)
    while chunk := list(islice(left, CHUNK_RECORDS)):
        yield chunk


def entries(records: Iterable[Record], name: str, *keys: str) -> Iterator[Record]:
    """The entries of a list of each record, each with its place in the list and the `keys` of its record."""
    for record in records:
        for place, entry in enumerate(record[name]):
            yield {"place": place, **entry, **{key: record[key] for key in keys}}
