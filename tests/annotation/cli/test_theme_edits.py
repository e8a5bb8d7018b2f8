"""`audit themes history | replay`: edits listed, exported, and applied to a taxonomy that was built again."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from annotation.label_store.engine import LabelStore, open_label_store
from annotation.label_store.theme_edits import count_edits
from annotation.studies.accounts import find_account
from annotation.theme_edits.edits import EditKind, ThemeChange
from annotation.theme_edits.record import NewEdit, list_edits, record_edit
from audit.cli.main import main
from audit.queries.themes import require_taxonomy, taxonomy_path
from audit.release.taxonomy import read_map, read_taxonomy
from audit.settings import Settings
from audit.store.runs import Run
from tests.support.loading import load
from tests.support.studies import NOW, people
from tests.support.tiny import release_from

TABLE = """
    q1 kidney  ab=DIVERGENT/high  ac=COMPLEMENTARY         bc=CONSISTENT
    q2 general ab=DIVERGENT/low   ac=CONTRADICTORY/medium  bc=DIVERGENT/low
"""
THEMES = [
    {"theme_id": "p", "name": "everything", "parent_id": None, "topics": []},
    {"theme_id": "t1", "name": "one", "parent_id": "p", "topics": ["topic of ab", "topic of bc"]},
    {"theme_id": "t2", "name": "two", "parent_id": "p", "topics": ["topic of ac"]},
]

Typed = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A loaded run for which themes were built."""
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    loaded = load(release_from(tmp_path / "releases", TABLE), tmp_path / "data").run
    build(loaded, THEMES)
    return loaded


@pytest.fixture
def again(run: Run, tmp_path: Path) -> Run:
    """The same questions judged by another judge, with the same themes."""
    loaded = load(release_from(tmp_path / "releases", TABLE, run_id="again"), tmp_path / "data").run
    build(loaded, THEMES)
    return loaded


@pytest.fixture
def store(run: Run) -> LabelStore:
    opened = open_label_store(Settings().studies_url)
    people(opened, "vera", role="viewer"), people(opened, "petra", role="pi")
    return opened


@pytest.fixture
def typed(capsys: pytest.CaptureFixture[str]) -> Typed:
    def typing(line: str) -> tuple[int, str, str]:
        code = main(["themes", *line.split()])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return typing


def build(run: Run, themes: list[dict[str, Any]]) -> None:
    path = taxonomy_path(run, Settings().themes_dir)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"themes": themes}), encoding="utf-8")


def curate(store: LabelStore, run: Run, *changes: ThemeChange) -> None:
    person = find_account(store, "vera")
    assert person is not None
    for change in changes:
        seen = count_edits(store, run.digest)
        taxonomy = require_taxonomy(run, Settings().themes_dir)
        record_edit(store, run.digest, taxonomy, person, NewEdit(change, "clearer", f"k{seen}", seen), NOW)


RENAMED = ThemeChange(EditKind.RENAME, "t1", name="First")
SPLIT = ThemeChange(EditKind.SPLIT, "t1", name="Third", phrases=("topic of bc",))
MERGED = ThemeChange(EditKind.MERGE, "t2", "t1")
UNDONE = ThemeChange(EditKind.UNDO, undoes=1)


def test_the_history_lists_every_edit_with_author_time_and_reason(run: Run, store: LabelStore, typed: Typed) -> None:
    curate(store, run, RENAMED, UNDONE, MERGED)
    code, printed, _ = typed("history")
    assert code == 0
    assert printed.splitlines() == [
        "   1  2026-03-01 09:00  vera: renamed 'one' to 'First'. clearer [undone by edit 2]",
        "   2  2026-03-01 09:00  vera: undid edit 1. clearer [in effect]",
        "   3  2026-03-01 09:00  vera: merged 'two' into 'one'. clearer [in effect]",
        f"3 edits of the themes of {run.key}; 1 of them are in effect.",
        "No edit was altered.",
    ]


def test_an_altered_history_is_reported_and_fails(run: Run, store: LabelStore, typed: Typed) -> None:
    curate(store, run, RENAMED)
    with store.begin() as tx:
        tx.execute(text("drop trigger theme_acts_no_update"))
        tx.execute(text("update theme_acts set reason = 'never said'"))
    code, printed, _ = typed("history")
    assert code == 1
    assert "theme_acts: entry 1 was changed after it was written" in printed


