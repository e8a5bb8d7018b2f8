"""A PI hands out a one-time password, disables an account that is in use, and downloads the access log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from annotation.label_store.engine import LabelStore, open_label_store
from tests.browser.conftest import Dashboard, overflow, server, settled, signed_in_as
from tests.support.studies import people, study_of

pytestmark = pytest.mark.browser

NEW_PASSWORD = "four more random words"


@pytest.fixture(scope="module")
def hospital(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    folder = tmp_path_factory.mktemp("people")
    store: LabelStore = open_label_store(f"sqlite:///{folder / 'studies.db'}")
    study_of(store, 3)
    people(store, "petra", role="pi")
    store.close()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUDIT_BROWSING", "signed-in")
        with server(folder) as address:
            yield Dashboard(address, browser)


def test_a_one_time_password_is_replaced_and_a_disabled_annotator_is_out_at_once(hospital: Dashboard) -> None:
    pi = hospital.visit(signed_in_as(hospital, "petra"), "/people")
    pi.get_by_role("combobox", name="Account", exact=True).click()
    pi.get_by_role("option", name="ana").click()
    settled(pi)
    pi.get_by_role("button", name="Reset password").click()
    pi.get_by_role("button", name="Reset the password").click()
    password = pi.get_by_test_id("stCode").inner_text().strip()

    annotator = hospital.open("/annotate")
    annotator.get_by_label("Name").fill("ana")
    annotator.get_by_label("Password", exact=True).fill(password)
    annotator.get_by_role("button", name="Sign in").click()
    annotator.get_by_label("New password", exact=True).fill(NEW_PASSWORD)
    annotator.get_by_label("Repeat the new password").fill(NEW_PASSWORD)
    annotator.get_by_role("button", name="Change password and sign in").click()
    expect(annotator.locator(".labelling-widget .count")).to_contain_text("0 of 3")

    settled(pi).get_by_role("button", name="Disable").click()
    pi.get_by_role("button", name="Disable the account").click()
    expect(pi.get_by_text("ana is disabled.")).to_be_visible()
    annotator.reload()
    expect(annotator.get_by_role("button", name="Sign in")).to_be_visible()


def test_the_access_log_is_downloaded_and_the_download_is_in_it(hospital: Dashboard, tmp_path: Path) -> None:
    page = hospital.visit(signed_in_as(hospital, "petra"), "/people")
    for number in range(2):
        settled(page).get_by_role("tab", name="Access log").click()
        with page.expect_download() as waiting:
            page.get_by_role("button", name="Download CSV").click()
        waiting.value.save_as(tmp_path / f"{number}.csv")
        page.reload()
    header, newest, *_ = (tmp_path / "1.csv").read_text(encoding="utf-8-sig").splitlines()
    assert header == "at,account,address,event,detail"
    assert newest.split(",")[1:] == ["petra", "", "export", "access_log.csv"]


def test_the_page_fits_a_telephone(hospital: Dashboard) -> None:
    page = hospital.open("/people", width=390, height=844)
    page.get_by_label("Name").fill("petra")
    page.get_by_label("Password", exact=True).fill("four random words here")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="People")).to_be_visible()
    assert overflow(settled(page)) == 0
