"""Accounts, roles and signing in: argon2id hashes, slowed-down guessing, sessions that outlive a restart and end.

The clock is passed in: a test moves it, the dashboard passes its own.
"""

from __future__ import annotations

import hashlib
import math
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerifyMismatchError

from annotation.label_store import account_rows
from annotation.label_store.account_rows import UserRow
from annotation.label_store.engine import LabelStore
from annotation.label_store.errors import SignInError, StudyError
from annotation.label_store.texts import from_timestamp
from audit.vocabulary import nearest


class Role(StrEnum):
    """What an account may do.

    VIEWER browses runs and curates themes. ANNOTATOR rates in the studies that name them, and reaches no verdict. ADJUDICATOR
    decides where two annotators differ, and sees agreement. PI does all but rate: draws samples, moves studies, sees agreement,
    curates themes, exports.
    """

    VIEWER = "viewer"
    ANNOTATOR = "annotator"
    ADJUDICATOR = "adjudicator"
    PI = "pi"


ROLES = tuple(Role)
USERNAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{1,63}")
USERNAME_LIMIT = 64
PASSWORD_LENGTH = (12, 256)
SESSION_LENGTH = timedelta(hours=12)
WINDOW = timedelta(minutes=15)
FREE_FAILURES = 5
"""Wrong passwords of one account in WINDOW before it has to wait: 1 s, then twice as long each time, up to LONGEST_WAIT."""
LONGEST_WAIT = timedelta(minutes=5)
ALL_WINDOW, ALL_FAILURES = timedelta(minutes=1), 60
"""Wrong passwords of all accounts together: after this many in this time nobody signs in until some of it has passed."""
WRONG_CREDENTIALS = "The name or the password is wrong."


@dataclass(frozen=True)
class Account:
    """Who somebody is."""

    username: str
    name: str
    role: Role


@cache
def default_hasher() -> PasswordHasher:
    """argon2id with the second recommendation of RFC 9106 (64 MiB, 3 passes, 4 lanes): about 50 ms a password."""
    return PasswordHasher(time_cost=3, memory_cost=65_536, parallelism=4, type=Type.ID)


def add_account(
    store: LabelStore,
    username: str,
    role: str,
    password: str | None,
    now: datetime,
    *,
    name: str = "",
    hasher: PasswordHasher | None = None,
) -> Account:
    """Make an account.

    username  2 to 64 of a-z 0-9 . _ @ + -, case does not matter; for an identity provider: the e-mail address it gives
    password  None: signs in through the identity provider only

    Raises StudyError when the name is taken or not allowed, the role unknown, or the password too short or too long.
    """
    username = username.strip().casefold()
    _check_account(username, role, password)
    hashed = None if password is None else (hasher or default_hasher()).hash(password)
    account_rows.add_user(store, UserRow(username, name.strip() or username, Role(role), hashed), now)
    return Account(username, name.strip() or username, Role(role))


def _check_account(username: str, role: str, password: str | None) -> None:
    if not USERNAME.fullmatch(username):
        raise StudyError(f"'{username}' is no account name. Allowed: 2 to 64 of a-z, 0-9 and . _ @ + -. Nothing was made.")
    if role not in ROLES:
        raise StudyError(f"Role '{role}' is unknown.{nearest(role, ROLES)} Allowed: {', '.join(ROLES)}. Nothing was made.")
    if password is not None:
        _check_password(password)


def _check_password(password: str) -> None:
    shortest, longest = PASSWORD_LENGTH
    if not shortest <= len(password) <= longest:
        raise StudyError(
            f"The password has {len(password)} characters. Allowed: {shortest} to {longest}. Nothing was changed. "
            "Four random words make a good one."
        )


def change_password(store: LabelStore, username: str, password: str, hasher: PasswordHasher | None = None) -> None:
    """Give an account another password and end its sessions.

    Raises StudyError when there is no such account, or when the password is too short or too long.
    """
    username = username.strip().casefold()
    _check_password(password)
    if account_rows.find_user(store, username) is None:
        raise StudyError(f"There is no account '{username}'. Nothing was changed. See: annotation account list")
    account_rows.set_password_hash(store, username, (hasher or default_hasher()).hash(password), sign_out=True)


