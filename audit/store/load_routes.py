"""Loading sources, and how systems routed questions to them and what evidence they gathered."""

from __future__ import annotations

from audit.release.record_kind import Record
from audit.release.route_kinds import ROUTE, ROUTED_EVIDENCE, SOURCE, SOURCE_ROUTE
from audit.store.connection import Connection, append
from audit.store.load_kind import entries, in_chunks, usable_records
from audit.store.record_reader import LoadState, Problem, RecordReader, append_records


def load_sources(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `sources` and `source_handbooks`, number the sources in release order and fill `state.source_of`.

    After the handbooks are loaded. A source with an unknown handbook, or with one of another source, is quarantined.
    """
    usable = usable_records(reader, state, SOURCE, lambda record: _members_problem(record, state))
    append_records(con, SOURCE, (record for *_, record in usable))
    if state.source_of:
        handbooks, sources = zip(*state.source_of.items(), strict=True)
        append(con, "source_handbooks", {"source": sources, "handbook": handbooks})


def _members_problem(record: Record, state: LoadState) -> Problem | None:
    """Enter the handbooks of a source, or state why that is not possible."""
    unknown = [handbook_id for handbook_id in record["handbook_ids"] if handbook_id not in state.handbooks]
    if unknown:
        return state.unknown_id("handbook", unknown[0])
    names, members = list(state.sources), [state.handbooks[handbook_id] for handbook_id in record["handbook_ids"]]
    for handbook_id, handbook in zip(record["handbook_ids"], members, strict=True):
        if (other := state.source_of.get(handbook)) is not None:
            message = f"handbook '{handbook_id}' is in source '{names[other]}' already, but may be in one source only."
            return "handbook_in_two_sources", message
    state.source_of.update(dict.fromkeys(members, len(state.sources)))
    return None


def load_routes(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `routes`, `routed_evidence` and `route_traces`; after questions, sections, sources and systems are loaded."""
    usable = usable_records(reader, state, ROUTE, lambda record: _route_problem(record, state))
    for chunk in in_chunks(record for *_, record in usable):
        state.has_routes = True
        append_records(con, SOURCE_ROUTE, entries(chunk, "routes", "question", "system"))
        append_records(con, ROUTED_EVIDENCE, entries(chunk, "evidence", "question", "system"))
        append_records(con, ROUTE, chunk)


def _route_problem(record: Record, state: LoadState) -> Problem | None:
    """Number the ids of the entries of a routing; the problem of the first that is unknown."""
    problems = (
        *(state.resolve_ids(one, SOURCE_ROUTE.id_fields) for one in record["routes"]),
        *(_passage_problem(passage, state) for passage in record["evidence"]),
    )
    return next(filter(None, problems), None)


def _passage_problem(passage: Record, state: LoadState) -> Problem | None:
    """Number the ids of a passage, or state which of them is unknown or inconsistent with the others."""
    named = ROUTED_EVIDENCE.id_fields
    if unknown := state.resolve_ids(passage, {"handbook": named["handbook"]}):
        return unknown
    own = state.source_of.get(passage["handbook"])
    if passage["source_id"] is None:
        passage["source"] = own
    elif unknown := state.resolve_ids(passage, {"source": named["source"]}):
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
