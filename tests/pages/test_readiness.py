"""Is the server ready: its address over HTTP, and what each store answers."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path

from annotation.label_store.engine import open_label_store
from audit.settings import Settings
from pages._shared.readiness import EMPTY, FAILED, READY, label_store_state, store_state
from tests.browser.conftest import server


def answer(address: str) -> tuple[int, dict[str, str]]:
    try:
        with urllib.request.urlopen(f"{address}/ready", timeout=30) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_a_server_that_has_just_been_installed_is_ready_and_creates_no_database(tmp_path: Path):
    with server(tmp_path) as address:
        assert answer(address) == (200, {"store": EMPTY, "label_store": EMPTY})
    assert not (tmp_path / "studies.db").exists()


def test_a_server_whose_database_is_damaged_is_not_ready_and_the_log_has_the_reason(tmp_path: Path):
    (tmp_path / "studies.db").write_text("this is not a database, and it is long enough to be looked at" * 100)
    log = tmp_path / "log"
    with server(tmp_path, log) as address:
        status, states = answer(address)
    assert (status, states["label_store"]) == (503, FAILED)
    assert "studies.db cannot be used" in log.read_text()


def test_a_store_is_ready_when_a_run_can_be_read(run, data_dir: Path):
    assert store_state(Settings()) == READY


def test_a_store_is_not_ready_when_no_run_of_it_can_be_read(run, data_dir: Path):
    for path in Settings().store_dir.glob("*.duckdb"):
        path.write_bytes(b"not a store")
    assert store_state(Settings()) == FAILED


def test_a_label_store_that_answers_is_ready(data_dir: Path):
    open_label_store(Settings().studies_url).close()
    assert label_store_state() == READY
