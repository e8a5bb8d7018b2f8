"""Which taxonomy belongs to a run."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from audit.cli.main import main
from audit.errors import ThemesError
from audit.queries.themes import map_points, require_taxonomy, taxonomy_of, taxonomy_path, tops
from audit.release.taxonomy import Taxonomy, Theme, write_taxonomy
from audit.settings import Settings
from audit.store.runs import Run
from tests.support.loading import load

BUILT = Taxonomy((Theme("t1", "Salt", None, ("topic of ab",)),), ("topic of bc",), {"method": "average"})
POINTS = pd.DataFrame(
    {"phrase": ["topic of ab", "topic of bc"], "theme_id": ["t1", None], "x": [0.5, float("nan")], "y": [1.0, 1.0], "count": 1}
)
OWN = {"themes": [{"theme_id": "own", "name": "The release's", "topics": ["topic of ab"], "terms": ["salt"]}], "no_theme": ["z"]}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    return Settings()


def attach(run: Run, settings: Settings) -> None:
    write_taxonomy(BUILT, POINTS, taxonomy_path(run, settings.themes_dir))


def test_the_topmost_theme_is_found_below_a_missing_one_and_in_a_circle():
    parents = {"a": None, "b": "a", "c": "b", "d": "gone", "x": "z", "y": "x", "z": "y", "w": "x", "self": "self"}
    themes = tuple(Theme(theme_id, theme_id, parent, ()) for theme_id, parent in parents.items())
    assert tops(Taxonomy(themes, (), {})) == {
        "a": "a", "b": "a", "c": "a", "d": "gone", "x": "x", "y": "x", "z": "x", "w": "x", "self": "self",
    }  # fmt: skip


def test_a_run_without_themes_has_none_and_says_how_to_build_them(release, settings):
    run = load(release, settings.data_dir).run
    assert taxonomy_of(run, settings.themes_dir) is None
    assert map_points(run, settings.themes_dir).empty
    with pytest.raises(ThemesError, match=f"audit themes build --run {run.key}"):
        require_taxonomy(run, settings.themes_dir)


def test_what_is_built_for_a_run_is_found_by_its_digest_and_touches_no_store(release, settings):
    run = load(release, settings.data_dir).run
    before = (run.path.stat().st_mtime_ns, run.path.read_bytes())
    attach(run, settings)
    found = taxonomy_of(run, settings.themes_dir)
    assert found is not None
    assert (found.themes, found.no_theme) == (BUILT.themes, BUILT.no_theme)
    assert map_points(run, settings.themes_dir).to_dict("records") == [{"phrase": "topic of ab", "x": 0.5, "y": 1.0}]
    assert (run.path.stat().st_mtime_ns, run.path.read_bytes()) == before


def test_the_release_s_own_themes_come_first(release, settings):
    (release / "themes.json").write_text(json.dumps(OWN), encoding="utf-8")
    run = load(release, settings.data_dir).run
    attach(run, settings)
    found = require_taxonomy(run, settings.themes_dir)
    assert [(theme.theme_id, theme.name, theme.topics, theme.terms) for theme in found.themes] == [
        ("own", "The release's", ("topic of ab",), ("salt",))
    ]
    assert found.no_theme == ("z",)
    assert found.sha256 == run.digest
    assert map_points(run, settings.themes_dir).empty


def test_a_taxonomy_that_was_changed_by_hand_is_refused(release, settings):
    run = load(release, settings.data_dir).run
    attach(run, settings)
    path = taxonomy_path(run, settings.themes_dir)
    path.write_text(path.read_text().replace("Salt", "Sugar"))
    with pytest.raises(ThemesError, match="changed after it was built"):
        taxonomy_of(run, settings.themes_dir)


def test_the_command_counts_by_themes(release, settings, capsys):
    run = load(release, settings.data_dir).run
    assert main(["metrics", "themes", "--run", run.key]) == 2
    assert "audit themes build" in capsys.readouterr().err
    attach(run, settings)
    assert main(["metrics", "themes", "--run", run.key, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["theme_id"], row["disagreeing"]) for row in rows] == [("t1", 1), ("-1", 1)]
    assert main(["metrics", "theme_mix", "--run", run.key]) == 2
    assert "needs --set theme_id=VALUE" in capsys.readouterr().err
