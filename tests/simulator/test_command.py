"""`audit demo` in a checkout: demos that do not ship are written by the simulator, which the command starts by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.cli.main import main
from audit.settings import Settings
from audit.store.runs import find_run, list_runs


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path))
    return Settings()


def test_another_seed_is_written_by_the_simulator_of_the_checkout(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--studies", "--no-serve", "--seed", "5"]) == 0
    assert "Studies created: demo-finished, demo-disputed, demo-running." in capsys.readouterr().out
    assert [run.run_id for run in list_runs(settings.store_dir)] == ["demo", "demo-earlier"]
    assert find_run(settings.store_dir, "demo").manifest["seed"] == 5


def test_a_simulator_that_fails_is_not_followed_by_a_run(settings: Settings, capfd: pytest.CaptureFixture[str]) -> None:
    folder = settings.releases_dir / "demo-small-5-earlier"
    folder.mkdir(parents=True)
    (folder / "thesis.txt").write_text("years of work")
    assert main(["demo", "--no-serve", "--seed", "5"]) == 2
    said = capfd.readouterr().err
    assert "is not an earlier demo" in said
    assert "The simulator stopped with status 2; what it said is above. Nothing was loaded." in said
    assert list_runs(settings.store_dir) == []
