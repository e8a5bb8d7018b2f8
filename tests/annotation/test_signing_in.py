"""Guessing is slowed where it happens, costs a bounded amount of memory, and keeps nobody else out."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from argon2 import PasswordHasher

from annotation.label_store.access_log import list_log
from annotation.label_store.engine import LabelStore, SignInError
from annotation.studies import accounts
from annotation.studies.accounts import HASHES_AT_ONCE, account_of_token, default_hasher, open_session
from annotation.studies.signing_in import (
    ACCOUNT_FAILURES,
    ADDRESS_FAILURES,
    MAX_WAIT,
    PAIR_FAILURES,
    network_of,
    note_vouched_sign_in,
    sign_in,
)
from tests.support.studies import CHEAP, NOW, PASSWORD, later, people

HOME, ELSEWHERE = "192.0.2.1", "198.51.100.7"


def enter(store: LabelStore, name: str, password: str, seconds: float = 0, address: str = HOME) -> str:
    return sign_in(store, name, password, later(seconds), CHEAP, address=address)


def fail(store: LabelStore, name: str, seconds: float = 0, address: str = HOME) -> str:
    with pytest.raises(SignInError) as caught:
        enter(store, name, "not the password", seconds, address)
    return str(caught.value)


class CountingHasher(PasswordHasher):
    """Counts how many passwords are being checked at the same time."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.lock, self.running, self.most, self.checks = threading.Lock(), 0, 0, 0

    def verify(self, hash: str | bytes, password: str | bytes) -> bool:
        with self.lock:
            self.running, self.checks = self.running + 1, self.checks + 1
            self.most = max(self.most, self.running)
        try:
            threading.Event().wait(0.005)  # long enough for the others to come in, if they may
            return super().verify(hash, password)
        finally:
            with self.lock:
                self.running -= 1


def test_the_default_hash_is_argon2id_of_the_recommended_cost() -> None:
    assert default_hasher().hash("x").startswith("$argon2id$v=19$m=65536,t=3,p=4$")


def test_a_wrong_name_and_a_wrong_password_get_the_same_message_and_cost_the_same(store: LabelStore) -> None:
    people(store, "ana")
    hasher = CountingHasher()
    for name in ("ana", "nobody"):
        with pytest.raises(SignInError, match=r"^The name or the password is wrong\.$"):
            sign_in(store, name, "not the password", NOW, hasher)
    assert hasher.checks == 2


def test_of_sixty_guesses_at_once_two_are_checked_at_a_time(lite: LabelStore) -> None:
    hasher = CountingHasher()

    def guess(number: int) -> None:
        with pytest.raises(SignInError):
            sign_in(lite, f"name{number}", "not the password", NOW, hasher, address=f"192.0.2.{number}")

    with ThreadPoolExecutor(60) as together:
        list(together.map(guess, range(60)))
    assert (hasher.checks, hasher.most) == (60, HASHES_AT_ONCE)


