"""Single sign-on by a header: over real sockets, from the proxy and from anybody else."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest

from annotation.label_store.access_log import list_log
from annotation.label_store.engine import open_label_store
from annotation.studies.accounts import SESSION_LENGTH, disable_account, open_session, sign_out_everywhere
from audit.cli.main import main
from pages._blinded import identity
from pages._blinded.identity import FORWARDED_FOR, SIGNED_IN_AT, USER, checked_headers, forwarded_client
from pages._blinded.session_cookie import NAME as COOKIE
from tests.browser.conftest import AUDIT_SERVE, server
from tests.support.studies import NOW, people
from tests.support.visitor import opened, run, visit

HEADER = "X-Remote-User"
MALLORY = [(USER.decode(), "petra"), (SIGNED_IN_AT.decode(), str(int(time.time())))]
STREAMLIT_RUN = (
    "streamlit", "run", "app.py", "--server.port={port}", "--server.headless=true", "--server.fileWatcherType=none",
)  # fmt: skip


def new_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sso")
    store = open_label_store(f"sqlite:///{folder / 'studies.db'}")
    people(store, "petra", role="pi")
    people(store, "vera", role="viewer")
    store.close()
    return folder


def serving(folder: Path, proxy: str, command: tuple[str, ...] = AUDIT_SERVE) -> Iterator[str]:
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:  # for the server that starts, and not for the tests
            patch.delenv("FORWARDED_ALLOW_IPS", raising=False)
            patch.setenv("AUDIT_BROWSING", "signed-in")
            patch.setenv("AUDIT_TRUSTED_USER_HEADER", HEADER)
            patch.setenv("AUDIT_TRUSTED_PROXY", proxy)
            address = stack.enter_context(server(folder, command=command))
        yield address


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return new_folder(tmp_path_factory)


@pytest.fixture(scope="module")
def behind_proxy(folder: Path) -> Iterator[str]:
    """A server whose proxy is this machine: every connection of a test comes from the proxy."""
    yield from serving(folder, "127.0.0.1")


@pytest.fixture(scope="module")
def reached_directly(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server whose proxy is elsewhere: every connection of a test is anybody's."""
    yield from serving(new_folder(tmp_path_factory), "192.0.2.7, 198.51.100.0/24")


def test_the_proxys_header_signs_somebody_in(behind_proxy):
    assert "Sign in" not in visit(behind_proxy, {HEADER: "Petra"}).pages
    assert {"Studies", "Methods"} <= set(visit(behind_proxy, {HEADER: "petra"}).pages)
    assert "Studies" not in visit(behind_proxy, {HEADER: "vera"}).pages


def test_without_the_header_the_proxys_visitor_is_nobody(behind_proxy):
    assert visit(behind_proxy).pages == ["Sign in"]


@pytest.mark.parametrize("value", ["", "  ", "eve", "petra, vera", "petra\u00e9"])
def test_a_name_without_an_account_is_nobody(behind_proxy, value):
    assert visit(behind_proxy, {HEADER: value}).pages == ["Sign in"]


def test_a_name_without_an_account_is_told_so(behind_proxy):
    assert "no account of that name can be used here" in visit(behind_proxy, {HEADER: "eve"}).text.replace("\\\\", "")


def test_a_disabled_account_is_nobody(behind_proxy, folder):
    store = open_label_store(f"sqlite:///{folder / 'studies.db'}")
    people(store, "dora", role="viewer")
    assert "Start" in visit(behind_proxy, {HEADER: "dora"}).pages
    disable_account(store, "dora", NOW.now(NOW.tzinfo))
    store.close()
    assert visit(behind_proxy, {HEADER: "dora"}).pages == ["Sign in"]


def test_signing_out_everywhere_holds_until_somebody_continues_by_a_click(behind_proxy, folder):
    store = open_label_store(f"sqlite:///{folder / 'studies.db'}")

    async def ended_meanwhile() -> tuple[list[str], list[str]]:
        async with opened(behind_proxy, {HEADER: "vera"}) as tab:
            before = tab.pages
            sign_out_everywhere(store, "vera", datetime.now(UTC))
            await tab.rerun()
            return before, tab.pages

    before, after = run(ended_meanwhile())
    assert "Start" in before
    assert after == ["Sign in"]
    time.sleep(1.1)  # the proxy's time of a connection is in whole seconds
    again = visit(behind_proxy, {HEADER: "vera"})
    assert again.pages == ["Sign in"]  # the header alone does not let her in again
    assert "An investigator has ended your sessions" in again.text

    async def continued() -> list[str]:
        async with opened(behind_proxy, {HEADER: "vera"}) as tab:
            await tab.rerun(button="Continue as vera")
            return tab.pages

    assert "Start" in run(continued())
    assert "Start" in visit(behind_proxy, {HEADER: "vera"}).pages
    assert "by the proxy, after all sessions were ended" in [entry.detail for entry in list_log(store)]
    store.close()


