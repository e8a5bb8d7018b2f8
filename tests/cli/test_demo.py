"""`audit demo`: two runs to compare, the main one newest, so that the dashboard opens on it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from audit.cli.dashboard import SHIPPED_SCALE, SHIPPED_SEED, package_data
from audit.cli.main import main
from audit.settings import Settings
from audit.store.load import load_release
from audit.store.runs import find_run, list_runs

NAME = f"demo-{SHIPPED_SCALE}-{SHIPPED_SEED}"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path))
    return Settings()


def test_the_main_run_stays_the_newest_also_where_it_was_loaded_before_the_earlier_one(settings: Settings) -> None:
    before = load_release(package_data("data", "demo") / f"{NAME}.tar.xz", settings)
    assert main(["demo", "--no-serve"]) == 0
    assert [run.run_id for run in list_runs(settings.store_dir)] == ["demo", "demo-earlier"]
    main_run = find_run(settings.store_dir, "demo")
    assert main_run.key == before.run.key
    assert main(["demo", "--no-serve"]) == 0
    assert find_run(settings.store_dir, "demo").loaded_at == main_run.loaded_at


def test_a_demo_that_was_interrupted_is_written_again(settings: Settings, demo_folder: Path) -> None:
    shutil.copytree(demo_folder, settings.data_dir, dirs_exist_ok=True)
    release = settings.releases_dir / NAME
    (release / "manifest.json").unlink()
    (release / "questions.jsonl").write_text("half a rec")
    shutil.rmtree(settings.store_dir)
    assert main(["demo", "--no-serve"]) == 0
    assert [run.run_id for run in list_runs(settings.store_dir)] == ["demo", "demo-earlier"]


def test_a_folder_with_something_else_in_it_is_left_alone(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    folder = settings.releases_dir / f"{NAME}-earlier"
    folder.mkdir(parents=True)
    (folder / "thesis.txt").write_text("years of work")
    assert main(["demo", "--no-serve"]) == 2
    assert "is not empty and is not an earlier demo. Nothing was written. Name an empty folder." in capsys.readouterr().err
    assert (folder / "thesis.txt").read_text() == "years of work"


@pytest.mark.parametrize("options", [["--scale", "paper"], ["--seed", "5"]])
def test_without_a_checkout_other_demos_are_refused_in_one_sentence(
    options: list[str], settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("audit.cli.dashboard.SIMULATOR", "tests.not_here")
    assert main(["demo", "--no-serve", *options]) == 2
    said = capsys.readouterr().err
    assert "comes with a checkout of the project. Nothing was written. Run this command in a checkout" in said
    assert not settings.releases_dir.exists()
