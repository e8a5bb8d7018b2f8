"""Dark mode and the tour: charts follow a change at once, the tour opens only once. That every word can be read in both modes is
tested where every page is opened, in test_journey.py."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Dashboard, open_tab, settled

pytestmark = pytest.mark.browser

AXIS = ".js-plotly-plot .ytick text"


def test_a_chart_follows_when_the_system_switches_to_dark_mode(demo: Dashboard) -> None:
    page = demo.open("/themes?view=bars")
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
    expect(page.get_by_role("heading", name="Gravest disagreements")).to_be_visible()
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
