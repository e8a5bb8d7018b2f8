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

import hmac
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address

import pyotp
from argon2 import PasswordHasher

from annotation.label_store import account_rows
from annotation.label_store.access_log import UNKNOWN_NAME, Actor, Event, log_event
from annotation.label_store.account_rows import UserRow
from annotation.label_store.engine import LabelStore, SignInError, StudyError, Transaction
from annotation.label_store.stored_values import from_timestamp, to_timestamp
from annotation.studies.accounts import (
    DISABLED,
    Account,
    Role,
    account_from,
    begin_session,
    check_new_password,
    default_hasher,
    hash_password,
    new_user,
    normal_username,
    one_time_password,
    password_matches,
)

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


class SecondFactorError(SignInError):
    """The password is right, and a code of the second factor is asked for."""


def sign_in(
    store: LabelStore,
    username: str,
    password: str,
    now: datetime,
    hasher: PasswordHasher | None = None,
    *,
    address: str = "",
    code: str = "",
) -> str:
    """A session token for the right name and password; the browser keeps it, the store only its hash.

    address  of the browser, as far as it is known
    code     of the second factor, for an account that has one

    Raises SignInError when they are wrong, after too many wrong ones with the time to wait, when the server is too busy to check,
    and for a disabled account; PasswordChangeError when the right password is a one-time password, SecondFactorError
    without a code where one is needed. An unknown name takes as long
    and counts as much as a known one, so nobody can find out which accounts exist.
    """
    hasher = hasher or default_hasher()
    user, actor = _checked_user(store, username, password, now, hasher, address)
    if user.one_time_until is not None:
        raise PasswordChangeError("Your password is for one sign-in only. Choose one of your own.")
    if user.totp_secret is not None:
        if not code:
            raise SecondFactorError("Type the code that your app for one-time codes shows.")
        check_code(store, user.username, code, now, address=address)
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
    check_new_password(new_password, username)
    if new_password == password:
        raise StudyError("Choose another password than the one-time password. Nothing was changed.")
    user, actor = _checked_user(store, username, password, now, hasher, address)
    new_hash = hash_password(new_password, hasher, username=username)
    with store.begin() as tx:
        _check_unchanged(tx, user)
        account_rows.update_user(tx, user.username, password_hash=new_hash, one_time_until=None)
        account_rows.end_sessions(tx, user.username, now)
        log_event(tx, Event.PASSWORD_CHANGED, actor, now, user.username)
        return _begin(tx, user, actor, now)


def check_code(store: LabelStore, username: str, code: str, now: datetime, *, address: str = "") -> None:
    """Raise SignInError unless `code` is that of now, or half a minute off, and was not used; guesses are slowed down."""
    number = admit_attempt(store, account_rows.attempt_key(f"{username} code"), address, now, "codes")
    with store.begin() as tx:
        user = account_rows.locked_user(tx, username)
        step = _step_of(user, code.replace(" ", ""), now) if user else None
        if step is not None:
            account_rows.update_user(tx, username, totp_used=step)
            account_rows.mark_success(tx, number)
        else:
            log_event(tx, Event.SIGN_IN_FAILED, Actor(username, address), now, "wrong code of the second factor")
    if step is None:
        raise SignInError("The code is wrong, or was used before. Wait for the next one.")


def _step_of(user: UserRow, code: str, now: datetime) -> int | None:
    """The number of the 30 s to which an unused code belongs."""
    if user.totp_secret is None:
        return None
    totp, present = pyotp.TOTP(user.totp_secret), int(now.timestamp()) // 30
    steps = (
        step
        for step in (present - 1, present, present + 1)
        if hmac.compare_digest(totp.generate_otp(step).encode(), code.encode())
    )
    return next((step for step in steps if user.totp_used is None or step > user.totp_used), None)


