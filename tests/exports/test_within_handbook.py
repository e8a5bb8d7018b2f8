"""The export has where handbooks disagree with themselves, or the reason why that is unknown."""

from __future__ import annotations

from pathlib import Path

from audit.exports.catalogue import Chapter, chapters
from audit.exports.context import ExportContext
from audit.release.write import write_jsonl
from audit.store.connection import open_store
from tests.metrics.test_within_handbook import COUNTS, FEVER
from tests.support.loading import BASE, load
from tests.support.tiny import release_from


def chapter_of(folder: Path, tmp_path: Path) -> Chapter:
    run = load(folder, tmp_path).run
    with open_store(run.path) as con:
        made = chapters(ExportContext(run, con), lambda _: None)
        return next(chapter for chapter in made if chapter.title == "Self-disagreement")


def test_both_tables_have_their_rows_and_how_many_were_compared(tmp_path: Path) -> None:
    folder = release_from(tmp_path / "releases", BASE)
    write_jsonl(folder / "within_handbook.jsonl", [FEVER])
    write_jsonl(folder / "within_handbook_counts.jsonl", COUNTS)
    counts, places = chapter_of(folder, tmp_path).tables

    assert counts.n == "2 of 4 handbooks compared"
    assert places.n == "disagreements: 1; handbooks compared: 2"
    assert list(places.frame["page"]) == [5, 18, 40]


def test_a_run_that_was_not_compared_leaves_them_out_and_says_that_this_is_not_none(tmp_path: Path) -> None:
    left_out = chapter_of(release_from(tmp_path / "releases", BASE), tmp_path).left_out

    assert list(left_out) == ["table within_handbook_counts", "table within_handbook"]
    assert "whether it disagrees with itself is unknown" in left_out["table within_handbook"]
