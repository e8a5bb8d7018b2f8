"""Sign-in attempts as rows of the database. How many are allowed is decided in `annotation.studies.signing_in`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, and_, delete, func, insert, or_, select, update

from annotation.label_store.schema import sign_in_attempts
from annotation.label_store.stored_values import to_timestamp

attempt = sign_in_attempts.c
CLOCK_TOLERANCE = timedelta(minutes=1)
"""Of two servers' clocks. An attempt that lies further ahead was recorded before a clock was set back, and counts nowhere."""


@dataclass(frozen=True)
class Failures:
    """Wrong passwords in a stretch of time, and when the last of them was (None: there was none)."""

    count: int
    last: str | None


def attempt_key(username: str) -> str:
    """The name under which attempts on an account are counted. Not the name itself: people type passwords into its field."""
    return hashlib.sha256(username.encode()).hexdigest()


def recent_failures(
    tx: Connection, since: datetime, now: datetime, *, username: str | None = None, address: str | None = None
) -> Failures:
    """Wrong passwords since then for a name, from an address, or for a name from an address; a success of that pair clears it."""
    keys = ((attempt.username, username), (attempt.address, address))
    matching = [column == value for column, value in keys if value is not None]
    until = to_timestamp(now + CLOCK_TOLERANCE)
    query = select(func.count(), func.max(attempt.at)).where(
        attempt.failed, attempt.at > to_timestamp(since), attempt.at <= until, *matching
    )
    if len(matching) == len(keys):
        success = select(func.max(attempt.at)).where(~attempt.failed, attempt.at <= until, *matching).scalar_subquery()
        # Times are stored as texts, and every text sorts after the empty one.
        query = query.where(attempt.at > func.coalesce(success, ""))
    count, last = tx.execute(query).one()
    return Failures(int(count), last)


def has_succeeded(tx: Connection, username: str, address: str, since: datetime) -> bool:
    """Whether somebody signed in under this name from this address since then."""
    query = select(attempt.attempt).where(
        ~attempt.failed, attempt.username == username, attempt.address == address, attempt.at > to_timestamp(since)
    )
    return tx.execute(query.limit(1)).first() is not None


def record_attempt(tx: Connection, username: str, address: str, now: datetime) -> int:
    """Record an attempt as failed before its password is checked, and return its number."""
    new_row = insert(sign_in_attempts).values(username=username, address=address, at=to_timestamp(now), failed=True)
    return int(tx.execute(new_row.returning(attempt.attempt)).scalar_one())


def mark_success(tx: Connection, number: int) -> None:
    """Mark an attempt as successful after all."""
    tx.execute(update(sign_in_attempts).where(attempt.attempt == number).values(failed=False))


def withdraw_attempt(tx: Connection, number: int) -> None:
    """Forget an attempt whose password was never checked."""
    tx.execute(delete(sign_in_attempts).where(attempt.attempt == number))


def forget_attempts(tx: Connection, failures_before: datetime, successes_before: datetime) -> None:
    """Delete what no longer counts."""
    old_failure = and_(attempt.failed, attempt.at <= to_timestamp(failures_before))
    tx.execute(delete(sign_in_attempts).where(or_(old_failure, attempt.at <= to_timestamp(successes_before))))
