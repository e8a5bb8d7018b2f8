"""Themes in a real browser: the map is drawn, a point names its theme, and a click leads to its pairs."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Dashboard, settled

pytestmark = pytest.mark.browser
DOTS, LABELS = 0, 1
DRAWN = """canvas => {
  const ratio = canvas.width / canvas.clientWidth, context = canvas.getContext("2d")
  return ratio >= 1 && context.getImageData(0, 0, canvas.width, canvas.height).data.some(value => value > 0)
}"""


def map_of(demo: Dashboard) -> Page:
    """The page with the map drawn."""
    page = demo.open("/themes?view=map")
    expect(page.locator(".theme-map canvas")).to_have_count(2)
    # A resize observer draws the map a moment after the canvases are there.
    page.wait_for_function(DRAWN, arg=page.locator(".theme-map canvas").nth(LABELS).element_handle())
    return page


def rest_on_a_point(page: Page) -> None:
    """Move the pointer over the map until it rests on a point."""
    box = page.locator(".theme-map").bounding_box()
    assert box
    for step in range(400):
        x, y = step % 20, step // 20
        page.mouse.move(box["x"] + box["width"] * (x + 0.5) / 20, box["y"] + box["height"] * (y + 0.5) / 20)
        if page.locator(".theme-map .tip").is_visible():
            return
    raise AssertionError("no point was found on the map")


def test_from_the_map_to_a_theme_to_its_pairs(demo: Dashboard) -> None:
    page = map_of(demo)
    assert all(seen(page, layer) for layer in (DOTS, LABELS))
    rest_on_a_point(page)
    expect(page.locator('[data-testid="stCaptionContainer"]', has_text="“")).to_be_visible()
    name = page.locator(".theme-map .tip div").first.inner_text()
    page.mouse.down()
    page.mouse.up()
    page.wait_for_url("**/theme?*")
    settled(page)
    expect(page.locator("h2", has_text=name).first).to_be_visible()
    page.get_by_role("link", name="See all its pairs on Disagreements").click()
    page.wait_for_url("**/disagreements?*")
    settled(page)
    expect(page.get_by_text("pairs match")).to_be_visible()
    assert "theme=" in page.url
    assert not demo.foreign_requests
    assert not demo.page_errors


def test_the_map_is_moved_and_zoomed_without_the_server(demo: Dashboard) -> None:
    page = map_of(demo)
    before = drawn(page, LABELS)
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="Zoom in").click()
    nearer = drawn(page, LABELS)
    assert nearer != before
    page.locator(".theme-map canvas").nth(1).focus()
    page.keyboard.press("ArrowLeft")
    assert drawn(page, LABELS) != nearer
    page.keyboard.press("0")
    assert drawn(page, LABELS) == before


def seen(page: Page, layer: int) -> bool:
    """Whether a layer of the map shows anything: without it the map looks different."""
    theme_map, canvas = page.locator(".theme-map"), page.locator(".theme-map canvas").nth(layer)
    before = theme_map.screenshot()
    canvas.evaluate("(canvas) => { canvas.style.opacity = 0 }")
    without = theme_map.screenshot()
    canvas.evaluate("(canvas) => { canvas.style.opacity = 1 }")
    return before != without


def drawn(page: Page, layer: int) -> str:
    """One of the map's two layers as a picture."""
    picture: str = page.locator(".theme-map canvas").nth(layer).evaluate("(canvas) => canvas.toDataURL()")
    return picture
