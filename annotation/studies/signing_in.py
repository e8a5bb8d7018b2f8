"""Signing in by password: guessing is slowed down without locking out anybody else.

Wrong passwords are counted three ways: for an account from one address, for an account from all addresses, and from an address
for all accounts. Of each count some are free; after that every attempt waits, twice as long each time. Somebody who signed in
from this address within the last 30 days is held back by the first count alone. So a stranger who guesses an owner's password
from elsewhere, or fills the count of an address that a ward shares, does not lock the owner out of their usual place. From a new
place the owner may have to wait up to MAX_WAIT while somebody is guessing: telling the two apart would need more than a
password. Sessions that have begun are never looked at. Nothing counts over all accounts and addresses together, because whoever
filled such a count would shut out everybody.

The address is that of the connection, or the one that a trusted proxy reports. Behind a proxy that is not trusted everybody has
the proxy's address, and a stranger can make an owner wait. The clock is passed in, so a test can move it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address

from argon2 import PasswordHasher

from annotation.label_store import account_rows
from annotation.label_store import sign_in_attempts as attempts
from annotation.label_store.access_log import UNKNOWN_NAME, Actor, Event, log_event
from annotation.label_store.account_rows import UserRow
from annotation.label_store.engine import LabelStore, SignInError, StudyError, Transaction
from annotation.label_store.stored_values import from_timestamp, to_timestamp
from annotation.studies.accounts import DISABLED, begin_session, normal_username
from annotation.studies.passwords import check_length, default_hasher, hash_password, password_matches

WINDOW = timedelta(minutes=15)
MAX_WAIT = timedelta(minutes=5)
KNOWN_ADDRESS = timedelta(days=30)
PAIR_FAILURES, ACCOUNT_FAILURES, ADDRESS_FAILURES = 5, 20, 30
"""Wrong passwords in WINDOW before waiting: 1 s, then twice as long each time, up to MAX_WAIT."""
USERNAME_LIMIT = 64
NETWORK_PREFIX = 64
"""An IPv6 customer has 2**64 addresses of their own, so those count as one."""
WRONG_CREDENTIALS = "The name or the password is wrong."
EXPIRED = "This one-time password has expired. Ask an investigator for a new one."
LOGGED = {WRONG_CREDENTIALS: "wrong password", DISABLED: "account is disabled", EXPIRED: "one-time password has expired"}


class PasswordChangeError(SignInError):
    """The one-time password is right, and has to be changed to sign in."""


def sign_in(
    store: LabelStore, username: str, password: str, now: datetime, hasher: PasswordHasher | None = None, *, address: str = ""
) -> str:
    """A session token for the right name and password; the browser keeps it, the store only its hash.

    address  of the browser, as far as it is known

    Raises SignInError when they are wrong, after too many wrong ones with the time to wait, when the server is too busy to check,
    and for a disabled account; PasswordChangeError when the right password is a one-time password. An unknown name takes as long
    and counts as much as a known one, so nobody can find out which accounts exist.
    """
    hasher = hasher or default_hasher()
    user, actor = _checked_user(store, username, password, now, hasher, address)
    if user.one_time_until is not None:
        raise PasswordChangeError("Your password is for one sign-in only. Choose one of your own.")
    # Recommended costs rise over the years, and only a correct password can be hashed again.
    outdated = hasher.check_needs_rehash(user.password_hash or "")
    new_hash = hash_password(password, hasher) if outdated else user.password_hash
    with store.begin() as tx:
        _check_unchanged(tx, user)
        account_rows.update_user(tx, user.username, password_hash=new_hash)
        return _begin(tx, user, actor, now)


def change_one_time_password(
    store: LabelStore,
    username: str,
    password: str,
    new_password: str,
    now: datetime,
    hasher: PasswordHasher | None = None,
    *,
    address: str = "",
) -> str:
    """Sign in with a one-time password and replace it; a session token. Every other session of the account ends.

    Raises SignInError as `sign_in` does, and StudyError when the new password is not allowed.
    """
    hasher = hasher or default_hasher()
    check_length(new_password)
    if new_password == password:
        raise StudyError("Choose another password than the one-time password. Nothing was changed.")
    user, actor = _checked_user(store, username, password, now, hasher, address)
    new_hash = hash_password(new_password, hasher)
    with store.begin() as tx:
        _check_unchanged(tx, user)
        account_rows.update_user(tx, user.username, password_hash=new_hash, one_time_until=None)
        account_rows.end_sessions(tx, user.username, now)
        log_event(tx, Event.PASSWORD_CHANGED, actor, now, user.username)
        return _begin(tx, user, actor, now)


def _check_unchanged(tx: Transaction, user: UserRow) -> None:
    """Raise SignInError if the account was disabled or its password changed since `user` was read."""
    current = account_rows.locked_user(tx, user.username)
    if current is None or (current.password_hash, current.disabled_at) != (user.password_hash, user.disabled_at):
        raise SignInError("Your account was changed while you signed in. Sign in again.")


def _begin(tx: Transaction, user: UserRow, actor: Actor, now: datetime) -> str:
    account_rows.update_user(tx, user.username, last_sign_in_at=to_timestamp(now))
    log_event(tx, Event.SIGN_IN, actor, now, "by password")
    return begin_session(tx, user.username, now)


def _checked_user(
    store: LabelStore, username: str, password: str, now: datetime, hasher: PasswordHasher, address: str
) -> tuple[UserRow, Actor]:
    """The account, with its password checked, and who signs in from where. Raises SignInError where they may not."""
    # Cut, because people paste texts of any length.
    username = normal_username(username)[:USERNAME_LIMIT]
    number = admit_attempt(store, attempts.attempt_key(username), address, now)
    user = account_rows.find_user(store, username)
    try:
        # The password is checked even where the account is unknown, so both refusals take the same time.
        matches = password_matches(hasher, user.password_hash if user else None, password)
    except SignInError:
        with store.begin() as tx:
            attempts.withdraw_attempt(tx, number)
        raise
    actor = Actor(user.username if user else UNKNOWN_NAME, address)
    refusal = _refusal(user, matches, now)
    with store.begin() as tx:
        if refusal:
            log_event(tx, Event.SIGN_IN_FAILED, actor, now, LOGGED[refusal])
        else:
            attempts.mark_success(tx, number)
    if user is None or refusal:
        raise SignInError(refusal)
    return user, actor


def _refusal(user: UserRow | None, matches: bool, now: datetime) -> str:
    # Only the right password learns that there is an account, and what is wrong with it.
    if user is None or not matches:
        return WRONG_CREDENTIALS
    if user.disabled_at is not None:
        return DISABLED
    return EXPIRED if user.one_time_until is not None and to_timestamp(now) >= user.one_time_until else ""


def network_of(address: str) -> str:
    """The unit counted as one address: an IPv4 address, or the /64 of an IPv6 address; any other text unchanged."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return f"{IPv6Address(int(parsed) >> NETWORK_PREFIX << NETWORK_PREFIX)}/{NETWORK_PREFIX}"


