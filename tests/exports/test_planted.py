"""The export has what the judge does with planted changes, or the reason why that is unknown."""

from __future__ import annotations

from pathlib import Path

from audit.exports.catalogue import Chapter, chapters
from audit.exports.context import ExportContext
from audit.store.connection import open_store
from tests.support.loading import BASE, load
from tests.support.planted import planted_item, write_planted
from tests.support.tiny import release_from

PLANTED = [
    planted_item(1, "amount", "CONSISTENT", "DIVERGENT", ["DIVERGENT"]),
    planted_item(2, "instruction", "DIVERGENT", "CONSISTENT", ["DIVERGENT"], ordered="CONSISTENT", variant="reply"),
]


def chapter_of(folder: Path, tmp_path: Path) -> Chapter:
    run = load(folder, tmp_path).run
    with open_store(run.path) as con:
        made = chapters(ExportContext(run, con), lambda _: None)
        return next(chapter for chapter in made if chapter.title == "How far the judge can be trusted")


def test_the_tables_have_every_kind_variant_label_and_item(tmp_path: Path) -> None:
    chapter = chapter_of(write_planted(release_from(tmp_path / "releases", BASE), PLANTED), tmp_path)
    tables = {table.name: table for table in chapter.tables}
    assert {name: len(table.frame) for name, table in tables.items() if name.startswith("planted")} == {
        "planted_changes": 2, "planted_variants": 2, "planted_labels": 2, "planted_items": 2,
    }  # fmt: skip
    assert list(tables["planted_variants"].frame["variant"]) == ["", "reply"]
    assert tables["planted_items"].n == "2 planted changes"


def test_a_run_without_planted_changes_leaves_them_out_and_says_that_this_is_unknown(tmp_path: Path) -> None:
    left_out = chapter_of(release_from(tmp_path / "releases", BASE), tmp_path).left_out
    assert {name for name in left_out if "planted" in name} == {
        "table planted_changes", "table planted_variants", "table planted_labels", "table planted_items",
    }  # fmt: skip
    assert "how its judge reacts to them is unknown" in left_out["table planted_changes"]