def test_every_edit_is_exported_and_replayed_from_the_file(run: Run, store: LabelStore, typed: Typed, tmp_path: Path) -> None:
    curate(store, run, RENAMED, MERGED)
    assert typed(f"history --out {tmp_path / 'edits.csv'}")[0] == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "edits.csv").read_text(encoding="utf-8-sig"))))
    assert [(row["act"], row["author"], row["what"]) for row in rows] == [
        ("2", "vera", "merged 'two' into 'First'"), ("1", "vera", "renamed 'one' to 'First'"),
    ]  # fmt: skip
    typed(f"history --out {tmp_path / 'edits.jsonl'}")
    code, printed, _ = typed(f"replay --edits {tmp_path / 'edits.jsonl'} --out {tmp_path / 'curated.json'}")
    assert (code, printed.splitlines()[0]) == (0, "2 edits are in effect; 2 of them fit the taxonomy as intended.")
    written = read_taxonomy(tmp_path / "curated.json")
    assert [(theme.theme_id, theme.name, theme.topics) for theme in written.leaves] == [
        ("t1", "First", ("topic of ab", "topic of bc", "topic of ac"))
    ]
    theme_map = read_map(written, tmp_path / "curated.json")
    assert theme_map is not None
    # Of disagreeing pairs alone: those of a and c disagree on one of their two questions.
    assert dict(zip(theme_map["phrase"], theme_map["count"], strict=True)) == {
        "topic of ab": 2,
        "topic of bc": 1,
        "topic of ac": 1,
    }
    assert set(theme_map["theme_id"]) == {"t1"}


def test_edits_that_do_not_fit_rebuilt_themes_are_listed_and_the_others_applied(
    run: Run, store: LabelStore, typed: Typed
) -> None:
    curate(store, run, RENAMED, SPLIT, ThemeChange(EditKind.RENAME, "t2", name="Second"))
    moved = [THEMES[0], {**THEMES[1], "topics": ["topic of ab"]}, {**THEMES[2], "topics": ["topic of ac", "topic of bc"]}]
    build(run, moved)
    code, printed, _ = typed("replay")
    assert code == 1
    assert printed.splitlines() == [
        "3 edits are in effect; 2 of them fit the taxonomy as intended.",
        "Edit 2 (split 1 phrase off 'First' as 'Third') was not applied: 1 phrase is elsewhere now, in 'two': 'topic of bc'.",
    ]
    assert "was not applied" in typed("history")[1]


def test_edits_are_carried_over_to_a_rejudged_run(run: Run, again: Run, store: LabelStore, typed: Typed) -> None:
    curate(store, run, SPLIT, RENAMED)
    made = str(list_edits(store, run.digest)[0].change.into)
    curate(store, run, ThemeChange(EditKind.RENAME, made, name="Third theme"))
    code, printed, _ = typed(f"replay --run again --from {run.key} --keep-as petra")
    assert (code, printed) == (0, f"3 edits were added to those of the themes of {again.key}; 0 were left out.\n")
    carried = list_edits(store, again.digest)
    assert [(edit.author, edit.change) for edit in carried] == [("petra", edit.change) for edit in list_edits(store, run.digest)]
    assert carried[0].reason == f"clearer [from {run.key}, edit 1 by vera, 2026-03-01]"
    typed(f"replay --run again --from {run.key} --keep-as petra")
    assert len(list_edits(store, again.digest)) == 3  # carried once


def test_edits_that_do_not_fit_the_other_run_are_left_out_and_reported(
    run: Run, again: Run, store: LabelStore, typed: Typed
) -> None:
    curate(store, run, RENAMED, MERGED)
    build(again, THEMES[:2])
    code, printed, warnings = typed(f"replay --run again --from {run.key} --keep-as petra")
    assert code == 1
    assert "Edit 2 (merged 'two' into 'First'): This edit is not possible: the theme 't2' (t2) no longer exists" in warnings
    assert printed.endswith("1 were left out.\n")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("history --out edits.txt", "must end in .csv or .jsonl"),
        ("history --out /nowhere/edits.csv", "cannot be written"),
        ("replay --edits nowhere.jsonl", "cannot be read"),
        ("replay --keep-as vera", "records the edits of another run"),
        ("replay --from tiny --keep-as nobody", "There is no account 'nobody'"),
        ("history --run none", "Run 'none' is not in"),
    ],
)
def test_an_impossible_request_is_explained_in_a_sentence(line: str, why: str, store: LabelStore, typed: Typed) -> None:
    code, _, printed = typed(line)
    assert code == 2
    assert why in printed


def test_a_run_without_themes_says_how_to_build_them(run: Run, store: LabelStore, typed: Typed) -> None:
    taxonomy_path(run, Settings().themes_dir).unlink()
    assert typed("history")[1].startswith(f"0 edits of the themes of {run.key}")
    code, _, printed = typed("replay")
    assert code == 2
    assert "audit themes build" in printed
