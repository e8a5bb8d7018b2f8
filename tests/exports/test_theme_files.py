"""The map of themes as parquet and as one page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from audit.cli.main import main
from audit.exports.theme_files import html_page, labels_table, map_table
from audit.queries.themes import taxonomy_path
from audit.release.taxonomy import Taxonomy, Theme, write_taxonomy
from audit.settings import Settings
from audit.store.runs import Run
from tests.support.loading import load

TAXONOMY = Taxonomy(
    (Theme("p", "Food", None, ()), Theme("t1", "Salt", "p", ("a", "b")), Theme("t2", "Water", "p", ("c",))), ("d",)
)  # fmt: skip
POINTS = pd.DataFrame({"phrase": ["a", "b", "c", "d"], "x": [0.0, 2.0, 1.0, 9.0], "y": [0.0, 0.0, 4.0, 9.0]})
COUNTS = pd.DataFrame({"topic": ["a", "c"], "pairs": [5, 2], "disagreeing": [3, 0]})


def test_every_phrase_has_its_theme_its_group_and_its_counts():
    table = map_table(POINTS, TAXONOMY, COUNTS, None)
    assert table["theme"].tolist() == ["Salt", "Salt", "Water", "no theme"]
    assert table["parent"].tolist() == ["Food", "Food", "Food", "no theme"]
    assert table[["pairs", "disagreeing"]].to_numpy().tolist() == [[5, 3], [0, 0], [2, 0], [0, 0]]
    assert (table["x"].dtype, table["y"].dtype) == (np.float32, np.float32)


def test_neighbours_on_the_map_are_rows_nearest_first_and_never_the_row_itself():
    first = map_table(POINTS, TAXONOMY, COUNTS, None)["neighbors"][0]
    assert first["ids"] == [1, 2, 3]
    assert first["distances"] == [2.0, round(17**0.5, 5), round(162**0.5, 5)]


def test_neighbours_by_meaning_go_by_cosine():
    vectors = np.array([[1, 0], [0, 1], [0.6, 0.8], [-1, 0]], dtype=np.float32)
    first = map_table(POINTS, TAXONOMY, COUNTS, vectors)["neighbors"][0]
    assert first["ids"] == [2, 1, 3]
    assert first["distances"] == pytest.approx([1 - 0.6, 1, 2], abs=1e-5)


def test_labels_of_groups_and_themes_have_their_level_and_stand_at_the_median():
    labels = labels_table(map_table(POINTS, TAXONOMY, COUNTS, None))
    assert labels.to_dict("records") == [
        {"x": 1.0, "y": 0.0, "text": "Food", "level": 0, "priority": 3},
        {"x": 1.0, "y": 0.0, "text": "Salt", "level": 1, "priority": 2},
        {"x": 1.0, "y": 4.0, "text": "Water", "level": 1, "priority": 1},
    ]


def run_called(title: str) -> Run:
    return Run("r", title, "0" * 64, True, True, "2026-01-01", Path())


def test_the_page_asks_no_other_host_and_takes_no_text_for_html():
    points = POINTS.assign(phrase=["</script><script>alert(1)</script>", "b", "c", "@DATA@"])
    page = html_page(run_called("<b>x</b> @ABOUT@"), TAXONOMY, map_table(points, TAXONOMY, COUNTS, None))
    assert not re.search(r"https?://|<link|src=", page)
    assert "alert(1)</script>" not in page
    assert page.count("<script>") == 2
    assert "&lt;b&gt;x&lt;/b&gt; @ABOUT@" in page
    assert "Synthetic data" in page
    data = json.loads(re.search(r"const data = (\{.*\})\n", page)[1])
    assert data["phrases"] == ["</script><script>alert(1)</script>", "b", "c", "@DATA@"]


@pytest.fixture
def themed(release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    run = load(release, tmp_path / "data").run
    points = pd.DataFrame({"phrase": ["topic of ab"], "theme_id": ["t"], "x": [0.0], "y": [0.0], "count": 1})
    taxonomy = Taxonomy((Theme("t", "Salt", None, ("topic of ab",)),), ("topic of bc",))
    write_taxonomy(taxonomy, points, taxonomy_path(run, Settings().themes_dir))
    return run


def test_the_command_writes_both_and_prints_what_opens_them(themed, tmp_path, capsys):
    target, page = tmp_path / "a map.parquet", tmp_path / "map.html"
    assert main(["themes", "export", "--run", themed.key, "--parquet", str(target), "--html", str(page)]) == 0
    said = capsys.readouterr().out
    assert f"uvx embedding-atlas '{target}' --text phrase --x x --y y --neighbors neighbors" in said
    assert pd.read_parquet(target)["phrase"].tolist() == ["topic of ab"]
    assert pd.read_parquet(tmp_path / "a map.labels.parquet")["text"].tolist() == ["Salt"]
    assert "Salt" in page.read_text()


def test_without_a_file_or_without_themes_nothing_is_written(release, themed, tmp_path, capsys, monkeypatch):
    assert main(["themes", "export", "--run", themed.key]) == 2
    assert "--parquet FILE, --html FILE" in capsys.readouterr().err
    taxonomy_path(themed, Settings().themes_dir).unlink()
    assert main(["themes", "export", "--run", themed.key, "--html", str(tmp_path / "x.html")]) == 2
    assert "audit themes build" in capsys.readouterr().err
    assert not (tmp_path / "x.html").exists()
