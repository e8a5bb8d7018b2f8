"""A release is a closed folder: what a link in it leads to is neither read nor shown."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import pytest

from audit.closed_folder import is_inside, open_plain
from audit.errors import DocumentError
from audit.pipeline.corpus.extraction.source_files import source_files
from audit.settings import Settings
from audit.store.connection import create_store, open_store, open_two
from audit.store.load import check_release
from audit.text.documents import read_documents
from tests.support.loading import ask, load, pairs_in, quarantined

SECRET = "client-secret-7f3a"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder beside the release with a file that nobody meant to publish."""
    folder = tmp_path / "outside"
    folder.mkdir()
    for name in ("secrets.toml", "q9.json"):
        (folder / name).write_text(f'cookie = "{SECRET}"\n' * 3)
    return folder


@pytest.mark.parametrize("name", ["trials.csv", "inconsistencies.jsonl", "comparisons/q9.json"])
def test_a_linked_file_is_set_aside_and_none_of_it_is_stored(release: Path, outside: Path, tmp_path: Path, name: str) -> None:
    (release / name).symlink_to(outside / "secrets.toml")
    loaded = load(release, tmp_path / "data")
    assert quarantined(loaded) == [(f"{release.name}/{name}", "whole file", "unsafe_path")]
    assert len(pairs_in(loaded)) == 12
    assert SECRET.encode() not in loaded.run.path.read_bytes()
    assert SECRET not in str(ask(loaded, "select * from findings"))
    assert not check_release(release, Settings(data_dir=tmp_path / "other")).run.report["clean"]


def test_a_linked_folder_is_not_entered(release: Path, outside: Path, tmp_path: Path) -> None:
    (release / "systems").symlink_to(outside)
    (release / "comparisons" / "more").symlink_to(outside)
    loaded = load(release, tmp_path / "data")
    assert [code for _, _, code in quarantined(loaded)] == ["unsafe_path"] * 2
    assert SECRET.encode() not in loaded.run.path.read_bytes()


def test_the_release_itself_may_be_named_by_a_link(release: Path, tmp_path: Path) -> None:
    (tmp_path / "newest").symlink_to(release)
    assert len(pairs_in(load(tmp_path / "newest", tmp_path / "data"))) == 12


def test_a_file_is_opened_only_where_it_is_a_plain_one_of_its_size(tmp_path: Path) -> None:
    plain, link, pipe = (tmp_path / name for name in ("plain", "link", "pipe"))
    plain.write_bytes(b"12345")
    link.symlink_to(plain)
    os.mkfifo(pipe)
    with open_plain(plain, 5) as file:
        assert file.read() == b"12345"
    for path, limit in ((link, 5), (pipe, 5), (tmp_path, 5), (plain, 4)):
        with pytest.raises(OSError, match=r"."):
            open_plain(path, limit)
    assert is_inside(plain, tmp_path)
    assert not any(is_inside(path, tmp_path) for path in (link, pipe, tmp_path / "no", tmp_path / ".." / "x"))


def test_inputs_of_the_pipeline_are_read_from_their_own_folder(outside: Path, tmp_path: Path) -> None:
    folder = tmp_path / "handbooks"
    folder.mkdir()
    (folder / "own.txt").write_text("Take the tablets.")
    (folder / "secrets.txt").symlink_to(outside / "secrets.toml")
    (folder / "more").symlink_to(outside)
    found = source_files([folder])
    assert [path.name for path in found.sources] == ["own.txt"]
    assert [path.name for path in found.unsupported] == ["more", "secrets.txt"]
    (folder / "linked.json").symlink_to(outside / "q9.json")
    with pytest.raises(DocumentError, match=r"linked\.json: it is a link"):
        read_documents(folder)


def test_a_statement_on_a_store_reads_no_file_and_changes_no_setting(release: Path, outside: Path, tmp_path: Path) -> None:
    path = load(release, tmp_path / "data").run.path
    other = tmp_path / "other.duckdb"
    other.write_bytes(path.read_bytes())
    read = f"select * from read_text('{outside / 'secrets.toml'}')"
    for con in (create_store(tmp_path / "new.duckdb", "", release), open_store(path), open_two(path, other)):
        with con:
            for statement in (read, "set enable_external_access = true", "install httpfs", "load httpfs"):
                with pytest.raises(duckdb.Error):
                    con.execute(statement)
