"""Planted words: what each role may see is found, and nothing else is, anywhere that its browser or the server's log reaches.

A word of each kind is planted where that kind is kept. Every role then opens every address with every parameter there is,
takes every download, and does its work; frames both ways, pages, addresses, answers and the browser's storage are searched.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, WebSocket, expect
from sqlalchemy import update

from annotation.label_store.engine import LabelStore, open_label_store
from annotation.label_store.studies import StudyState, find_study
from annotation.studies.verdict_store import SampleOrigin, StoredVerdict, Stratum, store_sample, verdicts
from audit.release.write import write_jsonl
from pages._blinded.access import STUDY_PAGES
from pages._shared.navigation import PAGES
from tests.browser.conftest import BUILD_MS, PATIENCE_MS, Dashboard, serve, settled, signed_in_as
from tests.store.test_sections import change_answer
from tests.support.loading import load, spoil
from tests.support.studies import PASSWORD, item, people, rate, step, study_of
from tests.support.tiny import handbook, release_from

pytestmark = pytest.mark.browser

ITEMS, RATED = 12, 8
KINDS = {
    "judge": ("JUDGELABEL", "JUDGEWHY", "JUDGETOPIC", "JUDGEGRAVE", "JUDGESTRATUM"),
    "names": ("HANDBOOKNAME", "HANDBOOKCODE"),
    "ana": ("SAIDBYANA",),
    "ben": ("SAIDBYBEN",),
    "run": ("RUNWHY", "RUNTOPIC", "RUNCENTER", "RUNPASSAGE"),
}
MAY_SEE: dict[str, set[str]] = {
    "nobody": set(),
    "vera": {"run"},
    "ana": {"ana"},
    "ben": {"ben"},
    "petra": set(KINDS),
    "ada": {"ana", "ben"},
}
"""Whoever browses sees the run; an annotator what is own; an adjudicator what the two said; the PI everything."""
SCRIPTS = sorted({script for scripts in PAGES.values() for script, _ in scripts} | set(STUDY_PAGES) - {"sign_out"})
ASKED = {
    "run": "tiny", "question": "q1", "a": "a", "b": "b", "handbook": "a", "other": "b", "center": "RUN", "organ": "kidney",
    "topic": "diet", "strategy": "hero", "subtopic": "x", "label": "DIVERGENT", "significance": "high", "phase": "pre",
    "words": "handbook", "order": "question", "page": "1", "code": "1", "study": "s", "item": "i001", "item_id": "i001",
    "annotator": "ben", "seat": "A", "comparison": "1", "scope": "population", "place": "2", "revising": "true",
    "packet_of": "ben", "embed": "true",
}  # fmt: skip
"""Every parameter that a page reads, and names that somebody might try."""
BEHIND_THE_PAGES = (
    "_stcore/health", "_stcore/host-config", "_stcore/metrics", "_stcore/script-health-check", "_stcore/agent/openapi.json",
    "session", "studies.db", "app/static/studies.db", "app/static/../studies.db", "media/studies.db", "data/studies.db",
    "component/studies.db", "store", "static/../../studies.db", "_stcore/bidi-components/session_cookie/studies.db",
)  # fmt: skip


@dataclass
class Place:
    """A deployment with planted words, and what its server has said."""

    dashboard: Dashboard
    store: LabelStore
    log: Path


@pytest.fixture(scope="module")
def place(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("planted")
    plant_run(folder)
    store = open_label_store(f"sqlite:///{folder / 'studies.db'}")
    plant_study(store)
    for name, role in {"vera": "viewer", "ada": "adjudicator", "petra": "pi"}.items():
        people(store, name, role=role)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUDIT_BROWSING", "signed-in")
        patch.setenv("STREAMLIT_LOGGER_LEVEL", "debug")
        for dashboard in serve(folder, browser, folder / "server.log"):
            yield Place(dashboard, store, folder / "server.log")
    store.close()


def plant_run(folder: Path) -> None:
    handbooks = [handbook(letter, center=f"RUNCENTER{letter}") for letter in "abc"]
    release = release_from(folder, "q1 kidney topics=diet ab=DIVERGENT/high ac=COMPLEMENTARY bc=CONSISTENT", handbooks)

    write_jsonl(release / "sections.jsonl", [{"handbook_id": "a", "section_id": "s1", "text": "RUNPASSAGE"}])
    change_answer(release, "q1", "a", retrieval={"passages": [{"section_id": "s1", "start": 0, "end": 10}]})

    def plant(record: dict[str, list[dict[str, str]]]) -> None:
        for pair in record["pairs"]:
            pair.update(reasoning="RUNWHY", divergence_topic="RUNTOPIC")

    spoil(release, "q1", plant)
    load(release, folder)


def plant_study(store: LabelStore) -> None:
    hidden = {
        "handbook_a": "HANDBOOKCODE1", "handbook_b": "HANDBOOKCODE2", "name_a": "HANDBOOKNAME1", "name_b": "HANDBOOKNAME2",
    }  # fmt: skip
    study_of(store, [item(number, **hidden) for number in range(1, ITEMS + 1)])
    said = [
        StoredVerdict(f"i{n:03}", "JUDGESTRATUM", "CONTRADICTORY", "high", "JUDGETOPIC", "JUDGEWHY") for n in range(1, ITEMS + 1)
    ]
    with store.begin() as tx:
        layer = Stratum("JUDGESTRATUM", "CONTRADICTORY", None, 900, ITEMS)
        store_sample(tx, "s", SampleOrigin("RUNKEY", "0" * 64, 900, 0, {}), [layer], said)
    for number in range(1, RATED + 1):
        rate(store, "ana", number, "CONSISTENT", comment="SAIDBYANA")
    for number in range(1, ITEMS + 1):
        rate(store, "ben", number, "CONTRADICTORY", "high", comment="SAIDBYBEN")


def get_ready_for(name: str, store: LabelStore) -> None:
    """The state in which somebody comes. For whom no figure is computed the verdicts can be words of their own."""
    valid = name in ("petra", "ada")
    said = {"label": "CONTRADICTORY", "significance": "high"} if valid else {"label": "JUDGELABEL", "significance": "JUDGEGRAVE"}
    with store.begin() as tx:
        tx.execute(update(verdicts).values(**said))
    if name == "ada" and find_study(store, "s").state is StudyState.LABELLING:
        step(store, StudyState.LABELLING, incomplete=True)


@dataclass
class Recorder:
    """All that reaches a browser, or leaves it."""

    context: BrowserContext
    seen: list[str] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)

    def page(self) -> Page:
        page = self.context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("websocket", self._listen)
        page.on("request", lambda request: self.seen.append(f"{request.url} {request.post_data or ''}"))
        page.on("console", lambda message: self.seen.append(message.text))
        return page

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._note)
        socket.on("framesent", self._note)

    def _note(self, payload: str | bytes) -> None:
        self.seen.append(payload if isinstance(payload, str) else payload.decode("utf-8", "replace"))

    def look(self, page: Page) -> None:
        """Page, address and storage as they stand."""
        settled(page)
        self.seen.append(page.content())
        self.seen.append(
            page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])")
        )

    def take_downloads(self, page: Page) -> None:
        if page.get_by_text("Page not found").count():
            page.keyboard.press("Escape")
        for button in page.get_by_test_id("stDownloadButton").get_by_role("button").all():
            if button.is_visible() and button.is_enabled():
                with settled(page).expect_download(timeout=BUILD_MS) as caught:
                    button.click()
                self.files[caught.value.suggested_filename] = unpacked(Path(caught.value.path()).read_bytes())

    def found(self) -> set[str]:
        everything = "\n".join(self.seen) + "".join(content.decode("utf-8", "replace") for content in self.files.values())
        return {kind for kind, words in KINDS.items() if any(word in everything for word in words)}


def unpacked(content: bytes) -> bytes:
    """A file's bytes, those of a workbook as they are inside it."""
    if not content.startswith(b"PK"):
        return content
    book = zipfile.ZipFile(io.BytesIO(content))
    return b"\n".join(book.read(name) for name in book.namelist())


