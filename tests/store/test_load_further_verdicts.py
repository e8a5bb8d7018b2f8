"""Verdicts after those of a run: loaded with it, set aside one by one, and outside of its digest."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.loading import ask, load, quarantined

SECOND = {"question_id": "q1", "handbook_a": "a", "handbook_b": "b", "kind": "second", "judge": "other", "label": "DIVERGENT"}


def write(release: Path, *records: dict) -> Path:
    (release / "further_verdicts.jsonl").write_text("\n".join(map(json.dumps, records)))
    return release


def test_further_verdicts_are_loaded_whichever_handbook_comes_first(release: Path, tmp_path: Path) -> None:
    loaded = load(write(release, SECOND | {"handbook_a": "b", "handbook_b": "a"}), tmp_path / "data")
    assert loaded.run.report["clean"]
    assert ask(loaded, "select handbook_a, handbook_b, label::varchar from second_verdicts") == [(0, 1, "DIVERGENT")]
    assert ask(loaded, "select count(*), count(second) from pairs_read_twice where handbook_a = 0 and handbook_b = 1") == [
        (ask(loaded, "select count(*) from pairs where handbook_a = 0 and handbook_b = 1")[0][0], 1)
    ]


def test_bad_ones_are_set_aside(release: Path, tmp_path: Path) -> None:
    twice = SECOND | {"handbook_a": "b", "handbook_b": "a", "label": "ABSENT"}
    unknown, kind = SECOND | {"question_id": "q99"}, SECOND | {"kind": "third", "judge": "x"}
    loaded = load(write(release, SECOND, twice, unknown, kind), tmp_path / "data")
    assert [code for _, _, code in quarantined(loaded)] == ["duplicate_further_verdict", "unknown_question", "unknown_kind"]
    assert ask(loaded, "select count(*) from further_verdicts") == [(1,)]


def test_the_second_judge_is_the_one_with_most_verdicts(release: Path, tmp_path: Path) -> None:
    more = [SECOND | {"judge": "third", "handbook_b": other} for other in ("b", "c")]
    loaded = load(write(release, SECOND, *more), tmp_path / "data")
    assert ask(loaded, "select distinct judge from second_verdicts") == [("third",)]


def test_added_later_they_are_loaded_and_leave_the_run_what_it_is(release: Path, tmp_path: Path) -> None:
    before = load(release, tmp_path / "data")
    after = load(write(release, SECOND), tmp_path / "data")
    assert (after.fresh, after.run.digest) == (True, before.run.digest)
    assert not load(release, tmp_path / "data").fresh
