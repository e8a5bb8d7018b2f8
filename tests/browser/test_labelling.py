"""An annotator at the keyboard, in a real browser: every key lands on its item, nothing is lost, nothing is seen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import update

from annotation.label_store.engine import LabelStore, open_label_store
from annotation.label_store.results import assignment_rows
from annotation.studies.verdict_store import SampleOrigin, StoredVerdict, Stratum, store_sample, verdicts
from tests.browser.conftest import Dashboard, serve, settled, signed_in_as
from tests.browser.test_journey import overflow
from tests.support.studies import item, people, rate, rating_history, study_of

pytestmark = pytest.mark.browser

ITEMS = 20
LABELS = ("ABSENT", "CONSISTENT", "COMPLEMENTARY", "DIVERGENT", "CONTRADICTORY")
WORDS = ("low", "medium", "high")
KEY_MS = 120
CANARIES = ("CANARYLABEL", "CANARYREASON", "CANARYTOPIC", "CANARYGRAVE", "CANARYOTHER", "CANARYHANDBOOK", "CANARYSTRATUM")


@dataclass
class Office:
    """A server with a study of 20 items for ana and ben; ben has rated all of it, and the judge has said its say."""

    dashboard: Dashboard
    store: LabelStore

    def sign_in(self, name: str = "ana", width: int = 1280) -> Page:
        page = self.signed_in(name, width)
        expect(page.locator(".labelling-widget h2")).to_be_visible()
        return page

    def signed_in(self, name: str, width: int = 1280) -> Page:
        return signed_in_as(self.dashboard, name, self.dashboard.open("/", width=width))

    def rows(self, annotator: str) -> dict[str, dict[str, object]]:
        """The annotator's seats by question."""
        return {row["question"]: row for row in assignment_rows(self.store, "s") if row["annotator"] == annotator}


def planted(store: LabelStore) -> None:
    """A study with a canary wherever an annotator must not look."""
    hidden = {"handbook_a": "CANARYHANDBOOK1", "handbook_b": "CANARYHANDBOOK2", "name_a": "CANARYHANDBOOK3"}
    study_of(store, [item(number, **hidden) for number in range(1, ITEMS + 1)])
    layer = Stratum("CANARYSTRATUM", "CONTRADICTORY", None, 900, ITEMS)
    said = [
        StoredVerdict(f"i{n:03}", "CANARYSTRATUM", "CONTRADICTORY", "high", "CANARYTOPIC", "CANARYREASON")
        for n in range(1, ITEMS + 1)
    ]
    with store.begin() as tx:
        store_sample(tx, "s", SampleOrigin("CANARYRUN", "0" * 64, 900, 0, {}), [layer], said)
    for number in range(1, ITEMS + 1):
        rate(store, "ben", number, "CONTRADICTORY", "high", comment="CANARYOTHER")


