"""Accounts and sessions as rows of the database. The rules are in `annotation.studies.accounts`."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Connection, Select, and_, delete, func, insert, or_, select, text, update
from sqlalchemy.exc import IntegrityError

from annotation.label_store.access_log import Actor, Event, log_event
from annotation.label_store.engine import GROWN, LabelStore, StudyError
from annotation.label_store.schema import ended_sign_ins, provider_users, sessions, sign_in_attempts, users
from annotation.label_store.stored_values import record_of, to_timestamp
from audit.errors import AuditError

CLOCK_TOLERANCE = timedelta(minutes=1)
"""Of two servers' clocks. What lies further ahead was recorded before a clock was set back, and counts nowhere."""
IDLE_LIMIT, USE_NOTED = timedelta(hours=2), timedelta(minutes=1)
"""How long a session may be unused, and how exactly its use is noted."""


@dataclass(frozen=True)
class UserRow:
    """A row of `users`.

    password_hash    None: signs in through the identity provider only
    disabled_at      None: may sign in
    one_time_until   not None: the password is good for one sign-in until then, and has to be changed there
    signed_out_at    when every session was last ended
    totp_secret      of the second factor; totp_used: the last step of 30 s whose code signed in
    """

    username: str
    name: str
    role: str
    password_hash: str | None
    disabled_at: str | None = None
    one_time_until: str | None = None
    last_sign_in_at: str | None = None
    signed_out_at: str | None = None
    totp_secret: str | None = None
    totp_used: int | None = None


def add_user(store: LabelStore, user: UserRow, actor: Actor, now: datetime) -> None:
    """Insert an account, and log it.

    Raises StudyError when the username is taken.
    """
    try:
        with store.begin() as tx:
            insert_user(tx, user, actor, now)
    # The constraint decides instead of a query before: two people may add the same name at once.
    except IntegrityError:
        raise StudyError(f"The account '{user.username}' already exists. Nothing was changed.") from None


def insert_user(tx: Connection, user: UserRow, actor: Actor, now: datetime, how: str = "") -> None:
    """`add_user` inside a transaction; IntegrityError when the username is taken."""
    tx.execute(insert(users).values(**user.__dict__, created_at=to_timestamp(now)))
    tx.info[GROWN] = True
    log_event(tx, Event.ACCOUNT_ADDED, actor, now, ", ".join(filter(None, [f"{user.username}: {user.role}", how])))


def lock_accounts(tx: Connection) -> None:
    """Let nobody else add an account until the transaction ends."""
    if tx.dialect.name == "postgresql":  # a transaction of SQLite that writes has the whole database
        tx.execute(text("lock table users in share row exclusive mode"))


def has_users(tx: Connection) -> bool:
    """Whether there is any account."""
    return tx.execute(select(users.c.username).limit(1)).first() is not None


def find_user(store: LabelStore, username: str) -> UserRow | None:
    """The account of that name, if it exists."""
    with store.read() as con:
        row = con.execute(select(users).where(users.c.username == username)).mappings().first()
        return None if row is None else record_of(UserRow, row)


def provider_user_of(con: Connection, username: str) -> str | None:
    """Issuer and subject that an account is bound to; None where it is bound to nobody yet."""
    return con.execute(select(provider_users.c.provider_user).where(provider_users.c.username == username)).scalar()


def username_bound_to(store: LabelStore, provider_user: str) -> str | None:
    """The account that is bound to this issuer and subject."""
    with store.read() as con:
        return con.execute(select(provider_users.c.username).where(provider_users.c.provider_user == provider_user)).scalar()


def bind_provider_user(tx: Connection, username: str, provider_user: str, now: datetime) -> None:
    """Bind an account to an issuer and subject."""
    tx.execute(insert(provider_users).values(provider_user=provider_user, username=username, bound_at=to_timestamp(now)))


def unbind_provider_user(tx: Connection, username: str) -> bool:
    """Let the next verified sign-in bind the account again; True if it was bound."""
    return bool(tx.execute(delete(provider_users).where(provider_users.c.username == username)).rowcount)


def list_users(store: LabelStore) -> list[UserRow]:
    """All accounts, by username."""
    with store.read() as con:
        return [record_of(UserRow, row) for row in con.execute(select(users).order_by(users.c.username)).mappings()]


def locked_user(tx: Connection, username: str) -> UserRow | None:
    """The account of that name, which nobody else changes until the transaction ends."""
    row = tx.execute(select(users).where(users.c.username == username).with_for_update()).mappings().first()
    return None if row is None else record_of(UserRow, row)


def active_users_with_role(tx: Connection, role: str) -> list[str]:
    """The names of the accounts with this role that are not disabled; none of them changes until the transaction ends."""
    query = select(users.c.username).where(users.c.role == role, users.c.disabled_at.is_(None)).order_by(users.c.username)
    return list(tx.execute(query.with_for_update()).scalars())


def update_user(tx: Connection, username: str, **values: str | int | None) -> None:
    """Replace values of an account."""
    tx.execute(update(users).where(users.c.username == username).values(**values))


