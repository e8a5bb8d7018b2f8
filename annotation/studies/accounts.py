"""Accounts, roles and signing in: argon2id hashes, throttled guessing, and sessions that survive a restart and expire.

The clock is passed in, so that a test can move it.
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
from annotation.label_store.engine import LabelStore, SignInError, StudyError
from annotation.label_store.schema import from_timestamp
from audit.vocabulary import nearest


class Role(StrEnum):
    """What an account may do.

    VIEWER browses runs and edits themes. ANNOTATOR rates in studies they belong to, and cannot reach a verdict. ADJUDICATOR
    decides where two annotators disagree, and sees agreement. PI does everything but rate: draws samples, advances studies,
    sees agreement, edits themes, exports.
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
MAX_FREE_FAILURES = 5
"""Wrong passwords of one account in WINDOW before it has to wait: 1 s, then twice as long each time, up to MAX_WAIT."""
MAX_WAIT = timedelta(minutes=5)
ALL_WINDOW, ALL_FAILURES = timedelta(minutes=1), 60
"""Limit on wrong passwords of all accounts together: above it, nobody can sign in until the window has moved on."""
WRONG_CREDENTIALS = "The name or the password is wrong."


@dataclass(frozen=True)
class Account:
    """Somebody who can sign in."""

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
    """Create an account.

    username  2 to 64 of a-z 0-9 . _ @ + -, in any case; with an identity provider, the e-mail address it reports
    password  None: signs in through the identity provider only

    Raises StudyError when the name is taken or not allowed, the role unknown, or the password too short or too long.
    """
    # Identity providers report the same address in different cases.
    username = username.strip().casefold()
    _check_new_account(username, role, password)
    hashed = None if password is None else (hasher or default_hasher()).hash(password)
    account_rows.add_user(store, UserRow(username, name.strip() or username, Role(role), hashed), now)
    return Account(username, name.strip() or username, Role(role))


def _check_new_account(username: str, role: str, password: str | None) -> None:
    if not USERNAME.fullmatch(username):
        raise StudyError(
            f"'{username}' is not a valid account name. Allowed: 2 to 64 of a-z, 0-9 and . _ @ + -. Nothing was created."
        )
    if role not in ROLES:
        raise StudyError(f"Role '{role}' is unknown.{nearest(role, ROLES)} Allowed: {', '.join(ROLES)}. Nothing was created.")
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
    """Change an account's password and end its sessions.

    Raises StudyError when there is no such account, or when the password is too short or too long.
    """
    username = username.strip().casefold()
    _check_password(password)
    if account_rows.find_user(store, username) is None:
        raise StudyError(f"There is no account '{username}'. Nothing was changed. See: audit account list")
    account_rows.set_password_hash(store, username, (hasher or default_hasher()).hash(password), sign_out=True)


def list_accounts(store: LabelStore) -> list[Account]:
    """All accounts by name."""
    return [_account(user) for user in account_rows.list_users(store)]


def find_account(store: LabelStore, username: str) -> Account | None:
    """The account of that name, without a password: for somebody whom the identity provider has authenticated."""
    user = account_rows.find_user(store, username.strip().casefold())
    return None if user is None else _account(user)


def _account(user: UserRow) -> Account:
    return Account(user.username, user.name, Role(user.role))


# -- signing in --------------------------------------------------------------------------------------------------------


def sign_in(store: LabelStore, username: str, password: str, now: datetime, hasher: PasswordHasher | None = None) -> str:
    """A session token for the right name and password; the browser keeps it, the store only its hash.

    Raises SignInError when they are wrong, and after too many wrong ones with the time to wait. An unknown name takes as long
    and counts as much as a known one, so that nobody can find out which accounts exist.
    """
    hasher = hasher or default_hasher()
    # Cut, because every attempt is stored with its name.
    username = username.strip().casefold()[:USERNAME_LIMIT]
    attempt = _admit_attempt(store, username, now)
    user = account_rows.find_user(store, username)
    known = user.password_hash if user is not None else None
    # The password is checked even where the account is unknown, so that both refusals take the same time.
    if not _password_matches(hasher, known or _unmatchable_hash(hasher), password) or user is None or known is None:
        raise SignInError(WRONG_CREDENTIALS)
    account_rows.record_success(store, attempt)
    # Recommended costs rise over the years, and only a correct password can be hashed again.
    if hasher.check_needs_rehash(known):
        account_rows.set_password_hash(store, username, hasher.hash(password), sign_out=False)
    return open_session(store, username, now)


def _admit_attempt(store: LabelStore, username: str, now: datetime) -> int:
    """Record the attempt before the password is checked, so that parallel guesses are all counted."""
    with store.begin() as tx:
        own_failures, last = account_rows.recent_failures(tx, now - WINDOW, username)
        all_failures, _ = account_rows.recent_failures(tx, now - ALL_WINDOW)
        wait = max(_account_wait(own_failures, last, now), ALL_WINDOW if all_failures >= ALL_FAILURES else timedelta(0))
        if wait > timedelta(0):
            raise SignInError(f"Too many wrong passwords. Try again in {math.ceil(wait.total_seconds())} seconds.")
        return account_rows.record_attempt(tx, username, now, forget_before=now - WINDOW)


def _account_wait(failed: int, last: str | None, now: datetime) -> timedelta:
    if failed < MAX_FREE_FAILURES or last is None:
        return timedelta(0)
    # The exponent is bounded so that the timedelta cannot overflow; 2**20 s is far above MAX_WAIT.
    return from_timestamp(last) + min(timedelta(seconds=2 ** min(failed - MAX_FREE_FAILURES, 20)), MAX_WAIT) - now


@cache
def _unmatchable_hash(hasher: PasswordHasher) -> str:
    """A hash that no password matches, so that an unknown name takes as long to refuse as a known one."""
    return hasher.hash(secrets.token_urlsafe(32))


def _password_matches(hasher: PasswordHasher, hashed: str, password: str) -> bool:
    try:
        # Cut, so that nobody can occupy the server with a huge password; one character more than allowed never matches a prefix.
        return hasher.verify(hashed, password[: PASSWORD_LENGTH[1] + 1])
    except (VerifyMismatchError, InvalidHashError):
        return False


# -- sessions ----------------------------------------------------------------------------------------------------------


def open_session(store: LabelStore, username: str, now: datetime) -> str:
    """A token for an account authenticated by password or by the identity provider. It expires after SESSION_LENGTH."""
    token = secrets.token_urlsafe(32)
    account_rows.add_session(store, _token_hash(token), username, now, now + SESSION_LENGTH)
    return token


def account_of_token(store: LabelStore, token: str, now: datetime) -> Account | None:
    """The account that a token belongs to; None when the session is unknown, ended or expired."""
    user = account_rows.session_user(store, _token_hash(token), now)
    return None if user is None else _account(user)


def sign_out(store: LabelStore, token: str) -> None:
    """End a session everywhere."""
    account_rows.end_session(store, _token_hash(token))


def _token_hash(token: str) -> str:
    # A token is 256 random bits, so guessing is hopeless and a fast hash is enough.
    return hashlib.sha256(token.encode()).hexdigest()
