"""Accounts, their roles, and sessions that survive a restart and expire; who changed an account is in the access log.

The clock is passed in, so a test can move it.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerifyMismatchError
from zxcvbn import zxcvbn

from annotation.label_store import account_rows
from annotation.label_store.access_log import TERMINAL, Actor, Event, log_event
from annotation.label_store.account_rows import UserRow
from annotation.label_store.engine import LabelStore, SignInError, StudyError, Transaction
from annotation.label_store.stored_values import to_timestamp
from audit.vocabulary import nearest


class Role(StrEnum):
    """The permissions of an account.

    VIEWER browses runs and edits themes. ANNOTATOR rates in studies they belong to, and cannot reach a verdict. ADJUDICATOR
    decides where two annotators disagree, and sees agreement. PI does everything but rate: draws samples, advances studies,
    sees agreement, edits themes, exports, manages accounts.
    """

    VIEWER = "viewer"
    ANNOTATOR = "annotator"
    ADJUDICATOR = "adjudicator"
    PI = "pi"


ROLES = tuple(Role)
USERNAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{1,63}")
SESSION_LENGTH = timedelta(hours=12)
DISABLED = "This account is disabled. Ask an investigator to enable it."
ONE_TIME_PASSWORD_LENGTH = timedelta(days=7)
"""How long a one-time password can be used."""


@dataclass(frozen=True)
class Account:
    """Somebody who can sign in."""

    username: str
    name: str
    role: Role


@dataclass(frozen=True)
class AccountState:
    """An account as its PI sees it.

    sessions         those begun by password that go on; an identity provider does not tell how many it keeps
    last_sign_in_at  UTC, ISO 8601; None: never
    one_time         whether its password is for one sign-in only
    """

    account: Account
    disabled: bool
    one_time: bool
    by_password: bool
    sessions: int
    last_sign_in_at: str | None

    @property
    def state(self) -> str:
        """One or two words."""
        if self.disabled:
            return "disabled"
        return "one-time password" if self.one_time else "active"


def normal_username(username: str) -> str:
    """A username as it is stored: identity providers report the same address in different cases.

    Only A to Z change: `ſ` and the sign for kelvin have a lower case in ASCII too, and would be somebody else's letters.
    """
    name = username.strip()
    return name.lower() if name.isascii() else name


def add_account(
    store: LabelStore,
    username: str,
    role: str,
    password: str | None,
    now: datetime,
    *,
    name: str = "",
    actor: Actor = TERMINAL,
    hasher: PasswordHasher | None = None,
) -> Account:
    """Create an account.

    username  2 to 64 of a-z 0-9 . _ @ + -, in any case; with an identity provider, the e-mail address it reports
    password  None: signs in through the identity provider only

    Raises StudyError when the name is taken or not allowed, the role unknown, or the password too short or too long.
    """
    user = new_user(username, role, password, name=name, hasher=hasher)
    account_rows.add_user(store, user, actor, now)
    return account_from(user)


def new_user(username: str, role: str, password: str | None, *, name: str = "", hasher: PasswordHasher | None = None) -> UserRow:
    """The row of an account that is not stored yet. Raises StudyError as `add_account` does, but for a name that is taken."""
    username = normal_username(username)
    if not USERNAME.fullmatch(username):
        raise StudyError(
            f"'{username}' is not a valid account name. Allowed: 2 to 64 of a-z, 0-9 and . _ @ + -. Nothing was created."
        )
    known_role = _known_role(role)
    hashed = None if password is None else hash_password(password, hasher, username=username)
    return UserRow(username, name.strip() or username, known_role, hashed)


def _known_role(role: str) -> Role:
    if role not in ROLES:
        raise StudyError(f"Role '{role}' is unknown.{nearest(role, ROLES)} Allowed: {', '.join(ROLES)}. Nothing was changed.")
    return Role(role)


def list_accounts(store: LabelStore) -> list[Account]:
    """All accounts by name, disabled ones included."""
    return [account_from(user) for user in account_rows.list_users(store)]


def list_account_states(store: LabelStore, now: datetime) -> list[AccountState]:
    """All accounts by name, with what their PI should know about each."""
    sessions = account_rows.count_sessions(store, now)
    return [
        AccountState(
            account_from(user), user.disabled_at is not None, user.one_time_until is not None, user.password_hash is not None,
            sessions.get(user.username, 0), user.last_sign_in_at,
        )
        for user in account_rows.list_users(store)
    ]  # fmt: skip


def find_account(store: LabelStore, username: str) -> Account | None:
    """The account of that name, disabled or not."""
    user = account_rows.find_user(store, normal_username(username))
    return None if user is None else account_from(user)


def account_from(user: UserRow) -> Account:
    """A row of `users` as an account."""
    return Account(user.username, user.name, Role(user.role))


# -- changing an account -----------------------------------------------------------------------------------------------


def change_password(
    store: LabelStore, username: str, password: str, now: datetime, actor: Actor = TERMINAL, hasher: PasswordHasher | None = None
) -> None:
    """Change an account's password and end its sessions.

    Raises StudyError when there is no such account, or when the password is too short or too long.
    """
    hashed = hash_password(password, hasher, username=username)
    with store.begin() as tx:
        user = _existing(tx, username)
        account_rows.update_user(tx, user.username, password_hash=hashed, one_time_until=None)
        # The old password may be known to somebody who is signed in with it, so their sessions must end.
        account_rows.end_sessions(tx, user.username, now)
        log_event(tx, Event.PASSWORD_CHANGED, actor, now, user.username)


def reset_password(
    store: LabelStore, username: str, now: datetime, actor: Actor = TERMINAL, hasher: PasswordHasher | None = None
) -> str:
    """A one-time password in place of the account's own; it has to be changed at the first sign-in. Its sessions end.

    The password is returned here only, and cannot be used after ONE_TIME_PASSWORD_LENGTH.

    Raises StudyError when there is no such account.
    """
    password = one_time_password()
    hashed, until = hash_password(password, hasher), to_timestamp(now + ONE_TIME_PASSWORD_LENGTH)
    with store.begin() as tx:
        user = _existing(tx, username)
        # Whoever lost the device with the second factor gets in by the same way
        account_rows.update_user(tx, user.username, password_hash=hashed, one_time_until=until, totp_secret=None)
        account_rows.end_sessions(tx, user.username, now)
        log_event(tx, Event.PASSWORD_RESET, actor, now, user.username)
    return password


def change_role(store: LabelStore, username: str, role: str, now: datetime, actor: Actor = TERMINAL) -> None:
    """Give an account another role; open pages have it from their next step on.

    Raises StudyError when there is no such account or role, or when no PI would be left.
    """
    new_role = _known_role(role)
    with store.begin() as tx:
        user = _existing(tx, username) if new_role is Role.PI else _with_other_pi(tx, username)
        account_rows.update_user(tx, user.username, role=new_role)
        log_event(tx, Event.ROLE_CHANGED, actor, now, f"{user.username}: {user.role} → {new_role}")


def disable_account(store: LabelStore, username: str, now: datetime, actor: Actor = TERMINAL) -> None:
    """Keep an account from signing in and end its sessions; its ratings and edits stay, under its name.

    Raises StudyError when there is no such account, or when no PI would be left.
    """
    with store.begin() as tx:
        user = _with_other_pi(tx, username)
        account_rows.update_user(tx, user.username, disabled_at=to_timestamp(now))
        account_rows.end_sessions(tx, user.username, now)
        log_event(tx, Event.DISABLED, actor, now, user.username)


def enable_account(store: LabelStore, username: str, now: datetime, actor: Actor = TERMINAL) -> None:
    """Let a disabled account sign in again. Raises StudyError when there is no such account."""
    with store.begin() as tx:
        user = _existing(tx, username)
        account_rows.update_user(tx, user.username, disabled_at=None)
        log_event(tx, Event.ENABLED, actor, now, user.username)


def sign_out_everywhere(store: LabelStore, username: str, now: datetime, actor: Actor = TERMINAL) -> int:
    """End every session of an account, those through the identity provider too; the number of those begun by password.

    Raises StudyError when there is no such account.
    """
    with store.begin() as tx:
        user = _existing(tx, username)
        ended = account_rows.end_sessions(tx, user.username, now)
        log_event(tx, Event.SIGN_OUT_EVERYWHERE, actor, now, user.username)
    return ended


def _existing(tx: Transaction, username: str) -> UserRow:
    user = account_rows.locked_user(tx, normal_username(username))
    if user is None:
        raise StudyError(f"There is no account '{normal_username(username)}'. Nothing was changed. See: audit account list")
    return user


def _with_other_pi(tx: Transaction, username: str) -> UserRow:
    # The PIs are locked before the account, so two who demote each other wait and do not block each other for good.
    investigators = account_rows.active_users_with_role(tx, Role.PI)
    user = _existing(tx, username)
    if investigators == [user.username]:
        raise StudyError(
            f"'{user.username}' is the only PI who can sign in, and nobody else could undo this. Nothing was changed. "
            "Give another account the role pi first."
        )
    return user


# -- sessions ----------------------------------------------------------------------------------------------------------


def open_session(store: LabelStore, username: str, now: datetime) -> str:
    """A token for an account that has proved who it is. It expires after SESSION_LENGTH."""
    with store.begin() as tx:
        return begin_session(tx, username, now)


def begin_session(tx: Transaction, username: str, now: datetime) -> str:
    """`open_session` inside a transaction."""
    token = secrets.token_urlsafe(32)
    account_rows.add_session(tx, token_hash(token), username, now, now + SESSION_LENGTH)
    return token


def account_of_token(store: LabelStore, token: str, now: datetime) -> Account | None:
    """The account that a token belongs to; None when the session is unknown, ended or expired, or the account disabled."""
    user = account_rows.session_user(store, token_hash(token), now)
    return None if user is None else account_from(user)


def sign_out(store: LabelStore, token: str, now: datetime, address: str = "") -> None:
    """End one session."""
    with store.begin() as tx:
        if username := account_rows.end_session(tx, token_hash(token)):
            log_event(tx, Event.SIGN_OUT, Actor(username, address), now)


def token_hash(token: str) -> str:
    """What the store keeps of a session's token."""
    # A token is 256 random bits, so guessing is hopeless and a fast hash is enough.
    return hashlib.sha256(token.encode()).hexdigest()


