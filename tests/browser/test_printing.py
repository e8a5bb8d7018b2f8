"""What a clinician prints: the page without menu and bar, whole, and without a blank sheet."""

from __future__ import annotations

from contextlib import closing

import pytest
from playwright.sync_api import Page, expect
from pypdfium2 import PdfDocument

from tests.browser.conftest import Dashboard

pytestmark = pytest.mark.browser
PRINTS = True
"""See `browser` in conftest.py: printing needs the whole Chromium, which takes more computing time."""

# What is below the last block that is printed begins a sheet of its own where that block is the last of a sheet
BELOW_LAST_LINE = """() => {
    const blocks = [...document.querySelectorAll(".stMainBlockContainer > [data-testid=stVerticalBlock] > *")]
    const seen = blocks.map(block => block.getBoundingClientRect()).filter(box => box.height > 0)
    return document.body.getBoundingClientRect().bottom - Math.max(...seen.map(box => box.bottom))
}"""


def sheets_of(page: Page) -> list[str]:
    """The words on each sheet of the printed page."""
    with closing(PdfDocument(page.pdf(prefer_css_page_size=True, print_background=True))) as document:
        return [sheet.get_textpage().get_text_bounded() for sheet in document]


def test_a_page_is_printed_whole_without_menu_and_bar(demo: Dashboard) -> None:
    page = demo.open("/about?view=handbooks")
    expect(page.get_by_role("heading", name="The handbooks")).to_be_visible()
    sheets = sheets_of(page)
    words = " ".join("\n".join(sheets).split())
    assert 1 <= len(sheets) <= 3
    # The last row of a table that shows twelve of its 24 rows on the screen
    for printed in ("Catalpa Pancreas Transplant Handbook: A guide for patients and families", "demo@"):
        assert printed in words
    for left_out in ("Copy link", "Disagreements", "Download CSV", "Glossary"):
        assert left_out not in words
    for name in ("organs", "topics", "centers", "themes", "glossary"):
        demo.go_to(page, f"/{name}")
        assert all(sheet.strip() for sheet in sheets_of(page)), name
        page.emulate_media(media="print")
        assert page.evaluate(BELOW_LAST_LINE) < 12, name  # a margin, which no sheet begins with
        page.emulate_media(media="null")  # with "screen" the next page would be printed as it looks on the screen


def test_disputed_questions_are_printed_above_their_positions(demo: Dashboard) -> None:
    page = demo.open("/")
    expect(page.get_by_role("link", name="Can I travel to a country with yellow fever?")).to_be_visible()
    words = " ".join(sheets_of(page)[0].split())
    assert words.index("Can I travel to a country with yellow fever?") < words.index("Do not travel to regions")
    assert "Ctrl K" not in words


def test_pages_of_a_real_release_have_no_blank_sheet(institutes: Dashboard) -> None:
    page = institutes.open()
    for name in ("organs", "topics", "centers", "themes"):
        assert all(sheet.strip() for sheet in sheets_of(institutes.go_to(page, f"/{name}"))), name
