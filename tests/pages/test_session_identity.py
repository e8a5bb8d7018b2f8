"""Who somebody is: the cookie of the handshake says it, and nothing else does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string

from annotation.label_store.engine import LabelStore, open_label_store
from annotation.studies.accounts import open_session, sign_out
from pages._blinded.access import now
from pages._blinded.session_cookie import NAME
from pages._blinded.transfers import BROWSER, browser_of
from tests.browser.conftest import server
from tests.support.studies import people
from tests.support.visitor import Visit, opened, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("identity")


@pytest.fixture(scope="module")
def store(folder: Path) -> Iterator[LabelStore]:
    opened_store = open_label_store(f"sqlite:///{folder / 'studies.db'}")
    people(opened_store, "petra", role="pi")
    people(opened_store, "vera", role="viewer")
    yield opened_store
    opened_store.close()


@pytest.fixture(scope="module")
def address(folder: Path, store: LabelStore) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUDIT_BROWSING", "signed-in")
        with server(folder) as started:
            yield started


def cookie(store: LabelStore, name: str) -> dict[str, str]:
    return {"Cookie": f"{NAME}={open_session(store, name, now())}"}


def session_of(address: str, headers: dict[str, str], others: dict[str, str], *, connected: bool) -> tuple[Visit, Visit]:
    """What somebody sees, and what another browser sees that asks to go on with the first one's session."""

    async def both() -> tuple[Visit, Visit]:
        async with opened(address, headers) as first:
            if connected:
                async with opened(address, others, session=first.session) as thief:
                    return first, thief
        async with opened(address, others, session=first.session) as thief:
            return first, thief

    return run(both())


@pytest.mark.parametrize("connected", [True, False], ids=["while the owner is connected", "after the owner has left"])
def test_the_id_of_a_session_without_its_cookie_is_nobody(address: str, store: LabelStore, connected: bool) -> None:
    owner, thief = session_of(address, cookie(store, "petra"), {}, connected=connected)
    assert "Studies" in owner.pages
    assert thief.pages == ["Sign in"]
    assert thief.session != owner.session


def test_what_is_typed_on_the_sign_in_page_stays_in_its_browser(address: str) -> None:
    """Nobody is signed in yet, and the session has the password."""
    typing = {"Cookie": f"_streamlit_xsrf={generate_xsrf_token_string()}"}
    for thief in ({}, {"Cookie": f"_streamlit_xsrf={generate_xsrf_token_string()}"}):
        first, other = session_of(address, typing, thief, connected=False)
        assert other.session != first.session


def test_the_id_of_a_session_with_another_s_cookie_is_that_other(address: str, store: LabelStore) -> None:
    owner, other = session_of(address, cookie(store, "petra"), cookie(store, "vera"), connected=False)
    assert "Studies" in owner.pages
    assert "Studies" not in other.pages
    assert other.session != owner.session


def test_a_browser_goes_on_with_its_own_session_after_a_broken_connection(address: str, store: LabelStore) -> None:
    petra = cookie(store, "petra")
    before, after = session_of(address, petra, petra, connected=False)
    assert after.session == before.session
    assert "Studies" in after.pages


def test_a_browser_cannot_say_itself_which_browser_it_is(address: str, store: LabelStore) -> None:
    petra = cookie(store, "petra")
    forged = {BROWSER.decode(): browser_of([(b"cookie", petra["Cookie"].encode())])}
    owner, thief = session_of(address, petra, forged, connected=False)
    assert thief.session != owner.session
    assert thief.pages == ["Sign in"]


def test_a_signed_out_token_is_nobody_in_the_tab_that_is_still_open(address: str, store: LabelStore) -> None:
    token = open_session(store, "petra", now())

    async def signed_out_meanwhile() -> tuple[list[str], list[str]]:
        async with opened(address, {"Cookie": f"{NAME}={token}"}) as tab:
            before = tab.pages
            sign_out(store, token, now())
            await tab.rerun()
            return before, tab.pages

    before, after = run(signed_out_meanwhile())
    assert "Studies" in before
    assert after == ["Sign in"]
