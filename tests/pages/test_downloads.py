"""Downloads: who gets what, and that the page and the command build the same package."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.testing.v1 import AppTest

from annotation.label_store.engine import open_label_store
from annotation.studies.accounts import open_session
from audit.charts.figure_files import NoPicturesError
from audit.cli.main import main
from audit.errors import AuditError
from audit.exports.package import MANIFEST
from audit.exports.package_request import ExportRequest, today
from audit.settings import Settings
from audit.store.runs import Run, find_run
from pages._blinded.scripts import script_path
from pages.downloads.package_cache import DELIVERING, DELIVERY_S, MAX_PACKAGES, ZIP_TYPE, PackageCache
from tests.pages.conftest import ROOT, TOKEN, Open, words_on
from tests.support.archives import differing_entries
from tests.support.studies import people

NAME = "package.zip"


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: object) -> None:
        raise NoPicturesError("no Chromium here")

    monkeypatch.setattr("audit.exports.package.pictures", none)


def test_everybody_who_browses_gets_the_run_and_the_equivalent_command(run: Run, open_page: Open):
    at = open_page("downloads")
    assert not at.exception
    assert f"audit export --run {run.key} --out tiny_{run.digest[:8]}.zip" in words_on(at)


def test_another_run_and_the_published_figures_are_included_on_request(load_run: Callable[..., Run], open_page: Open):
    first, second = load_run(run_id="first"), load_run(run_id="second")
    at = open_page("downloads", run=first.key, against=second.key)
    at.checkbox(key="paper").check().run()
    assert f"--run {first.key} --against {second.key} --compare paper" in words_on(at)


def test_without_a_choice_of_studies_the_page_has_no_gap(load_run: Callable[..., Run], open_page: Open):
    load_run(run_id="first"), load_run(run_id="second")
    at = open_page("downloads")
    assert [box.label for box in at.main.selectbox] == ["Compare with another run"]
    assert not at.columns


def test_the_package_of_the_page_is_that_of_the_command_and_is_built_once(
    run: Run, data_dir: Path, tmp_path: Path, without_pictures: None, monkeypatch: pytest.MonkeyPatch
):
    cache, builds = PackageCache(), []

    def order() -> ExportRequest:
        builds.append(1)
        return ExportRequest(find_run(Settings().store_dir), today())

    with monkeypatch.context() as dashboard:  # which gives figures another template
        dashboard.setattr("plotly.io.templates.default", "plotly_dark")
        content = cache.fetch(("key",), order, NAME)
    assert cache.fetch(("key",), order, NAME) is content
    assert builds == [1]
    assert main(["export", "--run", run.key, "--out", str(tmp_path / "x.zip")]) == 0
    assert differing_entries((tmp_path / "x.zip").read_bytes(), content) == []


def test_the_cache_reports_the_steps_of_a_build_until_the_browser_knows_the_address(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("pages.downloads.package_cache.package", lambda order, _: {"a": b"b"})
    cache, key, steps = PackageCache(), ("key",), []
    cache.request(key)
    assert cache.current_step(key) == "Starting"

    def order() -> ExportRequest:
        steps.append(cache.current_step(key))
        return ExportRequest(run, today())

    cache.fetch(key, order, NAME)
    assert steps == ["Starting"]
    assert cache.current_step(key) == DELIVERING
    now = time.monotonic()
    monkeypatch.setattr("time.monotonic", lambda: now + DELIVERY_S + 1)
    assert cache.current_step(key) == ""


def test_a_package_that_cannot_be_built_leaves_nothing_in_the_cache():
    cache = PackageCache()

    def broken() -> ExportRequest:
        raise AuditError("no such study")

    with pytest.raises(AuditError):
        cache.fetch(("key",), broken, NAME)
    assert (cache.current_step(("key",)), cache.size(("key",))) == ("", None)


def test_the_cache_drops_the_oldest_package(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("pages.downloads.package_cache.package", lambda order, _: {"a": order.date.encode()})
    cache = PackageCache()
    for number in range(6):
        cache.fetch((number,), lambda number=number: ExportRequest(run, str(number)), NAME)
    assert [cache.size((number,)) is not None for number in range(6)] == [False, False, True, True, True, True]


def test_other_visitors_do_not_remove_a_package_before_it_is_fetched(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("pages.downloads.package_cache.package", lambda order, _: {"a": order.date.encode()})
    storage = MemoryMediaFileStorage("/media")
    files = MediaFileManager(storage)
    monkeypatch.setattr("streamlit.runtime.exists", lambda: True)
    monkeypatch.setattr("streamlit.runtime.get_instance", lambda: SimpleNamespace(media_file_mgr=files))
    cache = PackageCache()

    def click(number: int) -> str:
        """What Streamlit does with the click, and then with three runs of other people's pages."""
        builds = files.add_deferred(
            lambda: cache.fetch((number,), lambda: ExportRequest(run, str(number)), NAME), ZIP_TYPE, f"{number}", NAME
        )
        name = files.execute_deferred(builds).rpartition("/")[2]
        for _ in range(3):
            files.remove_orphaned_files()
        return name

    first = click(0)
    assert storage.get_file(first).content == cache.fetch((0,), lambda: ExportRequest(run, "never asked"), NAME)
    for number in range(1, MAX_PACKAGES + 1):
        click(number)
    with pytest.raises(MediaFileStorageError):
        storage.get_file(first)


