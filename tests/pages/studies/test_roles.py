"""Signing in, and which pages exist for whom."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from annotation.label_store.access_log import Event, list_log
from annotation.label_store.engine import LabelStore, open_label_store
from annotation.studies import signing_in
from annotation.studies.accounts import (
    SESSION_LENGTH,
    Role,
    account_of_token,
    disable_account,
    list_accounts,
    open_session,
    reset_password,
    sign_out_everywhere,
)
from annotation.studies.signing_in import sign_in
from audit.errors import AuditError
from audit.settings import Settings
from pages._blinded.access import OWN_PAGES, STUDY_PAGES, create_first_account, first_account_offered
from pages._blinded.scripts import script_path
from pages._shared import doors
from tests.pages.conftest import ROOT, TOKEN, words_on
from tests.pages.studies.conftest import SignIn
from tests.support.studies import CHEAP, PASSWORD, people

OWNER = {script_path(script) for script in doors.OWNER_PAGES}
BROWSING = {script_path(script) for script in doors.BROWSING} - OWNER
STUDIES = {script_path(f"studies/{script}") for script in STUDY_PAGES}
ROLES = {"vera": Role.VIEWER, "ana": Role.ANNOTATOR, "ada": Role.ADJUDICATOR, "petra": Role.PI}


def anonymous(token: str = "") -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.session_state[TOKEN] = token
    return at.run()


def existing(at: AppTest) -> set[str]:
    """The scripts that can be opened."""

    def there(script: str) -> bool:
        try:
            at.switch_page(script)
        except ValueError:
            return False
        return True

    return {script for script in BROWSING | OWNER | STUDIES if there(script)}


def own(name: str) -> set[str]:
    return {script_path(f"studies/{script}") for script in OWN_PAGES[ROLES[name]]} & STUDIES


def test_without_accounts_there_is_only_browsing_and_no_database_is_created(run, data_dir):
    assert existing(anonymous()) == BROWSING | OWNER
    assert not (data_dir / "studies.db").exists()


@pytest.mark.parametrize(("name", "browses"), [("vera", True), ("ana", False), ("ada", False), ("petra", True)])
def test_a_role_has_its_own_pages_and_no_other(name, browses, run, folk, as_user: SignIn):
    people(folk, "ana")
    at = as_user(name)
    assert not at.exception
    assert existing(at) == own(name) | (BROWSING if browses else set()) | (OWNER if name == "petra" else set())


def test_nobody_who_is_blinded_and_no_viewer_has_the_pages_of_an_investigator():
    investigators = {"study", "people", "prevalence", "alignment", "backup"}
    others = {page for role, pages in OWN_PAGES.items() if role is not Role.PI for page in pages}
    assert not others & investigators
    assert not {"agreement", "adjudicate"} & {*OWN_PAGES[Role.ANNOTATOR], *OWN_PAGES[Role.VIEWER], *OWN_PAGES[None]}


def test_a_page_of_another_role_is_refused_and_the_refusal_is_in_the_access_log(run, folk, as_user: SignIn, monkeypatch):
    people(folk, "ana")
    at = as_user("ana")
    monkeypatch.setattr("pages._shared.navigation._address", lambda: "people")
    at.run().run()
    (entry,) = [entry for entry in list_log(folk) if entry.event == "page-refused"]
    assert (entry.account, entry.detail) == ("ana", "people")


def test_where_the_accounts_cannot_be_read_a_stranger_learns_no_path(run, folk, data_dir, monkeypatch):
    folk.close()
    (data_dir / "studies.db").write_bytes(b"no database " * 1000)
    for rest in ("-wal", "-shm"):
        (data_dir / f"studies.db{rest}").unlink(missing_ok=True)
    monkeypatch.setenv("AUDIT_PUBLIC_HOSTS", "audit.example.org")
    words = words_on(anonymous())
    assert "Whoever runs the server finds the reason in its log" in words
    assert str(data_dir) not in words
    monkeypatch.delenv("AUDIT_PUBLIC_HOSTS")
    assert str(data_dir) in words_on(anonymous())


def test_without_accounts_an_address_that_others_reach_has_no_owner(run, monkeypatch):
    monkeypatch.setattr("pages._blinded.access.on_loopback", lambda: False)
    assert existing(anonymous()) == BROWSING


def test_an_annotator_needs_no_run(folk, as_user: SignIn):
    people(folk, "ana")
    at = as_user("ana")
    assert not at.exception
    assert "audit load" not in words_on(at)


def test_on_loopback_browsing_stays_open_with_accounts(run, folk):
    assert existing(anonymous()) == BROWSING | {script_path("studies/sign_in")}


def test_a_setting_closes_browsing_to_those_who_are_not_signed_in(run, folk, monkeypatch):
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    at = anonymous()
    assert existing(at) == {script_path("studies/sign_in")}
    assert [title.value for title in at.title] == ["Sign in"]


def test_closed_browsing_without_accounts_explains_how_to_create_the_first(run, monkeypatch):
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    assert "audit account add" in words_on(anonymous())


@pytest.fixture
def code() -> Iterator[str]:
    yield signing_in.issue_code()
    signing_in.withdraw_code()


def filled_in(at, code, again=PASSWORD):
    values = {
        "Account name": "petra",
        "Your name": "Petra Pine",
        "Password": PASSWORD,
        "Repeat the password": again,
        "Code": code,
    }
    for field in at.text_input:
        field.set_value(values[field.label])
    return next(button for button in at.button if button.label == "Create the first account").click().run()


def test_with_the_code_of_the_server_the_first_account_is_made_without_a_shell(run, code, data_dir, monkeypatch):
    monkeypatch.setattr("annotation.studies.accounts.default_hasher", lambda: CHEAP)
    at = anonymous().switch_page(script_path("studies/sign_in")).run()
    assert code not in words_on(at)
    assert "The two passwords differ" in words_on(filled_in(at, code, "another password here"))
    assert "The code is wrong" in words_on(filled_in(at, "k7qm-2hva-x9tc-p4re"))
    filled_in(at, code)
    store = open_label_store(Settings().studies_url)
    assert [(account.username, account.role) for account in list_accounts(store)] == [("petra", "pi")]
    store.close()
    after = anonymous().switch_page(script_path("studies/sign_in")).run()
    assert [button.label for button in after.button] == ["Sign in"]


@pytest.mark.parametrize("elsewhere", ["proxy", "provider"])
def test_where_people_sign_in_elsewhere_no_code_makes_an_account(run, code, monkeypatch, elsewhere):
    if elsewhere == "proxy":
        monkeypatch.setenv("AUDIT_TRUSTED_PROXY", "127.0.0.1")
        monkeypatch.setenv("AUDIT_TRUSTED_USER_HEADER", "X-Remote-User")
    else:
        monkeypatch.setattr("pages._blinded.access.provider_configured", lambda: True)
    assert not first_account_offered()
    with pytest.raises(AuditError, match="made in a terminal here"):
        create_first_account("petra", "", PASSWORD, code)


def test_an_unknown_setting_is_explained_and_opens_nothing(run, monkeypatch):
    monkeypatch.setenv("AUDIT_BROWSING", "opne")
    at = anonymous()
    assert not at.exception
    assert "Allowed: open, signed-in" in words_on(at)
    assert not at.title


def sign_in_with(password: str, name: str = "petra") -> AppTest:
    at = anonymous().switch_page(script_path("studies/sign_in")).run()
    at.text_input[0].set_value(name)
    at.text_input[1].set_value(password)
    return at.button[0].click().run()


def test_the_right_password_gets_a_ticket_for_the_cookie_and_the_page_keeps_nothing(run, folk, monkeypatch):
    issued: list[str] = []
    monkeypatch.setattr("pages._blinded.session_cookie.ticket_for", lambda token: issued.append(token) or "a ticket")
    at = sign_in_with(PASSWORD)
    assert not at.exception
    assert account_of_token(folk, issued[0], datetime.now(UTC)).username == "petra"
    assert issued[0] not in str(at.session_state)
    assert existing(anonymous(issued[0])) == own("petra") | BROWSING | OWNER


@pytest.mark.parametrize("name", ["petra", "nobody"])
def test_a_wrong_password_and_an_unknown_name_read_the_same(name, folk):
    at = sign_in_with("wrong password here", name)
    assert not at.exception
    assert "The name or the password is wrong." in words_on(at)


def test_guessing_is_slowed_down_on_the_page(folk):
    at = sign_in_with("wrong password here")
    for _ in range(5):
        at = at.button[0].click().run()
    assert "Too many wrong passwords" in words_on(at)


def test_signing_out_ends_the_session_for_every_copy_of_its_token(run, folk, as_user: SignIn):
    at = as_user("petra")
    token = at.session_state[TOKEN]
    at.switch_page(script_path("studies/sign_out")).run()
    assert not at.exception
    assert existing(anonymous(token)) == BROWSING | {script_path("studies/sign_in")}


def test_a_session_ends_by_itself(run, folk: LabelStore, monkeypatch):
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    expired = open_session(folk, "petra", datetime.now(UTC) - SESSION_LENGTH - timedelta(seconds=1))
    assert existing(anonymous(expired)) == {script_path("studies/sign_in")}


VERA = {"iss": "https://id.example", "sub": "7"}


@pytest.mark.parametrize(("verified", "pages"), [(True, own("vera") | BROWSING), (False, {script_path("studies/sign_in")})])
def test_a_user_of_the_identity_provider_has_the_role_of_their_account(verified, pages, run, folk, monkeypatch):
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    people(folk, "vera@alder.example", role="viewer")
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.secrets["auth"] = {"client_id": "x"}
    at.user = {"email": "vera@alder.example", "email_verified": verified, "is_logged_in": True, "iat": time.time(), **VERA}
    assert existing(at.run()) == pages


def test_who_signed_out_of_the_identity_provider_stays_out_after_a_restart(run, folk, monkeypatch):
    """The provider's cookie goes on to name them."""
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    people(folk, "vera@alder.example", role="viewer")

    def vera(issued_at: float) -> AppTest:
        at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        at.secrets["auth"] = {"client_id": "x"}
        at.user = {"email": "vera@alder.example", "is_logged_in": True, "iat": issued_at, "email_verified": True, **VERA}
        return at.run()

    issued_at = time.time()
    vera(issued_at).switch_page(script_path("studies/sign_out")).run()
    st.cache_resource.clear()  # what a restart forgets
    assert existing(vera(issued_at)) == {script_path("studies/sign_in")}
    assert existing(vera(issued_at + 1)) == own("vera") | BROWSING


