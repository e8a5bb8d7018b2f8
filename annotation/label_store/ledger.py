"""Append-only ledgers: each entry carries the hash of the one before it, so a change in the past shows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, insert, select, update
from sqlalchemy.exc import IntegrityError

from annotation.label_store.engine import LabelStore
from annotation.label_store.errors import StudyError
from annotation.label_store.schema import assignments, decisions, heads, ratings, theme_edits, theme_heads

Entry = dict[str, Any]

LEDGERS = (ratings, decisions)
"""Those of a study; `theme_edits` is that of a run."""
GENESIS_HASH = "0" * 64
"""What the first entry of a ledger names as the hash before it."""


def entry_hash(entry: Mapping[str, Any]) -> str:
    """SHA-256 of an entry, all of its fields but `hash`, the hash of the entry before it among them."""
    body = {name: value for name, value in entry.items() if name != "hash"}
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def start(tx: Connection, study_id: str) -> None:
    """Begin the ledgers of a new study."""
    tx.execute(insert(heads), [{"study_id": study_id, "ledger": t.name, "entries": 0, "hash": GENESIS_HASH} for t in LEDGERS])


def lock(tx: Connection, table: Table, study_id: str) -> Entry:
    """The end of a study's ledger, locked until the transaction ends: entries are written one after another."""
    head = _locked(tx, table, study_id)
    if head is None:
        raise StudyError(f"There is no study '{study_id}'. Nothing was changed.")
    return head


def lock_or_start(tx: Connection, table: Table, run: str) -> Entry:
    """The same for the ledger of a run, which begins with its first entry."""
    if (head := _locked(tx, table, run)) is not None:
        return head
    with suppress(IntegrityError), tx.begin_nested():  # whoever began it in the meantime has committed, so it is there now
        tx.execute(insert(theme_heads).values(run=run, ledger=table.name, entries=0, hash=GENESIS_HASH))
    return lock_or_start(tx, table, run)


def _owner(table: Table) -> str:
    """What the column is called that says whose ledger an entry belongs to."""
    return "run" if table is theme_edits else "study_id"


def _ends(table: Table) -> Table:
    return theme_heads if table is theme_edits else heads


def _head(table: Table, whose: str) -> tuple[ColumnElement[bool], ...]:
    ends = _ends(table)
    return ends.c[_owner(table)] == whose, ends.c.ledger == table.name


def _locked(tx: Connection, table: Table, whose: str) -> Entry | None:
    found = tx.execute(select(_ends(table)).where(*_head(table, whose)).with_for_update()).mappings().first()
    return None if found is None else dict(found)


def append(tx: Connection, table: Table, head: Entry, entry: Mapping[str, Any]) -> Entry:
    """Write `entry` after the locked `head` and return it with its seq, previous and hash."""
    owner = _owner(table)
    row = {owner: head[owner], "seq": head["entries"] + 1, "previous": head["hash"], **entry}
    row["hash"] = entry_hash(row)
    tx.execute(insert(table), row)
    tx.execute(update(_ends(table)).where(*_head(table, head[owner])).values(entries=row["seq"], hash=row["hash"]))
    return row


def verify_study(store: LabelStore, study_id: str) -> list[str]:
    """What is wrong with a study's ledgers, in sentences; an empty list when every entry is as it was written.

    It finds an entry that was changed, removed, added or moved, a removed end, and a seat that points to a rating which is
    not its last one. Whoever can rewrite a whole ledger with its head is found by comparing `ledger_heads` with an export.
    """
    with store.read() as con:
        faults = [fault for table in LEDGERS for fault in _chain_faults(con, table, study_id)]
        return faults + _pointer_faults(con, study_id)


def verify_edits(store: LabelStore, run: str) -> list[str]:
    """The same for the acts of curation of a run; where nobody has curated it, nothing can be wrong."""
    with store.read() as con:
        begun = con.execute(select(theme_heads).where(*_head(theme_edits, run))).first()
        return _chain_faults(con, theme_edits, run) if begun else []


def ledger_heads(store: LabelStore, study_id: str) -> dict[str, tuple[int, str]]:
    """Ledger -> (entries, hash of the last one): written into an export, it pins everything that was said before."""
    with store.read() as con:
        found = con.execute(select(heads).where(heads.c.study_id == study_id)).mappings()
        return {row["ledger"]: (row["entries"], row["hash"]) for row in found}


def _chain_faults(con: Connection, table: Table, whose: str) -> list[str]:
    found = con.execute(select(table).where(table.c[_owner(table)] == whose).order_by(table.c.seq)).mappings().all()
    head = con.execute(select(_ends(table)).where(*_head(table, whose))).mappings().first()
    if head is None:
        return [f"{table.name}: the ledger has no head"]
    entries = [dict(row) for row in found]
    faults = [fault for place, entry in enumerate(entries) for fault in _entry_faults(table, entries, place, entry)]
    end = (entries[-1]["seq"], entries[-1]["hash"]) if entries else (0, GENESIS_HASH)
    if end != (head["entries"], head["hash"]):
        faults.append(f"{table.name}: the ledger ends at entry {end[0]}, its head says {head['entries']}")
    return faults


def _entry_faults(table: Table, entries: Sequence[Entry], place: int, entry: Entry) -> list[str]:
    before = entries[place - 1]["hash"] if place else GENESIS_HASH
    checks = {
        "is not in its place": entry["seq"] == place + 1,
        "does not follow the entry before it": entry["previous"] == before,
        "is not as it was written": entry["hash"] == entry_hash(entry),
    }
    return [f"{table.name}: entry {entry['seq']} {fault}" for fault, sound in checks.items() if not sound]


def _pointer_faults(con: Connection, study_id: str) -> list[str]:
    told = con.execute(select(ratings.c.seat_id, ratings.c.seq).where(ratings.c.study_id == study_id).order_by(ratings.c.seq))
    last = dict(map(tuple, told))
    pointed = con.execute(select(assignments.c.seat_id, assignments.c.current).where(assignments.c.study_id == study_id))
    return [f"seats: {seat_id} does not point to its last rating" for seat_id, seq in pointed if seq != last.get(seat_id)]
