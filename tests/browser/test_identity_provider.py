"""Signing in through an identity provider on loopback, in a real browser."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from annotation.label_store.engine import open_label_store
from annotation.studies.accounts import SESSION_LENGTH, add_account
from tests.browser.conftest import Dashboard, server, settled
from tests.support.identity import Identity, provider
from tests.support.studies import NOW, study_of

pytestmark = pytest.mark.browser

ANA, PETRA = "ana@alder.example", "petra@alder.example"


@pytest.fixture(scope="module")
def identity() -> Iterator[Identity]:
    with provider() as started:
        yield started


@pytest.fixture(scope="module")
def institution(browser: Browser, identity: Identity, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """A deployment whose people sign in with their e-mail addresses; none of them has a password here."""
    folder = tmp_path_factory.mktemp("institution")
    store = open_label_store(f"sqlite:///{folder / 'studies.db'}")
    study_of(store, 3, (ANA, "ben@alder.example"))
    add_account(store, PETRA, "pi", None, NOW, name="Petra")
    store.close()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUDIT_BROWSING", "signed-in")
        patch.setenv("STREAMLIT_SECRETS_FILES", str(identity.secrets_file(folder)))
        with server(folder) as address:
            yield Dashboard(address, browser)


def signed_in_by_provider(institution: Dashboard, identity: Identity, **claims: object) -> Page:
    """A page whose user pressed the button, and for whom the provider sends these claims."""
    identity.says = claims
    page = institution.open()
    page.get_by_role("button", name="Sign in with your institution").click()
    page.wait_for_url(f"{institution.address}/")
    return settled(page)


def links(page: Page) -> list[str]:
    return page.locator('[data-testid="stSidebarNavLink"]').all_inner_texts()


def test_an_e_mail_address_gets_the_role_of_its_account_and_keeps_it_over_a_reload(institution, identity) -> None:
    page = signed_in_by_provider(institution, identity, email="Ana@Alder.example", email_verified=True)
    expect(page.locator(".labelling-widget h2")).to_be_visible()
    assert links(page) == ["Label", "My items", "Rubric"]
    assert {"/.well-known/openid-configuration", "/authorize", "/token", "/keys"} <= set(identity.calls)
    page.reload()
    expect(page.locator(".labelling-widget h2")).to_be_visible()
    other = page.context.new_page()
    other.goto(f"{institution.address}/protocol")
    expect(other.get_by_role("heading", name="How annotators work")).to_be_visible()


def test_another_address_gets_another_role(institution, identity) -> None:
    page = signed_in_by_provider(institution, identity, email=PETRA, email_verified=True)
    expect(page.get_by_role("link", name="Studies")).to_be_visible()
    expect(page.get_by_role("link", name="Label")).to_have_count(0)


@pytest.mark.parametrize(
    ("claims", "message", "scripts"),
    [
        ({"email": "eve@alder.example", "email_verified": True}, "You have no account here", ("annotate", "study", "start")),
        ({"email": ANA, "email_verified": False}, "has not verified your e-mail address", ("annotate",)),
        ({"email": ANA, "email_verified": "false"}, "has not verified your e-mail address", ()),
        ({}, "did not send your e-mail address", ()),
    ],
)
def test_a_user_without_an_account_gets_the_reason_and_reaches_no_page(institution, identity, claims, message, scripts) -> None:
    page = signed_in_by_provider(institution, identity, **claims)
    expect(page.get_by_text(re.compile(message))).to_be_visible()
    for script in scripts:
        page.goto(f"{institution.address}/{script}")
        expect(page.get_by_text(re.compile(message))).to_be_visible()
    page.get_by_role("button", name="Sign out of the identity provider").click()
    expect(page.get_by_role("button", name="Sign in with your institution")).to_be_visible()


def test_signing_out_leaves_the_provider_too_and_ends_the_work_in_other_tabs(institution, identity) -> None:
    page = signed_in_by_provider(institution, identity, email=ANA, email_verified=True)
    other = page.context.new_page()
    other.goto(institution.address)
    expect(other.locator(".labelling-widget h2")).to_be_visible()
    with page.expect_response(re.compile("/leave")):
        page.get_by_role("link", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in with your institution")).to_be_visible()
    other.keyboard.press("1")
    expect(other.get_by_text("Your session has ended")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Sign in with your institution")).to_be_visible()


def test_a_sign_in_at_the_provider_expires_after_the_length_of_a_session(institution, identity) -> None:
    page = signed_in_by_provider(
        institution, identity, email=ANA, email_verified=True, iat=int(time.time() - SESSION_LENGTH.total_seconds()) - 1
    )
    expect(page.get_by_role("button", name="Sign in with your institution")).to_be_visible()
    assert links(page) in ([], ["Sign in"])