def test_the_header_sent_twice_is_nobody(behind_proxy):
    assert visit(behind_proxy, [(HEADER, "petra"), (HEADER.lower(), "vera")]).pages == ["Sign in"]


def test_the_proxys_user_is_not_somebody_elses_cookie(behind_proxy, folder):
    store = open_label_store(f"sqlite:///{folder / 'studies.db'}")
    token = open_session(store, "petra", NOW.now(NOW.tzinfo))
    store.close()
    assert "Studies" in visit(behind_proxy, {"Cookie": f"{COOKIE}={token}"}).pages
    assert "Studies" not in visit(behind_proxy, {HEADER: "vera", "Cookie": f"{COOKIE}={token}"}).pages


@pytest.mark.parametrize(
    "headers",
    [
        [(HEADER, "petra")],
        [(HEADER.upper(), "petra"), ("X-Forwarded-For", "192.0.2.7")],
        [(HEADER, "petra"), ("X-Forwarded-For", "198.51.100.9"), ("X-Real-IP", "192.0.2.7"), ("Forwarded", "for=192.0.2.7")],
        MALLORY,
        [*MALLORY, (HEADER, "petra"), ("X-Forwarded-For", "192.0.2.7")],
    ],
)  # fmt: skip
def test_nobody_but_the_proxy_can_send_the_header(reached_directly, headers):
    assert visit(reached_directly, headers).pages == ["Sign in"]


def test_our_own_headers_cannot_be_sent_through_the_proxy(behind_proxy):
    assert visit(behind_proxy, MALLORY).pages == ["Sign in"]


def test_started_without_audit_serve_the_real_peer_is_unknown_and_the_header_is_not_believed(tmp_path_factory):
    for address in serving(new_folder(tmp_path_factory), "127.0.0.1", STREAMLIT_RUN):
        assert visit(address, {HEADER: "petra"}).pages == ["Sign in"]


def test_a_header_without_a_proxy_starts_no_server(monkeypatch, capsys):
    monkeypatch.setenv("AUDIT_TRUSTED_USER_HEADER", HEADER)
    assert main(["serve"]) == 2
    assert "needs AUDIT_TRUSTED_PROXY" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "value"), [("AUDIT_TRUSTED_PROXY", "nginx"), ("AUDIT_TRUSTED_USER_HEADER", "X Remote: User")])
def test_a_proxy_that_is_no_address_and_a_header_that_is_no_name_start_no_server(monkeypatch, capsys, name, value):
    monkeypatch.setenv(name, value)
    assert main(["serve"]) == 2
    assert name in capsys.readouterr().err


def test_the_address_of_a_client_is_the_one_that_the_proxy_added():
    assert forwarded_client([(FORWARDED_FOR, b"10.9.9.9, 203.0.113.5")]) == "203.0.113.5"
    assert forwarded_client([(FORWARDED_FOR, b"10.9.9.9"), (FORWARDED_FOR, b"2001:db8::1")]) == "2001:db8::1"
    assert forwarded_client([(FORWARDED_FOR, b"unknown")]) == ""


def test_an_open_tab_is_believed_for_the_length_of_a_session(monkeypatch):
    headers = {k.decode(): v.decode() for k, v in checked_headers([(b"x-remote-user", b"petra")], HEADER, trusted=True)}
    monkeypatch.setenv("AUDIT_TRUSTED_USER_HEADER", HEADER)
    monkeypatch.setenv("AUDIT_TRUSTED_PROXY", "127.0.0.1")
    monkeypatch.setattr(identity.st, "context", type("Context", (), {"headers": headers}))
    assert identity.proxy_user() == "petra"
    signed_in = time.time()
    monkeypatch.setattr(identity.time, "time", lambda: signed_in + SESSION_LENGTH.total_seconds() + 1)
    assert identity.proxy_user() == ""
