"""Loading sources, and how systems routed questions to them and what evidence they gathered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from audit.release import validate_routes
from audit.store.connection import Connection, append
from audit.store.record_reader import LoadState, RecordReader, append_records

SOURCE_COLUMNS = ("source", "source_id", "authority", "description")
ROUTE_COLUMNS = (
    "question", "system", "source", "rank", "authority", "probed", *validate_routes.FEATURES, "score", "share", "budget",
)  # fmt: skip
EVIDENCE_COLUMNS = (
    "question", "system", "rank", "source", "handbook", "section_id", "start", "end", *validate_routes.SCORES, "bridged", "text",
)  # fmt: skip
TRACE_COLUMNS = ("question", "system", "trace")

CHUNK_RECORDS = 500
"""Questions in memory at once: each may have a hundred sources."""

Record = dict[str, Any]
Problem = tuple[str, str]


def load_sources(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `sources` and `source_handbooks`, number the sources in release order and fill `state.source_of`.

    After the handbooks are loaded. A source with an unknown handbook, or with one of another source, is quarantined.
    """
    append_records(con, "sources", SOURCE_COLUMNS, _usable(reader, "source", lambda record: _register_source(record, state)))
    if state.source_of:
        handbooks, sources = zip(*state.source_of.items(), strict=True)
        append(con, "source_handbooks", {"source": sources, "handbook": handbooks})


def load_routes(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `routes`, `routed_evidence` and `route_traces`; after questions, sections, sources and systems are loaded."""
    seen: set[tuple[int, int]] = set()
    records = _usable(reader, "route", lambda record: _route_problem(record, state, seen))
    while chunk := list(islice(records, CHUNK_RECORDS)):
        state.has_routes = True
        append_records(con, "routes", ROUTE_COLUMNS, _entries(chunk, "routes"))
        append_records(con, "routed_evidence", EVIDENCE_COLUMNS, _entries(chunk, "evidence"))
        append_records(con, "route_traces", TRACE_COLUMNS, iter(chunk))


def _usable(reader: RecordReader, kind: str, problem: Callable[[Record], Problem | None]) -> Iterator[Record]:
    """The records of all files of a kind without a problem; the others are quarantined."""
    for path in reader.layout.parts[kind]:
        for line, position, raw, record in reader.records(path, kind, getattr(validate_routes, kind)):
            if fault := problem(record):
                reader.requarantine(line, position, *fault, raw)
            else:
                yield record


def _register_source(record: Record, state: LoadState) -> Problem | None:
    """Number a source and its handbooks, or state why that is not possible."""
    if record["source_id"] in state.sources:
        return "duplicate_source", f"source_id '{record['source_id']}' occurs earlier; the first record was kept."
    unknown = [handbook_id for handbook_id in record["handbook_ids"] if handbook_id not in state.handbooks]
    if unknown:
        return state.unknown_id("handbook", unknown[0])
    names = list(state.sources)
    for handbook_id in record["handbook_ids"]:
        if (other := state.source_of.get(state.handbooks[handbook_id])) is not None:
            message = f"handbook '{handbook_id}' is in source '{names[other]}' already, but may be in one source only."
            return "handbook_in_two_sources", message
    record["source"] = state.sources[record["source_id"]] = len(state.sources)
    state.source_of.update((state.handbooks[handbook_id], record["source"]) for handbook_id in record["handbook_ids"])
    return None


def _route_problem(record: Record, state: LoadState, seen: set[tuple[int, int]]) -> Problem | None:
    """Number the ids of a routing; code and sentence for the first that is unknown, and for a second routing."""
    if unknown := state.resolve_ids(record, ("question", "system")):
        return unknown
    problems = (
        *(state.resolve_ids(one, ("source",)) for one in record["routes"]),
        *(_passage_problem(passage, state) for passage in record["evidence"]),
    )
    if problem := next(filter(None, problems), None):
        return problem
    key = record["question"], record["system"]
    if key in seen:
        words = f"a routing of question '{record['question_id']}' by '{record['system_id']}' occurs earlier"
        return "duplicate_route", f"{words}; the first record was kept."
    seen.add(key)
    return None


def _passage_problem(passage: Record, state: LoadState) -> Problem | None:
    """Number the ids of a passage, or state which of them is unknown or inconsistent with the others."""
    if unknown := state.resolve_ids(passage, ("handbook",)):
        return unknown
    own = state.source_of.get(passage["handbook"])
    if passage["source_id"] is None:
        passage["source"] = own
    elif unknown := state.resolve_ids(passage, ("source",)):
        return unknown
    elif passage["source"] != own:
        return "wrong_source", f"handbook '{passage['handbook_id']}' is not in source '{passage['source_id']}'."
    return _place_problem(passage, state)


def _place_problem(passage: Record, state: LoadState) -> Problem | None:
    # A release without texts cannot be checked
    if not state.sections or passage["section_id"] is None:
        return None
    length = state.sections.get((passage["handbook"], passage["section_id"]))
    if length is None:
        words = f"section '{passage['section_id']}' of handbook '{passage['handbook_id']}' is not in sections."
        return "unknown_section", words
    if passage["end"] is not None and passage["end"] > length:
        return "passage_outside", f"a passage ends at {passage['end']:,}, but its section has {length:,} characters."
    return None


def _entries(records: list[Record], name: str) -> Iterator[Record]:
    """The entries of a list of each record, with the record's question and system."""
    return (entry | {key: record[key] for key in ("question", "system")} for record in records for entry in record[name])
