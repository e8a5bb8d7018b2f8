"""Light and dark: every word can be read on both, charts follow a change at once, and the first visit gets its tour once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Dashboard, settled

pytestmark = pytest.mark.browser

FAINT = re.sub(r"^//.*\n", "", Path(__file__).with_name("faint.js").read_text(encoding="utf-8"), flags=re.MULTILINE)
READABLE = 4.5
"""WCAG 2.2, 1.4.3, for text of ordinary size."""
PAGES = ("", "disagreements", "question", "coverage", "glossary")
AXIS = ".js-plotly-plot .ytick text"


def opened(dashboard: Dashboard, ground: str, path: str) -> Page:
    page = dashboard.browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme=ground).new_page()  # type: ignore[arg-type]
    page.goto(f"{dashboard.address}/{path}")
    return settled(page)


@pytest.mark.parametrize("ground", ["light", "dark"])
def test_every_word_can_be_read(demo: Dashboard, ground: str) -> None:
    page = opened(demo, ground, "")
    for path in PAGES:
        page.goto(f"{demo.address}/{path}")
        expect(page.locator("h1")).to_be_visible()
        settled(page)
        assert page.evaluate("getComputedStyle(document.querySelector('.stApp')).colorScheme") == ground
        assert page.evaluate(FAINT, READABLE) == [], path
    page.context.close()


def test_a_chart_follows_when_the_machine_turns_dark(demo: Dashboard) -> None:
    page = opened(demo, "light", "organs")
    letters = page.locator(AXIS).first
    expect(letters).to_have_css("fill", "rgb(49, 51, 63)")
    page.emulate_media(color_scheme="dark")
    expect(letters).to_have_css("fill", "rgb(230, 232, 236)")
    page.emulate_media(color_scheme="light")
    expect(letters).to_have_css("fill", "rgb(49, 51, 63)")
    page.context.close()


def test_the_tour_comes_once_goes_for_good_and_comes_back_when_asked_for(demo: Dashboard) -> None:
    page = opened(demo, "light", "")
    tour = page.get_by_label("Tour", exact=True)
    expect(tour).to_be_visible()
    expect(tour).to_contain_text("what each handbook leaves out")
    tour.get_by_role("button", name="Do not show again").click()
    expect(tour).to_be_hidden()
    page.reload()
    expect(page.get_by_role("heading", name="How the pairs were labelled")).to_be_visible()
    expect(settled(page).get_by_label("Tour", exact=True)).to_be_hidden()
    page.get_by_role("link", name="Organs").click()
    expect(page.get_by_role("heading", name="By organ")).to_be_visible()
    page.get_by_role("link", name="Tour").click()
    expect(tour).to_be_visible()
    assert "tour=" not in settled(page).url
    tour.get_by_role("button", name="Close for now").click()
    expect(tour).to_be_hidden()
    page.get_by_role("link", name="Tour").click()
    expect(tour).to_be_visible()
    page.context.close()
