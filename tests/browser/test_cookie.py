"""Staying signed in with a cookie that no script can read, however the dashboard is started."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from annotation.label_store.engine import open_label_store
from tests.browser.conftest import AUDIT_SERVE, Dashboard, server, signed_in_as
from tests.support.studies import people

pytestmark = pytest.mark.browser
COOKIE = "handbook_session"


STREAMLIT_RUN = (
    "streamlit", "run", "app.py", "--server.port={port}", "--server.headless=true", "--server.fileWatcherType=none",
)  # fmt: skip


@pytest.fixture(params=[AUDIT_SERVE, STREAMLIT_RUN], ids=["audit serve", "streamlit run app.py"])
def dashboard(request: pytest.FixtureRequest, browser: Browser, tmp_path: Path, monkeypatch) -> Iterator[Dashboard]:
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    store = open_label_store(f"sqlite:///{tmp_path / 'studies.db'}")
    people(store, "petra", role="pi")
    store.close()
    with server(tmp_path, command=request.param) as address:
        yield Dashboard(address, browser)


def test_the_cookie_keeps_a_user_signed_in_and_no_script_can_read_it(dashboard: Dashboard) -> None:
    page = signed_in_as(dashboard, "petra")
    frames: list[str] = []
    page.on("websocket", lambda websocket: websocket.on("framereceived", lambda data: frames.append(str(data))))
    page.reload()
    expect(page.get_by_role("link", name="Sign out")).to_be_visible()
    (cookie,) = [cookie for cookie in page.context.cookies() if cookie["name"] == COOKIE]
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert COOKIE not in page.evaluate("document.cookie")
    assert cookie["value"] not in page.content() + "".join(frames)
    with page.expect_response(lambda response: response.url.endswith("/session")):
        page.get_by_role("link", name="Sign out").click()
    expect(page.get_by_label("Password", exact=True)).to_be_visible()
    assert [cookie for cookie in page.context.cookies() if cookie["name"] == COOKIE] == []
    assert dashboard.page_errors == []
