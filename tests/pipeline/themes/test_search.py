"""Finding themes by meaning."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audit.cli.main import main
from audit.pipeline.cli.theme_map import nearest_themes
from audit.queries.themes import taxonomy_path
from audit.release.taxonomy import Taxonomy, Theme, write_taxonomy
from audit.settings import Settings
from pages._shared.themes import meaning_search_available
from tests.support.loading import load


def test_a_theme_stands_where_its_nearest_phrase_does():
    vectors = np.array([[1, 0], [0.8, 0.6], [0, 1], [0.6, 0.8]], dtype=np.float32)
    found = nearest_themes(vectors, np.array([[0, 1]], dtype=np.float32), ["a", "b", "c", "d"], ["t1", "t1", None, "t2"])
    assert found["theme_id"].tolist() == ["-1", "t2", "t1"]
    assert found["phrase"].tolist() == ["c", "d", "b"]
    assert found["similarity"].tolist() == pytest.approx([1, 0.8, 0.6])


def test_themes_by_words_alone_are_not_searched_by_meaning(release, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    run = load(release, tmp_path / "data").run
    taxonomy = Taxonomy((Theme("t", "Salt", None, ("topic of ab",)),), (), {"model": "words"})
    points = pd.DataFrame({"phrase": ["topic of ab"], "theme_id": ["t"], "x": [0.0], "y": [0.0], "count": 1})
    write_taxonomy(taxonomy, points, taxonomy_path(run, Settings().themes_dir))
    assert not meaning_search_available(taxonomy)
    assert main(["themes", "search", "salt", "--run", run.key]) == 2
    assert "built without a sentence model" in capsys.readouterr().err


def test_it_is_offered_where_a_model_built_the_themes_and_is_installed(monkeypatch):
    taxonomy = Taxonomy((), (), {"model": "sentence-transformers/all-MiniLM-L6-v2"})
    for installed in (True, False):
        monkeypatch.setattr("pages._shared.themes.find_spec", lambda _, there=installed: object() if there else None)
        assert meaning_search_available(taxonomy) == installed
