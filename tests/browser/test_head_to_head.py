"""A head-to-head study of 20 questions in real browsers: a PI makes it, two annotators finish it, and the results show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, WebSocket, expect

from annotation.label_store.engine import LabelStore, open_label_store
from annotation.label_store.results import assignment_rows
from annotation.studies.verification import verify_study
from tests.browser.conftest import Dashboard, open_tab, overflow, server, settled, signed_in_as
from tests.support.loading import load
from tests.support.studies import people
from tests.support.systems import answered, systems_release

pytestmark = pytest.mark.browser

ITEMS = 20
STUDY = "which"
HIDDEN = ("CANARYPLAIN", "CANARYFOUND", "Canary model alone", "Canary model with retrieval", "Canarymodel", "canarytype")
ON_SCREEN = """widget => ({ assignment: widget.dataset.assignment, question: widget.querySelector("h2").textContent,
  answers: [...widget.querySelectorAll("article p")].map(p => p.textContent) })"""


def release(folder: Path) -> Path:
    """24 questions that two systems answered; each says which model it is."""
    questions = [f"q{number}" for number in range(1, 25)]
    return systems_release(
        folder,
        {
            "systems": [
                {"system_id": "CANARYPLAIN", "name": "Canary model alone", "model": "Canarymodel-8x7B"},
                {"system_id": "CANARYFOUND", "name": "Canary model with retrieval", "model": "Canarymodel-8x7B"},
            ],
            "references": [
                {"question_id": name, "answers": [f"Reference {name}."], "question_type": f"canarytype{number % 2}"}
                for number, name in enumerate(questions)
            ],
            "system_answers": [
                answered(name, system, f"As Canarymodel-8x7B: {word} {name}.")
                for name in questions
                for system, word in (("CANARYPLAIN", "rest"), ("CANARYFOUND", "drink"))
            ],
        },
        questions,
    )


def make_study(pi: Page) -> None:
    pi.get_by_role("link", name="Studies", exact=True).click()
    pi.get_by_label("Id (letters, digits, . _ and -)").fill(STUDY)
    pi.get_by_label("Questions for each two").fill(str(ITEMS))
    for field in ("Calibration items", "Silent repeats"):
        pi.get_by_label(field).fill("0")
    pi.get_by_role("button", name="Draw sample and create study").click()
    expect(pi.get_by_text("The study was created")).to_be_visible()


def intended(annotator: str, question: str) -> str:
    """What an annotator prefers: rest (the model alone) for a third of the questions; ben finds a tie in every fifth."""
    number = int(re.findall(r"q(\d+)", question)[0])
    if annotator == "ben" and number % 5 == 0:
        return "tie"
    return "rest" if number % 3 == 0 else "drink"


def choose_next(page: Page, annotator: str, before: str) -> str:
    """Read the item that follows the assignment `before`, and press the key of the side on which the better answer is."""
    shown = page.locator(f'.labelling-widget[data-assignment]:not([data-assignment="{before}"])').evaluate(ON_SCREEN)
    choice = intended(annotator, shown["question"])
    page.keyboard.press("t" if choice == "tie" else "a" if choice in shown["answers"][0] else "b")
    return str(shown["assignment"])


def recorded(dashboard: Dashboard, annotator: str, seen: list[str]) -> Page:
    """A signed-in page whose network frames, in both directions, go into `seen`."""
    page = dashboard.browser.new_context(viewport={"width": 1280, "height": 800}).new_page()

    def note(payload: str | bytes) -> None:
        seen.append(payload if isinstance(payload, str) else payload.decode("utf-8", "replace"))

    def listen(websocket: WebSocket) -> None:
        websocket.on("framereceived", note)
        websocket.on("framesent", note)

    page.on("websocket", listen)
    dashboard.visit(page, "/")
    return signed_in_as(dashboard, annotator, page)


def open_reference(page: Page, seen: list[str]) -> None:
    """The reference answer comes when it is asked for, and not before."""
    assert "Reference q" not in "\n".join(seen)
    page.keyboard.press("r")
    expect(page.get_by_label("Reference answer", exact=True)).to_contain_text("Reference q")
    page.keyboard.press("r")
    expect(page.get_by_label("Reference answer", exact=True)).to_be_hidden()


def test_two_annotators_finish_20_items_in_two_browsers_and_the_pi_reads_who_was_preferred(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    load(release(tmp_path / "release"), tmp_path / "data")
    store = open_label_store(f"sqlite:///{tmp_path / 'data' / 'studies.db'}")
    people(store, "ana", "ben")
    people(store, "petra", role="pi")
    with server(tmp_path / "data") as address:
        dashboard = Dashboard(address, browser)
        pi = signed_in_as(dashboard, "petra")
        make_study(pi)
        seen: dict[str, list[str]] = {"ana": [], "ben": []}
        pages = {name: recorded(dashboard, name, frames) for name, frames in seen.items()}
        open_reference(pages["ana"], seen["ana"])
        current = dict.fromkeys(pages, "")
        for _ in range(ITEMS):
            for name, page in pages.items():
                current[name] = choose_next(page, name, current[name])
        for name, page in pages.items():
            expect(page.locator(".labelling-widget .done")).to_contain_text("All your items are done")
            seen[name].append(page.content())
        for frames in seen.values():
            everything = "\n".join(frames)
            assert "As [name]: drink q1." in everything  # the recorder works: this answer was shown
            assert [word for word in HIDDEN if word in everything] == []
        results_show(pi)
        assert dashboard.page_errors == dashboard.foreign_requests == []
    stored_as_intended(store)
    store.close()


def results_show(pi: Page) -> None:
    open_tab(pi, "Studies", "Agreement")
    expect(pi.get_by_text("Cohen's kappa, unweighted").first).to_be_visible()
    pi.get_by_role("tab", name="Preferences of the annotators").click()
    expect(pi.get_by_text("Answer A of the screen was preferred in")).to_be_visible()
    settled(pi)
    assert (pi.get_by_test_id("stException").count(), overflow(pi)) == (0, 0)


def stored_as_intended(store: LabelStore) -> None:
    rows = assignment_rows(store, STUDY)
    assert len(rows) == 2 * ITEMS
    words = {"CANARYPLAIN": "rest", "CANARYFOUND": "drink"}
    for row in rows:
        preferred = {"A": words[row["handbook_a"]], "B": words[row["handbook_b"]], "tie": "tie"}[row["label"]]
        assert preferred == intended(row["annotator"], row["question"])
    assert [row["annotator"] for row in rows if row["reference_opened"]] == ["ana"]
    assert verify_study(store, STUDY) == []
