"""Light and dark mode: all text has enough contrast in both, charts follow a change at once, the tour opens only once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Dashboard, open_tab, settled

pytestmark = pytest.mark.browser

SCRIPT = Path(__file__).with_name("low_contrast.js").read_text(encoding="utf-8")
LOW_CONTRAST = re.sub(r"^//.*\n", "", SCRIPT, flags=re.MULTILINE)
MIN_CONTRAST = 4.5
"""WCAG 2.2, 1.4.3, for text of ordinary size."""
PAGES = (
    "", "disagreements", "question", "coverage", "systems", "system_answers", "sources", "sources?view=one", "stress",
    "stress?view=one", "glossary",
)  # fmt: skip
AXIS = ".js-plotly-plot .ytick text"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_word_can_be_read(demo: Dashboard, scheme: str) -> None:
    page = demo.open(color_scheme=scheme)
    for path in PAGES:
        demo.go_to(page, f"/{path}")
        expect(page.locator("h1")).to_be_visible()
        settled(page)
        assert page.evaluate("getComputedStyle(document.querySelector('.stApp')).colorScheme") == scheme
        assert page.evaluate(LOW_CONTRAST, MIN_CONTRAST) == [], path


def test_a_chart_follows_when_the_system_switches_to_dark_mode(demo: Dashboard) -> None:
    page = demo.open("/organs")
    axis_label = page.locator(AXIS).first
    expect(axis_label).to_have_css("fill", "rgb(49, 51, 63)")
    page.emulate_media(color_scheme="dark")
    expect(axis_label).to_have_css("fill", "rgb(230, 232, 236)")
    page.emulate_media(color_scheme="light")
    expect(axis_label).to_have_css("fill", "rgb(49, 51, 63)")


def test_the_tour_opens_once_closes_for_good_and_opens_again_on_request(demo: Dashboard) -> None:
    page = demo.open()
    tour = page.get_by_label("Tour", exact=True)
    expect(tour).to_be_visible()
    expect(tour).to_contain_text("Handbooks for what each one leaves out")
    expect(tour.get_by_role("listitem")).to_have_count(0)  # one line, until somebody wants more
    tour.get_by_role("button", name="Take the tour").click()
    expect(tour.get_by_role("listitem")).to_have_count(3)
    tour.get_by_role("button", name="Do not show again").click()
    expect(tour).to_be_hidden()
    page.reload()
    expect(page.get_by_role("heading", name="Most disputed")).to_be_visible()
    expect(settled(page).get_by_label("Tour", exact=True)).to_be_hidden()
    open_tab(page, "Explore", "Organs")
    expect(page.get_by_role("heading", name="By organ")).to_be_visible()
    page.get_by_role("link", name="Tour").click()
    expect(tour).to_be_visible()
    assert "tour=" not in settled(page).url
    tour.get_by_role("button", name="Close for now").click()
    expect(tour).to_be_hidden()
    page.get_by_role("link", name="Tour").click()
    expect(tour).to_be_visible()