def work_as(name: str, page: Page, recorder: Recorder) -> None:
    """What somebody of this role does."""
    if name == "ana":
        for number in range(ITEMS - RATED):
            expect(page.locator(".labelling-widget .count")).to_contain_text(f"{RATED + number} of {ITEMS}")
            recorder.look(page)
            page.keyboard.press("2")
        expect(page.locator(".labelling-widget .done")).to_contain_text("All your items are done")
    if name in ("ana", "ben"):
        for _ in range(3):
            page.keyboard.press("u")
            recorder.look(page)
    if name == "petra":
        page.get_by_role("link", name="Studies", exact=True).click()
        page.get_by_text("Packets, for offline work").click()
        for annotator in ("ana", "ben"):
            settled(page).get_by_label("Annotator", exact=True).click()
            page.get_by_role("option", name=annotator).click()
            settled(page)
            recorder.take_downloads(page)
    if name == "ada":
        page.get_by_role("link", name="Agreement", exact=True).click()
        settled(page).get_by_label("Compare").click()
        for option in page.get_by_role("option").all_inner_texts():
            recorder.seen.append(option)
            page.get_by_role("option", name=option, exact=True).click()
            recorder.look(page)
            page.get_by_label("Compare").click()
        page.keyboard.press("Escape")


def everywhere(place: Place, page: Page, recorder: Recorder) -> None:
    """Every address with every parameter, every download, and what stands behind the pages."""
    for script in SCRIPTS:
        page.goto(f"{place.dashboard.address}/{script}?{urlencode(ASKED)}".replace("&embed=true", ""))
        recorder.look(page)
        recorder.take_downloads(page)
    page.goto(f"{place.dashboard.address}/?{urlencode(ASKED)}")
    recorder.look(page)
    for path in BEHIND_THE_PAGES:
        recorder.seen.append(recorder.context.request.get(f"{place.dashboard.address}/{path}").text())


