"""`audit themes build` and `audit themes assign`, as a person types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.cli.main import main
from audit.release.taxonomy import read_map, read_taxonomy
from tests.support.loading import spoil

PHRASES = [
    "dental work",
    "different advice on dental work",
    "dental work again",
    "fever threshold",
    "fever thresholds",
    "cats",
    "Cats",
    "sunscreen",
]


@pytest.fixture(autouse=True)
def _data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    path = tmp_path / "topics.txt"
    path.write_text("\n".join(["", *PHRASES, "  "]), encoding="utf-8")
    return path


def built(topics: Path, *more: str) -> Path:
    out = topics.with_name("themes.json")
    command = ["themes", "build", "--topics", str(topics), "--out", str(out), "--model", "words", "--layout", "principal"]
    assert main([*command, *more]) == 0
    return out


def test_a_list_of_phrases_becomes_a_taxonomy(topics: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taxonomy = read_taxonomy(built(topics))
    assert {theme.topics for theme in taxonomy.leaves} == {
        ("dental work", "dental work again", "different advice on dental work"),
        ("fever threshold", "fever thresholds"),
        ("Cats", "cats"),
    }
    assert taxonomy.no_theme == ("sunscreen",)
    out = capsys.readouterr().out
    assert "Phrases: 8 (8 with repeats).\nThemes: 3. Parents: 0.\n" in out
    assert "No theme: 1 of 8 phrases (1 different)." in out


def test_new_phrases_are_put_into_it(topics: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = built(topics)
    new = topics.with_name("new.txt")
    new.write_text("Dental work\ndental works\nskiing\n")
    capsys.readouterr()
    assert main(["themes", "assign", str(out), "--topics", str(new), "--out", str(topics.with_name("new.json"))]) == 0
    assert "Known: 1 phrases. Assigned: 1. Too far from every theme: 1." in capsys.readouterr().out
    assigned = read_taxonomy(topics.with_name("new.json"))
    assert assigned.built["assigned_from"] == read_taxonomy(out).sha256
    assert assigned.no_theme == ("skiing",)


def test_a_run_has_its_taxonomy_in_the_data_folder(release: Path, tmp_path: Path) -> None:
    spoil(release, "q1", lambda record: record["pairs"][0].update(divergence_topic="dental work"))
    main(["load", str(release)])
    assert main(["themes", "build", "--run", "tiny", "--model", "words", "--layout", "principal"]) == 0
    (path,) = (tmp_path / "data" / "themes").glob("*.json")
    taxonomy = read_taxonomy(path)
    points = read_map(taxonomy, path)
    assert points is not None
    assert "dental work" in set(points.phrase)


def test_the_format_is_one_that_machines_read(topics: Path) -> None:
    content = json.loads(built(topics).read_text())
    assert set(content) == {"format", "themes", "no_theme", "built", "counts", "map", "sha256"}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--previous", "nowhere.json"], "nowhere.json cannot be read as JSON"),
        (["--model", "no/model/here"], "no/model/here"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(
    topics: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, more: list[str], said: str
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    out = topics.with_name("themes.json")
    command = ["themes", "build", "--topics", str(topics), "--out", str(out), "--model", "words", "--layout", "principal"]
    assert main([*command, *more]) == 2
    assert said in capsys.readouterr().err
    assert not out.exists()


def test_a_list_that_is_not_there_or_empty_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_text("\n \n")
    for path, said in ((tmp_path / "none.txt", "cannot be read"), (empty, "There are no phrases to group into themes")):
        assert main(["themes", "build", "--topics", str(path), "--out", str(tmp_path / "t.json"), "--model", "words"]) == 2
        assert said in capsys.readouterr().err
    assert main(["themes", "build", "--topics", str(empty)]) == 2
    assert "Name one with --out" in capsys.readouterr().err
