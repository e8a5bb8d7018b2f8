"""The themes that a release brings: read as they are, and what does not fit is said in one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from audit.store.load import Loaded
from tests.support.loading import ask, load, messages, quarantined

THEMES: list[dict[str, Any]] = [
    {"theme_id": "p1", "name": "Food"},
    {"theme_id": "t1", "name": "Salt", "parent_id": "p1", "topics": ["topic of ab", "topic of ac"], "terms": ["salt"]},
    {"theme_id": "t2", "name": "Work", "topics": ["topic of bc"]},
]
"""The tiny release has three divergence topics: topic of ab, of ac and of bc."""


def bring(release: Path, data_dir: Path, themes: Any, name: str = "themes.json") -> Loaded:
    (release / name).write_text(json.dumps(themes), encoding="utf-8")
    return load(release, data_dir)


def themes_in(loaded: Loaded) -> list[tuple[Any, ...]]:
    return ask(loaded, "select theme_id, name, parent_id from themes order by rowid")


def topics_in(loaded: Loaded) -> dict[str, str | None]:
    return dict(ask(loaded, "select topic, theme_id from theme_topics"))


def test_themes_are_read_as_they_stand(release: Path, tmp_path: Path) -> None:
    loaded = bring(release, tmp_path, {"themes": THEMES})
    assert themes_in(loaded) == [("p1", "Food", None), ("t1", "Salt", "p1"), ("t2", "Work", None)]
    assert topics_in(loaded) == {"topic of ab": "t1", "topic of ac": "t1", "topic of bc": "t2"}
    assert loaded.run.report["totals"]["theme"] == {"files": 1, "read": 3, "loaded": 3, "quarantined": 0}
    assert loaded.run.report["clean"]
    assert not messages(loaded, "noted")


def test_a_release_without_themes_has_none(release: Path, tmp_path: Path) -> None:
    loaded = load(release, tmp_path)
    assert ask(loaded, "select count(*) from taxonomy") == [(0,)]
    assert "theme" not in loaded.run.report["totals"]


def test_a_list_of_themes_and_other_names_for_fields_are_taken(release: Path, tmp_path: Path) -> None:
    lines = "\n".join(json.dumps(theme) for theme in ({"id": 7, "label": "Salt", "members": ["topic of ab"]},))
    (release / "themes.jsonl").write_text(lines, encoding="utf-8")
    loaded = load(release, tmp_path)
    assert themes_in(loaded) == [("7", "Salt", None)]
    assert topics_in(loaded) == {"topic of ab": "7"}


def test_how_they_came_about_what_has_no_theme_and_their_places_are_kept(release: Path, tmp_path: Path) -> None:
    points = pd.DataFrame({"phrase": ["topic of ab", "topic of bc"], "x": [1.5, 2.0], "y": [0.5, -1.0]})
    points.to_parquet(release / "themes.parquet")
    said = {"themes": THEMES[:2], "no_theme": ["topic of bc"], "built": {"method": "average"}}
    loaded = bring(release, tmp_path, said)
    assert json.loads(ask(loaded, "select built from taxonomy")[0][0]) == {"method": "average"}
    assert ask(loaded, "select topic, theme_id, x, y from theme_topics order by 1") == [
        ("topic of ab", "t1", 1.5, 0.5), ("topic of ac", "t1", None, None), ("topic of bc", None, 2.0, -1.0),
    ]  # fmt: skip


def test_another_map_is_another_release(release: Path, tmp_path: Path) -> None:
    first = bring(release, tmp_path, {"themes": THEMES}).run.digest
    pd.DataFrame({"phrase": ["topic of ab"], "x": [1.0], "y": [1.0]}).to_parquet(release / "themes.parquet")
    assert load(release, tmp_path).run.digest != first


@pytest.mark.parametrize(
    ("extra", "code", "words"),
    [
        ({"theme_id": "t1", "name": "Salt again"}, "duplicate_theme", "'t1' occurs earlier; the first theme was kept"),
        ({"theme_id": "t9"}, "missing_field", "it has no field 'name' (or label, title)"),
        ({"theme_id": "", "name": "x"}, "missing_field", "field 'theme_id' is empty"),
        ("Salt", "wrong_type", "each record must be an object"),
    ],
)
def test_a_bad_theme_is_set_aside_and_the_others_are_kept(
    release: Path, tmp_path: Path, extra: Any, code: str, words: str
) -> None:
    loaded = bring(release, tmp_path, {"themes": [*THEMES, extra]})
    assert quarantined(loaded) == [("themes.json", "record 4", code)]
    assert words in messages(loaded, "quarantined")[0]
    assert len(themes_in(loaded)) == 3


def test_a_topic_in_two_themes_stays_in_the_first(release: Path, tmp_path: Path) -> None:
    loaded = bring(release, tmp_path, [*THEMES, {"theme_id": "t3", "name": "Twice", "topics": ["topic of ab", "other"]}])
    assert topics_in(loaded)["topic of ab"] == "t1"
    assert topics_in(loaded)["other"] == "t3"
    (said,) = messages(loaded, "repaired")
    assert said == "1 of the topics of theme 't3' belong to an earlier theme and stay there: 'topic of ab'."


@pytest.mark.parametrize(("parent", "words"), [("gone", "is not a theme of this release"), ("t1", "is one of its descendants")])
def test_an_unusable_parent_is_dropped_and_the_theme_kept(release: Path, tmp_path: Path, parent: str, words: str) -> None:
    loaded = bring(release, tmp_path, [THEMES[0] | {"parent_id": parent}, *THEMES[1:]])
    assert themes_in(loaded)[0] == ("p1", "Food", None)
    assert themes_in(loaded)[1] == ("t1", "Salt", "p1")
    (said,) = messages(loaded, "repaired")
    assert words in said


def test_divergence_topics_that_the_themes_do_not_know_are_counted(release: Path, tmp_path: Path) -> None:
    loaded = bring(release, tmp_path, {"themes": THEMES[:2]})
    assert messages(loaded, "noted") == [
        "1 of the 3 divergence topics of the pairs are neither in its themes nor listed as having none."
    ]


@pytest.mark.parametrize("text", ["{", "[1", '{"themes": 3}'])
def test_a_file_of_themes_that_cannot_be_read_costs_only_the_themes(release: Path, tmp_path: Path, text: str) -> None:
    (release / "themes.json").write_text(text, encoding="utf-8")
    loaded = load(release, tmp_path)
    assert [code for _, _, code in quarantined(loaded)] in (["broken_json"], ["missing_field"])
    assert ask(loaded, "select count(*) from pairs") == [(12,)]
    assert not themes_in(loaded)


def test_a_map_that_is_none_leaves_the_themes(release: Path, tmp_path: Path) -> None:
    (release / "themes.parquet").write_bytes(b"no parquet")
    loaded = bring(release, tmp_path, {"themes": THEMES})
    assert len(themes_in(loaded)) == 3
    assert any("not a map with phrase, x and y" in message for message in messages(loaded, "noted"))
