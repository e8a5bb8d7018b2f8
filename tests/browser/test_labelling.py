"""An annotator at the keyboard, in a real browser: every key lands on its item, nothing is lost, nothing is seen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, WebSocket, expect
from sqlalchemy import update

from annotation.label_store.engine import LabelStore, open_label_store
from annotation.label_store.results import assignment_rows
from annotation.label_store.studies import list_studies, neutral_titles
from annotation.label_store.study_creation import NewStudy, create_study
from annotation.studies.verdict_store import SampleOrigin, StoredVerdict, Stratum, store_sample, verdicts
from tests.browser.conftest import Dashboard, choose_option, open_tab, overflow, server, settled, signed_in_as
from tests.support.studies import NOW, item, next_task, people, rate_all, rating_history, study_of
from tests.support.visitor import arrivals

pytestmark = pytest.mark.browser

ITEMS = 20
LABELS = ("ABSENT", "CONSISTENT", "COMPLEMENTARY", "DIVERGENT", "CONTRADICTORY")
SIGNIFICANCES = ("low", "medium", "high")
KEY_MS = 120
OWN_SCRIPTS = ("annotate", "my_items", "protocol")
SCRIPTS = (
    *OWN_SCRIPTS, "study", "adjudicate", "agreement", "prevalence", "alignment", "start", "disagreements", "question", "runs",
)  # fmt: skip
CANARIES = ("CANARYLABEL", "CANARYREASON", "CANARYTOPIC", "CANARYGRAVE", "CANARYOTHER", "CANARYHANDBOOK", "CANARYSTRATUM")


@dataclass
class Office:
    """One server for all tests of this file; each test has its own study and its own two annotators."""

    dashboard: Dashboard
    store: LabelStore
    study: str = ""
    annotator: str = ""
    other: str = ""

    def sign_in(self, width: int = 1280) -> Page:
        """The labelling page of the test's annotator, with its first item."""
        page = signed_in_as(self.dashboard, self.annotator, self.dashboard.open("/", width=width))
        expect(page.locator(".labelling-widget h2")).to_be_visible()
        return page

    def rows(self) -> dict[str, dict[str, object]]:
        """The annotator's assignments by question."""
        rows = assignment_rows(self.store, self.study)
        return {row["question"]: row for row in rows if row["annotator"] == self.annotator}

    def rating_count(self) -> int:
        """The annotator's ratings, superseded ones included."""
        return len([row for row in rating_history(self.store, self.study) if row["annotator"] == self.annotator])


