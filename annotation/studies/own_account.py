"""What people do with their own account: change the password, see and end sessions, and add a second factor (TOTP, RFC 6238).

The clock is passed in, so a test can move it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import pyotp
from argon2 import PasswordHasher

from annotation.label_store import account_rows
from annotation.label_store.access_log import Actor, Event, log_event
from annotation.label_store.engine import LabelStore, StudyError
from annotation.studies.accounts import change_password, token_hash
from annotation.studies.signing_in import check_code, check_own_password

ISSUER = "Handbook audit"


@dataclass(frozen=True)
class OwnSession:
    """A session begun by password. key: tells it from others; at: UTC, ISO 8601; used_at None: not since it began."""

    key: str
    created_at: str
    used_at: str | None


def own_sessions(store: LabelStore, username: str, now: datetime) -> list[OwnSession]:
    """The sessions of an account that go on, the newest first."""
    return [OwnSession(*row) for row in account_rows.list_sessions(store, username, now)]


def end_own_session(store: LabelStore, username: str, key: str, now: datetime, *, address: str = "") -> None:
    """End a session of one's own."""
    with store.begin() as tx:
        if account_rows.end_session_of(tx, username, key):
            log_event(tx, Event.SESSION_ENDED, Actor(username, address), now, username)


def change_own_password(
    store: LabelStore,
    username: str,
    password: str,
    new_password: str,
    now: datetime,
    hasher: PasswordHasher | None = None,
    *,
    address: str = "",
) -> None:
    """Replace a password by another; every session of the account ends.

    Raises SignInError where `password` is wrong or was guessed too often, StudyError where the new one is not allowed.
    """
    check_own_password(store, username, password, now, hasher, address=address)
    if new_password == password:
        raise StudyError("The new password is the old one. Nothing was changed.")
    change_password(store, username, new_password, now, Actor(username, address), hasher)


def new_secret() -> str:
    """A secret for a second factor that is not in force yet."""
    return pyotp.random_base32()


def secret_address(username: str, secret: str) -> str:
    """The secret as an address that apps for one-time codes open."""
    return pyotp.TOTP(secret).provisioning_uri(name=username, issuer_name=ISSUER)


def add_second_factor(store: LabelStore, username: str, secret: str, code: str, now: datetime, *, address: str = "") -> None:
    """Ask for a code at each sign-in by password from now on. Raises StudyError where `code` is not one of this secret."""
    if not pyotp.TOTP(secret).verify(code.replace(" ", ""), for_time=now, valid_window=1):
        raise StudyError("The code is not one of this secret: check the clock of your device. Nothing was changed.")
    _set_secret(store, username, secret, now, "added", address)


def remove_second_factor(store: LabelStore, username: str, code: str, now: datetime, *, address: str = "") -> None:
    """Ask for no code any more. Raises SignInError where `code` is wrong, or too many were."""
    check_code(store, username, code, now, address=address)
    _set_secret(store, username, None, now, "removed", address)


def session_key(token: str) -> str:
    """What tells the session of a token from others."""
    return token_hash(token)


def has_password(store: LabelStore, username: str) -> bool:
    """Whether an account signs in here and not only elsewhere."""
    user = account_rows.find_user(store, username)
    return user is not None and user.password_hash is not None


def has_second_factor(store: LabelStore, username: str) -> bool:
    """Whether an account has a second factor."""
    user = account_rows.find_user(store, username)
    return user is not None and user.totp_secret is not None


def _set_secret(store: LabelStore, username: str, secret: str | None, now: datetime, what: str, address: str) -> None:
    with store.begin() as tx:
        account_rows.update_user(tx, username, totp_secret=secret)
        log_event(tx, Event.SECOND_FACTOR, Actor(username, address), now, f"{username}: {what}")
