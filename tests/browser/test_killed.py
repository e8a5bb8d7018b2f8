"""The server is killed while somebody labels: the page recovers by itself, signed in, with the unsubmitted choice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from annotation.label_store.engine import open_label_store
from annotation.label_store.results import assignment_rows
from annotation.studies.verification import verify_study
from tests.browser.conftest import ROOT, Dashboard, answering_at, signed_in_as
from tests.support.forked import Python
from tests.support.ports import free_port
from tests.support.studies import rating_history, study_of

pytestmark = pytest.mark.browser

KILLS = int(os.environ.get("AUDIT_TEST_KILLS", "3"))
"""Each takes some seconds: a server starts, and the page waits before it reconnects. Fifty were tried by hand."""


class Server:
    """`audit serve` on one port, which can be killed and started again."""

    def __init__(self, folder: Path, browser: Browser) -> None:
        self.folder, self.browser, self.port = folder, browser, free_port()
        self.dashboard = self.start()

    def start(self) -> Dashboard:
        command = [sys.executable, "-m", "audit", "serve", "--port", str(self.port)]
        environment = {**os.environ, "AUDIT_DATA_DIR": str(self.folder), "AUDIT_BROWSING": "signed-in"}
        self.process = Python(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
        return Dashboard(answering_at(self.process, self.port), self.browser)

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(10)


@pytest.fixture
def server(browser: Browser, tmp_path: Path) -> Iterator[Server]:
    store = open_label_store(f"sqlite:///{tmp_path / 'studies.db'}")
    study_of(store, 3 * KILLS + 3)
    store.close()
    started = Server(tmp_path, browser)
    yield started
    started.kill()


def choose_without_submitting(page: Page) -> str:
    """Press only the key of a label that needs a significance; returns the item's question."""
    question = page.locator(".labelling-widget h2").inner_text()
    page.keyboard.press("4")
    expect(page.locator('.labelling-widget [data-label="DIVERGENT"]')).to_have_attribute("aria-pressed", "true")
    return question


def expect_unsubmitted_choice(page: Page, question: str) -> None:
    expect(page.locator(".labelling-widget h2")).to_have_text(question)
    expect(page.locator('.labelling-widget [data-label="DIVERGENT"]')).to_have_attribute("aria-pressed", "true")


def test_kills_ask_for_no_password_and_lose_neither_a_label_nor_a_choice(server: Server, tmp_path: Path) -> None:
    page = signed_in_as(server.dashboard, "ana")
    intended: dict[str, str] = {}
    for kill in range(KILLS):
        expect(page.locator(".labelling-widget .count")).to_contain_text(f"{len(intended)} of ")
        intended[page.locator(".labelling-widget h2").inner_text()] = "CONSISTENT"
        page.keyboard.press("2")
        expect(page.locator(".labelling-widget .count")).to_contain_text(f"{len(intended)} of ")
        question = choose_without_submitting(page)
        page.wait_for_timeout(500)  # an unsubmitted choice is saved with a delay, of which the page shows nothing
        server.kill()
        if kill % 2:  # typed while the server is down: the page keeps it until one answers
            page.keyboard.press("h")
            intended[question] = "DIVERGENT"
        server.start()
        if kill % 2 == 0:
            page.reload()
            expect_unsubmitted_choice(page, question)
        expect(page.locator(".labelling-widget .saved")).to_have_text("all saved", timeout=60_000)
        assert page.get_by_label("Password").count() == 0

    store = open_label_store(f"sqlite:///{tmp_path / 'studies.db'}")
    stored = {row["question"]: row["label"] for row in assignment_rows(store, "s") if row["annotator"] == "ana" and row["label"]}
    assert stored == intended
    assert len(rating_history(store, "s")) == len(intended)
    assert verify_study(store, "s") == []
    store.close()
