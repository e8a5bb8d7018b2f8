"""Loading disagreements within handbooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from audit.release.pair_kinds import INCONSISTENCY, PLACE
from audit.release.record_kind import Record
from audit.release.report import NOTED
from audit.store.connection import Connection
from audit.store.load_kind import entries, usable_records
from audit.store.record_reader import LoadState, RecordReader, append_records


def load_inconsistencies(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `inconsistencies` and `inconsistency_places`; after handbooks, questions and sections."""
    records = list(_usable(reader, state))
    append_records(con, INCONSISTENCY, records)
    append_records(con, PLACE, entries(records, "places", "number"))


def _named(record: Record) -> Mapping[str, str]:
    # Most are found without a question
    record["question"] = None
    named = INCONSISTENCY.id_fields
    return named if record["question_id"] else {"handbook": named["handbook"]}


def _usable(reader: RecordReader, state: LoadState) -> Iterator[Record]:
    usable = usable_records(reader, state, INCONSISTENCY, ids=_named)
    for number, (line, position, record) in enumerate(usable, 1):
        outside = [entry for entry in record["places"] if not _is_inside(entry, record["handbook"], state)]
        if outside:
            message = f"{len(outside)} of its places are not in sections. It was loaded; for these places only the text is shown."
            reader.note(line, position, NOTED, "place_outside", message)
        yield record | {"number": number}


def _is_inside(entry: dict[str, Any], handbook: int, state: LoadState) -> bool:
    """Whether a place is one of the release's texts; a release without texts cannot be checked."""
    if not state.sections or entry["section_id"] is None:
        return True
    length = state.sections.get((handbook, entry["section_id"]))
    start, end = entry["start"] or 0, entry["end"] if entry["end"] is not None else entry["start"] or 0
    return length is not None and 0 <= start <= end <= length
