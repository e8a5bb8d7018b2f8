"""From the ids of a record to the numbers of the store, and the sentence for an id that nobody has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from audit.store.index import Index
from audit.vocabulary import nearest

CHUNK = 20_000
BOTH = ("question", "handbook")


def number(record: dict[str, Any], index: Index, keys: tuple[str, ...] = BOTH) -> tuple[str, str] | None:
    """Give the record the numbers behind its ids (`question`, `handbook`), or return code and sentence for one nobody has."""
    known = {"question": index.questions, "handbook": index.handbooks}
    for key in keys:
        found = known[key].get(record[f"{key}_id"])
        if found is None:
            return unknown(key, record[f"{key}_id"], known[key])
        record[key] = found
    return None


def unknown(kind: str, found: str, known: dict[str, int]) -> tuple[str, str]:
    """Code and sentence for an id that no handbook or question has."""
    return f"unknown_{kind}", f"{kind} '{found}' is not in {kind}s.{nearest(found, tuple(known))}"


def chunks(records: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """The records in lists of CHUNK, the last one shorter."""
    chunk: list[dict[str, Any]] = []
    for record in records:
        chunk.append(record)
        if len(chunk) == CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
