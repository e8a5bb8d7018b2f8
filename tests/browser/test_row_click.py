"""A click anywhere in a row of a grid opens it, not only on the box at its start."""

from playwright.sync_api import expect

from pages._shared.widgets import HEADER, ROW
from tests.browser.conftest import Dashboard, settled


def test_a_click_in_the_middle_of_a_row_opens_it(demo: Dashboard) -> None:
    page = demo.open("/topics", height=1600)
    grid = settled(page).get_by_test_id("stDataFrame").first
    grid.scroll_into_view_if_needed()
    box = grid.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 3, box["y"] + HEADER + ROW / 2)
    expect(page.get_by_role("heading", name="Disagreements", exact=True)).to_be_visible()
    assert "topic=" in page.url
