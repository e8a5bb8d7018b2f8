"""What each role reaches, and what reaches its browser or the server's log: its own pages and their data, and nothing else.

A canary word of each kind is planted where data of that kind is stored. Every role then opens every address with every
parameter, downloads every file and does its work. Each page that it may open must also work with a screen reader. Frames in
both directions, pages, addresses, responses, files, the browser's storage and the server's log are searched for canaries.
"""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, WebSocket, expect
from sqlalchemy import update

from annotation.label_store.engine import LabelStore, open_label_store
from annotation.label_store.studies import StudyState, find_study
from annotation.studies.accounts import Role
from annotation.studies.verdict_store import SampleOrigin, StoredVerdict, Stratum, store_sample, verdicts
from audit.release.write import write_jsonl
from benchmarks.gallery import VIEWS
from pages._blinded.access import OWN_PAGES, STUDY_PAGES
from pages._shared.doors import (
    ALWAYS,
    BROWSING,
    DRILL_DOWNS,
    HANDBOOKS,
    LABELLING_DOORS,
    METHODS,
    MY_ACCOUNT,
    OWNER_PAGES,
    PAIRS,
    STUDIES,
)
from tests.browser.accessibility import unnamed_and_levels
from tests.browser.conftest import BUILD_TIMEOUT_MS, STILL, TIMEOUT_MS, Dashboard, server, settled, signed_in_as
from tests.store.test_sections import change_answer
from tests.support.loading import load, spoil
from tests.support.pdfs import column, write_pdf
from tests.support.studies import PASSWORD, item, people, rate, step, study_of
from tests.support.tiny import handbook, release_from
from tests.support.visitor import arrivals

pytestmark = pytest.mark.browser

ITEMS, RATED = 12, 8
CANARIES = {
    "judge": ("JUDGELABEL", "JUDGEWHY", "JUDGETOPIC", "JUDGEGRAVE", "JUDGESTRATUM"),
    "names": ("HANDBOOKNAME", "HANDBOOKCODE"),
    "ana": ("SAIDBYANA",),
    "ben": ("SAIDBYBEN",),
    "run": ("RUNWHY", "RUNTOPIC", "RUNCENTER", "RUNPASSAGE", "RUNTITLE"),
    "pages": ("data:image/webp",),
}
NOBODY = "nobody"
MAY_SEE: dict[str, set[str]] = {
    NOBODY: set(),
    "vera": {"run", "pages"},
    "ana": {"ana"},
    "ben": {"ben"},
    "petra": set(CANARIES),
    "ada": {"ana", "ben"},
}
"""Viewers see the run, annotators their own ratings, adjudicators both annotators' ratings, and the PI everything.

The adjudicator comes last: adjudication ends the labelling.
"""
SCRIPTS = sorted(set(BROWSING) | set(STUDY_PAGES) - {"sign_out"})
OWN = {role: set(pages) - {"sign_out"} for role, pages in OWN_PAGES.items()}
OWN_SCRIPTS = {
    NOBODY: set(SCRIPTS),
    "vera": (set(BROWSING) - set(OWNER_PAGES)) | OWN[Role.VIEWER],
    "ana": OWN[Role.ANNOTATOR],
    "ben": OWN[Role.ANNOTATOR],
    "petra": set(BROWSING) | OWN[Role.PI],
    "ada": OWN[Role.ADJUDICATOR],
}
"""The addresses of each role; every address asks a visitor who is not signed in for a password."""
UNLISTED = {tab.script for tab in METHODS.tabs if tab.needs not in (ALWAYS, PAIRS, HANDBOOKS)} | {
    "centers",
    "my_account",
    "questions",
    *(tab.script for tab in DRILL_DOWNS),
}
"""Pages that no menu lists: those on what the run lacks (trials, systems, ... or a second run) or has instead of labels,
drill-downs, and one's own account behind one's name in the bar."""
AS_VERA = set(BROWSING) - {*OWNER_PAGES, "disagreements", "source", "downloads"}
"""Pages about a run that the browser opens as vera; for petra, who may see everything, what arrives from them is read."""
NO_SUCH_PAGE = "Page not found"
PARAMETERS = {
    "run": "", "question": "q1", "a": "a", "b": "b", "handbook": "a", "other": "b", "center": "RUN", "organ": "kidney",
    "topic": "diet", "strategy": "hero", "subtopic": "x", "label": "DIVERGENT", "significance": "high", "phase": "pre",
    "words": "handbook", "order": "question", "page": "1", "code": "1", "study": "s", "item": "i001", "item_id": "i001",
    "annotator": "ben", "seat": "A", "comparison": "1", "scope": "population", "place": "2", "revising": "true",
    "packet_of": "ben", "embed": "true", "section": "s1", "start": "0", "end": "10", "pdf_page": "1",
    "view": "one", "instance": "x", "test": "standard", "size": "5", "measure": "accuracy", "system": "a",
    "baseline": "a",
}  # fmt: skip
"""Every parameter that a page reads, and names that somebody might try; the run is that of the deployment."""
OTHER_PATHS = (
    "_stcore/health", "_stcore/host-config", "_stcore/metrics", "_stcore/script-health-check", "_stcore/agent/openapi.json",
    "session", "studies.db", "app/static/studies.db", "app/static/../studies.db", "media/studies.db", "data/studies.db",
    "component/studies.db", "store", "static/../../studies.db", "_stcore/bidi-components/session_cookie/studies.db",
)  # fmt: skip
"""Addresses of the server that are not pages."""


