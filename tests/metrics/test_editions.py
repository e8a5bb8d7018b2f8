"""Editions: handbooks matched across runs, changed answers, and labels that changed with them or without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audit.metrics.editions import editions
from audit.metrics.records import left_out, shared
from audit.store.connection import Connection, open_two
from tests.support.loading import load
from tests.support.tiny import handbook, release_from

FIRST = "q1 kidney ab=DIVERGENT ac=CONSISTENT bc=CONSISTENT\nq2 kidney ab=CONSISTENT c=absent"
SECOND = "q1 kidney dB=CONSISTENT dc=CONSISTENT Bc=DIVERGENT\nq2 kidney dB=CONSISTENT dc=CONSISTENT Bc=CONSISTENT"


def run_of(folder: Path, name: str, table: str, books: list[dict[str, Any]], words: dict[tuple[str, str], str]) -> Path:
    release = release_from(folder / name, table, books, run_id=name)
    (path,) = release.glob("answers*")
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for record in records:
        record["answer"] = words.get((record["question_id"], record["handbook_id"]), record["answer"])
    path.write_text("\n".join(json.dumps(record) for record in records), "utf-8")
    return load(release, folder / "data").run.path


@pytest.fixture
def con(tmp_path: Path) -> Connection:
    """d is the new edition of a; B has the id of b in another spelling and no edition; c is unchanged."""
    c = handbook("c") | {"digest": "1"}
    first = run_of(tmp_path, "before", FIRST, [handbook("a") | {"edition": "2020", "edition_of": "x"}, handbook("b"), c], {})
    said = {("q1", "d"): "Handbook a on q1.", ("q2", "d"): "Something new.", ("q1", "B"): "Handbook b on q1."}
    books = [handbook("d") | {"edition": "2024", "edition_of": "x"}, handbook("B") | {"edition_of": "b"}, c]
    return open_two(first, run_of(tmp_path, "after", SECOND, books, said))


def test_editions_are_matched_and_their_changed_answers_counted(con):
    table = editions(con).set_index("handbook_id")
    assert list(table.index) == ["a", "b", "c"]
    assert table["update"].tolist() == ["updated", "not stated", "same edition"]
    assert table.loc["a", ["handbook_id_second", "edition_first", "edition_second"]].tolist() == ["d", "2020", "2024"]
    assert table.loc["a", ["answers", "changed", "reworded", "newly_answered"]].tolist() == [2, 1, 1, 0]
    assert table.loc["b", ["answers", "changed", "reworded"]].tolist() == [2, 1, 1]  # q2 is in B's words
    assert table.loc["c", ["changed", "newly_answered", "no_longer_answered"]].tolist() == [1, 1, 0]


def test_labels_changed_with_the_answers_or_without(con):
    # q1: ab DIVERGENT -> CONSISTENT and bc CONSISTENT -> DIVERGENT, all answers the same. q2: ac and bc ABSENT -> CONSISTENT.
    table = editions(con).set_index("handbook_id")
    assert table["relabelled_same"].to_dict() == {"a": 1, "b": 2, "c": 1}
    assert table["relabelled_changed"].to_dict() == {"a": 1, "b": 1, "c": 2}


def test_everything_that_compares_runs_matches_editions(con):
    assert shared(con).set_index("what").loc["handbooks", ["in_both", "only_first", "only_second"]].tolist() == [3, 0, 0]
    assert left_out(con).empty


def test_of_two_editions_in_one_run_none_is_taken_for_a_third(tmp_path):
    first = run_of(tmp_path, "before", "q1 kidney ab=CONSISTENT", [handbook("a") | {"edition_of": "x"}, handbook("b")], {})
    books = [handbook("d") | {"edition_of": "x"}, handbook("e") | {"edition_of": "x"}, handbook("b")]
    con = open_two(first, run_of(tmp_path, "after", "q1 kidney de=CONSISTENT db=CONSISTENT eb=CONSISTENT", books, {}))
    assert editions(con)["handbook_id"].tolist() == ["b"]
    assert left_out(con)["id"].tolist() == ["a", "d", "e"]