@pytest.fixture
def office(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    store = open_label_store(f"sqlite:///{tmp_path / 'studies.db'}")
    planted(store)
    people(store, "petra", role="pi")
    for dashboard in serve(tmp_path, browser):
        yield Office(dashboard, store)
    store.close()


def intended(page: Page, number: int) -> tuple[str, str, str | None]:
    """Type the keys of the `number`-th label, and say for which question: (question, label, significance)."""
    question = page.locator(".labelling-widget h2").inner_text()
    label = LABELS[number % 5]
    page.keyboard.press(str(number % 5 + 1))
    if number % 5 < 3:
        return question, label, None
    page.wait_for_timeout(KEY_MS)
    page.keyboard.press(WORDS[number % 3][0])
    return question, label, WORDS[number % 3]


def all_saved(page: Page) -> None:
    expect(page.locator(".labelling-widget .saved")).to_have_text("all saved")


def test_20_of_20_items_typed_at_120_ms_a_key_land_on_the_item_that_was_on_the_screen(office: Office) -> None:
    page = office.sign_in()
    meant = []
    for number in range(ITEMS):
        meant.append(intended(page, number))
        page.wait_for_timeout(KEY_MS)
    expect(page.locator(".labelling-widget .done")).to_contain_text("All your items are done")
    all_saved(page)
    stored = office.rows("ana")
    assert len({question for question, *_ in meant}) == ITEMS
    assert [(q, stored[q]["label"], stored[q]["significance"]) for q, *_ in meant] == meant
    assert len([row for row in rating_history(office.store, "s") if row["annotator"] == "ana"]) == ITEMS


def test_a_reload_asks_for_no_password_and_brings_the_unsubmitted_choice_back(office: Office) -> None:
    page = office.sign_in()
    page.keyboard.press("2")
    page.keyboard.press("4")
    page.keyboard.press("c")
    page.keyboard.type("not sure at all")
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    question = page.locator(".labelling-widget h2").inner_text()
    all_saved(page)
    page.wait_for_timeout(1500)
    page.reload()
    settled(page)
    expect(page.locator(".labelling-widget h2")).to_have_text(question)
    expect(page.get_by_role("button", name=re.compile("Divergent"))).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name=re.compile("unsure"))).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_label("Comment on this item")).to_have_value("not sure at all")
    expect(page.locator(".labelling-widget .count")).to_contain_text("1 of 20 labelled")
    page.keyboard.press("m")
    page.wait_for_function("q => document.querySelector('h2') || true", arg=question)
    expect(page.locator(".labelling-widget h2")).not_to_have_text(question)
    all_saved(page)
    row = office.rows("ana")[question]
    assert (row["label"], row["significance"], row["flagged"], row["comment"]) == ("DIVERGENT", "medium", True, "not sure at all")


def test_u_goes_back_and_a_second_label_is_a_revision_of_the_same_item(office: Office) -> None:
    page = office.sign_in()
    first = page.locator(".labelling-widget h2").inner_text()
    for key in ("1", "2", "u", "u"):
        page.keyboard.press(key)
    expect(page.locator(".labelling-widget h2")).to_have_text(first)
    page.keyboard.press("3")
    expect(page.locator(".labelling-widget .count")).to_contain_text("2 of 20 labelled · item 3")
    all_saved(page)
    row = office.rows("ana")[first]
    assert (row["label"], row["revision"]) == ("COMPLEMENTARY", 2)


def test_rubric_and_comment_are_one_key_away_and_keys_in_the_comment_label_nothing(office: Office) -> None:
    page = office.sign_in()
    page.keyboard.press("?")
    expect(page.get_by_label("Rubric", exact=True)).to_contain_text("Can one patient follow both answers completely")
    page.keyboard.press("?")
    expect(page.get_by_label("Rubric", exact=True)).to_be_hidden()
    page.keyboard.press("c")
    page.keyboard.type("12345lmhu")
    expect(page.locator(".labelling-widget .count")).to_contain_text("0 of 20 labelled")


@pytest.mark.parametrize("width", [1280, 900])
def test_the_board_fits_its_window_and_names_what_it_asks(office: Office, width: int) -> None:
    page = office.sign_in(width=width)
    assert overflow(page) <= 0
    assert page.get_by_test_id("stMarkdown").all_inner_texts() == []  # no note from the page's own code stands above the item
    left, right = page.get_by_role("article", name="First answer"), page.get_by_role("article", name="Second answer")
    boxes = left.bounding_box(), right.bounding_box()
    assert boxes[0]
    assert boxes[1]
    assert abs(boxes[0]["y"] - boxes[1]["y"]) < 1
    assert boxes[1]["x"] > boxes[0]["x"]
    expect(page.get_by_role("group", name=re.compile("Keys 1 to 5"))).to_be_visible()
    assert office.dashboard.complaints == []
    assert office.dashboard.strangers == []