def list_accounts(store: LabelStore) -> list[Account]:
    """All accounts by name."""
    return [_account(user) for user in account_rows.list_users(store)]


def find_account(store: LabelStore, username: str) -> Account | None:
    """The account of that name: for somebody whom the identity provider has vouched for."""
    user = account_rows.find_user(store, username.strip().casefold())
    return None if user is None else _account(user)


def _account(user: UserRow) -> Account:
    return Account(user.username, user.name, Role(user.role))


# -- signing in --------------------------------------------------------------------------------------------------------


def sign_in(store: LabelStore, username: str, password: str, now: datetime, hasher: PasswordHasher | None = None) -> str:
    """A session token for the right name and password; the browser keeps it, the store only its hash.

    Raises SignInError when they are wrong, or when too many were: it then says how long to wait. An unknown name takes as
    long and counts as much as a known one.
    """
    hasher = hasher or default_hasher()
    username = username.strip().casefold()[:USERNAME_LIMIT]
    attempt = _admit(store, username, now)
    user = account_rows.find_user(store, username)
    known = user.password_hash if user is not None else None
    if not _matches(hasher, known or _nobody(hasher), password) or user is None or known is None:
        raise SignInError(WRONG_CREDENTIALS)
    account_rows.record_success(store, attempt)
    if hasher.check_needs_rehash(known):
        account_rows.set_password_hash(store, username, hasher.hash(password), sign_out=False)
    return open_session(store, username, now)


def _admit(store: LabelStore, username: str, now: datetime) -> int:
    """Write the attempt down before the password is looked at: many guesses at once count as many."""
    with store.begin() as tx:
        own, last = account_rows.recent_failures(tx, now - WINDOW, username)
        everybody, _ = account_rows.recent_failures(tx, now - ALL_WINDOW)
        wait = max(_own_wait(own, last, now), ALL_WINDOW if everybody >= ALL_FAILURES else timedelta(0))
        if wait > timedelta(0):
            raise SignInError(f"Too many wrong passwords. Try again in {math.ceil(wait.total_seconds())} seconds.")
        return account_rows.record_attempt(tx, username, now, forget_before=now - WINDOW)


def _own_wait(failed: int, last: str | None, now: datetime) -> timedelta:
    if failed < FREE_FAILURES or last is None:
        return timedelta(0)
    return from_timestamp(last) + min(timedelta(seconds=2 ** min(failed - FREE_FAILURES, 20)), LONGEST_WAIT) - now


@cache
def _nobody(hasher: PasswordHasher) -> str:
    """A hash that no password fits, so that an unknown name costs as much time as a known one."""
    return hasher.hash(secrets.token_urlsafe(32))


def _matches(hasher: PasswordHasher, hashed: str, password: str) -> bool:
    try:
        return hasher.verify(hashed, password[: PASSWORD_LENGTH[1] + 1])
    except (VerifyMismatchError, InvalidHashError):
        return False


# -- sessions ----------------------------------------------------------------------------------------------------------


def open_session(store: LabelStore, username: str, now: datetime) -> str:
    """A token for an account that has proved itself: by password, or to the identity provider. It ends after SESSION."""
    token = secrets.token_urlsafe(32)
    account_rows.add_session(store, _hashed(token), username, now, now + SESSION_LENGTH)
    return token


def account_of_token(store: LabelStore, token: str, now: datetime) -> Account | None:
    """Whose token this is; None when it is unknown, ended or expired."""
    user = account_rows.session_user(store, _hashed(token), now)
    return None if user is None else _account(user)


def sign_out(store: LabelStore, token: str) -> None:
    """End a session everywhere."""
    account_rows.end_session(store, _hashed(token))


def _hashed(token: str) -> str:
    # A token is 256 random bits, so a fast hash is enough: there is nothing to guess.
    return hashlib.sha256(token.encode()).hexdigest()
