"""A real server, a real browser: Streamlit in a process of its own and Debian's Chromium driven by Playwright."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from annotation.label_store.engine import open_label_store
from audit.cli.main import main
from pages._blinded.session_cookie import ADDRESS as COOKIE
from tests.support.studies import PASSWORD, people

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
READY = '[data-testid="stApp"][data-test-script-state="notRunning"]'
PATIENCE_MS = 30_000
BUILD_MS = 180_000
"""What building a package with its pictures may take on a busy machine."""
expect.set_options(timeout=PATIENCE_MS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In CI a browser test that fails runs once more: the machine may have stood still. The summary names those that did."""
    if os.environ.get("CI"):
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, or a skip that says why (a failure where AUDIT_REQUIRE_BROWSER is set, as in CI).

    It ends with the file: while it lives, Playwright keeps an event loop running in this thread, and a test of another
    file that calls `asyncio.run` would be refused.
    """
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        (pytest.fail if os.environ.get("AUDIT_REQUIRE_BROWSER") else pytest.skip)("no Chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS, headless=True)
        yield chromium
        chromium.close()


@dataclass
class Dashboard:
    """A running server and what its pages asked of other hosts or complained of."""

    address: str
    browser: Browser
    strangers: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def open(self, path: str = "/", width: int = 1280, height: int = 800) -> Page:
        """A page in a browser context of its own, as another person would open it."""
        page = self.browser.new_context(viewport={"width": width, "height": height}).new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("request", lambda request: self._asked(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(path if path.startswith("http") else self.address + path)
        return settled(page)

    def _asked(self, url: str) -> None:
        # A blob or data URL never leaves the browser; the icon font of the favicon is asked for and may fail.
        if url.startswith("http") and not url.startswith(self.address) and "fonts.gstatic.com" not in url:
            self.strangers.append(url)


def settled(page: Page) -> Page:
    """`page` once its script has run to its end."""
    page.wait_for_selector(READY)
    page.wait_for_timeout(150)  # a widget's change reaches the server a moment after it shows
    page.wait_for_selector(READY)
    return page


def signed_in_as(dashboard: Dashboard, name: str, page: Page | None = None) -> Page:
    """A page on which `name` has signed in: `page`, which asks for it, or a new one.

    The menu shows a moment before the browser has its cookie; the next address opened would ask for the password again.
    """
    page = page or dashboard.open()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    with page.expect_response(lambda answer: answer.url.endswith(COOKIE) and answer.status == 204):
        page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("link", name="Sign out")).to_be_visible()
    return settled(page)


@pytest.fixture(scope="session")
def demo_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the demo loaded."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUDIT_DATA_DIR", str(folder))
        assert main(["demo", "--no-serve"]) == 0
    return folder


@pytest.fixture(scope="session")
def studied_data(demo_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the demo, its three studies and a PI called pia, to be copied."""
    folder = tmp_path_factory.mktemp("studied") / "data"
    shutil.copytree(demo_data, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUDIT_DATA_DIR", str(folder))
        assert main(["demo", "--studies", "--no-serve"]) == 0
    store = open_label_store(f"sqlite:///{folder / 'studies.db'}")
    people(store, "pia", role="pi")
    store.close()
    return folder


@pytest.fixture(scope="module")
def demo(browser: Browser, demo_data: Path) -> Iterator[Dashboard]:
    """The dashboard on the demo."""
    yield from serve(demo_data, browser)


@pytest.fixture(scope="module")
def institutes(browser: Browser, nih: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """The dashboard on the NIH release."""
    folder = tmp_path_factory.mktemp("nih")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUDIT_DATA_DIR", str(folder))
        assert main(["load", str(nih)]) == 0
    yield from serve(folder, browser)


def serve(data_dir: Path, browser: Browser, log: Path | None = None) -> Iterator[Dashboard]:
    """`audit serve` on a free port until the tests are through; with `log`, all that it says is written there."""
    port = free_port()
    environment: dict[str, Any] = {**os.environ, "AUDIT_DATA_DIR": str(data_dir)}
    command = [sys.executable, "-m", "audit", "serve", "--port", str(port)]
    told = log.open("wb") if log is not None else subprocess.DEVNULL
    server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=told, stderr=told)
    try:
        yield ready(server, f"http://127.0.0.1:{port}", browser)
    finally:
        server.terminate()
        server.wait(10)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def ready(server: subprocess.Popen[bytes], address: str, browser: Browser) -> Dashboard:
    """The dashboard at `address` once it answers."""
    for _ in range(300):
        assert server.poll() is None, "the server has stopped"
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=1)
            return Dashboard(address, browser)
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server did not come up in 30 s")
