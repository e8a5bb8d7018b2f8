"""Files in a real browser: a PI downloads a packet, and uploads it filled in."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from annotation.label_store.engine import open_label_store
from tests.browser.conftest import Dashboard, server, signed_in_as
from tests.support.studies import people, study_of

pytestmark = pytest.mark.browser


def test_a_pi_downloads_a_packet_and_uploads_it(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    store = open_label_store(f"sqlite:///{tmp_path / 'studies.db'}")
    people(store, "petra", role="pi")
    study_of(store, 2)
    store.close()
    with server(tmp_path) as address:
        dashboard = Dashboard(address, browser)
        page = signed_in_as(dashboard, "petra", dashboard.open("/study"))
        page.get_by_text("Packets, for offline work").click()
        with page.expect_download() as waiting:
            page.get_by_role("button", name="Packet as CSV").click()
        packet = tmp_path / "packet.csv"
        waiting.value.save_as(packet)
        page.locator("input[type=file]").set_input_files(packet)
        expect(page.get_by_text("packet.csv")).to_be_visible()
        page.get_by_role("button", name="Import ratings").click()
        expect(page.get_by_text("2 without a label")).to_be_visible()
        page.context.close()
    assert dashboard.foreign_requests == []
    assert dashboard.page_errors == []
