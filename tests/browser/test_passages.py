"""From a disagreement to the passages behind both answers, in a real browser: one click, and each number leads to its passage."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from audit.release.write import write_jsonl
from tests.browser.accessibility import unnamed_controls
from tests.browser.conftest import Dashboard, overflow, server, settled
from tests.store.test_sections import change_answer
from tests.support.loading import load
from tests.support.pdfs import FILLER, HEIGHT, at, column, write_pdf
from tests.support.tiny import handbook, release_from

pytestmark = pytest.mark.browser

FOOT = 780
"""Where the cited sentence stands, in points from the top of the page."""


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
    expect(page.locator(".pair .badge").first).to_have_text("opposite advice (contradictory)")
    assert page.locator(".behind .section mark").count() >= 2
    (left, top), (right, right_top) = corner_of(page, 0), corner_of(page, 1)
    assert (right > left, abs(top - right_top) < 2) == (True, True)

    number = page.locator(".behind .answer-text a.number").first
    target = page.locator(str(number.get_attribute("href")))
    expect(target).to_have_count(1)
    number.click()
    expect(target).to_be_in_viewport()
    expect(page.get_by_role("heading", name="Answer", exact=True)).to_have_count(1)  # still the same page

    page.get_by_text("How the search went, step by step").first.click()
    expect(page.locator(".behind .layer").first).to_be_visible()
    expect(page.get_by_text("Skipped: no reranker was given.").first).to_be_visible()

    copy = demo.open(page.url, width=900)
    expect(copy.locator(".behind .name")).to_have_count(2)
    (left, top), (right, below) = corner_of(copy, 0), corner_of(copy, 1)
    assert (abs(left - right) < 2, below > top + 100) == (True, True)
    assert demo.page_errors == []


def test_one_click_opens_the_cited_page_with_the_sentence_marked_and_in_sight(browser: Browser, tmp_path: Path) -> None:
    load_cited_page(tmp_path)
    with server(tmp_path, tmp_path / "server.log") as address:
        dashboard = Dashboard(address, browser)
        page = dashboard.open("/answer?question=q1&handbook=a", width=900)
        with page.context.expect_page() as opened:
            page.get_by_role("link", name="[1] page 2").click()
        source = opened.value
        expect(source.get_by_role("img", name="Page 2 of Living well")).to_be_visible()
        spot = source.locator(".source-page .spot")
        expect(spot).to_have_count(1)
        expect(spot).to_be_in_viewport()  # the sentence is at the foot of a page that is higher than the window
        box, picture = spot.bounding_box(), source.locator(".source-page img").bounding_box()
        assert box
        assert picture
        assert (box["y"] + box["height"] - picture["y"]) / picture["height"] == pytest.approx(FOOT / HEIGHT, abs=0.01)

        source.get_by_role("button", name="Previous page").click()
        expect(source.get_by_text("Page 1 of 2")).to_be_visible()
        expect(spot).to_have_count(0)
        assert unnamed_controls(source) == []
        assert overflow(source) <= 0
        narrow = dashboard.open(f"/{page.get_by_role('link', name='[1] page 2').get_attribute('href')}", width=390)
        expect(narrow.locator(".source-page .spot")).to_be_in_viewport()
        assert overflow(narrow) <= 0
    assert dashboard.page_errors == []


def load_cited_page(folder: Path) -> None:
    """Load a run whose answer cites a sentence at the foot of page 2 of a PDF."""
    (folder / "sources").mkdir()
    text = "Call us about a fever."
    pdf = write_pdf(folder / "sources" / "book.pdf", [column([FILLER]), [*column([FILLER]), at(text, 60, FOOT)]])
    file = {"digest": hashlib.sha256(pdf.read_bytes()).hexdigest(), "title": "Living well"}
    release = release_from(folder, "q1 kidney ab=CONSISTENT", [handbook("a") | file, handbook("b")])
    section = {"handbook_id": "a", "section_id": "s1", "heading": "Fever", "text": text, "pages": [2, 2]}
    write_jsonl(release / "sections.jsonl", [section])
    cited = {"passage": 1, "section_id": "s1", "quote_start": 0, "quote_end": len(text)}
    change_answer(release, "q1", "a", retrieval={"citations": [cited]})
    load(release, folder)


def test_a_miss_of_a_strategy_leads_to_its_answer(demo: Dashboard) -> None:
    page = demo.open("/retrieval?view=differences")
    expect(page.get_by_text("Each compared with hero, search by search")).to_be_visible()
    page = demo.open("/retrieval?view=missed&strategy=bm25")
    expect(page.get_by_text("Searches that a strategy missed")).to_be_visible()
    assert page.get_by_test_id("stException").count() == 0


def test_a_release_without_texts_shows_titles_and_says_why(institutes: Dashboard) -> None:
    page = institutes.open("/disagreements")
    page.get_by_role("link", name="See the passages behind both answers").click()
    page.wait_for_url(re.compile("/answer"))
    expect(page.get_by_text("This run does not include the texts of its institutes").first).to_be_visible()
    expect(page.locator(".behind li").first).to_be_visible()
    page = institutes.open("/retrieval")
    expect(page.get_by_text("This run has no retrieval trials")).to_be_visible()