@pytest.fixture(scope="module")
def running_office(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    data_dir = tmp_path_factory.mktemp("office")
    store = open_label_store(f"sqlite:///{data_dir / 'studies.db'}")
    people(store, "petra", role="pi")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUDIT_BROWSING", "signed-in")
        with server(data_dir) as address:
            yield Office(Dashboard(address, browser), store)
    store.close()


_numbers = count(1)


def next_office(running: Office) -> Office:
    """The same server with the names of a study and two annotators that no test has used."""
    number = next(_numbers)
    return replace(running, study=f"s{number}", annotator=f"ana{number}", other=f"ben{number}")


@pytest.fixture
def office(running_office: Office) -> Office:
    """A study of 20 items, rated completely by the other annotator and by the judge, with a canary in each hidden field."""
    office = next_office(running_office)
    hidden = {"handbook_a": "CANARYHANDBOOK1", "handbook_b": "CANARYHANDBOOK2", "name_a": "CANARYHANDBOOK3"}
    items = [item(number, item_id=f"{office.study}-{number:03}", **hidden) for number in range(1, ITEMS + 1)]
    study_of(office.store, items, (office.annotator, office.other), study_id=office.study)
    stratum = Stratum("CANARYSTRATUM", "CONTRADICTORY", None, 900, ITEMS)
    judged = [
        StoredVerdict(new_item.item_id, "CANARYSTRATUM", "CONTRADICTORY", "high", "CANARYTOPIC", "CANARYREASON")
        for new_item in items
    ]
    with office.store.begin() as tx:
        store_sample(tx, office.study, SampleOrigin("CANARYRUN", "0" * 64, 900, 0, {}), [stratum], judged)
    rate_all(office.store, office.other, "CONTRADICTORY", "high", comment="CANARYOTHER", study_id=office.study)
    return office


@pytest.fixture
def unassigned_office(running_office: Office) -> Office:
    """Forty items for three annotators: no item is assigned before somebody asks for it."""
    office = next_office(running_office)
    items = [item(number, item_id=f"{office.study}-{number:03}") for number in range(1, 41)]
    annotators = (office.annotator, office.other, f"cem-{office.study}")
    study_of(office.store, items, annotators, study_id=office.study)
    return office


def type_label(page: Page, number: int) -> tuple[str, str, str | None]:
    """Type the keys of the `number`-th label; returns (question on the screen, label, significance)."""
    question = page.locator(".labelling-widget h2").inner_text()
    label = LABELS[number % 5]
    page.keyboard.press(str(number % 5 + 1))
    if number % 5 < 3:
        return question, label, None
    page.wait_for_timeout(KEY_MS)
    page.keyboard.press(SIGNIFICANCES[number % 3][0])
    return question, label, SIGNIFICANCES[number % 3]


def all_saved(page: Page) -> None:
    expect(page.locator(".labelling-widget .saved")).to_have_text("all saved")


def type_20_items(office: Office, page: Page) -> None:
    """Type 20 labels at 120 ms a key; each must be stored for the item that was on the screen."""
    intended = []
    for number in range(ITEMS):
        intended.append(type_label(page, number))
        page.wait_for_timeout(KEY_MS)
    all_saved(page)
    stored = office.rows()
    assert len({question for question, *_ in intended}) == ITEMS
    labels = [(question, stored[question]["label"], stored[question]["significance"]) for question, *_ in intended]
    assert labels == intended
    assert office.rating_count() == ITEMS


def test_20_of_20_items_typed_at_120_ms_a_key_land_on_the_item_that_was_on_the_screen(office: Office) -> None:
    page = office.sign_in()
    type_20_items(office, page)
    expect(page.locator(".labelling-widget .done")).to_contain_text("All your items are done")


def test_the_field_in_which_a_study_was_chosen_gets_no_key_of_the_board(office: Office) -> None:
    another = f"{office.study}-another"
    with office.store.begin() as tx:
        items = [item(number, item_id=f"{another}-{number}") for number in (1, 2)]
        create_study(tx, NewStudy(another, "Another", (office.annotator, office.other), items, seed=5), NOW)
    page = office.sign_in()
    chosen = page.get_by_role("combobox").input_value()
    other = next(name for name in neutral_titles(list_studies(office.store, office.annotator)).values() if name not in chosen)
    choose_option(page, "Study", other)
    expect(page.locator(".labelling-widget header")).to_contain_text(other)
    page.keyboard.press("2")
    all_saved(page)
    expect(page.locator(".labelling-widget header")).to_contain_text("1 of")
    assert page.get_by_role("combobox").input_value() == other


def test_so_do_those_of_a_study_that_assigns_items_on_request_while_others_request_them_too(unassigned_office: Office) -> None:
    office = unassigned_office
    page = office.sign_in()
    next_task(office.store, office.study, office.other, NOW, "elsewhere")
    type_20_items(office, page)
    assert len(rating_history(office.store, office.study)) == ITEMS


def test_a_reload_asks_for_no_password_and_brings_the_unsubmitted_choice_back(office: Office) -> None:
    page = office.sign_in()
    page.keyboard.press("2")
    page.keyboard.press("4")
    page.keyboard.press("c")
    page.keyboard.type("not sure at all")
    page.keyboard.press("Escape")
    for _ in range(3):  # patients, amount, time
        page.keyboard.press("d")
    page.keyboard.press("f")
    question = page.locator(".labelling-widget h2").inner_text()
    all_saved(page)
    page.wait_for_timeout(1500)  # an unsubmitted choice is saved with a delay, of which the page shows nothing
    page.reload()
    settled(page)
    expect(page.locator(".labelling-widget h2")).to_have_text(question)
    expect(page.get_by_role("button", name=re.compile("Divergent"))).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name=re.compile("unsure"))).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_label("Comment on this item")).to_have_value("not sure at all")
    expect(page.locator(".labelling-widget .count")).to_contain_text("1 of 20 labelled")
    expect(page.get_by_role("button", name=re.compile("differs in: other time"))).to_be_enabled()
    page.keyboard.press("m")
    expect(page.locator(".labelling-widget h2")).not_to_have_text(question)
    all_saved(page)
    row = office.rows()[question]
    assert (row["label"], row["significance"], row["flagged"], row["comment"]) == ("DIVERGENT", "medium", True, "not sure at all")
    assert row["difference"] == "other time"


