"""A list in a browser: each row a link as a whole, by mouse and by keyboard; sorted, searched, on a phone and on paper."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.accessibility import axe_violations
from tests.browser.conftest import Dashboard, settled

pytestmark = pytest.mark.browser


def listing(page: Page, place: int = 0) -> Locator:
    return settled(page).locator(".listing").nth(place)


def names(rows: Locator) -> list[str]:
    return rows.locator("tbody .open").all_inner_texts()


def test_a_click_anywhere_in_a_row_opens_it_and_back_returns(demo: Dashboard) -> None:
    page = demo.open("/topics", height=1600)
    box = listing(page).locator("tbody tr").nth(1).bounding_box()
    assert box is not None
    name = names(listing(page))[1]
    page.mouse.click(box["x"] + box["width"] - 12, box["y"] + box["height"] / 2)
    expect(page.get_by_role("heading", name="Disagreements", exact=True)).to_be_visible()
    assert f"topic={name.replace(' ', '_')}" in page.url
    page.go_back()
    expect(page.get_by_role("heading", name="By topic", exact=True)).to_be_visible()
    assert listing(page).locator("tbody a").first.get_attribute("href").startswith("disagreements?run=demo")


def test_a_list_is_moved_through_searched_and_followed_by_keyboard(demo: Dashboard) -> None:
    page = demo.open("/topics", height=1600)
    rows = listing(page)
    every = names(rows)
    rows.locator("tbody .open").first.focus()
    focused = "document.activeElement.shadowRoot.activeElement.textContent"
    for key, place in (("ArrowDown", 1), ("j", 2), ("k", 1), ("End", len(every) - 1), ("Home", 0)):
        page.keyboard.press(key)
        assert page.evaluate(focused) == every[place], key
    page.keyboard.type(every[3][:4])
    assert every[3] in names(rows)
    assert len(names(rows)) < len(every)
    page.keyboard.press("Escape")
    assert names(rows) == every
    page.keyboard.press("/")
    page.keyboard.type(every[2])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Disagreements", exact=True)).to_be_visible()


def test_a_heading_sorts_and_all_columns_are_one_click_away(demo: Dashboard) -> None:
    page = demo.open("/topics", height=1600)
    rows = listing(page)
    rows.get_by_role("button", name="Topic", exact=True).click()
    assert names(rows) == sorted(names(rows))
    expect(rows.get_by_role("columnheader", name="Topic", exact=True)).to_have_attribute("aria-sort", "ascending")
    before = rows.get_by_role("columnheader").count()
    rows.get_by_role("button", name="All ").click()
    assert before == 5 < rows.get_by_role("columnheader").count()
    assert axe_violations(page) == []


def test_words_that_are_searched_for_are_marked(demo: Dashboard) -> None:
    page = demo.open("/topics", height=1600)
    rows = listing(page)
    word = names(rows)[2][:4].lower()
    rows.locator("tbody .open").first.focus()
    page.keyboard.type(word)
    marks = rows.locator("mark").all_inner_texts()
    assert marks
    assert {mark.lower() for mark in marks} == {word}


def test_on_a_phone_a_list_of_columns_sorts(demo: Dashboard) -> None:
    rows = listing(demo.open("/topics", width=390))
    as_listed = names(rows)
    sort = rows.get_by_role("combobox", name="Sort by")
    expect(sort).to_be_visible()
    sort.select_option(label="Topic")
    assert names(rows) == sorted(as_listed) != as_listed
    sort.select_option(label="As listed")
    assert names(rows) == as_listed


def test_on_a_phone_nothing_is_cut_and_every_number_has_its_heading(demo: Dashboard) -> None:
    page = demo.open("/topics", width=390)
    rows = listing(page)
    assert rows.evaluate("list => list.scrollWidth <= list.clientWidth")
    first = rows.locator("tbody tr").first
    expect(first.get_by_text("Questions", exact=True)).to_be_visible()
    assert (first.bounding_box() or {"height": 0})["height"] >= 44
    assert axe_violations(page) == []