def of_the_provider(issued_at: float) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.secrets["auth"] = {"client_id": "x"}
    at.user = {"email": "Vera@alder.example", "is_logged_in": True, "iat": issued_at, "email_verified": True, **VERA}
    return at.run()


def test_signing_out_everywhere_ends_a_session_of_the_identity_provider_until_the_next_sign_in(run, folk, monkeypatch):
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    people(folk, "vera@alder.example", role="viewer")
    before = time.time() - 5
    assert existing(of_the_provider(before)) == own("vera") | BROWSING
    sign_out_everywhere(folk, "vera@alder.example", datetime.now(UTC) - timedelta(seconds=2))
    at = of_the_provider(before)
    assert "An investigator has ended your sessions." in words_on(at)
    assert existing(at) == {script_path("studies/sign_in")}
    assert existing(of_the_provider(time.time())) == own("vera") | BROWSING


def test_a_disabled_account_of_the_identity_provider_is_told_so(run, folk, monkeypatch):
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    people(folk, "vera@alder.example", role="viewer")
    disable_account(folk, "vera@alder.example", datetime.now(UTC))
    assert "This account is disabled." in words_on(of_the_provider(time.time()))


def test_sign_ins_by_the_identity_provider_are_in_the_access_log_once(run, folk):
    people(folk, "vera@alder.example", role="viewer")
    issued_at = time.time()
    of_the_provider(issued_at), of_the_provider(issued_at)
    signed_in = [entry for entry in list_log(folk) if entry.event == Event.SIGN_IN]
    assert [(entry.account, entry.detail) for entry in signed_in] == [("vera@alder.example", "by the identity provider")]


