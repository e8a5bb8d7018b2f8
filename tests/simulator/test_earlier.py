"""The demo's earlier run: the same world and judge, answers missed at a known rate, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from audit.errors import ReleaseError
from tests.simulator.build import MISSED_SHARE, draw_earlier, write_demo, write_earlier
from tests.simulator.config import small_config
from tests.simulator.test_build import digest, lines
from tests.simulator.world import draw_world

SEED = 7


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> tuple[Path, Path]:
    """The main run and the earlier one."""
    root = tmp_path_factory.mktemp("demo")
    return write_demo(root / "demo", seed=SEED), write_earlier(root / "earlier", SEED)


def pairs(root: Path) -> dict[tuple[str, str, str], dict]:
    records = [json.loads(path.read_text()) for path in sorted((root / "comparisons").glob("*.json"))]
    return {(r["question_id"], pair["handbook_a"], pair["handbook_b"]): pair for r in records for pair in r["pairs"]}


def answered(root: Path) -> dict[tuple[str, str], dict]:
    return {(a["question_id"], a["handbook_id"]): a for a in lines(root / "answers.jsonl")}


def test_answers_are_missed_at_the_stated_rate_and_none_is_won():
    earlier = draw_earlier(small_config(SEED))
    there = draw_world(small_config(SEED)).present
    assert (earlier.complete.present == there).all()
    assert not (earlier.world.present & ~there).any()
    missed = there.sum() - earlier.world.present.sum()
    assert abs(missed / there.sum() - MISSED_SHARE) < 3 * np.sqrt(MISSED_SHARE * (1 - MISSED_SHARE) / there.sum())


def test_the_manifest_says_what_makes_it_weaker_and_that_it_is_synthetic(written):
    main, earlier = (json.loads((root / "manifest.json").read_text()) for root in written)
    assert earlier["synthetic"] is True
    assert (earlier["run_id"], earlier["answers_lost_share"]) == ("demo-earlier", MISSED_SHARE)
    assert "No verdict is changed" in earlier["mechanism"]
    assert earlier["date"] < main["date"]
    assert (earlier["questions"], earlier["handbooks"], earlier["pairs"]) == (main["questions"], main["handbooks"], main["pairs"])


def test_a_pair_is_that_of_the_main_run_word_for_word_or_prescreened_because_an_answer_was_missed(written):
    (main, earlier), (there, here) = map(pairs, written), map(answered, written)
    changed = [key for key in main if main[key] != earlier[key]]
    assert changed
    for question, a, b in changed:
        assert earlier[question, a, b]["judge_metadata"] is None
        assert any(here[question, side]["absent"] and not there[question, side]["absent"] for side in (a, b))
    for key in main.keys() - set(changed):
        assert main[key] == earlier[key]


def test_an_answer_is_that_of_the_main_run_or_says_that_nothing_is_there(written):
    there, here = map(answered, written)
    assert all(here[key] == there[key] or here[key]["absent"] for key in there)


def test_the_truth_beside_it_is_of_what_it_saw(written):
    here = answered(written[1])
    for record in lines(written[1] / "truth.jsonl"):
        for handbook, value in record["values"].items():
            assert (value is None) == here[record["question_id"], handbook]["absent"]


def test_the_same_seed_gives_the_same_bytes_and_an_earlier_one_is_replaced(written, tmp_path):
    again = write_earlier(tmp_path / "again", SEED)
    (again / "left-over.json").write_text("{}")
    assert digest(write_earlier(again, SEED)) == digest(written[1])


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(ReleaseError, match="is not an earlier demo"):
        write_earlier(tmp_path)
