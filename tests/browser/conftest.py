"""A real server and a real browser: `audit serve` in its own process, and Debian's Chromium driven by Playwright.

Servers on data that no test changes run once per session; so does Chromium.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal
from weakref import WeakSet

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from annotation.label_store.engine import open_label_store
from audit.cli.main import main
from pages._blinded.session_cookie import ADDRESS as COOKIE_ADDRESS
from pages._blinded.session_cookie import NAME as COOKIE
from tests.support.forked import Python
from tests.support.ports import free_port
from tests.support.studies import PASSWORD, people

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
    # A tenth less computing time: no test runs a script for so long that compiling it again to faster code pays.
    "--js-flags=--no-maglev --no-turbofan --single-threaded-gc",
]  # fmt: skip
READY = '[data-testid="stApp"][data-test-script-state="notRunning"]'
GO_TO = """address => new Promise(done => {
  new MutationObserver((_, observer) => { observer.disconnect(); done(true) })
    .observe(document.querySelector('[data-testid="stApp"]'), {attributes: true, attributeFilter: ["data-test-script-state"]})
  setTimeout(() => done(false), 3000)
  history.pushState({}, "", address)
  dispatchEvent(new PopStateEvent("popstate"))
})"""
"""What the browser's Back does; true once the page's script begins, false where none does, as at the address where it is."""
STILL = """const still = new CSSStyleSheet()
still.replaceSync("*, ::before, ::after { animation-iteration-count: 1 !important }")
document.adoptedStyleSheets.push(still)"""
"""Turning and pulsing signs of waiting stop after one round: drawing them takes a tenth of a core for each page that waits."""
Scheme = Literal["light", "dark"]
TIMEOUT_MS = 30_000
BUILD_TIMEOUT_MS = 180_000
"""For building a package with its figures on a busy machine."""
expect.set_options(timeout=TIMEOUT_MS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In CI a failed browser test runs once more, because the machine may have stalled. The summary names such tests."""
    if os.environ.get("CI"):
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(pytest.mark.flaky(reruns=1))


class Browsers:
    """Playwright and the browsers that it has started: one of each program, for the tests of all files."""

    def __init__(self) -> None:
        self._playwright: Playwright | None = None
        self._started: dict[str, Browser] = {}

    def started(self, path: str) -> Browser:
        """The browser at `path`; another where a test has ended it."""
        self._playwright = self._playwright or sync_playwright().start()
        if path not in self._started or not self._started[path].is_connected():
            self._started[path] = self._playwright.chromium.launch(executable_path=path, args=FLAGS, headless=True)
        return self._started[path]

    def end(self) -> None:
        """Playwright keeps an event loop running in this thread, which would make `asyncio.run` fail in other tests."""
        for browser in self._started.values():
            browser.close()
        self._started.clear()
        if self._playwright:
            self._playwright.stop()
            self._playwright = None


