"""The page My account: what people change about their own account, and nobody else's."""

from __future__ import annotations

import pyotp

from annotation.studies.accounts import account_of_token, add_account, open_session
from annotation.studies.own_account import has_second_factor, own_sessions, session_key
from pages._blinded.access import now
from tests.pages.conftest import words_on
from tests.pages.studies.conftest import SignIn
from tests.support.studies import PASSWORD, people


def test_one_ends_another_session_adds_a_second_factor_and_changes_the_password(store, as_user: SignIn) -> None:
    people(store, "ana")
    elsewhere = open_session(store, "ana", now())
    at = as_user("ana", "my_account")
    assert len(own_sessions(store, "ana", now())) == 2
    (end,) = [button for button in at.button if button.key == f"end {session_key(elsewhere)}"]
    end.click().run()
    assert account_of_token(store, elsewhere, now()) is None
    (code,) = [field for field in at.text_input if field.label == "Code"]
    code.set_value(pyotp.TOTP(at.code[0].value).at(now()))
    next(button for button in at.button if button.label == "Add the second factor").click().run()
    assert has_second_factor(store, "ana")
    fields = {field.label: field for field in at.text_input}
    for label, value in (
        ("Current password", PASSWORD),
        ("New password", "12345678901234"),
        ("Repeat the new password", "12345678901234"),
    ):
        fields[label].set_value(value)
    next(button for button in at.button if button.label == "Change password").click().run()
    assert "among the first that are guessed" in words_on(at)
    assert not at.exception


def test_who_signs_in_at_the_institution_has_no_password_here(store, as_user: SignIn) -> None:
    add_account(store, "ana", "annotator", None, now())
    assert "Your institution signs you in" in words_on(as_user("ana", "my_account"))