@pytest.fixture(scope="module")
def demo(demo_with_studies: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(shutil.copytree(demo_with_studies, tmp_path_factory.mktemp("demo"), dirs_exist_ok=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUDIT_DATA_DIR", str(folder))
        store = open_label_store(Settings().studies_url)
        people(store, "vera", role="viewer")
        people(store, "pia", role="pi")
    return folder


def opened_by(name: str | None) -> AppTest:
    """The page for somebody who is signed in, or for a visitor."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    if name:
        at.session_state[TOKEN] = open_session(open_label_store(Settings().studies_url), name, datetime.now(UTC))
    return at.switch_page(script_path("downloads")).run()


@pytest.mark.parametrize(("name", "study"), [("pia", True), ("vera", False), (None, False)])
def test_only_a_pi_gets_the_tables_of_a_study(demo: Path, monkeypatch: pytest.MonkeyPatch, name: str | None, study: bool):
    monkeypatch.setenv("AUDIT_DATA_DIR", str(demo))
    monkeypatch.setenv("AUDIT_BROWSING", "open")
    at = opened_by(name)
    assert not at.exception
    assert any(box.key == "with_study" for box in at.selectbox) is study
    assert ("audit export --study demo-finished" in words_on(at)) is study


def asked_for(request: ExportRequest) -> tuple[Any, ...]:
    """Everything that a request asks to be written, so that two can be compared."""
    study = request.study
    assert study is not None
    chapter = study.chapter
    tables = [(table.name, table.title, table.notes, table.frame.to_csv()) for table in chapter.tables]
    pictures = [(picture.name, picture.figure.to_json()) for picture in chapter.pictures]
    return (
        replace(request, study=None), study.study_id, study.digest, study.facts, study.figures,
        tables, pictures, chapter.left_out, chapter.paragraphs,
    )  # fmt: skip


def test_the_button_asks_for_the_study_and_the_run_that_the_printed_command_asks_for(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """That one request makes the same bytes in every process is tested in tests/exports/test_package.py."""
    asked: list[ExportRequest] = []
    made: list[Callable[[], bytes]] = []
    monkeypatch.setenv("AUDIT_DATA_DIR", str(demo))
    monkeypatch.setenv("AUDIT_BROWSING", "open")
    monkeypatch.setattr("pages._blinded.file_widgets.download_button", lambda _, data, **options: made.append(data))
    monkeypatch.setattr(PackageCache, "fetch", lambda _self, _key, order, _name: asked.append(order()))
    at = opened_by("pia")
    at.selectbox(key="with_study").set_value("demo-running").run()
    other = next(key for key in at.selectbox(key="against").options if "earlier" in key)
    at.selectbox(key="against").set_value(other).run()
    assert not at.exception
    made[-1]()
    monkeypatch.setattr("audit.cli.export.package", lambda order, _: asked.append(order) or {MANIFEST: b'{"left_out": {}}'})
    (command,) = [code.value for code in at.code if code.value.startswith("audit export --study demo-running")]
    assert "--against demo-earlier@" in command
    assert main([*command.split()[1:-1], str(tmp_path / "typed.zip")]) == 0
    clicked, typed = asked
    assert asked_for(clicked) == asked_for(typed)