@dataclass
class Deployment:
    """A deployment with canaries, and its server's log."""

    dashboard: Dashboard
    store: LabelStore
    log: Path
    run: str


@pytest.fixture(scope="module")
def deployment(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    folder = tmp_path_factory.mktemp("planted")
    run_key = plant_run(folder)
    store = open_label_store(f"sqlite:///{folder / 'studies.db'}")
    plant_study(store)
    for name, role in {"vera": "viewer", "ada": "adjudicator", "petra": "pi"}.items():
        people(store, name, role=role)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUDIT_BROWSING", "signed-in")
        patch.setenv("AUDIT_LOG_LEVEL", "debug")
        with server(folder, folder / "server.log") as address:
            yield Deployment(Dashboard(address, browser), store, folder / "server.log", run_key)
    store.close()


def plant_run(folder: Path) -> str:
    """Load a run with canaries; its key."""
    (folder / "sources").mkdir()
    pdf = write_pdf(folder / "sources" / "book.pdf", [column(["RUNPASSAGE"])])
    file = {"digest": hashlib.sha256(pdf.read_bytes()).hexdigest(), "may_be_downloaded": True}
    handbooks = [handbook(letter, center=f"RUNCENTER{letter}") | (file if letter == "a" else {}) for letter in "abc"]
    release = release_from(
        folder, "q1 kidney topics=diet ab=DIVERGENT/high ac=COMPLEMENTARY bc=CONSISTENT", handbooks, title="RUNTITLE"
    )

    write_jsonl(release / "sections.jsonl", [{"handbook_id": "a", "section_id": "s1", "text": "RUNPASSAGE", "pages": [1, 1]}])
    cited = {"passage": 1, "section_id": "s1", "known": True, "quote_start": 0, "quote_end": 10}
    passage = {"section_id": "s1", "start": 0, "end": 10}
    change_answer(release, "q1", "a", retrieval={"passages": [passage], "citations": [cited]})

    def plant(record: dict[str, list[dict[str, str]]]) -> None:
        for pair in record["pairs"]:
            pair.update(reasoning="RUNWHY", divergence_topic="RUNTOPIC")

    spoil(release, "q1", plant)
    return load(release, folder).run.key


def plant_study(store: LabelStore) -> None:
    hidden = {
        "handbook_a": "HANDBOOKCODE1", "handbook_b": "HANDBOOKCODE2", "name_a": "HANDBOOKNAME1", "name_b": "HANDBOOKNAME2",
    }  # fmt: skip
    study_of(store, [item(number, **hidden) for number in range(1, ITEMS + 1)])
    stratum = Stratum("JUDGESTRATUM", "CONTRADICTORY", None, 900, ITEMS)
    judged = [
        StoredVerdict(f"i{n:03}", "JUDGESTRATUM", "CONTRADICTORY", "high", "JUDGETOPIC", "JUDGEWHY") for n in range(1, ITEMS + 1)
    ]
    with store.begin() as tx:
        store_sample(tx, "s", SampleOrigin("RUNKEY", "0" * 64, 900, 0, {}), [stratum], judged)
    for number in range(1, RATED + 1):
        rate(store, "ana", number, "CONSISTENT", comment="SAIDBYANA")
    for number in range(1, ITEMS + 1):
        rate(store, "ben", number, "CONTRADICTORY", "high", comment="SAIDBYBEN")


def prepare_study(name: str, store: LabelStore) -> None:
    """Bring the study into the state in which this person comes.

    The verdicts' labels can be canaries only for roles for which no figure is computed from them.
    """
    valid = name in ("petra", "ada")
    verdict = (
        {"label": "CONTRADICTORY", "significance": "high"} if valid else {"label": "JUDGELABEL", "significance": "JUDGEGRAVE"}
    )
    with store.begin() as tx:
        tx.execute(update(verdicts).values(**verdict))
    if name == "ada" and find_study(store, "s").state is StudyState.LABELLING:
        step(store, StudyState.LABELLING, incomplete=True)


@dataclass
class Recorder:
    """Everything that reaches a browser or leaves it."""

    context: BrowserContext
    seen: list[str] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)

    def page(self) -> Page:
        page = self.context.new_page()
        page.add_init_script(STILL)
        page.set_default_timeout(TIMEOUT_MS)
        page.on("websocket", self._listen)
        page.on("request", lambda request: self.seen.append(f"{request.url} {request.post_data or ''}"))
        page.on("console", lambda message: self.seen.append(message.text))
        return page

    def _listen(self, websocket: WebSocket) -> None:
        websocket.on("framereceived", self._note)
        websocket.on("framesent", self._note)

    def _note(self, payload: str | bytes) -> None:
        self.seen.append(payload if isinstance(payload, str) else payload.decode("utf-8", "replace"))

    def record(self, page: Page) -> None:
        """Keep the page, its address and its storage as they are now."""
        settled(page)
        self.seen.append(page.content())
        self.seen.append(
            page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])")
        )

    def download_all(self, page: Page) -> None:
        if page.get_by_text(NO_SUCH_PAGE).count():
            page.keyboard.press("Escape")
        for name in ("Download", "Comparisons"):
            for tab in page.get_by_role("tab", name=name, exact=True).all():
                tab.click()
                settled(page)
        for folded in page.locator("summary:has-text('Every coefficient')").all():
            folded.click()
            settled(page)
        for button in page.get_by_test_id("stDownloadButton").get_by_role("button").all():
            if button.is_visible() and button.is_enabled():
                with settled(page).expect_download(timeout=BUILD_TIMEOUT_MS) as waiting:
                    button.click()
                self.files[waiting.value.suggested_filename] = unpacked(Path(waiting.value.path()).read_bytes())

    def canaries(self) -> set[str]:
        """The kinds of canaries in everything recorded."""
        everything = "\n".join(self.seen) + "".join(content.decode("utf-8", "replace") for content in self.files.values())
        return kinds_in(everything)