def test_agreement_moves_on_the_pi_s_page_while_an_annotator_labels(office: Office) -> None:
    pi = office.signed_in("petra")
    pi.get_by_role("link", name="Agreement", exact=True).click()
    expect(pi.get_by_text("ana): 0")).to_be_visible()
    annotator = office.sign_in("ana")
    for number in (4, 4, 0):
        intended(annotator, number)
        annotator.wait_for_timeout(KEY_MS)
    all_saved(annotator)
    expect(pi.get_by_text("ana): 3")).to_be_visible(timeout=20_000)  # it looks again every five seconds
    expect(pi.get_by_test_id("stMetricValue").nth(1)).to_have_text("0.667", timeout=20_000)


def test_a_restart_of_the_server_asks_for_no_password_and_loses_no_label(
    office: Office, browser: Browser, tmp_path: Path
) -> None:
    page = office.sign_in()
    intended(page, 0)
    all_saved(page)
    page.wait_for_timeout(500)
    cookies = page.context.cookies()
    for again in serve(tmp_path, browser):
        context = browser.new_context()
        context.add_cookies([{"name": c["name"], "value": c["value"], "url": again.address} for c in cookies])
        other = context.new_page()
        other.goto(again.address)
        expect(other.locator(".labelling-widget .count")).to_contain_text("1 of 20 labelled")


def test_signing_out_ends_the_session_in_every_tab(office: Office) -> None:
    page = office.sign_in()
    page.wait_for_timeout(500)
    (cookie,) = [c for c in page.context.cookies() if c["name"] == "handbook_session"]
    assert cookie["sameSite"] == "Strict"
    other = page.context.new_page()
    other.goto(office.dashboard.address)
    expect(other.locator(".labelling-widget h2")).to_be_visible()
    page.get_by_role("link", name="Sign out").click()
    expect(page.get_by_label("Password", exact=True)).to_be_visible()
    other.reload()
    expect(other.get_by_label("Password", exact=True)).to_be_visible()
    assert [c for c in page.context.cookies() if c["name"] == "handbook_session" and c["value"]] == []


def test_nothing_that_blinds_reaches_an_annotator_s_browser(office: Office) -> None:
    """Frames both ways, page text and HTML, addresses and storage of a whole sitting, and of every address there is."""
    with office.store.begin() as tx:
        tx.execute(update(verdicts).values(label="CANARYLABEL", significance="CANARYGRAVE"))
    context = office.dashboard.browser.new_context()
    page = context.new_page()
    seen: list[str] = []
    page.on("websocket", lambda socket: _record(socket, seen))
    page.on("response", lambda response: seen.append(response.url))
    page.goto(office.dashboard.address + "/?study=s&item=i001&run=x")
    signed_in_as(office.dashboard, "ana", page)
    expect(page.locator(".labelling-widget h2")).to_be_visible()
    for number in range(ITEMS):
        seen.append(page.content() + page.locator(".labelling-widget").inner_text())
        intended(page, number)
        page.wait_for_timeout(40)
    expect(page.locator(".labelling-widget .done")).to_contain_text("All your items are done")
    all_saved(page)
    for script in (
        "annotate",
        "protocol",
        "study",
        "adjudicate",
        "agreement",
        "prevalence",
        "overview",
        "disagreements",
        "question",
        "runs",
    ):
        page.goto(f"{office.dashboard.address}/{script}?study=s&item=i001&annotator=ben")
        settled(page)
        seen.append(page.content())
        seen.append(page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])"))
    everything = "\n".join(seen)
    assert "Alder says 7." in everything  # the recorder works: this is an answer that was shown
    assert [canary for canary in CANARIES if canary in everything] == []
    assert office.dashboard.address in everything


def _record(socket: object, seen: list[str]) -> None:
    def note(payload: str | bytes) -> None:
        seen.append(payload if isinstance(payload, str) else payload.decode("utf-8", "replace"))

    socket.on("framereceived", note)  # type: ignore[attr-defined]
    socket.on("framesent", note)  # type: ignore[attr-defined]