def test_u_goes_back_and_a_second_label_is_a_revision_of_the_same_item(office: Office) -> None:
    page = office.sign_in()
    first = page.locator(".labelling-widget h2").inner_text()
    for key in ("1", "2", "u", "u"):
        page.keyboard.press(key)
    expect(page.locator(".labelling-widget h2")).to_have_text(first)
    page.keyboard.press("3")
    expect(page.locator(".labelling-widget .count")).to_contain_text("2 of 20 labelled · item 3")
    all_saved(page)
    row = office.rows()[first]
    assert (row["label"], row["revision"]) == ("COMPLEMENTARY", 2)


def test_rubric_and_comment_are_one_key_away_and_keys_in_the_comment_label_nothing(office: Office) -> None:
    page = office.sign_in()
    page.keyboard.press("?")
    expect(page.get_by_label("Rubric", exact=True)).to_contain_text("Can one patient follow both answers completely")
    page.reload()
    expect(page.get_by_label("Rubric", exact=True)).to_be_visible()  # it stays open until it is closed
    page.keyboard.press("?")
    expect(page.get_by_label("Rubric", exact=True)).to_be_hidden()
    page.keyboard.press("c")
    page.keyboard.type("12345lmhu")
    expect(page.locator(".labelling-widget .count")).to_contain_text("0 of 20 labelled")


def test_g_lists_the_annotator_s_items_and_a_click_or_the_keyboard_opens_one(office: Office) -> None:
    page = office.sign_in()
    first = page.locator(".labelling-widget h2").inner_text()
    page.keyboard.press("c")
    page.keyboard.type("ask the pharmacist <b>")
    page.keyboard.press("Escape")
    for key in ("f", "1", "2", "g"):
        page.keyboard.press(key)
    tiles = page.locator(".own-items .grid button")
    expect(tiles).to_have_count(ITEMS)
    expect(page.locator(".own-items .grid button:enabled")).to_have_count(3)  # two labelled, and the next one
    expect(page.locator(".own-items .marked button")).to_have_accessible_name(
        f"Item 1: labelled, Absent, unsure, comment, {first}, ask the pharmacist <b>"
    )
    assert len(office.rows()) == ITEMS
    assert office.rows()[first]["comment"] == "ask the pharmacist <b>"  # all was saved before the page changed
    tiles.nth(1).focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.locator(".labelling-widget h2")).to_have_text(first)
    expect(page.get_by_label("Comment on this item")).to_have_value("ask the pharmacist <b>")
    assert "item=" not in page.url
    page.keyboard.press("3")
    expect(page.locator(".labelling-widget .count")).to_contain_text("2 of 20 labelled · item 3")
    all_saved(page)
    assert (office.rows()[first]["label"], office.rows()[first]["revision"]) == ("COMPLEMENTARY", 2)
    assert office.dashboard.page_errors == []


