"""Names of files and sheets are each other's no more, however alike the names of a release are."""

from __future__ import annotations

import re
from collections import Counter

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from audit.exports.catalogue import CHAPTERS, Chapter
from audit.exports.package import _with_file_names
from audit.exports.package_files import unique_stems
from audit.exports.table_model import Picture

OTHER = re.compile(r"[^A-Za-z0-9_-]+")


def test_names_that_are_alike_once_they_are_plain_get_numbers():
    names = ["coverage_a b", "coverage_a/b", "coverage_A-B", "coverage_לב", "coverage_כבד"]
    assert unique_stems(names, OTHER, "-", 40) == [
        "coverage_a-b",
        "coverage_a-b-2",
        "coverage_A-B-3",
        "coverage_-",
        "coverage_--2",
    ]


@given(st.lists(st.text(max_size=12)))
def test_no_two_names_of_files_are_equal_on_any_disk(names: list[str]):
    stems = unique_stems(names, OTHER, "-", 8)
    assert len({stem.casefold() for stem in stems}) == len(names)
    assert all(0 < len(stem) <= 8 and not OTHER.search(stem) for stem in stems)


def test_every_figure_of_a_package_has_a_file_of_its_own():
    pictures = [Picture(f"coverage_{organ}", organ, pd.DataFrame()) for organ in ("a b", "a/b", "x" * 300)]
    parts = _with_file_names([Chapter("One", [], pictures[:1]), Chapter("Two", [], pictures[1:])])
    named = [(picture.name, picture.title) for part in parts for picture in part.pictures]
    assert named == [("coverage_a-b", "a b"), ("coverage_a-b-2", "a/b"), (f"coverage_{'x' * 111}", "x" * 300)]


def test_each_table_and_figure_that_may_be_left_out_has_a_name_of_its_own():
    for kind in ("tables", "pictures"):
        named = Counter(maker.__name__ for plan in CHAPTERS for maker in getattr(plan, kind))
        assert [name for name, count in named.items() if count > 1] == []