def check_own_password(
    store: LabelStore, username: str, password: str, now: datetime, hasher: PasswordHasher | None = None, *, address: str = ""
) -> None:
    """Raise SignInError unless it is the password of somebody who is signed in; guesses are slowed down as at the door."""
    _checked_user(store, username, password, now, hasher or default_hasher(), address)


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
    number = admit_attempt(store, account_rows.attempt_key(username), address, now)
    user = account_rows.find_user(store, username)
    try:
        # The password is checked even where the account is unknown, so both refusals take the same time.
        matches = password_matches(hasher, user.password_hash if user else None, password)
    except SignInError:
        with store.begin() as tx:
            account_rows.withdraw_attempt(tx, number)
        raise
    actor = Actor(user.username if user else UNKNOWN_NAME, address)
    refusal = _refusal(user, matches, now)
    with store.begin() as tx:
        if refusal:
            log_event(tx, Event.SIGN_IN_FAILED, actor, now, LOGGED[refusal])
        else:
            account_rows.mark_success(tx, number)
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
        account_rows.forget_attempts(tx, now - WINDOW, now - KNOWN_ADDRESS)
        wait = max(_waits(tx, key, network, now))
        if wait > timedelta(0):
            raise SignInError(f"Too many wrong {of}. Try again in {math.ceil(wait.total_seconds())} seconds.")
        return account_rows.record_attempt(tx, key, network, now)


def _waits(tx: Transaction, name: str, address: str, now: datetime) -> Iterator[timedelta]:
    since = now - WINDOW
    yield _wait(account_rows.recent_failures(tx, since, now, username=name, address=address), PAIR_FAILURES, now)
    if account_rows.has_succeeded(tx, name, address, now - KNOWN_ADDRESS):
        return
    yield _wait(account_rows.recent_failures(tx, since, now, username=name), ACCOUNT_FAILURES, now)
    yield _wait(account_rows.recent_failures(tx, since, now, address=address), ADDRESS_FAILURES, now)


def _wait(failures: account_rows.Failures, free: int, now: datetime) -> timedelta:
    if failures.count < free or failures.last is None:
        return timedelta(0)
    # The exponent is bounded so that the timedelta cannot overflow; 2**20 s is far above MAX_WAIT.
    pause = min(timedelta(seconds=2 ** min(failures.count - free, 20)), MAX_WAIT)
    # Bounded again, because a clock that was set back makes the last failure lie ahead.
    return min(from_timestamp(failures.last) + pause - now, MAX_WAIT)


# -- Accounts of people whom the identity provider or a reverse proxy has signed in --------------------------


SESSIONS_ENDED_HERE = (
    "An investigator has ended your sessions. Continue only if this is your own browser: it is a new sign-in, and the access log "
    "has it."
)
SESSIONS_ENDED = "An investigator has ended your sessions. Sign in again at your institution, then reload this page."


OF_ANOTHER_PERSON = (
    "Your institution now names another person under this e-mail address than the one who signed in first. You cannot enter. "
    "Ask whoever runs this server: audit account rebind lets you in."
)


def bound_username(store: LabelStore, provider_user: str, email: str, now: datetime, *, verified: bool, address: str = "") -> str:
    """The account of somebody whom the identity provider has signed in; "" where there is none that may be used.

    provider_user  issuer and subject, by which an account is known from its first sign-in on
    verified       whether the e-mail address was verified, by which an account is found the first time
    """
    if username := account_rows.username_bound_to(store, provider_user):
        return username
    username = normal_username(email)
    if not verified or account_rows.find_user(store, username) is None:
        return ""
    with store.begin() as tx:
        account_rows.locked_user(tx, username)
        if account_rows.provider_user_of(tx, username) not in (None, provider_user):
            return ""
        if account_rows.provider_user_of(tx, username) is None:
            account_rows.bind_provider_user(tx, username, provider_user, now)
            detail = f"{username}: known to the identity provider as {provider_user}"
            log_event(tx, Event.ACCOUNT_BOUND, Actor(username, address), now, detail)
    return username


