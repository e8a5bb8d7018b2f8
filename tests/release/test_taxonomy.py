"""The stored taxonomy, and what is said of one that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from audit.errors import ThemesError
from audit.release.taxonomy import Taxonomy, Theme, read_map, read_taxonomy, write_taxonomy

PARENT = Theme("p-1", "teeth", None, ())
DENTAL = Theme("t-1", "dental work", "p-1", ("dental work", "Dental work"), ("dental",), "dental work", ("dental work",), "terms")
POINTS = pd.DataFrame({"phrase": ["dental work"], "theme_id": ["t-1"], "x": [1.0], "y": [2.0], "count": [3]})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_taxonomy(Taxonomy((PARENT, DENTAL), ("alcohol",), {"seed": 1}, {"themes": 1}), POINTS, tmp_path / "themes.json")
    return tmp_path / "themes.json"


def test_what_is_written_is_read_back(path: Path) -> None:
    found = read_taxonomy(path)
    assert found.themes == (PARENT, DENTAL)
    assert (found.parents, found.leaves) == ((PARENT,), (DENTAL,))
    assert found.theme_of() == {"alcohol": None, "dental work": "t-1", "Dental work": "t-1"}
    assert len(found.sha256) == 64
    assert read_map(found, path).to_dict("records") == POINTS.to_dict("records")


def test_a_file_that_was_changed_is_refused(path: Path) -> None:
    path.write_text(path.read_text().replace("teeth", "tooth"))
    with pytest.raises(ThemesError, match=r"themes\.json was changed after it was built"):
        read_taxonomy(path)


def test_a_map_that_was_changed_or_lost_is_refused_and_the_themes_are_not(path: Path) -> None:
    beside = path.with_suffix(".parquet")
    beside.write_bytes(beside.read_bytes() + b" ")
    with pytest.raises(ThemesError, match=r"was changed after it was built\. The themes can be used without it"):
        read_map(read_taxonomy(path), path)
    beside.unlink()
    with pytest.raises(ThemesError, match="is missing"):
        read_map(read_taxonomy(path), path)


def test_a_release_may_bring_the_least(tmp_path: Path) -> None:
    bare = [{"id": 7, "label": "Dental care", "members": ["dental work"]}, {"theme_id": "8", "name": "Fever", "parent_id": ""}]
    path = tmp_path / "themes.json"
    path.write_text(json.dumps({"themes": bare}))
    found = read_taxonomy(path)
    assert [(theme.theme_id, theme.name, theme.parent_id, theme.topics) for theme in found.leaves] == [
        ("7", "Dental care", None, ("dental work",)),
        ("8", "Fever", None, ()),
    ]
    assert read_map(found, path) is None
    path.write_text(json.dumps(bare))
    assert read_taxonomy(path).themes == found.themes


def theme(**fields: Any) -> dict[str, Any]:
    return {"theme_id": "a", "name": "A", "topics": [], **fields}


@pytest.mark.parametrize(
    ("themes", "said"),
    [
        ("none", 'has no list "themes"'),
        ([3], "theme 1 is a int, not an object"),
        ([theme(), theme(name=" ", theme_id="b")], "theme 2: name is ' '; a text is needed"),
        ([theme(theme_id=None)], "theme 1: theme_id is None; a text is needed"),
        ([theme(topics=["x", 3])], "theme 1, topics: a list of texts is needed"),
        ([theme(), theme()], "two themes have the id 'a'"),
        ([theme(parent_id="z")], "theme 'a' has the parent 'z', which does not exist"),
        ([theme(parent_id="b"), theme(theme_id="b", parent_id="a")], "theme 'a' is its own ancestor"),
        ([theme(topics=["x"]), theme(theme_id="b", topics=["x"])], "'x' is in 'a' and in 'b'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, themes: Any, said: str) -> None:
    path = tmp_path / "themes.json"
    path.write_text(json.dumps({"themes": themes}))
    with pytest.raises(ThemesError) as caught:
        read_taxonomy(path)
    assert said in str(caught.value)
    assert "Nothing was used." in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", '"themes"', "[" * 100_000])
def test_what_is_no_taxonomy_at_all_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "themes.json"
    path.write_text(text)
    with pytest.raises(ThemesError):
        read_taxonomy(path)
