"""The access log: who signed in, failed to, changed an account, corrected a text or took data out. It is append-only.

The database refuses to change an entry, and to remove one unless the removal was logged first (`prune_log`). No entry has a
password, a token, or a name that belongs to no account: people type passwords into the wrong field.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Connection, delete, func, insert, or_, select

from annotation.label_store.engine import LabelStore
from annotation.label_store.schema import access_log
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
    entry = {"at": to_timestamp(now), "account": actor.username, "address": actor.address, "event": event, "detail": text}
    tx.execute(insert(access_log).values(**entry, kept_from=None if kept_from is None else to_timestamp(kept_from)))


def record_event(store: LabelStore, event: Event, actor: Actor, now: datetime, detail: str = "") -> None:
    """`log_event` in a transaction of its own."""
    with store.begin() as tx:
        log_event(tx, event, actor, now, detail)


def list_log(
    store: LabelStore,
    *,
    since: datetime | None = None,
    events: Collection[str] = (),
    account: str = "",
    limit: int | None = None,
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
