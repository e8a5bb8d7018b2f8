"""A PI re-judges pairs: by a real server with a tiny random model, which tests the plumbing only."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from annotation.label_store.engine import open_label_store
from audit.store.runs import list_runs
from tests.browser.conftest import Dashboard, overflow, server, settled
from tests.support.llm.real_server import MODEL, NoServerError, real_server
from tests.support.studies import people

pytestmark = pytest.mark.browser

KEY = "sk-browser-secret"
RAW = re.compile("classification")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A judge in the settings, with its key."""
    try:
        with real_server() as url, pytest.MonkeyPatch.context() as patch:
            for name, value in {"URL": url, "MODEL": MODEL, "KEY": KEY, "CONCURRENCY": "2"}.items():
                patch.setenv(f"AUDIT_JUDGE_{name}", value)
            yield
    except NoServerError as error:
        (pytest.fail if os.environ.get("AUDIT_REQUIRE_BROWSER") else pytest.skip)(str(error))


def demo_copy(demo_data: Path, folder: Path) -> Path:
    """The demo in its own data folder, with a PI and a viewer."""
    shutil.copytree(demo_data / "store", folder / "store")
    store = open_label_store(f"sqlite:///{folder / 'studies.db'}")
    people(store, "petra", role="pi")
    people(store, "vera", role="viewer")
    store.close()
    return folder


@pytest.fixture(scope="module")
def office(model: None, browser: Browser, demo_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    with server(demo_copy(demo_data, tmp_path_factory.mktemp("office"))) as address:
        yield Dashboard(address, browser)


@pytest.fixture
def fresh_office(model: None, browser: Browser, demo_data: Path, tmp_path: Path) -> Iterator[Dashboard]:
    """For a test that saves runs, which would open first afterwards."""
    with server(demo_copy(demo_data, tmp_path)) as address:
        yield Dashboard(address, browser)


def save_run(page: Page, title: str) -> None:
    page.get_by_label("Title of the run").fill(title)
    page.get_by_role("button", name="Save as a run").click()
    expect(page.get_by_text("Saved as the run")).to_be_visible()
    settled(page)


def test_a_selection_of_pairs_is_judged_by_a_model_and_saved(fresh_office: Dashboard, tmp_path: Path) -> None:
    page = fresh_office.open_as("petra", "/disagreements?words=alcohol&significance=medium")
    page.get_by_role("link", name="Re-judge all of them").click()
    page.wait_for_url(re.compile("/rejudge.*words=alcohol"))
    settled(page)
    chosen = int(page.get_by_text(re.compile(r"^\d+ pairs\.$")).inner_text().split()[0])
    page.get_by_role("button", name="Estimate calls").click()
    expect(page.get_by_text(re.compile(rf"0 of {chosen} pairs need no call"))).to_be_visible()
    other = fresh_office.open_as("petra", "/rejudge")
    page.get_by_role("button", name=f"Judge {chosen} pairs").click()
    expect(page.get_by_text("Open calls:")).to_be_visible()

    # A second browser sees the same, and stops it once something is there to be kept
    fresh_office.go_to(other, page.url.removeprefix(fresh_office.address))
    expect(other.get_by_text("Open calls:")).to_be_visible()
    expect(other.get_by_text(re.compile(r"^[1-9]\d* answered"))).to_be_visible()
    other.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Continue")).to_be_visible()
    expect(page.get_by_text(re.compile("replies are stored"))).to_be_visible()
    page.reload()
    settled(page).get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Pair by pair")).to_be_visible(timeout=120_000)
    expect(page.locator(".js-plotly-plot").get_by_text("The new judge")).to_be_visible()
    expect(page.get_by_text(re.compile("kappa is"))).to_be_visible()
    for width in (1280, 900):
        page.set_viewport_size({"width": width, "height": 800})
        assert overflow(settled(page)) <= 0
    save_run(page, "Alcohol by the tiny model")
    page.get_by_role("link", name="Compare both judges").click()
    page.wait_for_url(re.compile("/judge.*against="))
    settled(page)
    titles = {run.title: run for run in list_runs(tmp_path / "store")}
    assert titles["Alcohol by the tiny model"].manifest["judge"] == MODEL
    assert fresh_office.page_errors == []
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_one_pair_is_judged_at_once_from_the_list(office: Dashboard) -> None:
    page = office.open_as("petra", "/disagreements?words=alcohol")
    page.get_by_role("link", name="Re-judge this pair").click()
    page.wait_for_url(re.compile("/rejudge.*a=.*&b="))
    settled(page).get_by_role("button", name="Judge now").click()
    expect(page.get_by_text("Raw reply")).to_be_visible()
    settled(page)
    expect(page.locator(".pair .verdict")).to_have_count(2)
    page.get_by_text("Raw reply").click()
    expect(page.locator("[data-testid=stCode]").get_by_text(RAW)).to_be_visible()
    assert KEY not in page.content()


def test_a_viewer_finds_no_way_to_re_judge(office: Dashboard) -> None:
    page = office.open_as("vera", "/disagreements")
    assert page.get_by_text(re.compile("Re-judge (this pair|all of them)")).count() == 0
    assert page.get_by_role("link", name="Re-judge").count() == 0
    page.goto(f"{office.address}/rejudge")
    settled(page)
    assert page.get_by_role("heading", name="Re-judge").count() == 0
