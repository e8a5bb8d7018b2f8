"""Append-only ledgers. Each entry carries the hash of the one before it, so a change to an old entry is detected."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, insert, select, update
from sqlalchemy.exc import IntegrityError

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.schema import assignments, decisions, heads, ratings, study_events, theme_edits, theme_heads

Entry = dict[str, Any]
Heads = Mapping[str, tuple[int, str]]
"""Ledger -> (entries, hash of the last one)."""

STUDY_LEDGERS = (ratings, decisions, study_events)
"""The ledgers of a study; `theme_edits` is the ledger of a run."""
LATER_COLUMNS = ("rationale", "difference")
"""Columns that came after entries had been written: they enter the hash where they have a value, so old hashes hold."""
GENESIS_HASH = "0" * 64
"""The previous hash of a ledger's first entry."""


def entry_hash(entry: Mapping[str, Any]) -> str:
    """SHA-256 of all fields of an entry except `hash`; `previous`, the hash of the entry before it, is one of them."""
    body = {name: value for name, value in entry.items() if name != "hash" and not (name in LATER_COLUMNS and value is None)}
    # Sorted keys and no spaces, because the same entry must give the same bytes in every process.
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def start_study_ledgers(tx: Connection, study_id: str) -> None:
    """Begin the ledgers of a new study."""
    empty = {"study_id": study_id, "entries": 0, "hash": GENESIS_HASH}
    tx.execute(insert(heads), [{**empty, "ledger": table.name} for table in STUDY_LEDGERS])


def lock_study_head(tx: Connection, table: Table, study_id: str) -> Entry:
    """The head of a study's ledger, locked until the transaction ends, so entries are written one after another."""
    head = _lock_head(tx, table, study_id)
    if head is None:
        raise StudyError(f"There is no study '{study_id}'. Nothing was changed.")
    return head


def lock_run_head(tx: Connection, table: Table, run: str) -> Entry:
    """The head of a run's ledger, which is created with its first entry."""
    if (head := _lock_head(tx, table, run)) is not None:
        return head
    with suppress(IntegrityError), tx.begin_nested():  # another transaction created it in between; it has committed by now
        tx.execute(insert(theme_heads).values(run=run, ledger=table.name, entries=0, hash=GENESIS_HASH))
    return lock_run_head(tx, table, run)


def append_entry(tx: Connection, table: Table, head: Entry, entry: Mapping[str, Any]) -> Entry:
    """Write `entry` after the locked `head` and return it with its seq, previous and hash."""
    owner = _owner_column(table)
    row = {owner: head[owner], "seq": head["entries"] + 1, "previous": head["hash"], **entry}
    row["hash"] = entry_hash(row)
    tx.execute(insert(table), row)
    head_row = update(_head_table(table)).where(*_head_condition(table, head[owner]))
    tx.execute(head_row.values(entries=row["seq"], hash=row["hash"]))
    return row


def _owner_column(table: Table) -> str:
    """Name of the column that identifies the ledger an entry belongs to."""
    return "run" if table is theme_edits else "study_id"


def _head_table(table: Table) -> Table:
    return theme_heads if table is theme_edits else heads


def _head_condition(table: Table, owner: str) -> tuple[ColumnElement[bool], ...]:
    columns = _head_table(table).c
    return columns[_owner_column(table)] == owner, columns.ledger == table.name


def _lock_head(tx: Connection, table: Table, owner: str) -> Entry | None:
    # PostgreSQL locks the row; SQLite ignores this, and its transaction holds the only write lock already.
    query = select(_head_table(table)).where(*_head_condition(table, owner)).with_for_update()
    row = tx.execute(query).mappings().first()
    return None if row is None else dict(row)


# -- verification ------------------------------------------------------------------------------------------------------


def study_ledger_faults(con: Connection, study_id: str) -> list[str]:
    """The faults in the ledgers of a study, one sentence each; an empty list if every entry is unchanged.

    It detects an entry that was changed, removed, added or moved, a missing head, and an assignment that does not point to its
    last rating or names somebody else. A ledger that was rewritten completely, head included, is detected by `head_faults`.
    """
    faults = [fault for table in STUDY_LEDGERS for fault in _chain_faults(con, table, study_id)]
    return faults + _pointer_faults(con, study_id)


