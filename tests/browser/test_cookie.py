"""Staying signed in with a cookie that no script can read, however the dashboard is started."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from annotation.label_store.engine import open_label_store
from tests.browser.conftest import ROOT, Dashboard, ready, serve, signed_in_as
from tests.support.studies import people

pytestmark = pytest.mark.browser
NAME = "handbook_session"


def streamlit_run(data_dir: Path, browser: Browser) -> Iterator[Dashboard]:
    """`streamlit run app.py`, without our launcher."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    flags = [f"--server.port={port}", "--server.headless=true", "--server.fileWatcherType=none"]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", *flags]
    environment = {**os.environ, "AUDIT_DATA_DIR": str(data_dir)}
    server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield ready(server, f"http://127.0.0.1:{port}", browser)
    finally:
        server.terminate()
        server.wait(10)


@pytest.fixture(params=[serve, streamlit_run], ids=["audit serve", "streamlit run app.py"])
def dashboard(request: pytest.FixtureRequest, browser: Browser, tmp_path: Path, monkeypatch) -> Iterator[Dashboard]:
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    store = open_label_store(f"sqlite:///{tmp_path / 'studies.db'}")
    people(store, "petra", role="pi")
    store.close()
    yield from request.param(tmp_path, browser)


def test_the_cookie_keeps_one_signed_in_and_no_script_reads_it(dashboard: Dashboard) -> None:
    page = signed_in_as(dashboard, "petra")
    frames: list[str] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda data: frames.append(str(data))))
    page.reload()
    expect(page.get_by_role("link", name="Sign out")).to_be_visible()
    (cookie,) = [each for each in page.context.cookies() if each["name"] == NAME]
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert NAME not in page.evaluate("document.cookie")
    assert cookie["value"] not in page.content() + "".join(frames)
    with page.expect_response(lambda response: response.url.endswith("/session")):
        page.get_by_role("link", name="Sign out").click()
    expect(page.get_by_label("Password", exact=True)).to_be_visible()
    assert [each for each in page.context.cookies() if each["name"] == NAME] == []
    assert dashboard.complaints == []