def test_without_a_turn_a_password_is_not_checked_not_counted_and_the_person_hears_why(
    lite: LabelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    people(lite, "ana")
    monkeypatch.setattr(accounts, "MAX_QUEUE_S", 0.01)
    with accounts._hashing_slot(), accounts._hashing_slot():
        for _ in range(PAIR_FAILURES + 1):
            with pytest.raises(SignInError, match="Too many people are signing in at this moment"):
                enter(lite, "ana", PASSWORD)
    assert enter(lite, "ana", PASSWORD)


def test_five_wrong_passwords_are_free_then_waiting_doubles(store: LabelStore) -> None:
    people(store, "ana")
    for _ in range(PAIR_FAILURES):
        assert "wrong." in fail(store, "ana")
    assert fail(store, "ana") == "Too many wrong passwords. Try again in 1 seconds."
    assert "wrong." in fail(store, "ana", 1)
    assert fail(store, "ana", 1.5) == "Too many wrong passwords. Try again in 2 seconds."
    assert enter(store, "ana", PASSWORD, 3)  # the right one, after waiting
    assert "wrong." in fail(store, "ana", 3)  # and the count begins again


def test_while_waiting_even_the_right_password_is_not_checked(lite: LabelStore) -> None:
    people(lite, "ana")
    for _ in range(PAIR_FAILURES):
        fail(lite, "ana")
    with pytest.raises(SignInError, match="Too many"):
        enter(lite, "ana", PASSWORD)


def test_guessing_invented_names_locks_nobody_else_out(store: LabelStore) -> None:
    people(store, "ana")
    for number in range(61):
        fail(store, f"name{number}", address=ELSEWHERE)
    assert enter(store, "ana", PASSWORD, address=HOME)


def test_guessing_over_many_names_is_slowed_at_its_address(lite: LabelStore) -> None:
    people(lite, "ana", "ben")
    enter(lite, "ben", PASSWORD)
    for number in range(ADDRESS_FAILURES):
        fail(lite, f"name{number}")
    assert "Too many" in fail(lite, "ana")
    assert enter(lite, "ben", PASSWORD)  # who has signed in here before is not held back by the others


def test_guessing_from_elsewhere_does_not_lock_an_owner_out_of_the_usual_place(store: LabelStore) -> None:
    people(store, "petra")
    enter(store, "petra", PASSWORD)
    for number in range(ACCOUNT_FAILURES):
        fail(store, "petra", 60, address=f"198.51.100.{number}")
    assert "Too many" in fail(store, "petra", 60, address=ELSEWHERE)
    assert enter(store, "petra", PASSWORD, 60)
    with pytest.raises(SignInError, match="Try again in 1 seconds"):
        enter(store, "petra", PASSWORD, 60, address="203.0.113.9")  # a new place of hers waits


def test_at_the_usual_place_too_guessing_is_slowed(lite: LabelStore) -> None:
    people(lite, "petra")
    enter(lite, "petra", PASSWORD)
    for _ in range(PAIR_FAILURES):
        fail(lite, "petra", 60)
    assert "Too many" in fail(lite, "petra", 60)


def test_a_session_that_has_begun_goes_on_while_somebody_guesses(lite: LabelStore) -> None:
    people(lite, "ana")
    token = open_session(lite, "ana", NOW)
    for _ in range(PAIR_FAILURES + 1):
        fail(lite, "ana")
    assert account_of_token(lite, token, NOW).username == "ana"


def test_a_clock_that_is_set_back_two_days_locks_nobody_out(store: LabelStore) -> None:
    people(store, "ana")
    for _ in range(PAIR_FAILURES):
        fail(store, "ana", seconds=2 * 86_400)
    assert enter(store, "ana", PASSWORD)


def test_a_clock_that_is_set_back_a_little_makes_nobody_wait_longer_than_the_longest_wait(lite: LabelStore) -> None:
    people(lite, "ana")
    for second in [0] * PAIR_FAILURES + [2**n - 1 for n in range(1, 10)]:
        assert "wrong." in fail(lite, "ana", second)
    assert fail(lite, "ana", 511 - 30).endswith(f"Try again in {MAX_WAIT.seconds} seconds.")


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("testclient", "testclient"),
    ],
)
def test_a_customer_of_ipv6_counts_as_one_address(address: str, network: str) -> None:
    assert network_of(address) == network


def test_sign_ins_and_failures_are_logged_without_what_was_typed(lite: LabelStore) -> None:
    people(lite, "ana")
    enter(lite, "Ana", PASSWORD)
    fail(lite, "ana", 1, ELSEWHERE)
    fail(lite, PASSWORD.replace(" ", ""), 2)  # a password in the field of the name
    told = [(entry.account, entry.address, entry.event, entry.detail) for entry in list_log(lite)]
    assert told[:3] == [
        ("(unknown name)", HOME, "sign-in-failed", "wrong password"),
        ("ana", ELSEWHERE, "sign-in-failed", "wrong password"),
        ("ana", HOME, "sign-in", "by password"),
    ]


def test_a_sign_in_through_the_identity_provider_is_logged_once(store: LabelStore) -> None:
    people(store, "ana")
    for seconds in (0, 5, 5000):
        note_vouched_sign_in(store, "ana", NOW, later(seconds), by="the identity provider", address=HOME, gap=timedelta(0))
    note_vouched_sign_in(store, "ana", later(6000), later(6001), by="the identity provider", gap=timedelta(hours=12))
    assert [entry.event for entry in list_log(store)].count("sign-in") == 1
    note_vouched_sign_in(store, "ana", later(6000), later(6001), by="the identity provider", gap=timedelta(0))
    assert [entry.event for entry in list_log(store)].count("sign-in") == 2