def test_the_last_five_items_are_one_key_or_click_away_with_what_was_saved(office: Office) -> None:
    page = office.sign_in()
    questions = []
    for key in ("1", "2", "3", "1", "2", "3"):
        questions.append(page.locator(".labelling-widget h2").inner_text())
        page.keyboard.press(key)
    recent = page.locator(".labelling-widget .recent button")
    expect(recent).to_have_text(["6 6 Complementary", "7 5 Consistent", "8 4 Absent", "9 3 Complementary", "0 2 Consistent"])
    expect(page.locator(".labelling-widget .pace")).to_contain_text("an item, less than a minute left")
    page.keyboard.press("0")
    expect(page.locator(".labelling-widget h2")).to_have_text(questions[1])
    page.keyboard.press("1")  # a revision comes first in the strip
    expect(recent.first).to_have_text("6 2 Absent")
    recent.nth(2).click()
    expect(page.locator(".labelling-widget h2")).to_have_text(questions[4])
    page.keyboard.press("n")
    expect(page.locator(".labelling-widget .count")).to_contain_text("6 of 20 labelled · item 7")
    all_saved(page)
    rows = office.rows()
    assert [(rows[question]["label"], rows[question]["revision"]) for question in questions[1:3]] == [
        ("ABSENT", 2),
        ("COMPLEMENTARY", 1),
    ]


def test_sentences_are_marked_by_key_and_click_and_stored_with_the_label(office: Office) -> None:
    page = office.sign_in()
    question = page.locator(".labelling-widget h2").inner_text()
    assert page.locator(".labelling-widget .sentence").count() == 0  # plain text, until somebody wants to mark
    page.keyboard.press("s")
    sentences = page.locator(".labelling-widget .sentence")
    expect(sentences.first).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    sentences.first.click()
    sentences.first.click()  # taken back
    expect(sentences.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(sentences.nth(0)).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("4")
    page.keyboard.press("h")
    expect(page.locator(".labelling-widget .count")).to_contain_text("1 of 20 labelled")
    all_saved(page)
    row = office.rows()[question]
    side, answer = (0, row["answer_a"]) if row["swapped"] else (1, row["answer_b"])
    assert row["rationale"] == f"[[{side},0,{len(str(answer))}]]"
    page.keyboard.press("u")
    expect(sentences.nth(1)).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(sentences).to_have_count(2)  # marking stays switched on


def test_on_a_tablet_everything_can_be_touched_and_the_keyboard_hides_nothing(office: Office) -> None:
    context = office.dashboard.browser.new_context(viewport={"width": 820, "height": 1180}, has_touch=True)
    page = context.new_page()
    signed_in_as(office.dashboard, office.annotator, office.dashboard.visit(page, "/"))
    page.get_by_role("button", name="Divergent").tap()
    page.get_by_role("button", name="medium").tap()
    expect(page.locator(".labelling-widget .count")).to_contain_text("1 of 20 labelled")
    page.locator(".labelling-widget .recent button").tap()
    expect(page.locator(".labelling-widget .count")).to_contain_text("item 1 (revising)")
    page.get_by_role("button", name="mark sentences").tap()
    page.locator(".labelling-widget .sentence").first.tap()
    expect(page.locator(".labelling-widget .sentence").first).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="rubric").tap()
    expect(page.get_by_label("Rubric", exact=True)).to_be_visible()
    sizes = page.locator(".labelling-widget button:visible").evaluate_all(
        "buttons => buttons.map(b => b.getBoundingClientRect()).map(box => Math.min(box.width, box.height))"
    )
    assert len(sizes) > 12
    assert min(sizes) >= 44
    assert overflow(page) <= 0
    page.set_viewport_size({"width": 820, "height": 620})  # as high as an on-screen keyboard leaves it
    comment = page.get_by_label("Comment on this item")
    comment.tap()
    comment.fill("by touch")
    for control in (comment, page.get_by_role("button", name="save"), page.get_by_role("button", name="Divergent")):
        expect(control).to_be_in_viewport(ratio=1)
    text = page.locator(".labelling-widget .item").bounding_box()
    footer = page.locator(".labelling-widget footer").bounding_box()
    assert text
    assert footer
    assert footer["y"] - max(text["y"], 0) > 200  # room for the question and the answers
    page.get_by_role("button", name="save").tap()
    expect(page.locator(".labelling-widget .count")).to_contain_text("item 2")
    all_saved(page)
    assert [row["comment"] for row in office.rows().values() if row["label"]] == ["by touch"]
    context.close()


