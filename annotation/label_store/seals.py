"""Seals: digests of every row that a study is made of, in the first entries of its ledger of events.

Ratings and decisions are ledgers themselves. Items, assignments, strata and the judge's verdicts are rows that never change, so
their digests are written once, in the transaction that creates the study; later, a row that differs is named. Each change of the
study's state is a further entry.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table, select

from annotation.label_store.engine import LabelStore
from annotation.label_store.ledger import append_entry, ledger_heads, lock_study_head
from annotation.label_store.schema import assignments, items, ratings, studies, study_events, study_members
from annotation.label_store.stored_values import to_timestamp
from audit.vocabulary import Raters, stated_raters

CREATED, SAMPLED, STATE, REFERENCE, RATERS_STATED, LOOK = "created", "sampled", "state", "reference", "raters", "look"
LEAKAGE, INSTITUTIONS, GUESS, REGISTERED_LOOK = "leakage", "institutions", "guess", "registered look"
"""Kinds of events. REFERENCE: an annotator opened the reference answer of an item; RATERS_STATED: who rates in the study;
LOOK: somebody saw figures of a study that was not complete; LEAKAGE: what the style of its answers was measured to give away;
INSTITUTIONS: what the exit question asks among; GUESS: an annotator's answer to it; REGISTERED_LOOK: what the primary figure was
at a look that was registered before the study."""
NAMED_ROWS = 3


@dataclass(frozen=True)
class SealedRows:
    """A table and the columns whose values never change in a study."""

    table: Table
    columns: tuple[str, ...]


def all_columns(table: Table) -> SealedRows:
    """Every column of a table whose rows never change."""
    return SealedRows(table, tuple(table.c.keys()))


STUDY_ROWS = (
    SealedRows(
        studies, ("study_id", "title", "names_shown", "seed", "terms", "created_at", "synthetic", "scheme", "ratings_per_item")
    ),
    all_columns(study_members),
    all_columns(items),
)
SLOT_COLUMNS = ("seat_id", "study_id", "item_id", "seat", "calibration", "swapped")
SLOTS = SealedRows(assignments, SLOT_COLUMNS)
FIXED_ASSIGNMENTS = SealedRows(assignments, (*SLOT_COLUMNS, "annotator", "position"))
"""Where nobody claims slots, which annotator has an item at which position never changes either."""
SEALED_TABLES = (studies, study_members, items, assignments)


def record_study_event(tx: Connection, study_id: str, kind: str, body: Mapping[str, object], now: datetime | str) -> None:
    """Append an event to a study's ledger."""
    happened_at = now if isinstance(now, str) else to_timestamp(now)
    head = lock_study_head(tx, study_events, study_id)
    append_entry(tx, study_events, head, {"kind": kind, "body": _canonical(body), "happened_at": happened_at})


def seal_rows(tx: Connection, study_id: str, kind: str, sealed: Sequence[SealedRows], now: datetime | str, **more: str) -> None:
    """Append an event with the digest of each of these rows as they are now, and `more` values."""
    tables = {
        rows.table.name: {"columns": rows.columns, "rows": _digests(tx, rows.table, rows.columns, study_id)} for rows in sealed
    }
    record_study_event(tx, study_id, kind, {"tables": tables, **more}, now)


def seal_faults(con: Connection, study_id: str, tables: Sequence[Table]) -> list[str]:
    """Which rows of these tables, and whether the state of the study, differ from what its events record.

    The caller has found the ledger of events unchanged: a seal that was altered cannot be relied on.
    """
    events = _events(con, study_id)
    if not events:
        return ["study_events: the study was never sealed, so a change of its items or verdicts is not detected"]
    sealed = {name: rows for _, body in events for name, rows in body.get("tables", {}).items()}
    nothing: dict[str, Any] = {"columns": (), "rows": {}}
    faults = [fault for table in tables for fault in _row_faults(con, study_id, table, sealed.get(table.name, nothing))]
    recorded = [body["state"] for _, body in events if "state" in body][-1]
    state = con.execute(select(studies.c.state).where(studies.c.study_id == study_id)).scalar_one()
    return faults + ([] if state == recorded else [f"studies: the state is {state}, but the last one recorded is {recorded}"])