def end_sessions(tx: Connection, username: str, now: datetime) -> int:
    """End every session of an account, those through the identity provider too; the number of those begun by password."""
    update_user(tx, username, signed_out_at=to_timestamp(now))
    return tx.execute(delete(sessions).where(sessions.c.username == username)).rowcount


def end_all_sessions(tx: Connection, now: datetime) -> None:
    """End the sessions of everybody, those through the identity provider too."""
    tx.execute(update(users).values(signed_out_at=to_timestamp(now)))
    tx.execute(delete(sessions))


def count_sessions(store: LabelStore, now: datetime) -> dict[str, int]:
    """Username -> sessions begun by password that go on."""
    query = select(sessions.c.username, func.count()).where(*_goes_on(now)).group_by(sessions.c.username)
    with store.read() as con:
        return dict(map(tuple, con.execute(query)))


def list_sessions(store: LabelStore, username: str, now: datetime) -> list[tuple[str, str, str | None]]:
    """(hash of the token, begun at, last used at) of the sessions of an account that go on, the newest first."""
    query = select(sessions.c.token_hash, sessions.c.created_at, sessions.c.used_at)
    query = query.where(sessions.c.username == username, *_goes_on(now)).order_by(sessions.c.created_at.desc())
    with store.read() as con:
        return [(key, created_at, used_at) for key, created_at, used_at in con.execute(query)]


def _goes_on(now: datetime) -> tuple[ColumnElement[bool], ...]:
    """Neither expired nor unused for IDLE_LIMIT, and not begun by a clock that was ahead."""
    used = func.coalesce(sessions.c.used_at, sessions.c.created_at)
    return (
        sessions.c.expires_at > to_timestamp(now),
        sessions.c.created_at <= to_timestamp(now + CLOCK_TOLERANCE),
        used > to_timestamp(now - IDLE_LIMIT),
    )


def end_session_of(tx: Connection, username: str, token_hash: str) -> bool:
    """Delete a session of this account; whether there was one."""
    owned = (sessions.c.token_hash == token_hash, sessions.c.username == username)
    return bool(tx.execute(delete(sessions).where(*owned)).rowcount)


def add_session(tx: Connection, token_hash: str, username: str, now: datetime, expires_at: datetime) -> None:
    """Insert a session and delete expired ones."""
    times = {"created_at": to_timestamp(now), "expires_at": to_timestamp(expires_at)}
    # Removed at each sign-in, so no separate clean-up job is needed.
    tx.execute(delete(sessions).where(sessions.c.expires_at <= times["created_at"]))
    tx.execute(insert(sessions).values(token_hash=token_hash, username=username, **times))


def session_user(store: LabelStore, token_hash: str, now: datetime) -> UserRow | None:
    """The account that the session belongs to; None when the session is unknown or over, or the account is disabled.

    Notes that the session is used, to within a minute.
    """
    valid = (sessions.c.token_hash == token_hash, *_goes_on(now), users.c.disabled_at.is_(None))
    query = select(users, func.coalesce(sessions.c.used_at, sessions.c.created_at).label("used"))
    with store.read() as con:
        row = con.execute(query.join(sessions, sessions.c.username == users.c.username).where(*valid)).mappings().first()
    if row is None:
        return None
    if row["used"] < to_timestamp(now - USE_NOTED):
        # A disk that is full or read-only must not sign people out
        with suppress(AuditError), store.begin() as tx:
            tx.execute(update(sessions).where(sessions.c.token_hash == token_hash).values(used_at=to_timestamp(now)))
    return record_of(UserRow, row)


def end_session(tx: Connection, token_hash: str) -> str | None:
    """Delete a session; the username it belonged to, None where there was none."""
    username: str | None = tx.execute(
        delete(sessions).where(sessions.c.token_hash == token_hash).returning(sessions.c.username)
    ).scalar()
    return username


def end_provider_sign_in(store: LabelStore, sign_in: str, expires_at: datetime, now: datetime) -> None:
    """Remember that a sign-in at the identity provider has ended, and forget those that have expired."""
    with store.begin() as tx:
        tx.execute(delete(ended_sign_ins).where(ended_sign_ins.c.expires_at <= to_timestamp(now)))
        if tx.execute(_ended(sign_in)).first() is None:
            tx.execute(insert(ended_sign_ins).values(sign_in=sign_in, expires_at=to_timestamp(expires_at)))


def provider_sign_in_has_ended(store: LabelStore, sign_in: str) -> bool:
    """Whether a sign-in at the identity provider was ended here."""
    with store.read() as con:
        return con.execute(_ended(sign_in)).first() is not None


def _ended(sign_in: str) -> Select[tuple[str]]:
    return select(ended_sign_ins.c.sign_in).where(ended_sign_ins.c.sign_in == sign_in)


# -- Sign-in attempts as rows of the database. How many are allowed is decided in `annotation.studies.signing_in`


attempt = sign_in_attempts.c


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
