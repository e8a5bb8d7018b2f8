"""A small study, its people, and the dashboard as one of them sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from annotation.label_store.engine import LabelStore, open_label_store
from annotation.studies.accounts import open_session
from audit.settings import Settings
from pages._blinded.scripts import script_path
from tests.pages.conftest import ROOT, TOKEN
from tests.support.studies import people

SignIn = Callable[..., AppTest]


@pytest.fixture
def store(data_dir: Path) -> Iterator[LabelStore]:
    """The label store of the dashboard, empty."""
    opened = open_label_store(Settings().studies_url)
    yield opened
    opened.close()


@pytest.fixture
def folk(store: LabelStore) -> LabelStore:
    """One account of each role: vera, ada (adjudicator) and petra; annotators are made by their study."""
    people(store, "vera", role="viewer")
    people(store, "ada", role="adjudicator")
    people(store, "petra", role="pi")
    return store


@pytest.fixture
def as_user(store: LabelStore) -> SignIn:
    """The dashboard as somebody sees it who has signed in; on a page, where one is named."""

    def opener(username: str, page: str | None = None) -> AppTest:
        at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        at.session_state[TOKEN] = open_session(store, username, datetime.now(UTC))
        return (at if page is None else at.switch_page(script_path(f"studies/{page}"))).run()

    return opener
