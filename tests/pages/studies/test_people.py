"""People: a PI changes accounts, hands out a one-time password once, and reads the access log."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from streamlit.testing.v1 import AppTest

from annotation.label_store.access_log import Actor, Event, list_log, record_event
from annotation.label_store.app_settings import stored_settings
from annotation.label_store.engine import LabelStore
from annotation.studies.accounts import (
    Role,
    account_of_token,
    find_account,
    list_account_states,
    open_session,
    sign_out_everywhere,
)
from annotation.studies.app_settings import with_stored
from annotation.studies.signing_in import PasswordChangeError, sign_in
from audit.settings import Settings
from tests.pages.conftest import ROOT, lists, words_on
from tests.pages.studies.conftest import SignIn
from tests.support.studies import CHEAP, people


@pytest.fixture(autouse=True)
def cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.studies.accounts.default_hasher", lambda: CHEAP)


@pytest.fixture
def page(folk: LabelStore, as_user: SignIn) -> AppTest:
    people(folk, "ana")
    return as_user("petra", "people")


def about(at: AppTest, name: str) -> AppTest:
    at.selectbox(key="account").set_value(name)
    return at.run()


def pressed(at: AppTest, label: str) -> AppTest:
    return next(button for button in at.button if button.label == label).click().run()


def states(store: LabelStore) -> dict[str, str]:
    return {state.account.username: state.state for state in list_account_states(store, datetime.now(UTC))}


def test_the_table_has_every_account_with_role_and_state(page: AppTest) -> None:
    assert not page.exception
    shown = lists(page)[0].value
    assert list(zip(shown["username"], shown["role"], shown["state"], strict=True)) == [
        ("ada", "adjudicator", "active"), ("ana", "annotator", "active"), ("petra", "pi", "active"), ("vera", "viewer", "active"),
    ]  # fmt: skip


def test_disabling_ends_the_session_of_that_person_at_once(page: AppTest, folk: LabelStore) -> None:
    token = open_session(folk, "ana", datetime.now(UTC))
    at = about(page, "ana").button(key="do_Disable").click().run()
    assert [element.value.replace("\\", "") for element in at.success] == ["ana is disabled."]
    assert states(folk)["ana"] == "disabled"
    assert account_of_token(folk, token, datetime.now(UTC)) is None
    at = at.button(key="do_Enable").click().run()
    assert states(folk)["ana"] == "active"
    entry = list_log(folk)[0]
    assert (entry.account, entry.event, entry.detail) == ("petra", "account-enabled", "ana")


def test_a_one_time_password_is_shown_once(page: AppTest, folk: LabelStore) -> None:
    at = about(page, "ana").button(key="do_Reset password").click().run()
    (shown,) = [element.value for element in at.code]
    with pytest.raises(PasswordChangeError):
        sign_in(folk, "ana", shown, datetime.now(UTC), CHEAP)
    assert "This password is shown only now." in words_on(at)
    at = at.run()
    assert not at.code
    assert shown not in str(at.session_state)


def test_a_role_is_changed(page: AppTest, folk: LabelStore) -> None:
    at = about(page, "ana")
    at.selectbox(key="role_ana").set_value("viewer")
    at.run().button(key="do_role").click().run()
    assert find_account(folk, "ana").role is Role.VIEWER


def test_signing_out_everywhere_ends_every_session(page: AppTest, folk: LabelStore) -> None:
    tokens = [open_session(folk, "ana", datetime.now(UTC)) for _ in range(2)]
    about(page, "ana").button(key="do_Sign out everywhere").click().run()
    assert [account_of_token(folk, token, datetime.now(UTC)) for token in tokens] == [None, None]


def test_a_pi_cannot_lock_themselves_out(page: AppTest) -> None:
    at = about(page, "petra")
    assert {button.key for button in at.button if str(button.key).startswith("do_")} == {"do_Sign out everywhere"}
    assert "Your own role, password and state are changed by another PI" in words_on(at)


def test_an_account_is_added_with_a_one_time_password(page: AppTest, folk: LabelStore) -> None:
    page.text_input(key="new_username").set_value("Paul")
    page.selectbox(key="new_role").set_value("pi")
    at = next(button for button in page.button if button.label == "Add account").click().run()
    assert states(folk)["paul"] == "one-time password"
    assert len(at.code) == 1
    at.text_input(key="new_username").set_value("paul")
    at = next(button for button in at.button if button.label == "Add account").click().run()
    assert "The account 'paul' already exists" in words_on(at)


def test_the_access_log_is_shown_and_filtered(page: AppTest, folk: LabelStore) -> None:
    record_event(folk, Event.EXPORT, Actor("ana", "192.0.2.1"), datetime.now(UTC), "ana.csv")
    at = page.run()
    newest = lists(at)[1].value.iloc[0]
    assert (newest["account"], newest["address"], newest["event"], newest["detail"]) == (
        "ana", "192.0.2.1", "downloaded or exported", "ana.csv",
    )  # fmt: skip
    at.multiselect(key="log_events").set_value([Event.ROLE_CHANGED])
    assert lists(at.run())[1].value.empty
    assert "0 entries" in words_on(at)


def test_whose_session_has_ended_changes_nothing(page: AppTest, folk: LabelStore) -> None:
    at = about(page, "ana")
    sign_out_everywhere(folk, "petra", datetime.now(UTC))
    at.button(key="do_Disable").click().run()
    assert states(folk)["ana"] == "active"


def test_a_pi_reads_the_settings_and_never_a_password_or_a_key(folk, as_user: SignIn, monkeypatch):
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    monkeypatch.setenv("AUDIT_JUDGE_URL", "http://user:hidden-word@judge.example:8000/v1")
    monkeypatch.setenv("AUDIT_JUDGE_KEY", "hidden-key")
    at = as_user("petra", "people")
    shown = next(frame.value for frame in lists(at) if "setting" in frame.value).set_index("setting")["now"].to_dict()
    assert shown["Who may browse runs"] == "Viewers and PIs who are signed in"
    assert shown["Judge"] == "The only model at judge.example:8000"
    assert shown["Key of the judge"] == "Set"
    assert "hidden" not in repr(shown) + words_on(at)


def test_a_pi_closes_browsing_and_names_a_judge_with_effect_at_once(folk, as_user: SignIn, monkeypatch):
    for name in ("AUDIT_BROWSING", "AUDIT_JUDGE_URL", "AUDIT_JUDGE_MODEL"):
        monkeypatch.delenv(name, raising=False)
    at = as_user("petra", "people")
    at.radio(key="browsing_choice").set_value("signed-in")
    at = pressed(at, "Save browsing")
    assert [message.value for message in at.success] == [
        "From now on, runs can be browsed by: viewers and PIs who are signed in."
    ]
    at.text_area(key="judge_urls").set_value("http://127.0.0.1:8000/v1\nhttps://judge.example/v1")
    at.text_input(key="judge_model").set_value("qwen3")
    at = pressed(at, "Save judge")
    shown = next(frame.value for frame in lists(at) if "setting" in frame.value).set_index("setting")
    assert shown.loc["Judge", "now"] == "qwen3 at 127.0.0.1:8000, judge.example"
    assert shown.loc["Judge", "change"].startswith("petra, ")
    settings = with_stored(Settings(), stored_settings(folk))
    assert (settings.browsing, settings.judge_model) == ("signed-in", "qwen3")
    anonymous = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    assert [title.value for title in anonymous.title] == ["Sign in"]  # open before, as on every loopback address


def test_a_password_in_an_address_is_refused_and_not_repeated(folk, as_user: SignIn, monkeypatch):
    monkeypatch.delenv("AUDIT_JUDGE_URL", raising=False)
    at = as_user("petra", "people")
    at.text_area(key="judge_urls").set_value("http://user:hidden-word@judge.example/v1")
    at = pressed(at, "Save judge")
    assert "A key belongs in AUDIT_JUDGE_KEY" in words_on(at).replace("\\", "")
    assert stored_settings(folk) == {}


def test_the_servers_own_setting_takes_precedence_and_the_page_says_so(folk, as_user: SignIn, monkeypatch):
    monkeypatch.setenv("AUDIT_BROWSING", "open")
    monkeypatch.setenv("AUDIT_JUDGE_URL", "http://judge.example/v1")
    at = as_user("petra", "people")
    assert at.radio(key="browsing_choice").disabled
    assert at.text_area(key="judge_urls").disabled
    assert words_on(at).replace("\\", "").count("is set on the server") == 2
