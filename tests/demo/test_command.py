"""`audit demo`: two runs to compare, the main one newest, so that the dashboard opens on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.cli.main import main
from audit.demo.build import DEFAULT_SEED, write_demo
from audit.settings import Settings
from audit.store.load import load_release
from audit.store.runs import find_run, list_runs


def test_the_main_run_stays_the_newest_also_where_it_was_loaded_before_the_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path))
    settings = Settings()
    before = load_release(write_demo(settings.releases_dir / f"demo-small-{DEFAULT_SEED}"), settings)
    assert main(["demo", "--no-serve"]) == 0
    assert [run.run_id for run in list_runs(settings.store_dir)] == ["demo", "demo-earlier"]
    main_run = find_run(settings.store_dir, "demo")
    assert main_run.key == before.run.key
    assert main(["demo", "--no-serve"]) == 0
    assert find_run(settings.store_dir, "demo").loaded_at == main_run.loaded_at