# -- Passwords -----------------------------------------------------------------------------------------------


PASSWORD_LENGTH = (12, 256)
MIN_SCORE, MAX_ESTIMATED = 3, 72
"""Of zxcvbn, from 0 to 4: 3 is more than 10**8 guesses by somebody who knows the lists of common ones. It reads 72 characters."""
HASHES_AT_ONCE = 2
"""Each takes 64 MiB and four threads, and anybody who reaches the sign-in page can ask for one."""
MAX_QUEUE_S = 20.0
BUSY = "Too many people are signing in at this moment, so your password was not checked. Wait a few seconds and try again."
UNAMBIGUOUS = "abcdefghjkmnpqrstuvwxyz23456789"
GROUPS, GROUP_LENGTH = 4, 4
"""Of a one-time password: 16 of 31 letters and digits are 79 random bits."""

_slots = threading.BoundedSemaphore(HASHES_AT_ONCE)


@cache
def default_hasher() -> PasswordHasher:
    """argon2id with the second recommendation of RFC 9106 (64 MiB, 3 passes, 4 lanes): about 50 ms a password."""
    return PasswordHasher(time_cost=3, memory_cost=65_536, parallelism=4, type=Type.ID)


@contextmanager
def _hashing_slot() -> Iterator[None]:
    """Wait for one of HASHES_AT_ONCE turns. Raises SignInError after MAX_QUEUE_S."""
    if not _slots.acquire(timeout=MAX_QUEUE_S):
        raise SignInError(BUSY)
    try:
        yield
    finally:
        _slots.release()