def test_the_labelling_page_fits_its_window_and_names_its_controls(office: Office) -> None:
    page = office.sign_in()
    for width in (1280, 900):
        page.set_viewport_size({"width": width, "height": 800})
        settled(page)
        assert overflow(page) <= 0
        assert page.get_by_test_id("stMarkdown").all_inner_texts() == []  # no note of the page itself is above the item
        left = page.get_by_role("article", name="First answer").bounding_box()
        right = page.get_by_role("article", name="Second answer").bounding_box()
        assert left
        assert right
        assert abs(left["y"] - right["y"]) < 1
        assert right["x"] > left["x"]
        expect(page.get_by_role("group", name=re.compile("Keys 1 to 5"))).to_be_visible()
    assert office.dashboard.page_errors == []
    assert office.dashboard.foreign_requests == []


def test_agreement_moves_on_the_pi_s_page_while_an_annotator_labels(office: Office) -> None:
    pi = signed_in_as(office.dashboard, "petra")
    open_tab(pi, "Studies", "Agreement")
    choose_option(pi, "Study", f"({office.study})")
    expect(pi.get_by_text(f"({office.annotator}): 0")).to_be_visible()
    pi.get_by_role("tab", name="Comparisons").click()
    annotator = office.sign_in()
    for number in (4, 4, 0):
        type_label(annotator, number)
        annotator.wait_for_timeout(KEY_MS)
    all_saved(annotator)
    expect(pi.get_by_text(f"({office.annotator}): 3")).to_be_visible()
    expect(pi.get_by_test_id("stMetricValue").nth(1)).to_have_text("0.667")


def test_a_restart_of_the_server_asks_for_no_password_and_loses_no_label(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_label_store(f"sqlite:///{tmp_path / 'studies.db'}")
    study_of(store, [item(number) for number in range(1, 4)], ("ana", "ben"))
    store.close()
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    with server(tmp_path) as address:  # one server after the other: a second one on the same file is refused
        page = signed_in_as(Dashboard(address, browser), "ana")
        type_label(page, 0)
        all_saved(page)
        cookies = page.context.cookies()
    with server(tmp_path) as address:
        context = browser.new_context()
        context.add_cookies([{"name": cookie["name"], "value": cookie["value"], "url": address} for cookie in cookies])
        other = context.new_page()
        other.goto(address)
        expect(other.locator(".labelling-widget .count")).to_contain_text("1 of 3 labelled")


def test_signing_out_ends_the_session_in_every_tab(office: Office) -> None:
    page = office.sign_in()
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
    """Frames in both directions, page text and HTML, addresses and storage, over a whole session and every address."""
    with office.store.begin() as tx:
        own = update(verdicts).where(verdicts.c.study_id == office.study)
        tx.execute(own.values(label="CANARYLABEL", significance="CANARYGRAVE"))
    context = office.dashboard.browser.new_context()
    page = context.new_page()
    seen: list[str] = []
    page.on("websocket", lambda websocket: _record(websocket, seen))
    page.on("response", lambda response: seen.append(response.url))
    parameters = f"study={office.study}&item={office.study}-001&annotator={office.other}"
    page.goto(f"{office.dashboard.address}/?{parameters}&run=x")
    signed_in_as(office.dashboard, office.annotator, page)
    expect(page.locator(".labelling-widget h2")).to_be_visible()
    for number in range(ITEMS):
        seen.append(page.content() + page.locator(".labelling-widget").inner_text())
        type_label(page, number)
        page.wait_for_timeout(40)
    expect(page.locator(".labelling-widget .done")).to_contain_text("All your items are done")
    all_saved(page)
    seen += arrivals(office.dashboard.address, SCRIPTS, parameters, context.cookies()).values()
    for script in OWN_SCRIPTS:
        office.dashboard.visit(page, f"/{script}?{parameters}")
        seen.append(page.content())
        seen.append(page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])"))
    everything = "\n".join(seen)
    assert "Alder says 7." in everything  # the recorder works: this answer was shown
    assert [canary for canary in CANARIES if canary in everything] == []
    assert office.dashboard.address in everything


def _record(websocket: WebSocket, seen: list[str]) -> None:
    def note(payload: str | bytes) -> None:
        seen.append(payload if isinstance(payload, str) else payload.decode("utf-8", "replace"))

    websocket.on("framereceived", note)
    websocket.on("framesent", note)