def test_a_one_time_password_asks_for_another_and_then_signs_in(run, folk, monkeypatch):
    issued: list[str] = []
    monkeypatch.setattr("pages._blinded.session_cookie.ticket_for", lambda token: issued.append(token) or "a ticket")
    at = sign_in_with(reset_password(folk, "petra", datetime.now(UTC)))
    assert "Choose one of your own." in words_on(at)
    assert not issued
    at.text_input[2].set_value("four more random words")
    at.text_input[3].set_value("four more random word")
    at = at.button[1].click().run()
    assert "The two new passwords differ." in words_on(at)
    at.text_input[3].set_value("four more random words")
    at = at.button[1].click().run()
    assert not at.exception
    assert account_of_token(folk, issued[0], datetime.now(UTC)).username == "petra"
    assert sign_in(folk, "petra", "four more random words", datetime.now(UTC))


def test_a_visit_of_the_page_logs_where_a_wrong_password_came_from(folk, monkeypatch):
    monkeypatch.setattr("pages._blinded.access.visitor_address", lambda: "192.0.2.1")
    sign_in_with("wrong password here")
    assert [(entry.account, entry.address, entry.detail) for entry in list_log(folk) if entry.event == Event.SIGN_IN_FAILED] == [
        ("petra", "192.0.2.1", "wrong password")
    ]


@pytest.mark.parametrize(
    ("claims", "trusted", "enters"),
    [
        ({}, "", False),
        ({}, "https://elsewhere.example", False),
        ({}, "https://id.example", True),
        ({"email_verified": True}, "", True),
        ({"email_verified": True, "sub": ""}, "", False),
    ],
)
def test_an_address_is_believed_where_the_provider_says_that_it_verified_it(claims, trusted, enters, run, folk, monkeypatch):
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    monkeypatch.setenv("AUDIT_TRUSTED_ISSUERS", trusted)
    people(folk, "vera@alder.example", role="viewer")
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.secrets["auth"] = {"client_id": "x"}
    at.user = {"email": "vera@alder.example", "is_logged_in": True, "iat": time.time(), **VERA, **claims}
    assert existing(at.run()) == (own("vera") | BROWSING if enters else {script_path("studies/sign_in")})


def test_a_pi_reads_on_runs_how_another_one_is_loaded(run, folk, as_user: SignIn):
    loading = "`audit load PATH`"
    shown = {name: loading in words_on(as_user(name).switch_page(script_path("runs")).run()) for name in ("petra", "vera")}
    assert shown == {"petra": True, "vera": False}
