"""A PI's journey: watch agreement, compare two runs, take the package, open its report offline; its figures are the pages'."""

from __future__ import annotations

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
from annotation.studies.simulated_annotators import RUNNING
from tests.browser.conftest import BUILD_MS, Dashboard, serve, settled, signed_in_as

pytestmark = pytest.mark.browser

KAPPA = "Cohen's kappa, quadratic weights"


@pytest.fixture
def data_dir(studied_data: Path, tmp_path: Path) -> Path:
    """A study under way, which nobody else's test changes."""
    return Path(shutil.copytree(studied_data, tmp_path / "data"))


@pytest.fixture
def store(data_dir: Path) -> Iterator[LabelStore]:
    opened = open_label_store(f"sqlite:///{data_dir / 'studies.db'}")
    yield opened
    opened.close()


@pytest.fixture
def dashboard(browser: Browser, data_dir: Path) -> Iterator[Dashboard]:
    yield from serve(data_dir, browser)


def a_label_arrives(store: LabelStore) -> None:
    """One annotator rates an item that the other has rated, and sees it otherwise."""
    rows = [row for row in assignment_rows(store, RUNNING) if row["kind"] == "study"]
    said = {row["item_id"]: row["label"] for row in rows if row["label"] is not None}
    seat = next(row for row in rows if row["label"] is None and row["item_id"] in said)
    other = "CONSISTENT" if said[seat["item_id"]] == "ABSENT" else "ABSENT"
    submit_rating(store, seat["annotator"], NewRating(seat["seat_id"], Choice(other), "one more"), datetime.now(UTC))


def metric(page: Page, place: int) -> Locator:
    return page.get_by_test_id("stMetricValue").nth(place)


def choose_option(page: Page, box: str, option: str) -> None:
    page.get_by_label(box).click()
    page.get_by_role("option", name=re.compile(re.escape(option))).first.click()
    settled(page)


def watch(page: Page, store: LabelStore) -> str:
    """Agreement of the study under way while a label comes in; the weighted kappa as the page shows it then."""
    page.get_by_role("link", name="Agreement", exact=True).click()
    settled(page)
    choose_option(page, "Study", RUNNING)
    page.evaluate("window.neverReloaded = true")
    expect(metric(page, 1)).to_have_text(re.compile(r"0\.\d+"))
    before = metric(page, 1).inner_text()
    a_label_arrives(store)
    expect(metric(page, 1)).not_to_have_text(before)
    assert page.evaluate("window.neverReloaded")
    return settled(page).get_by_test_id("stMetricValue").first.inner_text()


def compare(page: Page) -> str:
    """What page Compare says of the run and the earlier one, read in that direction."""
    page.get_by_role("link", name="Compare", exact=True).click()
    settled(page).get_by_test_id("stButtonGroup").get_by_text("from demo to demo-earlier", exact=True).click()
    headline = page.get_by_text(re.compile("disagreeing pairs went from"))
    expect(headline).to_contain_text("From demo to demo-earlier")
    return str(settled(page).get_by_text(re.compile("disagreeing pairs went from")).inner_text())


def download(page: Page, to: Path) -> Path:
    page.get_by_role("link", name="Downloads", exact=True).click()
    settled(page)
    choose_option(page, "Include the validation tables of a study", RUNNING)
    choose_option(page, "Compare with another run", "demo-earlier")
    with settled(page).expect_download(timeout=BUILD_MS) as waiting:
        page.get_by_role("button", name="Download everything").click()
    waiting.value.save_as(to / "package.zip")
    with zipfile.ZipFile(to / "package.zip") as package:
        package.extract("report.html", to)
    return to / "report.html"


def opened_offline(browser: Browser, report: Path) -> tuple[Page, list[str]]:
    """The report in a browser without a network, and what it complained of or asked for."""
    faults: list[str] = []
    page = browser.new_context(offline=True).new_page()
    page.on("request", lambda asked: None if asked.url.startswith(("file:", "data:")) else faults.append(asked.url))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    page.goto(report.as_uri())
    return page, faults


def row(report: Page, table: str, *words: str) -> list[str]:
    """The cells of the row of a table that begins with some words."""
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
    report, faults = opened_offline(browser, download(page, tmp_path))

    agreed = row(report, "study_agreement", "annotator A and annotator B", KAPPA)
    assert agreed[3].startswith(f"{kappa} [")
    whole, lost = row(report, "run_change", "in all"), row(report, "run_change", "lost")
    before, after, change = re.search(
        r"from ([\d,]+) to ([\d,]+), out of [^:]+: [^,]+, (\S+) where answers were "
        r"lost",
        headline,
    ).groups()
    assert (whole[3], whole[4], lost[5].split(" ")[0]) == (before, after, change)
    expect(report.get_by_text("The second run finds fewer answers, and so hides disagreement")).to_be_visible()
    assert report.locator("figure svg").count() >= report.locator("figure").count() > 10
    assert (faults, dashboard.strangers, dashboard.complaints) == ([], [], [])
