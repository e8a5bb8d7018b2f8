"""More than two annotators: everybody takes open seats, and typing ahead is as safe as with seats of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from annotation.label_store.engine import open_label_store
from tests.browser.conftest import serve
from tests.browser.test_labelling import KEY_MS, Office, all_saved, intended
from tests.support.studies import NOW, next_task, rating_history, study_of

pytestmark = pytest.mark.browser
ITEMS = 20


@pytest.fixture
def office(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    """Forty items for three annotators."""
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    store = open_label_store(f"sqlite:///{tmp_path / 'studies.db'}")
    study_of(store, 40, ("ana", "ben", "cem"))
    for dashboard in serve(tmp_path, browser):
        yield Office(dashboard, store)
    store.close()


def test_20_of_20_items_typed_at_120_ms_a_key_land_on_the_item_that_was_on_the_screen(office: Office) -> None:
    page = office.sign_in()
    next_task(office.store, "s", "ben", NOW, "elsewhere")  # somebody else takes seats meanwhile
    meant = []
    for number in range(ITEMS):
        meant.append(intended(page, number))
        page.wait_for_timeout(KEY_MS)
    all_saved(page)
    stored = office.rows("ana")
    assert len({question for question, *_ in meant}) == ITEMS
    assert [(q, stored[q]["label"], stored[q]["significance"]) for q, *_ in meant] == meant
    assert len(rating_history(office.store, "s")) == ITEMS
