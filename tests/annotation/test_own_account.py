"""One's own account: another password, sessions to see and end, a second factor, and passwords that anybody would guess."""

from __future__ import annotations

from datetime import timedelta

import pyotp
import pytest

from annotation.label_store.access_log import list_log
from annotation.label_store.engine import LabelStore, SignInError, StudyError
from annotation.studies.accounts import account_of_token, open_session, reset_password
from annotation.studies.own_account import (
    add_second_factor,
    change_own_password,
    end_own_session,
    has_second_factor,
    new_secret,
    own_sessions,
    remove_second_factor,
    session_key,
)
from annotation.studies.signing_in import SecondFactorError, change_one_time_password, sign_in
from tests.support.studies import CHEAP, NOW, PASSWORD, later, people

OTHER = "another four random words"


def test_a_person_sees_and_ends_their_own_sessions_and_no_other(store: LabelStore) -> None:
    people(store, "ana", "ben")
    first, second, bens = (open_session(store, name, later(n)) for n, name in enumerate(["ana", "ana", "ben"]))
    assert [one.key for one in own_sessions(store, "ana", later(5))] == [session_key(second), session_key(first)]
    end_own_session(store, "ana", session_key(bens), later(5))
    assert account_of_token(store, bens, later(5)) is not None
    end_own_session(store, "ana", session_key(first), later(5))
    assert account_of_token(store, first, later(5)) is None
    assert account_of_token(store, second, later(5)) is not None
    assert [entry.event for entry in list_log(store, account="ana", limit=1)] == ["session-ended"]


def test_a_session_that_nobody_uses_for_two_hours_is_over(store: LabelStore) -> None:
    people(store, "ana")
    used, unused = open_session(store, "ana", NOW), open_session(store, "ana", NOW)
    for minutes in range(0, 300, 110):
        assert account_of_token(store, used, later(60 * minutes)) is not None
    assert account_of_token(store, unused, later(60 * 119)) is not None
    assert account_of_token(store, unused, later(60 * 119 + 60 * 121)) is None


def test_a_session_of_a_clock_that_was_ahead_is_none(store: LabelStore) -> None:
    people(store, "ana")
    token = open_session(store, "ana", NOW + timedelta(days=300))
    assert account_of_token(store, token, NOW) is None
    assert account_of_token(store, token, NOW + timedelta(days=100)) is None


def test_the_own_password_is_changed_by_whoever_knows_it(store: LabelStore) -> None:
    people(store, "ana")
    token = open_session(store, "ana", NOW)
    with pytest.raises(SignInError):
        change_own_password(store, "ana", "not the password", OTHER, NOW, CHEAP)
    with pytest.raises(StudyError, match="is the old one"):
        change_own_password(store, "ana", PASSWORD, PASSWORD, NOW, CHEAP)
    change_own_password(store, "ana", PASSWORD, OTHER, later(1), CHEAP)
    assert account_of_token(store, token, later(2)) is None
    assert sign_in(store, "ana", OTHER, later(3), CHEAP)


def test_a_second_factor_is_asked_for_once_for_each_code_and_guessing_it_is_slowed_down(store: LabelStore) -> None:
    people(store, "ana")
    secret = new_secret()
    totp = pyotp.TOTP(secret)
    with pytest.raises(StudyError, match="not one of this secret"):
        add_second_factor(store, "ana", secret, "000000" if totp.at(NOW) != "000000" else "1", NOW)
    add_second_factor(store, "ana", secret, totp.at(NOW), NOW)
    with pytest.raises(SecondFactorError):
        sign_in(store, "ana", PASSWORD, NOW, CHEAP)
    assert sign_in(store, "ana", PASSWORD, NOW, CHEAP, code=totp.at(NOW))
    with pytest.raises(SignInError, match="was used before"):
        sign_in(store, "ana", PASSWORD, NOW, CHEAP, code=totp.at(NOW))
    wrong = []
    for n in range(8):
        with pytest.raises(SignInError) as refused:
            sign_in(store, "ana", PASSWORD, later(n / 100), CHEAP, code="abc")
        wrong.append(str(refused.value))
    assert "Too many wrong codes" in wrong[-1]
    remove_second_factor(store, "ana", totp.at(later(900)), later(900))
    assert sign_in(store, "ana", PASSWORD, later(901), CHEAP)


def test_who_lost_the_device_gets_in_by_a_one_time_password_of_an_investigator(store: LabelStore) -> None:
    people(store, "ana")
    secret = new_secret()
    add_second_factor(store, "ana", secret, pyotp.TOTP(secret).at(NOW), NOW)
    one_time = reset_password(store, "ana", NOW, hasher=CHEAP)
    assert not has_second_factor(store, "ana")
    assert change_one_time_password(store, "ana", one_time, OTHER, NOW, CHEAP)


@pytest.mark.parametrize(
    "password", ["passwordpassword", "123456789012", "qwertyuiopas", "iloveyou1234", "ana.ana.ana.ana", "aaaaaaaaaaaaaa"]
)
def test_a_password_that_is_guessed_first_is_refused(lite: LabelStore, password: str) -> None:
    people(lite, "ana")
    with pytest.raises(StudyError, match="first that are guessed"):
        change_own_password(lite, "ana", PASSWORD, password, NOW, CHEAP)
