"""The clinician's journey: open, filter, open a pair, copy the link, reopen it."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.accessibility import AXE_IS_INSTALLED, WITHOUT_AXE, axe_violations
from tests.browser.conftest import Dashboard, overflow, server, settled

pytestmark = pytest.mark.browser

PAGES = (
    "about", "disagreements", "question", "answer", "organs", "topics", "centers", "coverage", "handbook", "source",
    "system_answers", "sources?view=one", "stress?view=one", "rejudge", "downloads", "themes", "ask",
)  # fmt: skip
"""Those that test_gallery.py does not hold to more."""
LOW_CONTRAST = re.sub(r"^//.*\n", "", Path(__file__).with_name("low_contrast.js").read_text(encoding="utf-8"), flags=re.MULTILINE)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
MIN_CONTRAST = 4.5
"""WCAG 2.2, 1.4.3, for text of ordinary size."""


def answers(page: Page) -> list[str]:
    """The two answers on the screen, as text, once they are drawn."""
    expect(page.locator(".pair .side")).to_have_count(2)
    return page.locator(".pair .side").all_inner_texts()


# Pixels by which a name begins left of the picture
CUT = """svg => {
    const left = svg.getBoundingClientRect().left
    return Math.max(...[...svg.querySelectorAll("text")].map(name => left - name.getBoundingClientRect().left))
}"""


def test_a_clinician_finds_a_disagreement_and_hands_on_the_link(demo: Dashboard) -> None:
    page = demo.open()
    expect(page.get_by_text("Synthetic data").first).to_be_visible()
    page.get_by_role("link", name=re.compile("See all .* disputed questions")).click()
    expect(page.get_by_role("heading", name="Disagreements")).to_be_visible()
    match = page.get_by_text(re.compile(r"pairs match"))
    everything = match.inner_text()

    page.get_by_label("Words").fill("travel")
    page.get_by_label("Words").press("Enter")
    expect(match).not_to_have_text(everything)
    settled(page)
    first, drawn = answers(page), page.locator(".pair .sides").text_content() or ""
    page.get_by_role("listbox").press("ArrowDown")
    page.wait_for_url(re.compile("words=travel.*question=|question=.*words=travel"))
    expect(page.locator(".pair .sides")).not_to_have_text(drawn)
    settled(page)
    second = answers(page)
    assert second != first
    assert page.locator(".pair mark").count() > 0

    copy = demo.open(page.url)
    expect(copy.get_by_label("Words")).to_have_value("travel")
    expect(copy.get_by_text(re.compile(r"pairs match"))).to_have_text(match.inner_text())
    assert answers(copy) == second


def test_in_a_narrow_window_a_row_opens_over_the_list_and_in_a_wide_one_both_scroll_apart(demo: Dashboard) -> None:
    page = demo.open("/disagreements", width=900, height=700)
    back, rows = page.get_by_role("button", name="Back to the list"), page.get_by_role("option")
    expect(back).to_be_hidden()  # a window that shows the list alone opens nothing over it
    for width in (900, 390):
        page.set_viewport_size({"width": width, "height": 700})
        rows.nth(3).click()
        expect(back).to_be_in_viewport()
        expect(page.locator(".position").first).to_be_in_viewport()
        settled(page)
        back.click()
        expect(back).to_be_hidden()
        page.wait_for_url(lambda url: "question=" not in url)
        settled(page)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.get_by_role("listbox").press("End")
    page.wait_for_url(re.compile("question="))
    expect(rows.last).to_have_attribute("aria-selected", "true")
    expect(rows.last).to_be_in_viewport()  # the list scrolled, and the detail did not
    expect(page.locator(".position").first).to_be_in_viewport()


def test_a_copied_link_may_be_the_first_thing_a_server_is_asked(demo_data: Path, tmp_path: Path, browser: Browser) -> None:
    # The demo's own folder is served already, and one server holds its studies
    folder = shutil.copytree(demo_data, tmp_path / "data", ignore=shutil.ignore_patterns("studies.db*"), copy_function=os.link)
    with server(folder) as address:
        page = Dashboard(address, browser).open("/disagreements?words=alcohol")
        expect(page.get_by_role("link", name="Explore")).to_be_visible()
        expect(page.get_by_label("Words")).to_have_value("alcohol")
        assert page.get_by_text("Page not found").count() == 0
        assert page.get_by_role("link", name="app", exact=True).count() == 0


FOLDED = "Who agrees with whom"
"""What the label matrix of a question is folded behind."""


def test_a_click_on_a_cell_of_the_matrix_or_enter_opens_its_pair(demo: Dashboard) -> None:
    page = demo.open("/question")
    before = page.url
    page.get_by_text(FOLDED).click()
    page.locator(".js-plotly-plot .nsewdrag").first.wait_for()
    page.locator(".js-plotly-plot .nsewdrag").first.scroll_into_view_if_needed()
    box = page.locator(".js-plotly-plot .nsewdrag").first.bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] * 0.08, box["y"] + box["height"] * 0.85)
    page.wait_for_function("before => location.href !== before", arg=before)
    settled(page)
    assert re.search(r"[?&]a=[^&]+&b=", page.url)
    clicked = answers(page)

    page.locator("summary", has_text=FOLDED).focus()
    grid, cell = page.get_by_role("grid", name="Labels of every two handbooks"), page.get_by_role("gridcell")
    for _ in range(12):
        if grid.evaluate("grid => grid === grid.getRootNode().activeElement"):
            break
        page.keyboard.press("Tab")
    expect(grid).to_be_focused()
    expect(cell).to_have_attribute("aria-selected", "true")  # where the mouse was
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Control+Home")
    expect(cell).to_have_text(re.compile(": the same handbook$"))
    page.keyboard.press("End")
    expect(cell).to_have_text(re.compile(r"^\S.* / .*: (absent|consistent|complementary|divergent|contradictory|unscored)$"))
    expect(grid.locator(".ring")).to_be_in_viewport()
    assert grid.evaluate("grid => getComputedStyle(grid.querySelector('.ring')).outlineStyle") == "solid"
    words, before = cell.inner_text(), page.url
    page.keyboard.press("Enter")
    page.wait_for_function("before => location.href !== before", arg=before)
    settled(page)
    expect(grid).to_be_focused()  # so the next cell is one key away
    expect(cell).to_have_text(words)
    expect(cell).to_have_attribute("aria-selected", "true")
    assert answers(page) != clicked
    assert axe_violations(page) == []


def test_a_cell_clicked_again_after_back_opens_its_pair_again(demo: Dashboard) -> None:
    page = demo.open("/question")
    page.get_by_text(FOLDED).click()
    plot = page.locator(".js-plotly-plot .nsewdrag").first
    plot.wait_for()
    unopened = page.url
    for _ in range(2):
        plot.scroll_into_view_if_needed()
        box = plot.bounding_box()
        assert box
        page.mouse.click(box["x"] + box["width"] * 0.08, box["y"] + box["height"] * 0.85)
        page.wait_for_url(re.compile("[?&]a=[^&]+&b="))
        settled(page).go_back()
        page.wait_for_url(unopened)
        settled(page)


def test_one_press_of_back_undoes_one_step(demo: Dashboard) -> None:
    page = demo.open("/coverage")
    page.keyboard.press("Control+k")
    page.keyboard.type(searched := "Can I eat sushi")
    page.get_by_role("option", name=re.compile(searched)).first.click()
    page.wait_for_url(re.compile("/question.*run="))
    page.get_by_text(FOLDED).click()
    plot = page.locator(".js-plotly-plot .nsewdrag").first
    plot.wait_for()
    settled(page)
    unopened, box = page.url, plot.bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] * 0.08, box["y"] + box["height"] * 0.85)
    page.wait_for_url(re.compile("[?&]a=[^&]+&b="))
    settled(page).go_back()
    page.wait_for_url(unopened)
    settled(page).go_back()
    page.wait_for_url(re.compile("/coverage"))
    expect(page.get_by_role("heading", name="Coverage")).to_be_visible()


def test_a_click_on_the_coverage_heatmap_opens_the_handbook(demo: Dashboard) -> None:
    page = demo.open("/coverage")
    page.get_by_role("tab", name="By question").click()
    plot = page.locator(".js-plotly-plot .nsewdrag").first
    plot.wait_for()
    box, tick = plot.bounding_box(), page.locator(".js-plotly-plot .ytick text").first.bounding_box()
    assert box
    assert tick
    page.mouse.click(box["x"] + box["width"] * 0.5, tick["y"] + tick["height"] / 2)
    page.wait_for_url(re.compile("/handbook"))
    settled(page)
    expect(page.get_by_role("heading", name=re.compile("leaves out|Gaps", re.IGNORECASE)).first).to_be_visible()


@pytest.fixture(scope="module")
def visitor(demo: Dashboard) -> Page:
    """One visitor for all pages."""
    return demo.visit(demo.new_page(), "/")


def color_scheme(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.querySelector('.stApp')).colorScheme"))


@pytest.mark.parametrize("name", PAGES)
def test_every_page_fits_its_window_fails_nowhere_can_be_read_in_both_modes_and_asks_no_other_host(
    demo: Dashboard, visitor: Page, name: str
) -> None:
    demo.go_to(visitor, f"/{name}")
    for width in (1280, 900):
        visitor.set_viewport_size({"width": width, "height": 800})
        assert overflow(settled(visitor)) <= 0, width
        assert visitor.get_by_test_id("stException").count() == 0
        assert visitor.locator("h1").count() == 1
    assert axe_violations(visitor) == []
    # In the mode that the page before was left in, and in the other: a change draws a page again
    first, other = sorted(SCHEMES, key=lambda scheme: scheme != color_scheme(visitor))
    assert visitor.evaluate(LOW_CONTRAST, MIN_CONTRAST) == [], first
    visitor.emulate_media(color_scheme=other)
    expect(visitor.locator(".stApp")).to_have_css("color-scheme", other)
    assert settled(visitor).evaluate(LOW_CONTRAST, MIN_CONTRAST) == [], other
    assert visitor.get_by_test_id("stDataFrame").count() == 0
    assert (demo.foreign_requests, demo.page_errors) == ([], [])


@pytest.mark.skipif(not AXE_IS_INSTALLED, reason=WITHOUT_AXE)
def test_axe_finds_a_button_without_a_name(demo: Dashboard) -> None:
    page = demo.open("/about")
    page.evaluate("document.querySelector('.stMainBlockContainer').insertAdjacentHTML('beforeend', '<button></button>')")
    assert axe_violations(page) == ["button-name: <button></button>"]


SHIFTS = """addEventListener("load", () => { window.shifted = 0; new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value
}).observe({ type: "layout-shift", buffered: true }) })"""


@pytest.mark.parametrize("path", ["/", "/question", "/disagreements"])
def test_what_a_first_visit_shows_stays_where_it_is(demo: Dashboard, path: str) -> None:
    page = demo.new_page()
    page.add_init_script(SHIFTS)
    demo.visit(page, path)
    # .37 to .69 while the menu, the width of the page and its styles came after what they move; below .1 now
    assert page.evaluate("window.shifted") < 0.2


def test_on_a_phone_a_chart_fits_with_its_names_above_their_rows(demo: Dashboard) -> None:
    page = demo.open("/themes?view=bars", width=390)
    chart = page.locator(".st-key-theme_bars_on_a_phone")
    # Of the narrow drawing: the wide one, whose names end at their bars, stands there for a moment before it
    name = chart.locator("text[text-anchor=start]", has_text="travel to places that ask for yellow fever vaccine")
    expect(name).to_be_visible()
    assert chart.evaluate("chart => chart.scrollWidth <= chart.clientWidth + 1")
    # The name begins where the bars do, which is at the left edge
    assert (name.bounding_box() or {"x": 390})["x"] < 70
    page.set_viewport_size({"width": 900, "height": 800})
    legend = page.locator(".st-key-theme_bars .legendtext", has_text="high significance")
    expect(legend).to_have_count(1)  # the narrow chart's is gone
    expect(legend.last).to_be_in_viewport(ratio=1)  # its lines are not below the part of the figure that the page cuts off


def test_the_journey_on_a_real_release_in_its_own_words(institutes: Dashboard) -> None:
    page = institutes.open()
    expect(page.get_by_text("in 6.5 % of such pairs (4.2 to 10.9 %)")).to_be_visible()
    expect(page.get_by_text(re.compile("Corrected by the labels of raters .* of 148 pairs"))).to_be_visible()
    institutes.go_to(page, "/centers").get_by_role("tab", name="Chart").first.click()
    with page.expect_download() as saving:
        page.get_by_role("button", name="Download plot").first.dispatch_event("click")
    # A saved figure brings no font with it, and here the page's is missing
    page.set_content(saving.value.path().read_text(encoding="utf-8"))
    assert page.locator("svg").first.evaluate(CUT) <= 0
    page = institutes.open("/disagreements")
    expect(page.get_by_text(re.compile("64 pairs match"))).to_be_visible()
    expect(page.get_by_text("Topic area").first).to_be_visible()
    page.get_by_role("button", name=re.compile("^Next")).click()
    page.wait_for_url(re.compile("question="))
    shown = answers(settled(page))
    assert answers(institutes.open(page.url)) == shown