def is_of_another(store: LabelStore, provider_user: str, email: str) -> bool:
    """Whether the account of an e-mail address is bound to somebody else."""
    with store.read() as con:
        return account_rows.provider_user_of(con, normal_username(email)) not in (None, provider_user)


def rebind(store: LabelStore, username: str, now: datetime, actor: Actor) -> None:
    """Let the next verified sign-in at the identity provider bind an account again. Raises StudyError where it is not bound."""
    username = normal_username(username)
    with store.begin() as tx:
        if not account_rows.unbind_provider_user(tx, username):
            raise StudyError(f"No account '{username}' is bound to a user of the identity provider. Nothing was changed.")
        log_event(tx, Event.ACCOUNT_BOUND, actor, now, f"{username}: the next verified sign-in binds it again")


def vouched_account(store: LabelStore, username: str, signed_in_at: datetime, *, renewed: bool = False) -> Account | None:
    """The account of somebody who was signed in at that time.

    renewed  the sign-in is renewed by every connection, as a proxy's header is: once the sessions of the account were ended, a
             new connection alone does not sign in again, but `continue_vouched`, or any other sign-in, does

    None when there is none, it is disabled, or its sessions were ended since.
    """
    user = account_rows.find_user(store, normal_username(username))
    return None if user is None or _sessions_ended(user, signed_in_at, renewed=renewed) else account_from(user)


def vouched_refusal(store: LabelStore, username: str, signed_in_at: datetime, *, renewed: bool = False) -> str:
    """Why somebody who has an account cannot enter with this sign-in; empty where they can, or where they have no account."""
    user = account_rows.find_user(store, normal_username(username))
    return "" if user is None else _sessions_ended(user, signed_in_at, renewed=renewed)


def continue_vouched(store: LabelStore, username: str, signed_in_at: datetime, now: datetime, *, address: str = "") -> bool:
    """Let somebody whom the proxy names in again after their sessions were ended, by their own action; whether that was possible.

    It is not from a connection that is older than the end of the sessions, nor for a disabled account.
    """
    with store.begin() as tx:
        user = account_rows.locked_user(tx, normal_username(username))
        if user is None or _sessions_ended(user, signed_in_at, renewed=False):
            return False
        account_rows.update_user(tx, user.username, last_sign_in_at=to_timestamp(now))
        log_event(tx, Event.SIGN_IN, Actor(user.username, address), now, "by the proxy, after all sessions were ended")
    return True


def _sessions_ended(user: UserRow, signed_in_at: datetime, *, renewed: bool) -> str:
    if user.disabled_at is not None:
        return DISABLED
    if user.signed_out_at is None:
        return ""
    ended = from_timestamp(user.signed_out_at)
    if signed_in_at <= ended:
        return SESSIONS_ENDED
    signed_in_since = user.last_sign_in_at is not None and from_timestamp(user.last_sign_in_at) > ended
    return SESSIONS_ENDED_HERE if renewed and not signed_in_since else ""


def note_vouched_sign_in(
    store: LabelStore, username: str, signed_in_at: datetime, now: datetime, *, by: str, address: str = "", gap: timedelta
) -> None:
    """Log a sign-in once, however often the person returns.

    by   who vouches, in words
    gap  a sign-in within this time of the last one is taken for the same
    """
    with store.begin() as tx:
        user = account_rows.locked_user(tx, username)
        if user is None or (user.last_sign_in_at and signed_in_at <= from_timestamp(user.last_sign_in_at) + gap):
            return
        account_rows.update_user(tx, username, last_sign_in_at=to_timestamp(signed_in_at))
        log_event(tx, Event.SIGN_IN, Actor(username, address), now, f"by {by}")


# -- The first account ---------------------------------------------------------------------------------------
# Without the code anybody who reaches a new server first would own it. The code lives in the server's memory only: a restart
# prints another, and it is useless once there is an account.

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
