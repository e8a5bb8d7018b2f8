"""Accounts, sessions and sign-in attempts as rows. The rules stand in `annotation.studies.accounts`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.engine import RowMapping
from sqlalchemy.exc import IntegrityError

from annotation.label_store.engine import LabelStore
from annotation.label_store.errors import StudyError
from annotation.label_store.schema import sessions, sign_in_attempts, users
from annotation.label_store.texts import to_timestamp


@dataclass(frozen=True)
class UserRow:
    """A row of `users`; password_hash None: signs in through the identity provider only."""

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
    except IntegrityError:
        raise StudyError(f"There is an account '{user.username}' already. Nothing was changed.") from None


def find_user(store: LabelStore, username: str) -> UserRow | None:
    """The account of that name."""
    with store.read() as con:
        return _user(con.execute(select(users).where(users.c.username == username)).mappings().first())


def _user(row: RowMapping | None) -> UserRow | None:
    return None if row is None else UserRow(**{name: row[name] for name in UserRow.__dataclass_fields__})


def list_users(store: LabelStore) -> list[UserRow]:
    """All accounts by name."""
    with store.read() as con:
        found = con.execute(select(users).order_by(users.c.username)).mappings()
        return [UserRow(**{name: row[name] for name in UserRow.__dataclass_fields__}) for row in found]


def set_password_hash(store: LabelStore, username: str, password_hash: str, *, sign_out: bool) -> None:
    """Replace the hash; with `sign_out`, end every session of the account."""
    with store.begin() as tx:
        tx.execute(update(users).where(users.c.username == username).values(password_hash=password_hash))
        if sign_out:
            tx.execute(delete(sessions).where(sessions.c.username == username))


def add_session(store: LabelStore, token_hash: str, username: str, now: datetime, expires_at: datetime) -> None:
    """Insert a session, and forget those that expired."""
    with store.begin() as tx:
        tx.execute(delete(sessions).where(sessions.c.expires_at <= to_timestamp(now)))
        made = {
            "token_hash": token_hash,
            "username": username,
            "created_at": to_timestamp(now),
            "expires_at": to_timestamp(expires_at),
        }
        tx.execute(insert(sessions).values(**made))


def session_user(store: LabelStore, token_hash: str, now: datetime) -> UserRow | None:
    """Whose session this is; None when there is none or it expired."""
    alive = (sessions.c.token_hash == token_hash, sessions.c.expires_at > to_timestamp(now))
    theirs = select(users).join(sessions, sessions.c.username == users.c.username).where(*alive)
    with store.read() as con:
        return _user(con.execute(theirs).mappings().first())


def end_session(store: LabelStore, token_hash: str) -> None:
    """Forget a session."""
    with store.begin() as tx:
        tx.execute(delete(sessions).where(sessions.c.token_hash == token_hash))


def recent_failures(tx: Connection, since: datetime, username: str | None = None) -> tuple[int, str | None]:
    """(failed sign-ins since then, time of the last one) of an account, or of all; a success of the account clears its own."""
    failed = select(func.count(), func.max(sign_in_attempts.c.at)).where(
        sign_in_attempts.c.failed, sign_in_attempts.c.at > to_timestamp(since)
    )
    if username is not None:
        good = (
            select(func.max(sign_in_attempts.c.at))
            .where(~sign_in_attempts.c.failed, sign_in_attempts.c.username == username)
            .scalar_subquery()
        )
        failed = failed.where(sign_in_attempts.c.username == username, sign_in_attempts.c.at > func.coalesce(good, ""))
    count, last = tx.execute(failed).one()
    return int(count), last


def record_attempt(tx: Connection, username: str, now: datetime, forget_before: datetime) -> int:
    """Write an attempt down as failed, before the password is looked at, and return its number; drop old ones."""
    tx.execute(delete(sign_in_attempts).where(sign_in_attempts.c.at <= to_timestamp(forget_before)))
    made = tx.execute(
        insert(sign_in_attempts)
        .values(username=username, at=to_timestamp(now), failed=True)
        .returning(sign_in_attempts.c.attempt)
    )
    return int(made.scalar_one())


def record_success(store: LabelStore, attempt: int) -> None:
    """The attempt was good after all."""
    with store.begin() as tx:
        tx.execute(update(sign_in_attempts).where(sign_in_attempts.c.attempt == attempt).values(failed=False))
