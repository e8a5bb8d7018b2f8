"""The demo comes with themes; a release's own are not overruled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.cli.main import main
from audit.queries.themes import taxonomy_of
from audit.settings import Settings
from audit.store.runs import find_run
from tests.support.loading import load


def test_the_demo_and_its_earlier_run_come_with_themes_under_the_same_ids(demo_folder: Path) -> None:
    settings = Settings(data_dir=demo_folder)
    now, before = (taxonomy_of(find_run(settings.store_dir, name), settings.themes_dir) for name in ("demo", "demo-earlier"))
    assert now is not None
    assert before is not None
    assert now.built["model"] == "words"
    ids = [{theme.theme_id for theme in taxonomy.leaves} for taxonomy in (now, before)]
    assert len(ids[0] & ids[1]) > 0.8 * len(ids[1])


def test_building_for_a_release_with_its_own_themes_says_that_those_are_shown(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    own = {"themes": [{"theme_id": "own", "name": "Salt", "topics": ["topic of ab"]}]}
    (release / "themes.json").write_text(json.dumps(own), encoding="utf-8")
    run = load(release, tmp_path / "data").run
    assert main(["themes", "build", "--run", run.key, "--model", "words", "--layout", "principal"]) == 0
    assert "has themes of its own" in capsys.readouterr().out