BROWSERS = Browsers()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """After the last test with a browser; tests/conftest.py puts them first."""
    if nextitem is None or not nextitem.get_closest_marker("browser"):
        BROWSERS.end()


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """Chromium, or a skip with the reason (a failure where AUDIT_REQUIRE_BROWSER is set, as in CI)."""
    # The headless shell takes less computing time, but prints pages without the blanks between some words
    shell = () if getattr(request.module, "PRINTS", False) else ("chromium-headless-shell",)
    path = next(filter(None, map(shutil.which, (*shell, "chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        (pytest.fail if os.environ.get("AUDIT_REQUIRE_BROWSER") else pytest.skip)("no Chromium: apt-get install chromium")
    chromium = BROWSERS.started(path)
    yield chromium
    for context in chromium.contexts:
        context.close()


@dataclass(eq=False)
class Dashboard:
    """A running server, the requests of its pages to other hosts, and the errors of their scripts."""

    address: str
    browser: Browser
    foreign_requests: list[str] = field(default_factory=list)
    page_errors: list[str] = field(default_factory=list)
    in_use: list[Page] = field(default_factory=list)
    put_away: list[Page] = field(default_factory=list)
    sessions: dict[str, list[Any]] = field(default_factory=dict)
    all: ClassVar[WeakSet[Dashboard]] = WeakSet()

    def __post_init__(self) -> None:
        Dashboard.all.add(self)

    def open(self, path: str = "/", width: int = 1280, height: int = 800, color_scheme: Scheme = "light") -> Page:
        """A page in its own browser context, as another person would open it; without cookies and storage of earlier tests."""
        return self.visit(self._taken(width, height, color_scheme), path)

    def open_as(self, name: str, path: str) -> Page:
        """A page at an address for somebody who is signed in; the form is filled in once for each person and server."""
        if name not in self.sessions:
            page = signed_in_as(self, name, self.open("/sign_in"))
            self.sessions[name] = [cookie for cookie in page.context.cookies() if cookie["name"] == COOKIE]
            return self.visit(page, path)
        page = self._taken()
        page.context.add_cookies(self.sessions[name])
        return self.visit(page, path)

    def _taken(self, width: int = 1280, height: int = 800, color_scheme: Scheme = "light") -> Page:
        page = self.put_away.pop() if self.put_away else self.new_page()
        self.in_use.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(media="null", color_scheme=color_scheme)
        return page

    def new_page(self) -> Page:
        # Animations cost a tenth of a page's computing time.
        page = self.browser.new_context(reduced_motion="reduce").new_page()
        page.add_init_script(STILL)
        page.set_default_timeout(TIMEOUT_MS)
        page.on("request", lambda request: self._note_request(request.url))
        page.on("pageerror", lambda error: self.page_errors.append(str(error)))
        page.on("console", lambda said: self.page_errors.append(said.text) if "Content Security Policy" in said.text else None)
        return page

    def put_pages_away(self) -> None:
        """Keep the test's pages for later tests: the first page of a context takes three times the computing time of the next."""
        while self.in_use:
            page = self.in_use.pop()
            if self.browser.is_connected() and not page.is_closed():
                self._put_away(page)

    def _put_away(self, page: Page) -> None:
        for other in page.context.pages:
            if other != page:
                other.close()
        page.context.clear_cookies()
        try:
            page.goto(f"{self.address}/_stcore/health")
        except PlaywrightError:  # the server has ended with the test
            page.context.close()
        else:
            page.evaluate("localStorage.clear(); sessionStorage.clear()")
            self.put_away.append(page)

    def visit(self, page: Page, path: str) -> Page:
        """Load an address in an open page. The browser keeps Streamlit's scripts cached, unlike that of a new context."""
        page.goto(path if path.startswith("http") else self.address + path)
        return settled(page)

    def go_to(self, page: Page, path: str) -> Page:
        """Go to an address within an open page, which takes a third of the computing time of loading all of Streamlit again."""
        page.wait_for_selector(READY)
        return settled(page) if page.evaluate(GO_TO, self.address + path) else self.visit(page, path)

    def _note_request(self, url: str) -> None:
        # blob: and data: URLs never leave the browser. The favicon's icon font is requested from Google and may fail.
        if url.startswith("http") and not url.startswith(self.address) and "fonts.gstatic.com" not in url:
            self.foreign_requests.append(url)


@pytest.fixture(autouse=True)
def pages_are_put_away() -> Iterator[None]:
    """No page goes on working, and asking its server, after its test."""
    yield
    for dashboard in list(Dashboard.all):
        dashboard.put_pages_away()


def settled(page: Page) -> Page:
    """`page` once its script has finished."""
    page.wait_for_selector(READY)
    # The page does not show that a widget's change is on its way to the server: the state turns to "running" only after a
    # round trip, so a single look would take the state before the change for the one after it.
    page.wait_for_timeout(150)
    page.wait_for_selector(READY)
    return page


def overflow(page: Page) -> int:
    """Pixels by which the page is wider than its window."""
    pixels: int = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    return pixels


def signed_in_as(dashboard: Dashboard, name: str, page: Page | None = None, password: str = PASSWORD) -> Page:
    """A page on which `name` has signed in: `page`, which shows the sign-in form, or a new one.

    Waits for the cookie, which arrives a moment after the menu: an address opened before would ask for the password again.
    """
    page = page or dashboard.open()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password", exact=True).fill(password)
    with page.expect_response(lambda response: response.url.endswith(COOKIE_ADDRESS) and response.status == 204):
        page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("link", name="Sign out")).to_be_visible()
    return settled(page)


def open_tab(page: Page, door: str, tab: str) -> Page:
    """A page behind a door of the menu."""
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=door, exact=True).click()
    settled(page).locator(".st-key-tabs").get_by_role("link", name=tab, exact=True).click()
    expect(page).to_have_title(re.compile(f"^{tab} "))
    return settled(page)


def choose_option(page: Page, label: str, option: str) -> None:
    """Choose the first option of a select box that contains a text."""
    page.get_by_label(label).click()
    page.get_by_role("option", name=re.compile(re.escape(option))).first.click()
    settled(page)


@pytest.fixture(scope="session")
def demo_data(demo_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the demo loaded. Tests that change it copy it."""
    return Path(shutil.copytree(demo_folder, tmp_path_factory.mktemp("demo"), dirs_exist_ok=True))


@pytest.fixture(scope="session")
def demo_address(demo_data: Path) -> Iterator[str]:
    with server(demo_data) as address:
        yield address


@pytest.fixture(scope="module")
def demo(browser: Browser, demo_address: str) -> Dashboard:
    """The dashboard on the demo."""
    return Dashboard(demo_address, browser)


@pytest.fixture(scope="session")
def institutes_address(nih: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("nih")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUDIT_DATA_DIR", str(folder))
        assert main(["load", str(nih)]) == 0
    with server(folder) as address:
        yield address


@pytest.fixture(scope="module")
def institutes(browser: Browser, institutes_address: str) -> Dashboard:
    """The dashboard on the NIH release."""
    return Dashboard(institutes_address, browser)


@pytest.fixture(scope="session")
def studied_data(demo_with_studies: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the demo, its three studies and a PI called pia. Tests copy it."""
    folder = Path(shutil.copytree(demo_with_studies, tmp_path_factory.mktemp("studied") / "data"))
    store = open_label_store(f"sqlite:///{folder / 'studies.db'}")
    people(store, "pia", role="pi")
    store.close()
    return folder


AUDIT_SERVE = ("audit", "serve", "--port={port}")


class ServerAddress(str):
    """Where a server answers, and its process."""

    pid: int

    def cpu_s(self) -> float:
        """CPU seconds of the process so far, of all its threads and of no process that it started."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def server(
    data_dir: Path, log: Path | None = None, command: Sequence[str] = AUDIT_SERVE, base_path: str = ""
) -> Iterator[ServerAddress]:
    """The address of a server in its own process, which inherits the current environment and writes its output to `log`.

    `command`: the module to run in a Python of its own and its arguments, where {port} stands for a free port.
    `base_path`: where it was set to serve.
    """
    port = free_port()
    words = [word.format(port=port) for word in command]
    environment = {**os.environ, "AUDIT_DATA_DIR": str(data_dir)}
    start = Python if command is AUDIT_SERVE else subprocess.Popen
    with (log or Path(os.devnull)).open("wb") as output:
        process = start([sys.executable, "-m", *words], cwd=ROOT, env=environment, stdout=output, stderr=output)
        try:
            address = ServerAddress(answering_at(process, port, base_path))
            address.pid = process.pid
            yield address
        finally:
            process.terminate()
            process.wait(10)


def answering_at(process: subprocess.Popen[bytes], port: int, base_path: str = "") -> str:
    """The server's address once it answers, 30 s at most."""
    address = f"http://127.0.0.1:{port}"
    for _ in range(300):
        assert process.poll() is None, "the server has stopped"
        try:
            urllib.request.urlopen(f"{address}/{base_path}/_stcore/health".replace("//_", "/_"), timeout=1)
            return address
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server did not answer within 30 s")
