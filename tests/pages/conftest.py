"""The dashboard without a browser: pages run by Streamlit's AppTest on tiny runs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.elements.lib.mutable_tab_container import TabContainer
from streamlit.testing.v1 import AppTest

from audit.settings import Settings
from audit.store.runs import Run
from pages._blinded.scripts import script_path
from tests.support.loading import load
from tests.support.systems import Record, system_tables, systems_release
from tests.support.tiny import handbook, release_from

ROOT = Path(__file__).resolve().parents[2]
TABLE = """
    q1 kidney  topics=diet          ab=DIVERGENT/high  ac=COMPLEMENTARY  bc=CONSISTENT  d=absent
    q2 general topics=diet,work_and_money  ab=CONTRADICTORY/low  ac=ABSENT  bc=COMPLEMENTARY  d=absent
    q3 lung    topics=work_and_money  ab=UNSCORED  ac=COMPLEMENTARY  bc=COMPLEMENTARY  d=notasked
"""
HANDBOOKS = [
    handbook("a", "kidney", "Alder", "pre"), handbook("b", "kidney", "Birch", "post"),
    handbook("c", "lung", "Alder", "pre"), handbook("d", "lung", "Cedar_Hill", "combined"),
]  # fmt: skip

Open = Callable[..., AppTest]
TOKEN = "token in the cookie that this browser sends"
"""In the state of an AppTest, which has no cookies."""


@pytest.fixture(scope="session", autouse=True)
def components_are_looked_for_once() -> Iterator[None]:
    """Each AppTest reads the metadata of every installed package to find components: half of the time of a test otherwise."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(autouse=True)
def cookie(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give an AppTest a cookie."""
    for module in ("access", "identity"):
        monkeypatch.setattr(f"pages._blinded.{module}.cookie_token", lambda: st.session_state.get(TOKEN))


@pytest.fixture(autouse=True)
def prepared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs that a page would let another process read, which tests do not start."""
    runs: list[str] = []
    monkeypatch.setattr("audit.jobs.asking.prepare", lambda run, _: runs.append(run.run_id))
    return runs


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder that the dashboard reads."""
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def every_tab(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages draw each tab, as if somebody had opened it."""
    monkeypatch.setattr(TabContainer, "open", property(lambda _: True, lambda *_: None))


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Run]:
    """A run, loaded once for all tests that want the same one; they take copies of its store."""

    @cache
    def store(release: str) -> Run:
        folder = tmp_path_factory.mktemp("loaded")
        table, handbooks, manifest = json.loads(release)
        return load(release_from(folder, table, handbooks, **manifest), folder / "data").run

    return lambda *release: store(json.dumps(release))


@pytest.fixture
def load_run(data_dir: Path, tmp_path: Path, stores: Callable[..., Run]) -> Callable[..., Run]:
    """Load a run from a table and manifest entries."""
    folder = Settings(data_dir=data_dir).store_dir

    def loader(table: str = TABLE, handbooks: list[dict[str, Any]] | None = None, **manifest: Any) -> Run:
        # A second run is newer than the first one, which a copy would not be.
        if folder.exists():
            return load(release_from(tmp_path / "releases", table, handbooks or HANDBOOKS, **manifest), data_dir).run
        folder.mkdir(parents=True)
        loaded = stores(table, handbooks or HANDBOOKS, manifest)
        return replace(loaded, path=Path(shutil.copy(loaded.path, folder)))

    return loader


@pytest.fixture
def run(load_run: Callable[..., Run]) -> Run:
    """Three questions, four handbooks of three centers; one pair unscored, one handbook once not asked."""
    return load_run()


def opened(page: str, **params: str | list[str]) -> AppTest:
    """A page by its name, with the parameters of a link."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.switch_page(script_path(page))
    for name, value in params.items():
        at.query_params[name] = value
    return at.run()


@pytest.fixture
def open_page(data_dir: Path) -> Open:
    """Opens a page on the test's data folder."""
    return opened


LoadSystems = Callable[..., Run]


@pytest.fixture
def load_systems(data_dir: Path, tmp_path: Path) -> LoadSystems:
    """Load a run of answering systems alone; tables given here replace those of the small release."""

    def loader(**tables: list[Record]) -> Run:
        folder = systems_release(tmp_path / "releases" / "systems", {**system_tables(), **tables})
        return load(folder, data_dir).run

    return loader


def component(at: AppTest, name: str) -> dict[str, Any]:
    """What the page gave its only component of this name."""
    (drawn,) = [part for part in at.get("bidi_component") if part.proto.component_name.endswith(name)]
    data: dict[str, Any] = json.loads(drawn.proto.json)
    return data


class Listed(NamedTuple):
    """A list of a page: by column its texts and numbers, shares in percent, and beside it the interval in words."""

    value: pd.DataFrame


def lists(at: AppTest) -> list[Listed]:
    """The lists of a page, in its order."""
    return [
        Listed(_frame(json.loads(part.proto.json)))
        for part in at.get("bidi_component")
        if part.proto.component_name.endswith("listing")
    ]


def pick_row(monkeypatch: pytest.MonkeyPatch, at: AppTest, key: str, row: int) -> AppTest:
    """The page after a click on a row of one of its lists."""
    (drawn,) = [part for part in at.get("bidi_component") if part.key == key]
    version = json.loads(drawn.proto.json)["version"]
    monkeypatch.setattr("pages._shared.widgets._picked", lambda name, _: [version, row] if name == key else None)
    return at.run()


def _frame(data: dict[str, Any]) -> pd.DataFrame:
    columns: dict[str, list[Any]] = {}
    for place, column in enumerate(data["columns"]):
        cells = [row[place] for row in data["rows"]]
        columns[column["name"]] = [cell[1] if isinstance(cell, list) else cell for cell in cells]
        if column["spread"]:
            columns[f"{column['name']}_interval"] = [cell[4] if isinstance(cell, list) else None for cell in cells]
    return pd.DataFrame(columns)


def words_on(at: AppTest) -> str:
    """Every text that a page shows outside its tables, without the escapes of Markdown and with plain spaces."""
    kinds = ("title", "header", "markdown", "caption", "info", "warning", "error", "text", "code")
    return "\n".join(str(element.value) for kind in kinds for element in at.get(kind)).translate({ord("\\"): "", 0xA0: " "})
