"""What a release says of the judge's work beyond its verdicts: read, repaired or dropped, and never at the cost of a pair."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audit.store.load import Loaded
from tests.support.loading import checks_in, load, messages, pairs_in, quarantined, readings_in, spoil
from tests.support.tiny import release_from

TABLE = """
    q1 kidney ab=DIVERGENT/high!lenient+swap:CONSISTENT+repeat:DIVERGENT/low+repeat:UNSCORED ac=COMPLEMENTARY bc=UNSCORED!none:cut
    q2 kidney ab=CONSISTENT ac=CONSISTENT bc=CONSISTENT
"""
ASKED = {"input_tokens": 100, "output_tokens": 10, "latency_s": 0.5}


def loaded_with(tmp_path: Path, **fields: Any) -> Loaded:
    """TABLE loaded, its first pair changed."""
    folder = release_from(tmp_path, TABLE)
    spoil(folder, "q1", lambda record: record["pairs"][0].update(fields))
    return load(folder, tmp_path / "data")


def test_checks_and_readings_stand_beside_their_pair_and_change_nothing_of_it(tmp_path: Path) -> None:
    loaded = load(release_from(tmp_path, TABLE), tmp_path / "data")
    assert checks_in(loaded) == [
        ("q1", "a", "b", "swap", 1, "CONSISTENT", None, None),
        ("q1", "a", "b", "repeat", 1, "DIVERGENT", "low", None),
        ("q1", "a", "b", "repeat", 2, None, None, None),
    ]
    assert readings_in(loaded) == [("q1", "a", "b", "lenient", None, None, None), ("q1", "b", "c", "none", "cut", None, None)]
    assert [(row[3], row[5]) for row in pairs_in(loaded)[:1]] == [("DIVERGENT", "high")]
    assert loaded.run.report["clean"]


def test_cached_tokens_and_the_prompt_s_digest_are_kept(tmp_path: Path) -> None:
    loaded = loaded_with(tmp_path, judge_metadata={**ASKED, "cached_tokens": 64, "prompt": "9f2c"})
    assert readings_in(loaded)[0] == ("q1", "a", "b", None, None, 64, "9f2c")


def test_a_release_that_says_nothing_of_it_has_no_rows_there(release: Path, tmp_path: Path) -> None:
    loaded = load(release, tmp_path)
    assert (readings_in(loaded), checks_in(loaded)) == ([], [])


@pytest.mark.parametrize(
    ("check", "words"),
    [
        ({"kind": "swop"}, "check 1: kind 'swop' is not in the vocabulary. Allowed: swap, blind, repeat"),
        ({"classification": "ABSENT"}, "check 1: it has no field 'kind'"),
        ({"kind": "swap", "classification": "DIVERGANT"}, "Did you mean 'DIVERGENT'?"),
        ({"kind": "swap", "classification": 7}, "check 1: classification '7' is not in the vocabulary"),
        ("swap", "check 1: this is text, but each record must be an object."),
    ],
)
def test_a_check_that_cannot_be_used_is_dropped_and_its_pair_is_loaded(tmp_path: Path, check: Any, words: str) -> None:
    loaded = loaded_with(tmp_path, checks=[check, {"kind": "repeat", "classification": "ABSENT"}])
    assert words in messages(loaded, "repaired")[0]
    assert "The pair was loaded without that check." in messages(loaded, "repaired")[0]
    assert (quarantined(loaded), len(pairs_in(loaded))) == ([], 6)
    assert checks_in(loaded) == [("q1", "a", "b", "repeat", 1, "ABSENT", None, None)]


def test_two_checks_of_one_kind_and_number_leave_the_first(tmp_path: Path) -> None:
    twice = [{"kind": "swap", "number": 1, "classification": label} for label in ("ABSENT", "CONSISTENT")]
    loaded = loaded_with(tmp_path, checks=twice)
    assert [row[5] for row in checks_in(loaded)] == ["ABSENT"]
    assert "a check 'swap' of number 1 occurs earlier" in messages(loaded, "repaired")[0]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"checks": "many"}, "field 'checks' is text, but must be a list"),
        ({"checks": [{"kind": "swap", "number": -1}]}, "field 'number' is -1, but must lie between 0 and"),
        ({"checks": [{"kind": "swap", "classification": "ABSENT", "clinical_significance": "low"}]}, "'low' on ABSENT"),
        ({"judge_metadata": {**ASKED, "parse": "guessed"}}, "parse 'guessed' is not in the vocabulary"),
        ({"judge_metadata": {**ASKED, "unscored_reason": ["cut"]}}, "'unscored_reason' is a list"),
        ({"judge_metadata": {**ASKED, "cached_tokens": "most"}}, "'cached_tokens' is 'most'"),
    ],
)
def test_a_field_that_cannot_be_used_costs_only_itself(tmp_path: Path, fields: dict[str, Any], words: str) -> None:
    loaded = loaded_with(tmp_path, **fields)
    assert words in messages(loaded, "repaired")[0]
    assert (quarantined(loaded), len(pairs_in(loaded))) == ([], 6)


def test_checks_may_be_json_in_the_cell_of_a_table(tmp_path: Path) -> None:
    loaded = loaded_with(tmp_path, checks=json.dumps([{"kind": "swap", "label": "absence"}]))
    assert checks_in(loaded) == [("q1", "a", "b", "swap", 1, "ABSENT", None, None)]


def test_a_pair_that_is_set_aside_takes_its_checks_and_its_reading_with_it(tmp_path: Path) -> None:
    folder = release_from(tmp_path, TABLE)
    spoil(folder, "q1", lambda record: record["pairs"].append({**record["pairs"][0], "classification": "CONTRADICTORY"}))
    loaded = load(folder, tmp_path / "data")
    assert {code for _, _, code in quarantined(loaded)} == {"conflicting_pair"}
    assert (checks_in(loaded), [row[2] for row in readings_in(loaded)]) == ([], ["c"])


def test_a_twin_in_another_file_leaves_the_first_copy_s_checks_once(tmp_path: Path) -> None:
    folder = release_from(tmp_path, TABLE)
    record = json.loads((folder / "comparisons" / "q1.json").read_text())
    (folder / "comparisons" / "zz.json").write_text(json.dumps({**record, "pairs": record["pairs"][:1]}))
    loaded = load(folder, tmp_path / "data")
    assert [code for _, _, code in quarantined(loaded)] == ["duplicate_pair"]
    assert len(checks_in(loaded)) == 3
    assert len(readings_in(loaded)) == 2
