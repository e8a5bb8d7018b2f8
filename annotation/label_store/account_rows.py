"""Accounts, sessions and sign-in attempts as rows of the database. The rules are in `annotation.studies.accounts`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.schema import record_of, sessions, sign_in_attempts, to_timestamp, users


@dataclass(frozen=True)
class UserRow:
    """A row of `users`. Without a password_hash, the account signs in through the identity provider only."""

    username: str
    name: str
    role: str
    password_hash: str | None


def add_user(store: LabelStore, user: UserRow, now: datetime) -> None:
    """Insert an account.

    Raises StudyError when the username is taken.
    """
    try:
        with store.begin() as tx:
            tx.execute(insert(users).values(**user.__dict__, created_at=to_timestamp(now)))
    # The constraint decides instead of a query before: two people may add the same name at once.
    except IntegrityError:
        raise StudyError(f"The account '{user.username}' already exists. Nothing was changed.") from None


def find_user(store: LabelStore, username: str) -> UserRow | None:
    """The account of that name, if it exists."""
    with store.read() as con:
        row = con.execute(select(users).where(users.c.username == username)).mappings().first()
        return None if row is None else record_of(UserRow, row)


def list_users(store: LabelStore) -> list[UserRow]:
    """All accounts, by username."""
    with store.read() as con:
        return [record_of(UserRow, row) for row in con.execute(select(users).order_by(users.c.username)).mappings()]


def set_password_hash(store: LabelStore, username: str, password_hash: str, *, sign_out: bool) -> None:
    """Replace the hash; with `sign_out`, also end every session of the account."""
    with store.begin() as tx:
        tx.execute(update(users).where(users.c.username == username).values(password_hash=password_hash))
        # Whoever changes a password may have lost the old one to somebody who is signed in with it.
        if sign_out:
            tx.execute(delete(sessions).where(sessions.c.username == username))


def add_session(store: LabelStore, token_hash: str, username: str, now: datetime, expires_at: datetime) -> None:
    """Insert a session and delete expired ones."""
    times = {"created_at": to_timestamp(now), "expires_at": to_timestamp(expires_at)}
    with store.begin() as tx:
        # Removed whenever somebody signs in, so that no other job has to clean up.
        tx.execute(delete(sessions).where(sessions.c.expires_at <= times["created_at"]))
        tx.execute(insert(sessions).values(token_hash=token_hash, username=username, **times))


def session_user(store: LabelStore, token_hash: str, now: datetime) -> UserRow | None:
    """The account that the session belongs to; None when the session is unknown or has expired."""
    valid = (sessions.c.token_hash == token_hash, sessions.c.expires_at > to_timestamp(now))
    query = select(users).join(sessions, sessions.c.username == users.c.username).where(*valid)
    with store.read() as con:
        row = con.execute(query).mappings().first()
        return None if row is None else record_of(UserRow, row)


def end_session(store: LabelStore, token_hash: str) -> None:
    """Delete a session."""
    with store.begin() as tx:
        tx.execute(delete(sessions).where(sessions.c.token_hash == token_hash))


def recent_failures(tx: Connection, since: datetime, username: str | None = None) -> tuple[int, str | None]:
    """(failed sign-ins since then, time of the last one), of one account or of all; a success clears the account's count."""
    attempt = sign_in_attempts.c
    query = select(func.count(), func.max(attempt.at)).where(attempt.failed, attempt.at > to_timestamp(since))
    if username is not None:
        last_success = select(func.max(attempt.at)).where(~attempt.failed, attempt.username == username).scalar_subquery()
        # Times are stored as texts, and every text sorts after the empty one.
        query = query.where(attempt.username == username, attempt.at > func.coalesce(last_success, ""))
    count, last = tx.execute(query).one()
    return int(count), last


def record_attempt(tx: Connection, username: str, now: datetime, forget_before: datetime) -> int:
    """Record an attempt as failed before its password is checked, and return its number; delete old attempts."""
    tx.execute(delete(sign_in_attempts).where(sign_in_attempts.c.at <= to_timestamp(forget_before)))
    new_row = insert(sign_in_attempts).values(username=username, at=to_timestamp(now), failed=True)
    return int(tx.execute(new_row.returning(sign_in_attempts.c.attempt)).scalar_one())


def record_success(store: LabelStore, attempt: int) -> None:
    """Mark an attempt as successful after all."""
    with store.begin() as tx:
        tx.execute(update(sign_in_attempts).where(sign_in_attempts.c.attempt == attempt).values(failed=False))
