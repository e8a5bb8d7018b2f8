"""Pages of the demo at three widths, light and dark: nothing that a script finds wrong. The small form of the gallery."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Dashboard, settled
from tests.browser.faults import faults

pytestmark = pytest.mark.browser

PAGES = ("", "glossary", "compare", "retrieval", "systems", "sources", "stress", "judge", "trust", "runs", "papers")
"""Those whose every size was looked at; test_journey.py has the others."""
MAX_HEIGHT = 1_800
"""Pixels at 1280 of a page whose views answer one question each."""
LOOKS: tuple[tuple[int, Literal["light", "dark"]], ...] = ((1280, "light"), (900, "dark"), (390, "dark"))


@pytest.fixture(scope="module")
def visitor(demo: Dashboard) -> Page:
    """One visitor for all pages."""
    return demo.visit(demo.new_page(), "/")


@pytest.mark.parametrize("path", PAGES)
def test_a_page_has_no_fault_that_a_script_finds_and_asks_no_other_host(demo: Dashboard, visitor: Page, path: str) -> None:
    visitor.set_viewport_size({"width": LOOKS[0][0], "height": 800})
    visitor.emulate_media(color_scheme=LOOKS[0][1])
    demo.go_to(visitor, f"/{path}")
    for width, scheme in LOOKS:
        visitor.set_viewport_size({"width": width, "height": 800})
        visitor.emulate_media(color_scheme=scheme)
        expect(visitor.locator(".stApp")).to_have_css("color-scheme", scheme)
        assert faults(settled(visitor), axe=width == 1280) == [], (width, scheme)
        if width == 1280 and path:
            assert visitor.locator(".stMainBlockContainer").evaluate("page => page.scrollHeight") <= MAX_HEIGHT
    assert visitor.locator("h1").count() == 1
    assert visitor.get_by_test_id("stException").count() == 0
    # Streamlit's own download of a grid would write formulas as they are
    assert visitor.get_by_test_id("stDataFrame").count() == 0
    assert (demo.foreign_requests, demo.page_errors) == ([], [])


def test_what_is_wrong_is_found(demo: Dashboard) -> None:
    page = demo.open("/about")
    page.evaluate("""document.querySelector(".stMainBlockContainer").insertAdjacentHTML("afterbegin", `
        <p style="width: 20px; overflow: hidden; white-space: nowrap">A text that is cut</p>
        <p style="width: 3000px">${"A line that is too wide. ".repeat(40)}</p>
        <div><p style="margin: 0 0 -1.5em">One text</p><p style="margin: 0">on another</p></div>
        <div><button style="width: 12px; height: 12px">x</button><button style="width: 12px; height: 12px">y</button></div>
        <p>Of 1 pairs, {n} are left.</p><p style="color: #ddd; background: #fff">A pale text</p>`)""")
    kinds = {kind for kind, _ in faults(page, axe=False)}
    assert {"cut", "overflow", "overlap", "touch", "words", "contrast"} <= kinds
