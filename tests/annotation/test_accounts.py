"""Signing in, guessing slowly, and sessions that end."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import text

from annotation.label_store.engine import LabelStore, SignInError, StudyError, open_label_store
from annotation.studies.accounts import (
    ALL_FAILURES,
    MAX_FREE_FAILURES,
    SESSION_LENGTH,
    Role,
    account_of_token,
    add_account,
    change_password,
    default_hasher,
    find_account,
    list_accounts,
    open_session,
    sign_in,
    sign_out,
)
from tests.support.studies import CHEAP, NOW, PASSWORD, later, people


def enter(store: LabelStore, name: str, password: str, seconds: float = 0) -> str:
    return sign_in(store, name, password, later(seconds), CHEAP)


def fail(store: LabelStore, name: str, seconds: float = 0) -> str:
    with pytest.raises(SignInError) as caught:
        enter(store, name, "not the password", seconds)
    return str(caught.value)


def test_a_session_survives_a_restart_and_ends(store: LabelStore, url: str) -> None:
    people(store, "ana")
    token = enter(store, "Ana ", PASSWORD)
    store.close()
    again = open_label_store(url)
    assert account_of_token(again, token, NOW + SESSION_LENGTH - timedelta(seconds=1)).role is Role.ANNOTATOR
    assert account_of_token(again, token, NOW + SESSION_LENGTH) is None
    again.close()


def test_signing_out_ends_the_session_and_no_other(lite: LabelStore) -> None:
    people(lite, "ana")
    one, other = enter(lite, "ana", PASSWORD), enter(lite, "ana", PASSWORD)
    sign_out(lite, one)
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


def test_the_default_hash_is_argon2id_of_the_recommended_cost() -> None:
    assert default_hasher().hash("x").startswith("$argon2id$v=19$m=65536,t=3,p=4$")


def test_a_wrong_name_and_a_wrong_password_get_the_same_message(store: LabelStore) -> None:
    people(store, "ana")
    assert fail(store, "ana") == fail(store, "nobody") == "The name or the password is wrong."


def test_five_wrong_passwords_are_free_then_waiting_doubles(store: LabelStore) -> None:
    people(store, "ana")
    for _ in range(MAX_FREE_FAILURES):
        assert "wrong." in fail(store, "ana")
    assert fail(store, "ana") == "Too many wrong passwords. Try again in 1 seconds."
    assert "wrong." in fail(store, "ana", 1)
    assert fail(store, "ana", 1.5) == "Too many wrong passwords. Try again in 2 seconds."
    assert enter(store, "ana", PASSWORD, 3)  # the right one, after waiting
    assert "wrong." in fail(store, "ana", 3)  # and the count starts anew


def test_while_waiting_even_the_right_password_is_not_checked(lite: LabelStore) -> None:
    people(lite, "ana")
    for _ in range(MAX_FREE_FAILURES):
        fail(lite, "ana")
    with pytest.raises(SignInError, match="Too many"):
        enter(lite, "ana", PASSWORD)


def test_guessing_over_many_names_is_slowed_for_all_and_ends_by_itself(lite: LabelStore) -> None:
    people(lite, "ana")
    for number in range(ALL_FAILURES):
        fail(lite, f"name{number}")
    with pytest.raises(SignInError, match="Try again in 60 seconds"):
        enter(lite, "ana", PASSWORD)
    assert enter(lite, "ana", PASSWORD, 61)


def test_another_password_ends_every_session(lite: LabelStore) -> None:
    people(lite, "ana")
    token = enter(lite, "ana", PASSWORD)
    change_password(lite, "ana", "another long password", CHEAP)
    assert account_of_token(lite, token, NOW) is None
    assert "wrong." in fail(lite, "ana")
    assert enter(lite, "ana", "another long password")


def test_an_account_of_the_identity_provider_has_no_password_to_guess(lite: LabelStore) -> None:
    add_account(lite, "Dr.Who@Clinic.example", "pi", None, NOW)
    assert find_account(lite, "dr.who@clinic.example").role is Role.PI
    assert "wrong." in fail(lite, "dr.who@clinic.example")
    assert account_of_token(lite, open_session(lite, "dr.who@clinic.example", NOW), NOW).role is Role.PI


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
