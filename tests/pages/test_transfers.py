"""Downloads belong to one browser and end with its session."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select
from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string, generate_xsrf_token_string

from annotation.label_store.engine import LabelStore, open_label_store
from annotation.label_store.schema import items
from annotation.studies.accounts import open_session, sign_out
from annotation.studies.verdict_store import SampleOrigin, StoredVerdict, Stratum, store_sample
from pages._blinded import transfers
from pages._blinded.access import now
from pages._blinded.session_cookie import NAME
from tests.browser.conftest import ROOT, server
from tests.support.studies import people, study_of
from tests.support.visitor import opened, run

LABELS = {"Packet as CSV", "Packet as XLSX", "Ratings as CSV", "Codebook as CSV", "Download CSV"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("transfers")


@pytest.fixture(scope="module")
def store(folder: Path) -> Iterator[LabelStore]:
    opened_store = open_label_store(f"sqlite:///{folder / 'studies.db'}")
    people(opened_store, "petra", role="pi")
    study_of(opened_store, 3)
    with opened_store.begin() as tx:
        ids = [item_id for (item_id,) in tx.execute(select(items.c.item_id))]
        verdicts = [StoredVerdict(item_id, "all", "DIVERGENT", "low", "topic", "reason") for item_id in ids]
        store_sample(tx, "s", SampleOrigin("run", "0" * 64, 9, 0, {}), [Stratum("all", "DIVERGENT", None, 9, 3)], verdicts)
    yield opened_store
    opened_store.close()


@pytest.fixture(scope="module")
def address(folder: Path, store: LabelStore) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUDIT_BROWSING", "open")  # nobody may browse, and still gets no file of a PI
        with server(folder) as started:
            yield started


def status_of(url: str, headers: dict[str, str]) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=20) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_a_file_is_fetched_by_the_browser_that_asked_for_it_and_by_no_other(address: str, store: LabelStore) -> None:
    petra, elsewhere = ({"Cookie": f"{NAME}={open_session(store, 'petra', now())}"} for _ in range(2))

    async def press_all() -> dict[str, str]:
        async with opened(address, petra) as tab:
            await tab.rerun(page="study")
            return {label: await tab.download(file_id) for label, file_id in tab.downloads.items()}

    files = run(press_all())
    assert set(files) == LABELS, files
    assert all(files.values()), files
    for file in files.values():
        assert status_of(address + file, petra) == 200
        assert status_of(address + file, petra) == 200  # a browser may ask twice, for its progress or after a pause
        assert status_of(address + file, {}) == 404
        assert status_of(address + file, elsewhere) == 404


def test_after_the_session_an_open_tab_downloads_nothing(address: str, store: LabelStore) -> None:
    token = open_session(store, "petra", now())

    async def press_afterwards() -> dict[str, str]:
        async with opened(address, {"Cookie": f"{NAME}={token}"}) as tab, opened(address) as stranger:
            await tab.rerun(page="study")
            buttons = tab.downloads
            assert await tab.download(buttons["Ratings as CSV"])
            sign_out(store, token, now())
            own = {label: await tab.download(file_id) for label, file_id in buttons.items()}
            return own | {f"{label}, another's socket": await stranger.download(file_id) for label, file_id in buttons.items()}

    files = run(press_afterwards())
    assert len(files) == 2 * len(LABELS)
    assert set(files.values()) == {""}


def test_a_file_can_be_fetched_for_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfers, "_downloads", {})
    transfers.offer_download(b"a,b", "text/csv", "a.csv", "browser")
    ((file_id, _),) = transfers._downloads
    offered = transfers.time.monotonic()
    assert transfers.may_fetch(file_id, "browser")
    assert not transfers.may_fetch(file_id, "other")
    monkeypatch.setattr(transfers.time, "monotonic", lambda: offered + transfers.FETCH_WITHIN_S + 1)
    assert not transfers.may_fetch(file_id, "browser")


@pytest.mark.parametrize(("one", "other", "same"), [
    ("handbook_session=a; theme=1", "theme=2; handbook_session=a", True),
    ("handbook_session=a", "handbook_session=b", False),
    ("handbook_session=a", "", False),
    ("_streamlit_user=a; _streamlit_user__1=b", "_streamlit_user=a; _streamlit_user__1=c", False),
    ("", "theme=2", True),
    ("an[odd]=one; handbook_session=a", "an[odd]=one; handbook_session=b", False),
])  # fmt: skip
def test_a_browser_is_known_by_the_cookies_that_sign_it_in(one: str, other: str, same: bool) -> None:
    assert (browser(one) == browser(other)) is same


def test_a_browser_is_the_same_however_its_xsrf_token_is_written() -> None:
    token, other = (decode_xsrf_token_string(generate_xsrf_token_string()) for _ in range(2))
    written = [generate_xsrf_token_string(*token), generate_xsrf_token_string(*token), generate_xsrf_token_string(*other)]
    one, same, another = (browser(f"_streamlit_xsrf={cookie}") for cookie in written)
    assert written[0] != written[1]
    assert one == same != another != browser("")


def test_a_user_of_the_proxy_is_another_browser_than_a_stranger() -> None:
    assert transfers.browser_of([(transfers.USER, b"petra")]) != transfers.browser_of([])


def browser(cookies: str) -> str:
    return transfers.browser_of([(b"cookie", cookies.encode())])


def test_no_page_uses_streamlit_s_own_buttons_for_files() -> None:
    own = {
        path.name
        for path in (ROOT / "pages").rglob("*.py")
        if re.search(r"st\.(download_button|file_uploader)\(", path.read_text())
    }
    assert own == {"file_widgets.py"}
