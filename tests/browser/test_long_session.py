"""A session of 200 items in one browser: the last are as fast as the first, and every label reaches its item."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest
from playwright.sync_api import Browser, Page, expect

from annotation.label_store.engine import LabelStore, open_label_store
from annotation.label_store.results import assignment_rows
from annotation.studies.verification import verify_study
from tests.browser.conftest import Dashboard, server, signed_in_as
from tests.support.studies import rating_history, study_of

pytestmark = pytest.mark.browser

ITEMS, AT_EACH_END = 200, 50
MAX_SLOWDOWN = 2.5
"""Between the medians at the two ends; generous because the machine has other work too."""
LABELS = ("ABSENT", "CONSISTENT", "COMPLEMENTARY", "DIVERGENT", "CONTRADICTORY")
SIGNIFICANCES = ("low", "medium", "high")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LabelStore]:
    opened = open_label_store(f"sqlite:///{tmp_path / 'studies.db'}")
    study_of(opened, ITEMS)
    yield opened
    opened.close()


@pytest.fixture
def dashboard(browser: Browser, store: LabelStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dashboard]:
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    with server(tmp_path) as address:
        yield Dashboard(address, browser)


def press(page: Page, number: int) -> tuple[str, str, str | None, float]:
    """Label the item on the screen: its question, label, significance, and the seconds until the label was saved."""
    widget = page.locator(".labelling-widget")
    question, assignment = widget.locator("h2").inner_text(), widget.get_attribute("data-assignment")
    label, significance = LABELS[number % 5], SIGNIFICANCES[number % 3] if number % 5 > 2 else None
    start = time.perf_counter()
    page.keyboard.press(str(number % 5 + 1))
    if significance:
        page.keyboard.press(significance[0])
    if number < ITEMS - 1:
        page.locator(f'.labelling-widget:not([data-assignment="{assignment}"])').wait_for()
    widget.locator(".saved", has_text="all saved").wait_for()
    return question, label, significance, time.perf_counter() - start


def test_all_200_items_of_a_session_are_stored_and_the_last_are_as_fast_as_the_first(
    dashboard: Dashboard, store: LabelStore
) -> None:
    page = signed_in_as(dashboard, "ana")
    expect(page.locator(".labelling-widget h2")).to_be_visible()
    typed = [press(page, number) for number in range(ITEMS)]
    expect(page.locator(".labelling-widget .done")).to_contain_text("All your items are done")

    stored = {row["question"]: row for row in assignment_rows(store, "s") if row["annotator"] == "ana"}
    intended = {question: (label, significance) for question, label, significance, _ in typed}
    assert {question: (row["label"], row["significance"]) for question, row in stored.items()} == intended
    assert len(rating_history(store, "s")) == ITEMS
    assert verify_study(store, "s") == []

    seconds = [duration for *_, duration in typed]
    first, last = median(seconds[:AT_EACH_END]), median(seconds[-AT_EACH_END:])
    print(f"median until saved: {1000 * first:.0f} ms for the first {AT_EACH_END}, {1000 * last:.0f} ms for the last")
    assert last < MAX_SLOWDOWN * first