def kinds_in(text: str) -> set[str]:
    return {kind for kind, words in CANARIES.items() if any(word in text for word in words)}


def unpacked(content: bytes) -> bytes:
    """A file's bytes; those of an archive or a workbook unpacked."""
    if not content.startswith(b"PK"):
        return content
    archive = zipfile.ZipFile(io.BytesIO(content))
    return b"\n".join(archive.read(name) for name in archive.namelist())


def work_as(name: str, page: Page, recorder: Recorder) -> None:
    """Do this person's work."""
    if name == "ana":
        for number in range(ITEMS - RATED):
            expect(page.locator(".labelling-widget .count")).to_contain_text(f"{RATED + number} of {ITEMS}")
            recorder.record(page)
            page.keyboard.press("2")
        expect(page.locator(".labelling-widget .done")).to_contain_text("All your items are done")
    if name in ("ana", "ben"):
        for _ in range(3):
            page.keyboard.press("u")
            recorder.record(page)
    if name == "petra":
        page.get_by_role("link", name="Studies", exact=True).click()
        page.get_by_text("Packets, for offline work").click()
        for annotator in ("ana", "ben"):
            settled(page).get_by_role("combobox", name="Annotator", exact=True).click()
            page.get_by_role("option", name=annotator).click()
            settled(page)
            recorder.download_all(page)
    if name == "ada":
        page.get_by_role("link", name="Agreement", exact=True).click()
        settled(page).get_by_label("Compare").click()
        for option in page.get_by_role("option").all_inner_texts():
            recorder.seen.append(option)
            page.get_by_role("option", name=option, exact=True).click()
            recorder.record(page)
            page.get_by_label("Compare").click()
        page.keyboard.press("Escape")


