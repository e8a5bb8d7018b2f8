"""Files that are written whole: a reader never has a half, and what fails leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.atomic_io import atomic_file, atomic_folder, write_atomic


def test_a_file_stays_as_it_was_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("before")
    with atomic_file(path) as draft:
        draft.write_text("half")
        assert path.read_text() == "before"
    assert path.read_text() == "half"
    assert list(tmp_path.iterdir()) == [path]


def fill_the_disk(path: Path) -> None:
    with atomic_file(path) as draft:
        draft.write_text("half")
        raise OSError("the disk is full")


def test_what_fails_half_way_leaves_the_file_as_it_was_and_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("before")
    with pytest.raises(OSError, match="full"):
        fill_the_disk(path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_of_two_who_write_at_once_each_has_a_draft_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "order.json"
    with atomic_file(path) as first, atomic_file(path) as second:
        first.write_text("one")
        second.write_text("two")
    assert path.read_text() == "one"


def test_texts_keep_their_line_ends_and_names_may_be_long(tmp_path: Path) -> None:
    path = tmp_path / ("ü" * 120 + ".csv")
    write_atomic(path, "a\r\nü\n")
    assert path.read_bytes() == "a\r\nü\n".encode()


def write_folder(path: Path) -> None:
    with atomic_folder(path) as draft:
        (draft / "tables").mkdir()
        (draft / "tables" / "labels.csv").write_text("label")
        assert not (path / "tables").exists()


def test_a_folder_is_not_there_until_it_is_whole(tmp_path: Path) -> None:
    write_folder(tmp_path / "above" / "export")
    assert [path.name for path in (tmp_path / "above").rglob("*")] == ["export", "tables", "labels.csv"]


def test_an_empty_folder_is_filled_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path.stat().st_ino
    monkeypatch.chdir(tmp_path)
    write_folder(Path())
    assert tmp_path.stat().st_ino == there
    assert [path.name for path in tmp_path.rglob("*")] == ["tables", "labels.csv"]


def fill_the_disk_with_a_folder(path: Path) -> None:
    with atomic_folder(path) as draft:
        (draft / "half.csv").write_text("half")
        raise OSError("the disk is full")


@pytest.mark.parametrize("there", [True, False])
def test_of_a_folder_that_fails_half_way_nothing_stays(tmp_path: Path, there: bool) -> None:
    path = tmp_path / "export"
    if there:
        path.mkdir()
    with pytest.raises(OSError, match="full"):
        fill_the_disk_with_a_folder(path)
    assert list(tmp_path.rglob("*")) == ([path] if there else [])


def write_folder_beside_somebody_else(path: Path) -> None:
    with atomic_folder(path) as draft:
        (draft / "labels.csv").write_text("mine")
        path.mkdir(exist_ok=True)
        (path / "labels.csv").write_text("theirs")


@pytest.mark.parametrize("there", [True, False])
def test_a_folder_that_somebody_else_fills_meanwhile_stays_theirs(tmp_path: Path, there: bool) -> None:
    path = tmp_path / "export"
    if there:
        path.mkdir()
    with pytest.raises(OSError, match=r"exists|not empty"):
        write_folder_beside_somebody_else(path)
    assert [each.name for each in tmp_path.rglob("*")] == ["export", "labels.csv"]
    assert (path / "labels.csv").read_text() == "theirs"
