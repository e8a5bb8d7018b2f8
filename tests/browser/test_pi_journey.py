"""A PI's journey: watch agreement, compare two runs, download the package, read its report offline.

The report has the pages' figures, and the package names the printed command, which test_downloads.py shows to ask for the same.
"""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from annotation.label_store.assignments import Choice
from annotation.label_store.engine import LabelStore, open_label_store
from annotation.label_store.ratings import NewRating, submit_rating
from annotation.label_store.results import assignment_rows
from annotation.studies.demo_studies import RUNNING
from tests.browser.conftest import BUILD_TIMEOUT_MS, Dashboard, choose_option, open_tab, server, settled, signed_in_as

pytestmark = pytest.mark.browser

KAPPA = "Cohen's kappa, quadratic weights"


@pytest.fixture
def data_dir(studied_data: Path, tmp_path: Path) -> Path:
    """A copy of the study under way, which this test changes."""
    return Path(shutil.copytree(studied_data, tmp_path / "data"))


@pytest.fixture
def store(data_dir: Path) -> Iterator[LabelStore]:
    opened = open_label_store(f"sqlite:///{data_dir / 'studies.db'}")
    yield opened
    opened.close()


@pytest.fixture
def dashboard(browser: Browser, data_dir: Path) -> Iterator[Dashboard]:
    with server(data_dir) as address:
        yield Dashboard(address, browser)


def submit_disagreeing_label(store: LabelStore) -> None:
    """One annotator rates an item that the other has rated, with a different label."""
    rows = [row for row in assignment_rows(store, RUNNING) if row["kind"] == "study"]
    labels = {row["item_id"]: row["label"] for row in rows if row["label"] is not None}
    open_row = next(row for row in rows if row["label"] is None and row["item_id"] in labels)
    different = "CONSISTENT" if labels[open_row["item_id"]] == "ABSENT" else "ABSENT"
    rating = NewRating(open_row["seat_id"], Choice(different), "one more")
    submit_rating(store, open_row["annotator"], rating, datetime.now(UTC))


def metric(page: Page, index: int) -> Locator:
    return page.get_by_test_id("stMetricValue").nth(index)


def watch(page: Page, store: LabelStore) -> str:
    """Follow the agreement of the study under way while a label arrives; returns the weighted kappa on the page then."""
    open_tab(page, "Studies", "Agreement")
    choose_option(page, "Study", RUNNING)
    settled(page).get_by_role("tab", name="Comparisons").click()
    page.evaluate("window.neverReloaded = true")
    expect(metric(page, 1)).to_have_text(re.compile(r"0\.\d+"))
    before = metric(page, 1).inner_text()
    submit_disagreeing_label(store)
    expect(metric(page, 1)).not_to_have_text(before)
    assert page.evaluate("window.neverReloaded")
    return settled(page).get_by_test_id("stMetricValue").first.inner_text()


def compare(page: Page) -> str:
    """The headline of page Compare, from the run to the earlier one."""
    open_tab(page, "Methods", "Compare")
    settled(page).get_by_test_id("stButtonGroup").get_by_text("from demo to demo-earlier", exact=True).click()
    headline = page.get_by_text(re.compile("disagreeing pairs went from"))
    expect(headline).to_contain_text("From demo to demo-earlier")
    return str(settled(page).get_by_text(re.compile("disagreeing pairs went from")).inner_text())


def open_downloads(page: Page) -> None:
    """Page Downloads, with a study other than the finished one and another run chosen."""
    open_tab(page, "About", "Downloads")
    expect(page.get_by_text(re.compile(r"^audit export --study demo-finished"))).to_be_visible()
    choose_option(page, "Include the validation tables of a study", RUNNING)
    expect(page.get_by_text(re.compile(f"^audit export --study {RUNNING} "))).to_be_visible()
    choose_option(page, "Compare with another run", "demo-earlier")


def printed_command(page: Page) -> str:
    """The command that the page prints once both choices have reached it: a file of the page before can no longer be made."""
    command = page.get_by_text(re.compile(f"^audit export --study {RUNNING} .*--against demo-earlier"))
    expect(command).to_be_visible()
    return command.inner_text()


def download(page: Page, folder: Path) -> Path:
    """Click for the whole package."""
    with settled(page).expect_download(timeout=BUILD_TIMEOUT_MS) as waiting:
        page.get_by_role("button", name="Download everything").click()
    waiting.value.save_as(folder / "clicked.zip")
    expect(page.get_by_text(re.compile(r"^Ready: [\d.]+ MB"))).to_be_visible(timeout=BUILD_TIMEOUT_MS)
    return folder / "clicked.zip"


def told_by(package: Path) -> str:
    """The command that makes a package again, as its manifest tells it."""
    with zipfile.ZipFile(package) as archive:
        return str(json.loads(archive.read("manifest.json"))["command"])


def report_of(package: Path, folder: Path) -> Path:
    with zipfile.ZipFile(package) as archive:
        return Path(archive.extract("report.html", folder))


def opened_offline(browser: Browser, report: Path) -> tuple[Page, list[str]]:
    """The report in a browser without a network, with its errors and its requests."""
    faults: list[str] = []
    page = browser.new_context(offline=True).new_page()
    page.on("request", lambda request: None if request.url.startswith(("file:", "data:")) else faults.append(request.url))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.goto(report.as_uri())
    return page, faults


def row(report: Page, table: str, *words: str) -> list[str]:
    """The cells of the table row that begins with these words."""
    for line in report.locator(f"#table-{table} tbody tr").all():
        cells = line.locator("th, td").all_inner_texts()
        if tuple(cells[: len(words)]) == words:
            return cells
    raise AssertionError(f"{table} has no row {words}")


def test_a_pi_watches_compares_downloads_and_reads_the_report_offline(
    browser: Browser, dashboard: Dashboard, store: LabelStore, tmp_path: Path
) -> None:
    page = signed_in_as(dashboard, "pia", dashboard.open("/sign_in"))
    kappa, headline = watch(page, store), compare(page)
    open_downloads(page)
    command = printed_command(page)
    clicked = download(page, tmp_path)
    assert told_by(clicked).split() == command.split()
    report, faults = opened_offline(browser, report_of(clicked, tmp_path))

    agreement = row(report, "study_agreement", "annotator A and annotator B", KAPPA)
    assert agreement[3].startswith(f"{kappa} [")
    total, lost = row(report, "run_change", "in all"), row(report, "run_change", "lost")
    figures = re.search(r"from ([\d,]+) to ([\d,]+), out of [^:]+: [^,]+, (\S+) where answers were lost", headline)
    assert figures is not None, headline
    before, after, change = figures.groups()
    assert (total[3], total[4], lost[5].split(" ")[0]) == (before, after, change)
    expect(report.get_by_text("The second run finds fewer answers, and so hides disagreement")).to_be_visible()
    assert report.locator("figure svg").count() >= report.locator("figure").count() > 10
    assert (faults, dashboard.foreign_requests, dashboard.page_errors) == ([], [], [])