def title_for(name: str, script: str) -> str:
    """The title of a page as this person reads it."""
    of_roles = STUDIES.tabs if script in BROWSING or name == "petra" else [tab for door in LABELLING_DOORS for tab in door.tabs]
    titles = {tab.script.removeprefix("studies/"): tab.title for tab in (*BROWSING.values(), *of_roles, MY_ACCOUNT)}
    return titles[script][0].upper() + titles[script][1:]


def check_page(page: Page, name: str, script: str) -> None:
    """A page that may be opened: its title names it; its door is marked in the menu where this person has one; the bar names the
    run only for those who may browse; a screen reader can use it."""
    menu_entry = page.locator('[data-testid="stSidebarNavLink"][aria-current="page"]')
    outside = script in UNLISTED or (name == "vera" and BROWSING[script] in METHODS.tabs)
    expect(menu_entry).to_have_count(0 if outside else 1)
    expect(page).to_have_title(f"{title_for(name, script)} · Handbook audit")
    expect(page.locator(".st-key-top_bar").get_by_role("combobox", name="Run")).to_have_count(1 if "run" in MAY_SEE[name] else 0)
    expect(page.get_by_role("search")).to_have_count(1 if "run" in MAY_SEE[name] else 0)
    expect(page.locator("h1")).to_have_count(1)
    unnamed, levels = unnamed_and_levels(page)
    assert unnamed == [], script
    assert levels[:1] == [1], script
    assert all(after <= before + 1 for before, after in pairwise(levels)), (script, levels)


def open_every_address(deployment: Deployment, name: str, page: Page, recorder: Recorder) -> None:
    """Every page's address with every parameter, every download, and the server's other addresses."""
    dashboard, query = deployment.dashboard, urlencode(PARAMETERS | {"run": deployment.run})
    in_browser = query.replace("&embed=true", "")
    own = [script for script in SCRIPTS if name != NOBODY and script in OWN_SCRIPTS[name]]
    for script in own if name != "petra" else [script for script in own if script not in AS_VERA]:
        recorder.record(dashboard.go_to(page, f"/{script}?{in_browser}"))
        assert page.get_by_text(NO_SUCH_PAGE).count() == 0, script
        assert page.get_by_test_id("stException").count() == 0, script
        check_page(page, name, script)
        recorder.download_all(page)
    first = arrivals(dashboard.address, SCRIPTS, query, recorder.context.cookies())
    for script, text in first.items():
        recorder.seen.append(text)
        assert "exception {" not in text, script
        assert ("page_not_found" in text) == (name != NOBODY and script not in own), script
        assert name != NOBODY or 'label: "Password"' in text, script
    recorder.seen += views_beside_the_first(deployment, recorder) if name == "vera" else []
    recorder.record(dashboard.visit(page, f"/{SCRIPTS[0]}?{in_browser}"))
    if name == NOBODY:
        expect(page.get_by_label("Password", exact=True)).to_be_visible()
        expect(page).to_have_title("Sign in · Handbook audit")
    else:
        assert page.get_by_text(NO_SUCH_PAGE).count() == (SCRIPTS[0] not in OWN_SCRIPTS[name])
    recorder.record(dashboard.visit(page, f"/?{query}"))
    for path in OTHER_PATHS:
        recorder.seen.append(recorder.context.request.get(f"{dashboard.address}/{path}").text())


