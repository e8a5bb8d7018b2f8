"""Validating sources, and how questions were routed to them, as in `audit.release.validate`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from audit.release.validate import AS_JSON, fields_of
from audit.release.values import (
    Reject,
    Repairs,
    boolean,
    integer,
    list_value,
    number,
    object_value,
    optional,
    required_text,
    text,
    texts,
    type_name,
)

DEFAULT_AUTHORITY = 0.5
FEATURES = ("peak", "mean", "margin", "entropy", "coverage")
SCORES = ("base", "support", "final")
SHARE_TOLERANCE = 0.01
"""Tolerance for the sum of a question's shares, which may be written with two decimals."""


def source(record: Any, repairs: Repairs) -> dict[str, Any]:
    """A source's record: source_id, handbook_ids, authority, description."""
    raw = fields_of(record, "source")
    handbooks = list(dict.fromkeys(texts(raw["handbook_ids"], "handbook_ids")))
    if not handbooks:
        raise Reject("missing_field", "field 'handbook_ids' is empty: a source needs at least one handbook.")
    authority = _share(raw, "authority")
    return {
        "source_id": required_text(raw, "source_id"), "handbook_ids": handbooks,
        "authority": DEFAULT_AUTHORITY if authority is None else authority,
        "description": optional(text, raw, "description", repairs),
    }  # fmt: skip


def route(record: Any, repairs: Repairs) -> dict[str, Any]:
    """The routing of a question: question_id, system_id, routes and evidence (each entry with its rank), trace (as JSON)."""
    raw = fields_of(record, "route")
    routes = [one | {"rank": rank} for rank, one in enumerate(_entries(raw, "routes", repairs, _source_route), 1)]
    passages = _entries(raw, "evidence", repairs, _routed_evidence)
    trace = optional(object_value, raw, "trace", repairs)
    if not (routes or passages or trace):
        raise Reject("empty_route", "it has neither routes nor evidence nor a trace, so nothing shows what was routed.")
    _check_routes(routes)
    ranked = [passage | {"rank": passage["rank"] or index} for index, passage in enumerate(passages, 1)]
    _check_unique([passage["rank"] for passage in ranked], "rank", "of the evidence")
    return {
        "question_id": required_text(raw, "question_id"), "system_id": required_text(raw, "system_id"), "routes": routes,
        "evidence": ranked, "trace": AS_JSON(trace) if trace else None,
    }  # fmt: skip


def _entries(
    raw: Mapping[str, Any], name: str, repairs: Repairs, read: Callable[[Any, Repairs], dict[str, Any]]
) -> list[dict[str, Any]]:
    """The entries of a list. Rejects a list with a bad entry: without it, the shares and ranks of the others would be wrong."""
    entries = []
    for position, entry in enumerate(list_value(raw.get(name), name), 1):
        if not isinstance(entry, Mapping):
            raise Reject("wrong_type", f"entry {position} of '{name}' is {type_name(entry)}, but must be an object.")
        try:
            entries.append(read(entry, repairs))
        except Reject as reject:
            raise Reject(reject.code, f"entry {position} of '{name}': {reject}") from reject
    return entries


def _source_route(record: Any, repairs: Repairs) -> dict[str, Any]:
    raw = fields_of(record, "source_route")
    return {
        "source_id": required_text(raw, "source_id"), **{name: _share(raw, name) for name in ("authority", "share")},
        **{name: _at_least(0, raw, name) for name in ("probed", "budget")},
        **{name: optional(number, raw, name, repairs) for name in (*FEATURES, "score")},
    }  # fmt: skip


def _routed_evidence(record: Any, repairs: Repairs) -> dict[str, Any]:
    raw = fields_of(record, "routed_evidence")
    start, end = _at_least(0, raw, "start"), _at_least(0, raw, "end")
    if (start is None) != (end is None) or (start is not None and end is not None and start >= end):
        raise Reject("bad_place", f"it is from {start} to {end}, but a position needs a start and a later end.")
    source_id = text(raw.get("source_id"), "source_id")
    return {
        "handbook_id": required_text(raw, "handbook_id"), "source_id": (source_id or "").strip() or None, "start": start,
        "end": end, "rank": _at_least(1, raw, "rank"), "bridged": optional(boolean, raw, "bridged", repairs) or False,
        **{name: optional(number, raw, name, repairs) for name in SCORES},
        **{name: optional(text, raw, name, repairs) for name in ("section_id", "text")},
    }  # fmt: skip


def _check_routes(routes: list[dict[str, Any]]) -> None:
    _check_unique([one["source_id"] for one in routes], "source", "of the routes")
    shares = [one["share"] for one in routes]
    # If a share is missing, the sum of the others is unknown
    if shares and None not in shares and abs(sum(shares) - 1) > SHARE_TOLERANCE:
        raise Reject(
            "shares_do_not_sum", f"the shares of its {len(shares)} sources add up to {sum(shares):.3g}, but must add up to 1."
        )


def _check_unique(values: list[Any], name: str, of: str) -> None:
    if twice := [value for value, count in Counter(values).items() if count > 1]:
        raise Reject(f"duplicate_{name}", f"{name} {twice[0]!r} {of} occurs twice.")


def _share(raw: Mapping[str, Any], name: str) -> float | None:
    value = number(raw.get(name), name)
    if value is not None and not 0 <= value <= 1:
        raise Reject("out_of_range", f"field '{name}' is {value:g}, but must be from 0 to 1.")
    return value


def _at_least(lowest: int, raw: Mapping[str, Any], name: str) -> int | None:
    value = integer(raw.get(name), name)
    if value is not None and value < lowest:
        raise Reject("out_of_range", f"field '{name}' is {value}, but must be at least {lowest}.")
    return value
