"""Every page by its address, for everybody: it opens, it asks to sign in, or there is no such page."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotation.label_store.engine import open_label_store
from annotation.label_store.studies import StudyState
from pages._blinded.access import STUDY_PAGES
from pages._shared.navigation import OWNER_PAGES, PAGES
from tests.browser.conftest import Dashboard, serve, settled, signed_in_as
from tests.browser.reading_aloud import heading_ranks, unnamed
from tests.support.loading import load
from tests.support.studies import people, rate, step, study_of
from tests.support.tiny import release_from

pytestmark = pytest.mark.browser

BROWSING = {script for scripts in PAGES.values() for script, _ in scripts}
ADDRESSES = sorted(BROWSING | set(STUDY_PAGES) - {"sign_out"})
OWN = {
    "vera": BROWSING - set(OWNER_PAGES),
    "ana": {"annotate", "protocol"},
    "ada": {"adjudicate", "agreement", "protocol"},
    "petra": BROWSING | {"study", "adjudicate", "agreement", "prevalence", "protocol"},
}
FOREIGN = {"vera": "study", "ana": "agreement", "ada": "disagreements", "petra": "annotate"}
"""One address of each that only others have; that the others are none either is seen without a browser in test_roles."""
NO_SUCH_PAGE = "Page not found"


@pytest.fixture(scope="module")
def clinic(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """A deployment for work in earnest: browsing asks for an account, one of each role, a run, a study to decide on."""
    folder = tmp_path_factory.mktemp("clinic")
    load(release_from(folder, "q1 kidney topics=diet ab=DIVERGENT/high ac=COMPLEMENTARY bc=CONSISTENT"), folder)
    store = open_label_store(f"sqlite:///{folder / 'studies.db'}")
    study_of(store, 1)
    rate(store, "ana", 1, "CONSISTENT")
    rate(store, "ben", 1, "ABSENT")
    step(store, StudyState.LABELLING)
    for name, role in {"vera": "viewer", "ada": "adjudicator", "petra": "pi"}.items():
        people(store, name, role=role)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUDIT_BROWSING", "signed-in")
        yield from serve(folder, browser)
    store.close()


def visit(context: BrowserContext, address: str) -> Page:
    page = context.pages[0]
    page.goto(address)
    return settled(page)


@pytest.mark.parametrize("name", OWN)
def test_every_address_of_a_role_opens_its_page_which_can_be_read_aloud_and_no_other_exists(clinic: Dashboard, name: str) -> None:
    context = signed_in_as(clinic, name).context
    for script in [*sorted(OWN[name]), FOREIGN[name]]:
        page = visit(context, f"{clinic.address}/{script}")
        there = script in OWN[name]
        assert page.get_by_text(NO_SUCH_PAGE).count() == (0 if there else 1), script
        assert page.get_by_test_id("stException").count() == 0
        if there:
            here = page.locator('[data-testid="stSidebarNavLink"][aria-current="page"]')
            expect(here).to_have_count(1)
            expect(page).to_have_title(f"{here.inner_text()} · Handbook audit")
            expect(page.locator("h1")).to_have_count(1)
            assert unnamed(page) == [], script
            ranks = heading_ranks(page)
            assert ranks[:1] == [1], script
            assert all(after <= before + 1 for before, after in pairwise(ranks)), (script, ranks)


@pytest.mark.parametrize(("ground", "sheet"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(18, 21, 26)")])
def test_an_adjudicator_has_a_tour_and_can_read_a_button_that_cannot_be_pressed_yet(
    clinic: Dashboard, ground: Any, sheet: str
) -> None:
    page = clinic.open()
    page.emulate_media(color_scheme=ground)
    signed_in_as(clinic, "ada", page)
    expect(page.get_by_label("Tour", exact=True)).to_contain_text("Where they differ, you decide")
    decide = page.get_by_role("button", name="Decide")
    expect(decide).to_be_disabled()
    expect(decide.get_by_text("Decide")).not_to_have_css("color", sheet)
    page.context.close()


def test_who_is_not_signed_in_is_asked_to_at_every_address_and_then_led_on(clinic: Dashboard) -> None:
    context = clinic.open().context
    for script in ADDRESSES:
        page = visit(context, f"{clinic.address}/{script}")
        expect(page.get_by_label("Password", exact=True)).to_be_visible()
        assert page.get_by_text(NO_SUCH_PAGE).count() == 0, script
    signed_in_as(clinic, "ana", visit(context, f"{clinic.address}/protocol"))
    expect(page.get_by_text("How people check the judge.")).to_be_visible()
    assert page.url.endswith("/protocol")


def test_an_address_that_nobody_has_is_said_to_be_none(clinic: Dashboard) -> None:
    assert clinic.open("/nowhere").get_by_text(NO_SUCH_PAGE).count() == 1