def views_beside_the_first(deployment: Deployment, recorder: Recorder) -> Iterator[str]:
    """What arrives of the views of pages that this run has data for."""
    for script in ("judge", "trust", "runs", "papers"):
        for view in VIEWS[script]:
            query = urlencode(PARAMETERS | {"run": deployment.run, "view": view})
            (text,) = arrivals(deployment.dashboard.address, [script], query, recorder.context.cookies()).values()
            assert "exception {" not in text, (script, view)
            yield text


@pytest.mark.parametrize("name", MAY_SEE)
def test_each_role_reaches_its_own_pages_and_sees_what_it_may_and_nothing_else(deployment: Deployment, name: str) -> None:
    prepare_study(name, deployment.store)
    viewport = {"width": 1280, "height": 1200}
    recorder = Recorder(deployment.dashboard.browser.new_context(accept_downloads=True, viewport=viewport))  # type: ignore[arg-type]
    page = recorder.page()
    page.goto(deployment.dashboard.address)
    settled(page)
    if name != NOBODY:
        signed_in_as(deployment.dashboard, name, page)
        work_as(name, page, recorder)
    open_every_address(deployment, name, page, recorder)

    assert recorder.canaries() == MAY_SEE[name]
    assert bool(recorder.files) == (name in ("vera", "petra", "ada"))
    assert ("a.pdf" in recorder.files) == ("pages" in MAY_SEE[name])
    for packet in [file for file in recorder.files if re.fullmatch(r"s_(ana|ben)\..*", file)]:
        assert kinds_in(recorder.files[packet].decode("utf-8", "replace")) == {packet[2:5]}
    log = deployment.log.read_text(encoding="utf-8", errors="replace")
    assert "Removing orphaned files" in log  # the debug level is on, at which Streamlit logs most
    assert [word for words in CANARIES.values() for word in (*words, PASSWORD) if word in log] == []
    recorder.context.close()


def test_signing_in_leads_on_to_the_address_that_was_asked_for(deployment: Deployment) -> None:
    page = signed_in_as(deployment.dashboard, "ana", deployment.dashboard.open("/protocol"))
    expect(page.get_by_role("heading", name="How annotators work")).to_be_visible()
    assert page.url.endswith("/protocol")


def test_an_address_without_a_page_says_so(deployment: Deployment) -> None:
    page = deployment.dashboard.open("/nowhere")
    assert page.get_by_text(NO_SUCH_PAGE).count() == 1


@pytest.mark.parametrize(("scheme", "background"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(18, 21, 26)")])
def test_an_adjudicator_has_a_tour_and_can_read_a_disabled_button(deployment: Deployment, scheme: str, background: str) -> None:
    prepare_study("ada", deployment.store)
    page = signed_in_as(deployment.dashboard, "ada", deployment.dashboard.open(color_scheme=scheme))
    expect(page.get_by_label("Tour", exact=True)).to_contain_text("You decide where they differ")
    grave = page.get_by_role("button", name="high")  # for a label that needs a significance
    expect(grave).to_be_disabled()
    expect(grave).not_to_have_css("color", background)


def test_annotators_work_where_no_run_was_ever_loaded(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deployment only for annotators has the label store, but no store of runs."""
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    store = open_label_store(f"sqlite:///{tmp_path / 'studies.db'}")
    plant_study(store)
    with server(tmp_path, tmp_path / "server.log") as address:
        page = signed_in_as(Dashboard(address, browser), "ana")
        expect(page.locator(".labelling-widget .count")).to_contain_text(f"{RATED} of {ITEMS}")
        page.keyboard.press("1")
        expect(page.locator(".labelling-widget .count")).to_contain_text(f"{RATED + 1} of {ITEMS}")
        expect(page.locator(".labelling-widget .saved")).to_have_text("all saved")
        page.get_by_role("link", name="Rubric").click()
        expect(page.get_by_role("heading", name="How annotators work")).to_be_visible()
        assert page.get_by_test_id("stException").count() == 0
    assert sorted(path.name for path in tmp_path.iterdir() if not re.match(r"studies\.db|server\.log", path.name)) == []
    store.close()
