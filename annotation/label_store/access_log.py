"""The access log: who signed in, failed to, changed an account, corrected a text or took data out. It is append-only.

The database refuses to change an entry, and to remove one unless the removal was logged first (`prune_log`). Each entry has the
hash of the one before, so that one changed past the triggers is found (`log_faults`). No entry has a password, a token, or a name
that belongs to no account: people type passwords into the wrong field.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import dropwhile, pairwise

from sqlalchemy import Connection, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from annotation.label_store.engine import LabelStore
from annotation.label_store.ledger import GENESIS_HASH, entry_hash
from annotation.label_store.schema import access_log, log_heads
from annotation.label_store.stored_values import record_of, storable_text, to_timestamp

MAX_DETAIL_LENGTH = 300
COMMAND_LINE = "(command line)"
UNKNOWN_NAME = "(unknown name)"


class Event(StrEnum):
    """The kind of an entry."""

    SIGN_IN = "sign-in"
    SIGN_IN_FAILED = "sign-in-failed"
    SIGN_OUT = "sign-out"
    SIGN_OUT_EVERYWHERE = "sign-out-everywhere"
    EXPORT = "export"
    ACCOUNT_ADDED = "account-added"
    ACCOUNT_BOUND = "account-bound"
    ROLE_CHANGED = "role-changed"
    DISABLED = "account-disabled"
    ENABLED = "account-enabled"
    PASSWORD_CHANGED = "password-changed"  # noqa: S105 - the name of an event
    PASSWORD_RESET = "password-reset"  # noqa: S105
    SETTING_CHANGED = "setting-changed"
    TEXT_CORRECTED = "text-corrected"
    LOG_PRUNED = "log-pruned"
    RESTORED = "backup-restored"
    PAGE_REFUSED = "page-refused"
    SESSION_ENDED = "session-ended"
    SECOND_FACTOR = "second-factor"


@dataclass(frozen=True)
class Actor:
    """Who does something, and from which address. The address is empty for commands, which come over no connection."""

    username: str
    address: str = ""


TERMINAL = Actor(COMMAND_LINE)


@dataclass(frozen=True)
class AccessEntry:
    """One entry. at: UTC, ISO 8601; account: who acted; detail: what it was done to."""

    at: str
    account: str
    address: str
    event: str
    detail: str


def log_event(
    tx: Connection, event: Event, actor: Actor, now: datetime, detail: str = "", kept_from: datetime | None = None
) -> None:
    """Add an entry in the transaction of what it reports, so neither is there without the other."""
    text = storable_text(" ".join(detail.split())[:MAX_DETAIL_LENGTH])
    last, previous = _locked_head(tx)
    entry = {
        "entry": last + 1, "at": to_timestamp(now), "account": actor.username, "address": actor.address, "event": str(event),
        "detail": text, "kept_from": None if kept_from is None else to_timestamp(kept_from), "previous": previous,
    }  # fmt: skip
    digest = entry_hash(entry)
    tx.execute(insert(access_log).values(**entry, hash=digest))
    tx.execute(update(log_heads).values(entries=last + 1, hash=digest))


def _locked_head(tx: Connection) -> tuple[int, str]:
    """The number and the hash of the last entry; nobody else adds one until the transaction ends."""
    query = select(log_heads.c.entries, log_heads.c.hash).with_for_update()
    if (head := tx.execute(query).first()) is None:
        before = tx.execute(select(func.coalesce(func.max(access_log.c.entry), 0))).scalar_one()
        with suppress(IntegrityError), tx.begin_nested():  # another transaction created it in between; it has committed by now
            tx.execute(insert(log_heads).values(log="access", ledger=access_log.name, entries=before, hash=GENESIS_HASH))
        head = tx.execute(query).one()
    return head.entries, head.hash


def log_faults(store: LabelStore) -> list[str]:
    """What was changed, removed or added by hand, a sentence each; an empty list for a log that is as it was written.

    Entries from before they had a hash are not looked at. Whoever may write to the database can rewrite the whole chain.
    """
    with store.read() as con:
        rows = [dict(row) for row in con.execute(select(access_log).order_by(access_log.c.entry)).mappings()]
        head = con.execute(select(log_heads.c.entries, log_heads.c.hash)).first()
    chained = list(dropwhile(lambda row: row["hash"] is None, rows))
    if not chained:
        return [] if head is None or head.hash == GENESIS_HASH else ["every entry was removed"]
    first = chained[0]
    faults = [f"entry {row['entry']} was changed after it was written" for row in chained if row["hash"] != entry_hash(row)]
    faults += [
        f"entry {row['entry']} does not follow the entry before it"
        for before, row in pairwise(chained)
        if (row["previous"], row["entry"]) != (before["hash"], before["entry"] + 1)
    ]
    if first["previous"] != GENESIS_HASH and not any(row["kept_from"] for row in chained):
        faults.append(f"the entries before {first['entry']} were removed")
    if head is None or (head.entries, head.hash) != (chained[-1]["entry"], chained[-1]["hash"]):
        faults.append(f"the log ends at entry {chained[-1]['entry']}, but {head.entries if head else 0} were written")
    return faults


def record_event(store: LabelStore, event: Event, actor: Actor, now: datetime, detail: str = "") -> None:
    """`log_event` in a transaction of its own."""
    with store.begin() as tx:
        log_event(tx, event, actor, now, detail)


def list_log(
    store: LabelStore, *, since: datetime | None = None, events: Collection[str] = (), account: str = "", limit: int | None = None
) -> list[AccessEntry]:
    """The entries, newest first: from `since` on, of these events (none given: of all), by or about this account."""
    log = access_log.c
    query = select(access_log).order_by(log.entry.desc()).limit(limit)
    if since is not None:
        query = query.where(log.at >= to_timestamp(since))
    if events:
        query = query.where(log.event.in_([str(event) for event in events]))
    if account:
        # What was done to an account begins with its name.
        query = query.where(
            or_(log.account == account, log.detail == account, log.detail.startswith(f"{account}:", autoescape=True))
        )
    with store.read() as con:
        return [record_of(AccessEntry, row) for row in con.execute(query).mappings()]


def prune_log(store: LabelStore, keep_from: datetime, actor: Actor, now: datetime) -> int:
    """Remove the entries before `keep_from`, and log that; returns their number. Without any, nothing is logged."""
    old = access_log.c.at < to_timestamp(keep_from)
    with store.begin() as tx:
        count = int(tx.execute(select(func.count()).select_from(access_log).where(old)).scalar_one())
        if count:
            detail = f"{count} entries from before {keep_from.date().isoformat()}"
            log_event(tx, Event.LOG_PRUNED, actor, now, detail, kept_from=keep_from)
            tx.execute(delete(access_log).where(old))
    return count