def _events(con: Connection, study_id: str) -> list[tuple[str, dict[str, Any]]]:
    query = select(study_events.c.kind, study_events.c.body).where(study_events.c.study_id == study_id)
    return [(kind, stored_body(body)) for kind, body in con.execute(query.order_by(study_events.c.seq))]


def stored_body(body: str) -> dict[str, Any]:
    """What an event says."""
    return dict(json.loads(body))


def _row_faults(con: Connection, study_id: str, table: Table, sealed: Mapping[str, Any]) -> Iterator[str]:
    before, now = sealed["rows"], _digests(con, table, sealed["columns"], study_id)
    kinds = {
        "changed": [key for key in before if key in now and before[key] != now[key]],
        "removed": [key for key in before if key not in now],
        "added": [key for key in now if key not in before],
    }
    for kind, keys in kinds.items():
        if keys:
            named = ", ".join(keys[:NAMED_ROWS]) + (", ..." if len(keys) > NAMED_ROWS else "")
            rows = "1 row was" if len(keys) == 1 else f"{len(keys):,} rows were"
            yield f"{table.name}: {rows} {kind} after the study was sealed ({named})"


def _digests(con: Connection, table: Table, columns: Sequence[str], study_id: str) -> dict[str, str]:
    """Key of each row of the study -> SHA-256 of these columns."""
    keys = [column for column in table.primary_key if column.name != "study_id"] or list(table.primary_key)
    chosen = [table.c[name] for name in columns]
    query = select(*keys, *chosen).where(table.c.study_id == study_id).order_by(*keys)
    return {
        "/".join(row[: len(keys)]): hashlib.sha256(
            _canonical(dict(zip(columns, row[len(keys) :], strict=True))).encode()
        ).hexdigest()
        for row in con.execute(query)
    }


def _canonical(value: Mapping[str, Any]) -> str:
    # The same in every process and database; escaped to ASCII, so any text survives unchanged.
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


# -- Who rates in a study, as its investigator states it -----------------------------------------------------


def state_raters(tx: Connection, study_id: str, raters: Raters, now: datetime) -> None:
    """Record who rates in a study; the last statement counts."""
    record_study_event(tx, study_id, RATERS_STATED, {"raters": raters.value}, now)


def raters_of(store: LabelStore, study_id: str) -> Raters:
    """Who rates in a study; UNKNOWN where nobody has stated it."""
    stated = last_event(store, study_id, RATERS_STATED)
    return stated_raters(stated["raters"]) if stated else Raters.UNKNOWN


def last_event(store: LabelStore, study_id: str, kind: str) -> dict[str, Any] | None:
    """What the last event of a kind says; None without one."""
    with store.read() as con:
        found = events_of(con, study_id, kind)
    return found[-1] if found else None


def events_of(con: Connection, study_id: str, kind: str) -> list[dict[str, Any]]:
    """What the events of a kind say, in their order."""
    return [body for found, body in _events(con, study_id) if found == kind]


# -- Who looked at the figures while ratings were coming in --------------------------------------------------


def record_look(store: LabelStore, study_id: str, account: str, now: datetime) -> None:
    """Record that an account saw the figures of a study that is not complete, once for each number of ratings."""
    body = {"account": account, "ratings": ledger_heads(store, study_id)[ratings.name][0]}
    if not body["ratings"] or body in looks(store, study_id):
        return
    with store.begin() as tx:
        lock_study_head(tx, study_events, study_id)
        if body not in events_of(tx, study_id, LOOK):  # two tabs refresh at once
            record_study_event(tx, study_id, LOOK, body, now)


def looks(store: LabelStore, study_id: str) -> list[dict[str, Any]]:
    """Each look at the figures of a study while ratings were coming in: account, and ratings in the ledger then."""
    with store.read() as con:
        return events_of(con, study_id, LOOK)
