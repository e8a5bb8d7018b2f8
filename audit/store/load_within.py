"""Loading disagreements within handbooks, and the counts of compared statements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audit.release import validate_pairs
from audit.release.report import NOTED
from audit.store.connection import Connection, append
from audit.store.record_reader import LoadState, RecordReader, append_records

COUNT_COLUMNS = ("handbook", "judge", "statements", "agreeing", "compared", "disagreeing", "unscored", "not_asked")
COLUMNS = ("number", "handbook", "question", "label", "significance", "divergence_topic", "reasoning", "judge")
PLACE_COLUMNS = ("number", "place", "position", "section_id", "start", "end", "page", "value", "text")
Inconsistency = dict[str, Any]


def load_within(con: Connection, reader: RecordReader, state: LoadState) -> None:
    """Fill `self_comparisons`, `inconsistencies` and `inconsistency_places`; after handbooks, questions and sections."""
    append_records(con, "self_comparisons", COUNT_COLUMNS, _counts(reader, state))
    records = list(_inconsistencies(reader, state))
    if records:
        append(con, "inconsistencies", {name: [record[name] for record in records] for name in COLUMNS})
        places = [_place_row(record, index) for record in records for index in range(len(record["places"]))]
        append(con, "inconsistency_places", {name: [record[name] for record in places] for name in PLACE_COLUMNS})


def _counts(reader: RecordReader, state: LoadState) -> Iterator[dict[str, Any]]:
    """The counts of each handbook; a second record of one handbook is quarantined."""
    seen: set[int] = set()
    for path in reader.layout.parts["self_comparison"]:
        for line, position, raw, record in reader.records(path, "self_comparison", validate_pairs.self_comparison):
            problem = state.resolve_ids(record, ("handbook",))
            if problem is None and record["handbook"] in seen:
                message = f"counts of '{record['handbook_id']}' occur earlier; the first record was kept."
                problem = ("duplicate_self_comparison", message)
            if problem:
                reader.requarantine(line, position, *problem, raw)
                continue
            seen.add(record["handbook"])
            yield record


def _inconsistencies(reader: RecordReader, state: LoadState) -> Iterator[Inconsistency]:
    number = 0
    for path in reader.layout.parts["inconsistency"]:
        for line, position, raw, record in reader.records(path, "inconsistency", validate_pairs.inconsistency):
            # Most are found without a question
            kinds = ("handbook", "question") if record["question_id"] else ("handbook",)
            if problem := state.resolve_ids(record, kinds):
                reader.requarantine(line, position, *problem, raw)
                continue
            outside = [entry for entry in record["places"] if not _is_inside(entry, record["handbook"], state)]
            if outside:
                message = f"{len(outside)} of its places are not in sections. It was loaded; for these places only the text "
                "is shown."
                reader.note(line, position, NOTED, "place_outside", message)
            number += 1
            yield {"question": None, **record, "number": number}


def _is_inside(entry: dict[str, Any], handbook: int, state: LoadState) -> bool:
    """Whether a place is one of the release's texts; a release without texts cannot be checked."""
    if not state.sections or entry["section_id"] is None:
        return True
    length = state.sections.get((handbook, entry["section_id"]))
    start, end = entry["start"] or 0, entry["end"] if entry["end"] is not None else entry["start"] or 0
    return length is not None and 0 <= start <= end <= length


def _place_row(record: Inconsistency, index: int) -> dict[str, Any]:
    return {**record["places"][index], "number": record["number"], "place": index}