def head_faults(con: Connection, study_id: str, sealed: Heads) -> list[str]:
    """How the ledgers of a study differ from heads that `ledger_heads` returned earlier; they may only have grown."""
    return [
        fault
        for table in STUDY_LEDGERS
        if table.name in sealed
        for fault in _head_faults(con, table, study_id, *sealed[table.name])
    ]


def _head_faults(con: Connection, table: Table, study_id: str, entries: int, last_hash: str) -> list[str]:
    own = select(table.c.seq, table.c.hash).where(table.c.study_id == study_id)
    hashes: dict[int, str] = dict(map(tuple, con.execute(own)))
    if entries and entries not in hashes:
        return [f"{table.name}: {entries:,} entries were sealed, and there are {len(hashes):,} now: later ones were removed"]
    if entries and hashes[entries] != last_hash:
        return [f"{table.name}: entry {entries:,} is not the one that was sealed: the ledger was rewritten"]
    return []


def verify_edits(store: LabelStore, run: str) -> list[str]:
    """The faults in the theme edits of a run, as for a study; a run without edits has none."""
    with store.read() as con:
        # The ledger of a run begins with its first edit; a missing head is a fault only after that.
        started = con.execute(select(theme_heads).where(*_head_condition(theme_edits, run))).first()
        return _chain_faults(con, theme_edits, run) if started else []


def ledger_heads(store: LabelStore, study_id: str) -> Heads:
    """Where the ledgers of a study end. Written into an export, it seals every entry made before."""
    with store.read() as con:
        rows = con.execute(select(heads).where(heads.c.study_id == study_id)).mappings()
        return {row["ledger"]: (row["entries"], row["hash"]) for row in rows}


def _chain_faults(con: Connection, table: Table, owner: str) -> list[str]:
    query = select(table).where(table.c[_owner_column(table)] == owner).order_by(table.c.seq)
    entries = [dict(row) for row in con.execute(query).mappings()]
    head = con.execute(select(_head_table(table)).where(*_head_condition(table, owner))).mappings().first()
    if head is None:
        return [f"{table.name}: the ledger has no head"]
    faults = [fault for index, entry in enumerate(entries) for fault in _entry_faults(table, entries, index, entry)]
    count, last_hash = (entries[-1]["seq"], entries[-1]["hash"]) if entries else (0, GENESIS_HASH)
    if (count, last_hash) != (head["entries"], head["hash"]):
        faults.append(f"{table.name}: the ledger ends at entry {count}, but its head records {head['entries']}")
    return faults


def _entry_faults(table: Table, entries: Sequence[Entry], index: int, entry: Entry) -> list[str]:
    previous_hash = entries[index - 1]["hash"] if index else GENESIS_HASH
    checks = {
        "is out of order": entry["seq"] == index + 1,
        "does not follow the entry before it": entry["previous"] == previous_hash,
        "was changed after it was written": entry["hash"] == entry_hash(entry),
    }
    return [f"{table.name}: entry {entry['seq']} {fault}" for fault, sound in checks.items() if not sound]


def _pointer_faults(con: Connection, study_id: str) -> list[str]:
    rated = select(ratings.c.seat_id, ratings.c.seq, ratings.c.annotator).where(ratings.c.study_id == study_id)
    last = {seat_id: (seq, annotator) for seat_id, seq, annotator in con.execute(rated.order_by(ratings.c.seq))}
    slot = assignments.c
    query = select(slot.seat_id, slot.current, slot.annotator).where(slot.study_id == study_id)
    # `seats` is the stored name of the assignments.
    return [
        f"seats: {seat_id} does not point to its last rating, or names a different rater"
        for seat_id, seq, annotator in con.execute(query)
        if (seq, annotator) != last.get(seat_id, (None, annotator))
    ]
