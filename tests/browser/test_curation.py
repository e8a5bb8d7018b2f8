"""Curation in a real browser: rename, merge, undo and export by a clinician, while a PI looks on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from annotation.label_store.engine import LabelStore, open_label_store
from annotation.theme_edits.record import edits_from_jsonl, list_edits
from audit.cli.main import main
from audit.release.taxonomy import Theme, read_taxonomy
from audit.settings import Settings
from audit.store.runs import Run, find_run
from tests.browser.conftest import Dashboard, server, settled
from tests.support.studies import people

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def data(demo_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo with themes built for it, a clinician and a PI."""
    folder = tmp_path_factory.mktemp("curated") / "data"
    shutil.copytree(demo_data, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUDIT_DATA_DIR", str(folder))
        assert main(["themes", "build", "--run", "demo", "--model", "words", "--layout", "principal"]) == 0
    store = open_label_store(Settings(data_dir=folder, studies="").studies_url)
    people(store, "vera", role="viewer")
    people(store, "petra", role="pi")
    store.close()
    return folder


@pytest.fixture(scope="module")
def dashboard(data: Path, browser: Browser) -> Iterator[Dashboard]:
    with server(data) as address:
        yield Dashboard(address, browser)


@pytest.fixture
def store(data: Path) -> Iterator[LabelStore]:
    opened = open_label_store(Settings(data_dir=data, studies="").studies_url)
    yield opened
    opened.close()


def curate(page: Page, action: str) -> None:
    page.get_by_test_id("stButtonGroup").get_by_text(action, exact=True).click()
    settled(page)


def save(page: Page, reason: str) -> None:
    page.get_by_label("Reason, in a sentence").fill(reason)
    page.get_by_label("Reason, in a sentence").press("Enter")  # the page may move under the pointer when it gets what was typed
    settled(page).get_by_role("button", name="Save", exact=True).click()
    settled(page)


def shown_theme(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()


def select_edit(page: Page, row: int) -> None:
    """Click a row of the list of edits, the last on the page."""
    page.locator(".listing").last.locator("tbody tr").nth(row).click()
    settled(page)


def two_themes(run: Run, data: Path) -> tuple[Theme, Theme]:
    one, other, *_ = read_taxonomy(data / "themes" / f"{run.digest[:16]}.json").leaves
    return one, other


def test_a_clinician_renames_and_merges_a_pi_undoes_and_the_edits_are_exported(
    dashboard: Dashboard, store: LabelStore, data: Path, tmp_path: Path
) -> None:
    run = find_run(data / "store", "demo")
    one, other = two_themes(run, data)
    address = f"/theme?run={run.key}&theme={one.theme_id}"
    page = dashboard.open_as("vera", address)
    page.get_by_text("Edit this theme").click()

    page.get_by_label("New name").fill("Antibiotics and teeth")
    save(page, "Clearer for patients.")
    shown_theme(page, "Antibiotics and teeth")
    expect(page.get_by_text("Saved as edit 1: vera renamed")).to_be_visible()
    expect(page.get_by_label("New name")).to_have_value("")
    expect(page.get_by_label("Reason, in a sentence")).to_have_value("")

    curate(page, "Merge")
    page.get_by_label("Merge into").click()
    page.get_by_role("option", name=other.name).first.click()
    save(page, "The same advice.")
    shown_theme(page, other.name)
    expect(page.get_by_text("The theme you asked for was merged into this one.")).to_be_visible()

    looking_on = dashboard.open_as("petra", address)
    expect(looking_on.get_by_text("2 edits, the last by vera")).to_be_visible()
    shown_theme(looking_on, other.name)
    select_edit(looking_on, 0)
    looking_on.get_by_label("Reason for the undo").fill("They differ in the dose.")
    looking_on.get_by_role("button", name="Undo edit 2").click()
    expect(settled(looking_on).get_by_text("Saved as edit 3: petra undid edit 2")).to_be_visible()

    page.goto(dashboard.address + address)
    shown_theme(settled(page), "Antibiotics and teeth")
    page.get_by_test_id("stButtonGroup").get_by_text("As built", exact=True).click()
    shown_theme(settled(page), one.name)

    with settled(page).expect_download() as caught:
        page.get_by_role("button", name="Download edits (JSON lines)").click()
    caught.value.save_as(tmp_path / "edits.jsonl")
    exported = edits_from_jsonl((tmp_path / "edits.jsonl").read_text(encoding="utf-8"))
    assert exported == list_edits(store, run.digest)
    assert [(edit.author, str(edit.change.kind), edit.reason) for edit in exported] == [
        ("vera", "rename", "Clearer for patients."),
        ("vera", "merge", "The same advice."),
        ("petra", "undo", "They differ in the dose."),
    ]
    assert json.loads((tmp_path / "edits.jsonl").read_text().splitlines()[2])["undoes"] == 2
    assert dashboard.page_errors == []


def test_of_two_simultaneous_edits_the_second_gets_a_conflict_and_keeps_its_text(dashboard: Dashboard, data: Path) -> None:
    run = find_run(data / "store", "demo")
    _, theme = two_themes(run, data)
    pages = {name: dashboard.open_as(name, f"/theme?run={run.key}&theme={theme.theme_id}") for name in ("vera", "petra")}
    for name, page in pages.items():
        page.get_by_text("Edit this theme").click()
        page.get_by_label("New name").fill(f"As {name} calls it")
    save(pages["vera"], "Mine.")
    shown_theme(pages["vera"], "As vera calls it")
    save(pages["petra"], "No, mine.")
    expect(pages["petra"].get_by_text("Since you looked, vera renamed")).to_be_visible()
    expect(pages["petra"].get_by_label("New name")).to_have_value("As petra calls it")
    expect(pages["petra"].get_by_label("Reason, in a sentence")).to_have_value("No, mine.")
    shown_theme(pages["petra"], "As vera calls it")
    pages["petra"].get_by_role("button", name="Save", exact=True).click()
    shown_theme(settled(pages["petra"]), "As petra calls it")
