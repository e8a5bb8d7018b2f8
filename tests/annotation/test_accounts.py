"""Accounts, their roles and passwords, and sessions that end."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from argon2 import PasswordHasher
from sqlalchemy import text

from annotation.label_store.engine import LabelStore, SignInError, StudyError, open_label_store
from annotation.studies.accounts import (
    ONE_TIME_PASSWORD_LENGTH,
    SESSION_LENGTH,
    AccountState,
    Role,
    account_of_token,
    add_account,
    change_password,
    change_role,
    disable_account,
    enable_account,
    find_account,
    list_account_states,
    list_accounts,
    open_session,
    reset_password,
    sign_out,
    sign_out_everywhere,
)
from annotation.studies.signing_in import (
    PasswordChangeError,
    change_one_time_password,
    continue_vouched,
    sign_in,
    vouched_account,
    vouched_refusal,
)
from tests.support.studies import CHEAP, NOW, PASSWORD, later, people


def enter(store: LabelStore, name: str, password: str, seconds: float = 0) -> str:
    return sign_in(store, name, password, later(seconds), CHEAP)


def state_of(store: LabelStore, name: str) -> AccountState:
    return next(state for state in list_account_states(store, NOW) if state.account.username == name)


def test_a_session_survives_a_restart_and_ends(store: LabelStore, url: str) -> None:
    people(store, "ana")
    token = enter(store, "Ana ", PASSWORD)
    store.close()
    again = open_label_store(url)
    for hours in range(12):  # used all the time
        assert account_of_token(again, token, NOW + timedelta(hours=hours)).role is Role.ANNOTATOR
    assert account_of_token(again, token, NOW + SESSION_LENGTH - timedelta(seconds=1)).role is Role.ANNOTATOR
    assert account_of_token(again, token, NOW + SESSION_LENGTH) is None
    again.close()


def test_signing_out_ends_the_session_and_no_other(lite: LabelStore) -> None:
    people(lite, "ana")
    one, other = enter(lite, "ana", PASSWORD), enter(lite, "ana", PASSWORD)
    sign_out(lite, one, NOW)
    assert account_of_token(lite, one, NOW) is None
    assert account_of_token(lite, other, NOW).username == "ana"


def test_neither_passwords_nor_tokens_are_in_the_database(lite: LabelStore) -> None:
    people(lite, "ana")
    token = enter(lite, "ana", PASSWORD)
    with lite.read() as con:
        kept = str(con.execute(text("select * from users")).all()) + str(con.execute(text("select * from sessions")).all())
    assert token not in kept
    assert PASSWORD not in kept
    assert "$argon2id$" in kept


def test_another_password_ends_every_session(lite: LabelStore) -> None:
    people(lite, "ana")
    token = enter(lite, "ana", PASSWORD)
    change_password(lite, "ana", "another long password", NOW, hasher=CHEAP)
    assert account_of_token(lite, token, NOW) is None
    with pytest.raises(SignInError, match="is wrong"):
        enter(lite, "ana", PASSWORD)
    assert enter(lite, "ana", "another long password")


def test_an_account_of_the_identity_provider_has_no_password_to_guess(lite: LabelStore) -> None:
    add_account(lite, "Dr.Who@Clinic.example", "pi", None, NOW)
    assert find_account(lite, "dr.who@clinic.example").role is Role.PI
    with pytest.raises(SignInError, match="is wrong"):
        enter(lite, "dr.who@clinic.example", "")
    assert account_of_token(lite, open_session(lite, "dr.who@clinic.example", NOW), NOW).role is Role.PI


def test_signing_out_everywhere_ends_every_session_of_that_person_and_of_nobody_else(store: LabelStore) -> None:
    people(store, "ana", "ben")
    anas, bens = [open_session(store, "ana", NOW) for _ in range(3)], open_session(store, "ben", NOW)
    assert state_of(store, "ana").sessions == 3
    assert sign_out_everywhere(store, "Ana", later(60)) == 3
    assert [account_of_token(store, token, later(61)) for token in anas] == [None] * 3
    assert account_of_token(store, bens, later(61)).username == "ben"
    assert vouched_account(store, "ana", NOW) is None  # through the identity provider, before
    assert vouched_account(store, "ana", later(61)).username == "ana"


def test_a_proxys_user_comes_in_again_only_by_an_action_of_their_own(store: LabelStore) -> None:
    people(store, "ana")
    assert vouched_account(store, "ana", later(1), renewed=True).username == "ana"
    sign_out_everywhere(store, "ana", later(60))
    assert vouched_account(store, "ana", later(1), renewed=True) is None
    assert vouched_account(store, "ana", later(61), renewed=True) is None  # a new connection is not a new sign-in
    assert vouched_refusal(store, "ana", later(61), renewed=True).startswith("An investigator has ended your sessions. Continue")
    assert not continue_vouched(store, "ana", later(1), later(70))  # from a tab that was open before
    assert vouched_account(store, "ana", later(71), renewed=True) is None
    assert continue_vouched(store, "ana", later(71), later(72), address="192.0.2.1")
    assert vouched_account(store, "ana", later(71), renewed=True).username == "ana"
    assert vouched_account(store, "ana", later(1), renewed=True) is None
    disable_account(store, "ana", later(80))
    assert not continue_vouched(store, "ana", later(81), later(81))
    assert not continue_vouched(store, "nobody", later(81), later(81))


def test_disabling_an_account_ends_its_sessions_and_its_ways_in_until_it_is_enabled(store: LabelStore) -> None:
    people(store, "ana")
    token = open_session(store, "ana", NOW)
    disable_account(store, "ana", later(60))
    assert state_of(store, "ana").state == "disabled"
    assert account_of_token(store, token, later(60)) is None
    assert vouched_account(store, "ana", later(61)) is None
    with pytest.raises(SignInError, match=r"is disabled\. Ask an investigator"):
        enter(store, "ana", PASSWORD, 61)
    with pytest.raises(SignInError, match=r"^The name or the password is wrong\.$"):  # who only guesses learns nothing
        enter(store, "ana", "not the password", 61)
    enable_account(store, "ana", later(62))
    assert account_of_token(store, enter(store, "ana", PASSWORD, 63), later(63)).username == "ana"
    assert account_of_token(store, token, later(63)) is None  # what was ended stays ended


def test_another_role_applies_to_open_sessions(lite: LabelStore) -> None:
    people(lite, "vera", role="viewer")
    token = open_session(lite, "vera", NOW)
    change_role(lite, "vera", "adjudicator", NOW)
    assert account_of_token(lite, token, NOW).role is Role.ADJUDICATOR
    with pytest.raises(StudyError, match="Role 'piii' is unknown"):
        change_role(lite, "vera", "piii", NOW)


def test_the_last_pi_stays_a_pi_who_can_sign_in(store: LabelStore) -> None:
    people(store, "petra", "paul", role="pi")
    disable_account(store, "paul", NOW)
    with pytest.raises(StudyError, match="'petra' is the only PI who can sign in"):
        disable_account(store, "petra", NOW)
    with pytest.raises(StudyError, match="'petra' is the only PI"):
        change_role(store, "petra", "viewer", NOW)
    assert state_of(store, "petra").state == "active"
    change_role(store, "petra", "pi", NOW)
    enable_account(store, "paul", NOW)
    change_role(store, "petra", "viewer", NOW)
    assert find_account(store, "petra").role is Role.VIEWER


def test_of_two_pis_who_disable_each_other_at_once_one_stays(store: LabelStore) -> None:
    people(store, "petra", "paul", role="pi")

    def disable(name: str) -> bool:
        try:
            disable_account(store, name, NOW)
        except StudyError:
            return False
        return True

    with ThreadPoolExecutor(2) as together:
        assert sorted(together.map(disable, ("petra", "paul"))) == [False, True]


def test_a_one_time_password_opens_nothing_until_it_is_changed(store: LabelStore) -> None:
    people(store, "ana")
    token = open_session(store, "ana", NOW)
    given = reset_password(store, "ana", NOW, hasher=CHEAP)
    assert re.fullmatch(r"([a-z2-9]{4}-){3}[a-z2-9]{4}", given)
    assert state_of(store, "ana").state == "one-time password"
    assert account_of_token(store, token, NOW) is None
    with pytest.raises(SignInError, match="is wrong"):
        enter(store, "ana", PASSWORD)
    with pytest.raises(PasswordChangeError, match=r"Choose one of your own"):
        enter(store, "ana", given)
    assert state_of(store, "ana").sessions == 0
    for unsuitable in ("short", given):
        with pytest.raises(StudyError, match=r"Allowed: 12|another password"):
            change_one_time_password(store, "ana", given, unsuitable, NOW, CHEAP)
    with pytest.raises(SignInError, match="is wrong"):
        change_one_time_password(store, "ana", "not the password", "four more random words", NOW, CHEAP)
    token = change_one_time_password(store, "ana", given, "four more random words", NOW, CHEAP)
    assert account_of_token(store, token, NOW).username == "ana"
    assert state_of(store, "ana").state == "active"
    with pytest.raises(SignInError, match="is wrong"):
        enter(store, "ana", given)


def test_a_one_time_password_expires(lite: LabelStore) -> None:
    people(lite, "ana")
    given = reset_password(lite, "ana", NOW, hasher=CHEAP)
    with pytest.raises(SignInError, match=r"has expired\. Ask an investigator"):
        sign_in(lite, "ana", given, NOW + ONE_TIME_PASSWORD_LENGTH, CHEAP)


def test_a_password_that_was_reset_while_it_was_being_checked_does_not_come_back(lite: LabelStore) -> None:
    people(lite, "ana")

    class Slow(PasswordHasher):
        def verify(self, hash: str | bytes, password: str | bytes) -> bool:
            reset_password(lite, "ana", NOW, hasher=CHEAP)
            return super().verify(hash, password)

    with pytest.raises(SignInError, match="changed while you signed in"):
        sign_in(lite, "ana", PASSWORD, NOW, Slow(time_cost=1, memory_cost=8, parallelism=1))
    assert state_of(lite, "ana").state == "one-time password"


@pytest.mark.parametrize("change", [disable_account, enable_account, sign_out_everywhere, reset_password])
def test_an_account_that_does_not_exist_is_not_changed(lite: LabelStore, change: Callable[..., object]) -> None:
    with pytest.raises(StudyError, match=r"There is no account 'nobody'\. Nothing was changed"):
        change(lite, "nobody", NOW)


@pytest.mark.parametrize(
    ("name", "role", "password", "message"),
    [
        ("a b", "pi", PASSWORD, "is not a valid account name"),
        ("ana", "owner", PASSWORD, "Role 'owner' is unknown. Allowed|Allowed: viewer, annotator, adjudicator, pi"),
        ("ana", "annotater", PASSWORD, "Did you mean 'annotator'"),
        ("ana", "pi", "short", "has 5 characters. Allowed: 12 to 256"),
        ("ben", "pi", PASSWORD, "The account 'ben' already exists"),
    ],
)
def test_an_invalid_account_is_refused(store: LabelStore, name: str, role: str, password: str, message: str) -> None:
    people(store, "ben")
    with pytest.raises(StudyError, match=message):
        add_account(store, name, role, password, NOW, hasher=CHEAP)
    assert [each.username for each in list_accounts(store)] == ["ben"]
