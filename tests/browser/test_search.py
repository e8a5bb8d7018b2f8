"""The one box: suggestions while typing, Enter that asks, arrow keys, and the ranking of the browser against that in Python."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from audit.queries.search_index import question_entries, weighted_terms
from audit.store.connection import open_store
from audit.store.runs import list_runs
from audit.text.word_match import STOP_STEMS, WordIndex
from pages._blinded.templates import PAGES
from tests.browser.accessibility import axe_violations, unnamed_controls
from tests.browser.conftest import Dashboard, settled

pytestmark = pytest.mark.browser

SCORES = """async ([script, entries, stop, typed]) => {
  const module = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })))
  const index = new module.WordIndex(entries, new Set(stop))
  return typed.map(text => [...index.search(text).scores])
}"""
PARAPHRASES = Path(__file__).parents[1] / "queries" / "paraphrases.csv"
ALCOHOL = "How long should I not drink alcohol after my transplant?"


def box(page: Page) -> Locator:
    return page.get_by_role("combobox", name=re.compile("^Search"))


def suggested(page: Page, typed: str) -> Locator:
    box(page).fill(typed)
    return page.locator("#results").get_by_role("option")


def test_browser_and_python_rank_alike(demo: Dashboard, demo_folder: Path) -> None:
    run = next(run for run in list_runs(demo_folder / "store") if run.run_id == "demo")
    with open_store(run.path) as con:
        entries = question_entries(con)
    entries = [*entries, entries[0]._replace(name="我可以喝啤酒吗？")]
    with PARAPHRASES.open(encoding="utf-8") as file:
        typed = [row["typed"] for row in csv.DictReader(file)]
    typed += [
        *(entry.name for entry in entries),
        "Café ¿puedo?",
        "x" * 2000,
        "sub let",
        "don't",
        "38.5 °C",
        "喝啤酒",
        "可以 beer 吗",
        "药",
    ]
    sent: Any = [(PAGES / "_shared/search.js").read_text(encoding="utf-8"), [[*entry[:2], "", entry.more] for entry in entries]]
    in_browser = demo.open("/about").evaluate(SCORES, [*sent, sorted(STOP_STEMS), typed])
    index = WordIndex([weighted_terms(entry) for entry in entries])
    for text, scored in zip(typed, in_browser, strict=True):
        assert dict(map(tuple, scored)) == pytest.approx(index.scores(text)), text


def test_enter_asks_what_was_typed_and_an_arrow_key_chooses_a_suggestion(demo: Dashboard) -> None:
    page = settled(demo.open("/about"))
    page.keyboard.press("Control+k")
    expect(box(page)).to_be_focused()
    options = suggested(page, "can i drink alcohol")
    expect(options.first).to_contain_text(f"{ALCOHOL} ")
    expect(options.first).to_contain_text("handbooks answer, disputed")
    expect(options.last).to_contain_text("Ask the handbooks: can i drink alcohol")
    assert box(page).get_attribute("aria-activedescendant") is None
    box(page).press("ArrowDown")
    assert box(page).get_attribute("aria-activedescendant") == options.first.get_attribute("id")
    box(page).press("Enter")
    page.wait_for_url(re.compile("/question.*question=general-0008"))
    settled(page)
    suggested(page, "can i drink beer")
    box(page).press("Enter")
    page.wait_for_url(re.compile("/ask.*ask=can\\+i\\+drink\\+beer"))


def test_a_run_without_texts_opens_the_first_suggestion(institutes: Dashboard) -> None:
    page = settled(institutes.open("/start"))
    options = suggested(page, "what causes heart attack")
    expect(options.first).to_contain_text("What causes Heart Attack?")
    expect(options.last).to_contain_text("Disagreements with these words")
    box(page).press("Enter")
    page.wait_for_url(re.compile("/question.*question=nih-heart-attack--causes"))


def test_enter_opens_nothing_that_has_none_of_the_letters(institutes: Dashboard) -> None:
    page = settled(institutes.open("/start"))
    options = suggested(page, "zzz qqq")
    expect(options.last).to_contain_text("Disagreements with these words")
    page.wait_for_timeout(1500)  # until what is near in meaning has come from the server
    assert box(page).get_attribute("aria-activedescendant") is None
    box(page).press("Enter")
    page.wait_for_url(re.compile("/disagreements.*words=zzz"))


def test_words_that_nothing_has_get_a_sentence_and_2000_letters_no_error(demo: Dashboard) -> None:
    page = settled(demo.open("/about"))
    options = suggested(page, "zzz")
    expect(page.locator("#results")).to_contain_text("Nothing in this run is near these words.")
    expect(options).to_have_count(2)
    suggested(page, " ")
    expect(page.locator("#results")).to_be_hidden()
    # Questions that are near in meaning may come from the server above it, sooner or later
    suggested(page, "xyzzy " * 400).filter(has_text="Disagreements with these words").click()
    page.wait_for_url(re.compile("/disagreements"))
    expect(settled(page).get_by_text("No pair matches")).to_be_visible()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_open_list_is_accessible_and_fits(demo: Dashboard, width: int, scheme: Any) -> None:
    page = settled(demo.open("/start", width=width, color_scheme=scheme))
    options = suggested(page, "alcohol")
    expect(options.first).to_be_visible()
    assert axe_violations(page) == []
    assert unnamed_controls(page) == []
    edges = page.locator("#results").bounding_box()
    assert edges
    assert edges["x"] >= 0
    assert edges["x"] + edges["width"] <= width