def check_new_password(password: str, username: str = "") -> None:
    """Raise StudyError when a new password is too short, too long, or one of the first that anybody would guess."""
    shortest, longest = PASSWORD_LENGTH
    if not shortest <= len(password) <= longest:
        raise StudyError(
            f"The password has {len(password)} characters. Allowed: {shortest} to {longest}. Nothing was changed. "
            "Four random words make a good one."
        )
    known = ["handbook", "audit", *re.findall(r"[^\W\d_]+", username)]
    if zxcvbn(password[:MAX_ESTIMATED], user_inputs=known)["score"] < MIN_SCORE:
        raise StudyError(
            "The password is a common one, repeats itself or is made from your name, so it is among the first that are guessed. "
            "Nothing was changed. Four random words make a good one."
        )


def hash_password(password: str, hasher: PasswordHasher | None = None, *, username: str = "") -> str:
    """The hash that is stored. Raises StudyError when the password is not allowed."""
    check_new_password(password, username)
    with _hashing_slot():
        return (hasher or default_hasher()).hash(password)


def password_matches(hasher: PasswordHasher, hashed: str | None, password: str) -> bool:
    """Whether this is the password. An account without a hash has none, and takes as long to refuse.

    Raises SignInError when so many passwords are being checked that this one has no turn within MAX_QUEUE_S.
    """
    with _hashing_slot():
        try:
            # Cut, so nobody can occupy the server with a huge password; one character more never matches a prefix.
            typed = password[: PASSWORD_LENGTH[1] + 1]
            return hasher.verify(hashed or _unmatchable_hash(hasher), typed) and hashed is not None
        except (VerifyMismatchError, InvalidHashError):
            return False


@cache
def _unmatchable_hash(hasher: PasswordHasher) -> str:
    """A hash that no password matches, so an unknown name takes as long to reject as a known one."""
    return hasher.hash(secrets.token_urlsafe(32))


def one_time_password() -> str:
    """A random password that can be read out over the telephone, such as `k7qm-2hva-x9tc-p4re`."""
    return "-".join("".join(secrets.choice(UNAMBIGUOUS) for _ in range(GROUP_LENGTH)) for _ in range(GROUPS))
