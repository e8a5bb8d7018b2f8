"""The first account, made on the sign-in page by whoever has the code that the server printed at its start.

Without the code anybody who reaches a new server first would own it. The code lives in the server's memory only: a restart
prints another, and it is useless once there is an account.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from datetime import datetime

from argon2 import PasswordHasher

from annotation.label_store import account_rows
from annotation.label_store.access_log import UNKNOWN_NAME, Actor, Event, log_event
from annotation.label_store.engine import LabelStore, SignInError
from annotation.label_store.stored_values import to_timestamp
from annotation.studies.accounts import Role, begin_session, new_user, one_time_password
from annotation.studies.signing_in import admit_attempt

WRONG_CODE = "The code is wrong. Nothing was created. The server printed it when it started; a restart prints another."
TAKEN = "There is an account already, so the code has expired. Sign in, or ask an investigator for an account."
ELSEWHERE = "The first account is made in a terminal here. Nothing was created."
ATTEMPTS = "(first account)"
"""Under this name wrong codes are counted; no account can have it."""


@dataclass
class _ServerCode:
    """The code of this server process; empty where it printed none."""

    code: str = field(default="", repr=False)


_server = _ServerCode()


def issue_code() -> str:
    """Another code for this process, such as `k7qm-2hva-x9tc-p4re`; the one before opens nothing any more."""
    _server.code = one_time_password()
    return _server.code


def code_issued() -> bool:
    """Whether this process has a code. Whether it still opens anything depends on the accounts."""
    return bool(_server.code)


def withdraw_code() -> None:
    """Forget the code."""
    _server.code = ""


def create_first_account(
    store: LabelStore,
    username: str,
    password: str,
    code: str,
    now: datetime,
    hasher: PasswordHasher | None = None,
    *,
    name: str = "",
    address: str = "",
) -> str:
    """Create the first account, with the role PI, and sign in; a session token.

    code     as the server printed it; case, spaces and hyphens do not matter
    address  of the browser, as far as it is known

    Raises SignInError for a wrong code, after too many wrong ones with the time to wait, and where there is an account already;
    StudyError when the name or the password is not allowed.
    """
    number = admit_attempt(store, account_rows.attempt_key(ATTEMPTS), address, now, "codes")
    if not _matches(code):
        with store.begin() as tx:
            log_event(tx, Event.SIGN_IN_FAILED, Actor(UNKNOWN_NAME, address), now, "wrong code for the first account")
        raise SignInError(WRONG_CODE)
    with store.begin() as tx:  # the code was right: a name that is not allowed is no guess
        account_rows.mark_success(tx, number)
    user = new_user(username, Role.PI, password, name=name, hasher=hasher)
    actor = Actor(user.username, address)
    with store.begin() as tx:
        account_rows.lock_accounts(tx)
        if account_rows.has_users(tx):
            raise SignInError(TAKEN)
        account_rows.insert_user(tx, user, actor, now, "the first account, by the code that the server printed")
        account_rows.update_user(tx, user.username, last_sign_in_at=to_timestamp(now))
        log_event(tx, Event.SIGN_IN, actor, now, "by password")
        token = begin_session(tx, user.username, now)
    withdraw_code()
    return token


def _matches(code: str) -> bool:
    typed, right = (_normalised_code(text).encode() for text in (code[:64], _server.code))
    # Compared even without a code, and in constant time, so the response time reveals nothing.
    return hmac.compare_digest(typed, right) and bool(right)


def _normalised_code(code: str) -> str:
    return "".join(character for character in code.casefold() if character.isalnum())
