"""From a disagreement to the passages behind both answers, in a real browser: one click, and each number leads to its passage."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Dashboard, settled

pytestmark = pytest.mark.browser


def corner_of(page: Page, index: int) -> tuple[float, float]:
    """Left edge and top of one of the two answers, in pixels."""
    box = page.locator(".behind .name").nth(index).bounding_box()
    assert box
    return box["x"], box["y"]


def test_a_clinician_walks_from_a_disagreement_to_the_passages_behind_both_answers(demo: Dashboard) -> None:
    page = demo.open("/disagreements?label=CONTRADICTORY")
    expect(page.locator(".pair .side")).to_have_count(2)
    names = page.locator(".pair .side .name").all_inner_texts()
    page.get_by_role("link", name="See the passages behind both answers").click()
    page.wait_for_url(re.compile(r"/answer\?.*handbook=.*other="))
    settled(page)

    expect(page.get_by_role("heading", name="Answer", exact=True)).to_be_visible()
    expect(page.locator(".behind .name")).to_have_count(2)
    assert page.locator(".behind .name").all_inner_texts() == names
    expect(page.locator(".pair .badge").first).to_have_text("contradictory")
    assert page.locator(".behind .section mark").count() >= 2
    (left, top), (right, right_top) = corner_of(page, 0), corner_of(page, 1)
    assert (right > left, abs(top - right_top) < 2) == (True, True)

    number = page.locator(".behind .answer-text a.number").first
    target = page.locator(str(number.get_attribute("href")))
    expect(target).to_have_count(1)
    number.click()
    expect(target).to_be_in_viewport()
    expect(page.get_by_role("heading", name="Answer", exact=True)).to_have_count(1)  # still the same page

    page.get_by_text("Search results, layer by layer").first.click()
    expect(page.locator(".behind .layer").first).to_be_visible()
    expect(page.get_by_text("Skipped: no reranker was given.").first).to_be_visible()

    copy = demo.open(page.url, width=900)
    expect(copy.locator(".behind .name")).to_have_count(2)
    (left, top), (right, below) = corner_of(copy, 0), corner_of(copy, 1)
    assert (abs(left - right) < 2, below > top + 100) == (True, True)
    assert demo.page_errors == []


def test_a_miss_of_a_strategy_leads_to_its_answer(demo: Dashboard) -> None:
    page = demo.open("/retrieval?strategy=bm25")
    expect(page.get_by_text("Each compared with hero, search by search")).to_be_visible()
    expect(page.get_by_text("Searches that a strategy missed")).to_be_visible()
    assert page.get_by_test_id("stException").count() == 0


def test_a_release_without_texts_shows_titles_and_says_why(institutes: Dashboard) -> None:
    page = institutes.open("/disagreements")
    page.get_by_role("link", name="See the passages behind both answers").click()
    page.wait_for_url(re.compile("/answer"))
    expect(page.get_by_text("This release does not include the texts of its institutes").first).to_be_visible()
    expect(page.locator(".behind li").first).to_be_visible()
    page = institutes.open("/retrieval")
    expect(page.get_by_text("This run has no retrieval trials")).to_be_visible()
