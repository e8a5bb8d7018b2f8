"""Loading planted changes and the judge's labels before and after them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audit.release.validate_planted import planted
from audit.store.connection import Connection
from audit.store.record_reader import LoadState, RecordReader, append_records

COLUMNS = (
    "item_id", "question", "handbook_a", "handbook_b", "kind", "variant", "ordered", "expected", "side", "before", "after",
    "start", "answer_a", "answer_b", "label_before", "label", "reasoning", "unscored_reason", "judge", "input_tokens",
    "output_tokens", "latency_s",
)  # fmt: skip
Record = dict[str, Any]


def load_planted(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `planted`, after handbooks and questions; unknown ids, and a second record of the same item and judge, are
    quarantined.
    """
    append_records(con, "planted", COLUMNS, _usable(reader, state))


def _usable(reader: RecordReader, state: LoadState) -> Iterator[Record]:
    seen: set[tuple[str, str | None]] = set()
    for path in reader.layout.parts["planted"]:
        for line, position, raw, record in reader.records(path, "planted", planted):
            if problem := _problem(record, state, seen):
                reader.requarantine(line, position, *problem, raw)
            else:
                yield record


def _problem(record: Record, state: LoadState, seen: set[tuple[str, str | None]]) -> tuple[str, str] | None:
    """Number the ids of a record; code and sentence for the first that is unknown, and for a second record of one thing."""
    if unknown := state.resolve_ids(record, ("question",)):
        return unknown
    for side in ("handbook_a", "handbook_b"):
        if record[side] not in state.handbooks:
            return state.unknown_id("handbook", record[side])
        record[side] = state.handbooks[record[side]]
    key = record["item_id"], record["judge"]
    if key in seen:
        return "duplicate_planted", f"item_id '{record['item_id']}' by the same judge occurs earlier; the first record was kept."
    seen.add(key)
    return None
