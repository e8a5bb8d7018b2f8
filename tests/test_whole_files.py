"""Files that are written whole: a reader never has a half, and what fails leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.whole_files import whole, write_whole


def test_a_file_stays_as_it_was_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("before")
    with whole(path) as draft:
        draft.write_text("half")
        assert path.read_text() == "before"
    assert path.read_text() == "half"
    assert list(tmp_path.iterdir()) == [path]


def fill_the_disk(path: Path) -> None:
    with whole(path) as draft:
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
    with whole(path) as first, whole(path) as second:
        first.write_text("one")
        second.write_text("two")
    assert path.read_text() == "one"


def test_texts_keep_their_line_ends_and_names_may_be_long(tmp_path: Path) -> None:
    path = tmp_path / ("ü" * 120 + ".csv")
    write_whole(path, "a\r\nü\n")
    assert path.read_bytes() == "a\r\nü\n".encode()
