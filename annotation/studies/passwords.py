"""Passwords: argon2id hashes of which only a few are computed at once, the allowed length, and one-time passwords."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerifyMismatchError

from annotation.label_store.engine import SignInError, StudyError

PASSWORD_LENGTH = (12, 256)
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


def check_length(password: str) -> None:
    """Raise StudyError when a new password is too short or too long."""
    shortest, longest = PASSWORD_LENGTH
    if not shortest <= len(password) <= longest:
        raise StudyError(
            f"The password has {len(password)} characters. Allowed: {shortest} to {longest}. Nothing was changed. "
            "Four random words make a good one."
        )


def hash_password(password: str, hasher: PasswordHasher | None = None) -> str:
    """The hash that is stored. Raises StudyError when the password is too short or too long."""
    check_length(password)
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