@pytest.mark.parametrize("name", MAY_SEE)
def test_each_role_sees_what_it_may_and_nothing_else(place: Place, name: str) -> None:
    get_ready_for(name, place.store)
    recorder = Recorder(place.dashboard.browser.new_context(accept_downloads=True, viewport={"width": 1280, "height": 1200}))
    page = recorder.page()
    page.goto(place.dashboard.address)
    settled(page)
    if name != "nobody":
        signed_in_as(place.dashboard, name, page)
        work_as(name, page, recorder)
    everywhere(place, page, recorder)

    assert recorder.found() == MAY_SEE[name]
    assert bool(recorder.files) == (name in ("vera", "petra"))
    for packet in [file for file in recorder.files if re.fullmatch(r"s_(ana|ben)\..*", file)]:
        text = recorder.files[packet].decode("utf-8", "replace")
        assert {kind for kind, words in KINDS.items() if any(word in text for word in words)} == {packet[2:5]}
    log = place.log.read_text(encoding="utf-8", errors="replace")
    assert "Removing orphaned files" in log  # what only a server says that tells everything
    assert [word for words in KINDS.values() for word in (*words, PASSWORD) if word in log] == []
    recorder.context.close()


def test_annotators_work_where_no_run_was_ever_loaded(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deployment for annotators alone: it has the label store, and no store of runs at all."""
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    store = open_label_store(f"sqlite:///{tmp_path / 'studies.db'}")
    plant_study(store)
    for dashboard in serve(tmp_path, browser, tmp_path / "server.log"):
        page = signed_in_as(dashboard, "ana")
        expect(page.locator(".labelling-widget .count")).to_contain_text(f"{RATED} of {ITEMS}")
        page.keyboard.press("1")
        expect(page.locator(".labelling-widget .count")).to_contain_text(f"{RATED + 1} of {ITEMS}")
        expect(page.locator(".labelling-widget .saved")).to_have_text("all saved")
        page.get_by_role("link", name="Protocol").click()
        expect(page.get_by_text("How people check the judge.")).to_be_visible()
        assert page.get_by_test_id("stException").count() == 0
    assert sorted(path.name for path in tmp_path.iterdir() if not re.match(r"studies\.db|server\.log", path.name)) == []
    store.close()