# -- waiting -----------------------------------------------------------------------------------------------------------


def admit_attempt(store: LabelStore, key: str, address: str, now: datetime, of: str = "passwords") -> int:
    """Record an attempt before what was typed is checked, so parallel guesses are all counted; the attempt's number.

    key  of the account's name (`attempt_key`)
    of   what is guessed, in words

    Raises SignInError with the time to wait after too many wrong ones.
    """
    network = network_of(address)
    with store.begin() as tx:
        attempts.forget_attempts(tx, now - WINDOW, now - KNOWN_ADDRESS)
        wait = max(_waits(tx, key, network, now))
        if wait > timedelta(0):
            raise SignInError(f"Too many wrong {of}. Try again in {math.ceil(wait.total_seconds())} seconds.")
        return attempts.record_attempt(tx, key, network, now)


def _waits(tx: Transaction, name: str, address: str, now: datetime) -> Iterator[timedelta]:
    since = now - WINDOW
    yield _wait(attempts.recent_failures(tx, since, now, username=name, address=address), PAIR_FAILURES, now)
    if attempts.has_succeeded(tx, name, address, now - KNOWN_ADDRESS):
        return
    yield _wait(attempts.recent_failures(tx, since, now, username=name), ACCOUNT_FAILURES, now)
    yield _wait(attempts.recent_failures(tx, since, now, address=address), ADDRESS_FAILURES, now)


def _wait(failures: attempts.Failures, free: int, now: datetime) -> timedelta:
    if failures.count < free or failures.last is None:
        return timedelta(0)
    # The exponent is bounded so that the timedelta cannot overflow; 2**20 s is far above MAX_WAIT.
    pause = min(timedelta(seconds=2 ** min(failures.count - free, 20)), MAX_WAIT)
    # Bounded again, because a clock that was set back makes the last failure lie ahead.
    return min(from_timestamp(failures.last) + pause - now, MAX_WAIT)
