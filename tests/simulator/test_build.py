"""The demo release on disk: complete, true to its own truth, the same every time."""

import hashlib
import json
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from audit.errors import ReleaseError
from audit.vocabulary import DISAGREEING, LABELS, NOT_ADDRESSED
from tests.simulator.build import write_demo
from tests.simulator.config import small_config
from tests.simulator.judge import simulate_labels
from tests.simulator.world import draw_world


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def digest(root: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        found.update(str(path.relative_to(root)).encode() + path.read_bytes())
    return found.hexdigest()


@pytest.fixture(scope="module")
def demo(written_demo) -> Path:
    return written_demo(7)


@pytest.fixture(scope="module")
def answered(demo) -> dict[tuple[str, str], dict]:
    return {(a["question_id"], a["handbook_id"]): a for a in lines(demo / "answers.jsonl")}


@pytest.fixture(scope="module")
def comparisons(demo) -> list[dict]:
    return [json.loads((demo / "comparisons" / f"{q['question_id']}.json").read_text()) for q in lines(demo / "questions.jsonl")]


@pytest.fixture(scope="module")
def judged(comparisons) -> list[dict]:
    return [pair for comparison in comparisons for pair in comparison["pairs"] if pair["judge_metadata"]]


def test_the_manifest_says_synthetic_and_counts_what_was_written(demo, answered, comparisons, judged):
    manifest = json.loads((demo / "manifest.json").read_text())
    assert manifest["synthetic"] is True
    assert (manifest["questions"], manifest["handbooks"], manifest["answers"]) == (len(comparisons), 24, len(answered))
    assert (manifest["pairs"], manifest["pairs_judged"]) == (len(comparisons) * 24 * 23 // 2, len(judged))


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(demo, tmp_path):
    assert digest(write_demo(tmp_path / "again", seed=7)) == digest(demo)
    assert digest(write_demo(tmp_path / "other", seed=8)) != digest(demo)


def test_every_pair_of_handbooks_is_listed_once_for_every_question(demo, comparisons):
    expected = list(combinations([book["handbook_id"] for book in lines(demo / "handbooks.jsonl")], 2))
    for comparison in comparisons:
        assert [(pair["handbook_a"], pair["handbook_b"]) for pair in comparison["pairs"]] == expected


def test_a_pair_is_prescreened_exactly_when_an_answer_is_absent(answered, comparisons):
    for comparison in comparisons:
        for pair in comparison["pairs"]:
            sides = [answered[comparison["question_id"], pair[side]] for side in ("handbook_a", "handbook_b")]
            assert (pair["judge_metadata"] is None) == any(answer["absent"] for answer in sides)


def test_a_prescreened_pair_is_absent_and_says_nothing(comparisons):
    silent = [pair for comparison in comparisons for pair in comparison["pairs"] if pair["judge_metadata"] is None]
    assert {pair["classification"] for pair in silent} == {"ABSENT"}
    assert {pair[field] for pair in silent for field in ("reasoning", "divergence_topic", "clinical_significance")} == {None}


def test_significance_stands_on_disagreeing_pairs_only_and_topics_on_a_few_complementary_ones_too(judged):
    for pair in judged:
        disagrees = pair["classification"] in [str(label) for label in DISAGREEING]
        assert (pair["clinical_significance"] in {"low", "medium", "high"}) == disagrees
        assert bool(pair["divergence_topic"]) == disagrees or pair["classification"] == "COMPLEMENTARY"
    complementary = [pair for pair in judged if pair["classification"] == "COMPLEMENTARY"]
    with_topic = sum(bool(pair["divergence_topic"]) for pair in complementary)
    assert 0 < with_topic < 0.05 * len(complementary)


def test_some_pairs_are_unscored_and_keep_their_usage(judged):
    unscored = [pair for pair in judged if pair["classification"] is None]
    assert 0 < len(unscored) < 0.02 * len(judged)
    assert all(pair["judge_metadata"]["input_tokens"] > 0 for pair in unscored)


def test_absent_answers_say_so_mostly_by_prefix_and_cite_nothing(answered):
    absent = [answer for answer in answered.values() if answer["absent"]]
    for answer in absent:
        assert answer["answer"].startswith(NOT_ADDRESSED) == (answer["absence_method"] == "prefix")
        assert "citations" not in (answer["retrieval"] or {})
    methods = Counter(answer["absence_method"] for answer in absent)
    assert set(methods) == {"prefix", "check"}
    assert methods["prefix"] > 4 * methods["check"]


def test_the_truth_beside_the_release_is_the_one_that_the_labels_were_drawn_from(demo, answered):
    world = draw_world(small_config(7))
    labels = simulate_labels(world)
    for number, record in enumerate(lines(demo / "truth.jsonl")):
        relation = np.array(record["relation"])
        assert (relation[world.pairs] == labels.truth[number]).all()
        assert (relation == relation.T).all()
        for handbook, value in record["values"].items():
            assert (value is None) == answered[record["question_id"], handbook]["absent"]


def test_the_labels_on_disk_are_those_of_the_text_free_draw(comparisons):
    labels = simulate_labels(draw_world(small_config(7)))
    for number, comparison in enumerate(comparisons):
        codes = [LABELS.index(p["classification"]) if p["classification"] else -1 for p in comparison["pairs"]]
        assert codes == labels.judge[number].tolist()


def test_progress_is_told_after_every_question(tmp_path):
    told = []
    write_demo(tmp_path / "demo", progress=lambda done, total: told.append((done, total)))
    assert told == [(n + 1, len(told)) for n in range(len(told))]


def test_an_earlier_demo_is_replaced_and_nothing_of_it_stays(tmp_path):
    root = write_demo(tmp_path / "demo")
    (root / "comparisons" / "left-over.json").write_text("{}")
    write_demo(root)
    assert not (root / "comparisons" / "left-over.json").exists()


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(ReleaseError, match="is not an earlier demo"):
        write_demo(tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_an_unknown_scale_is_refused_by_name(tmp_path):
    with pytest.raises(ReleaseError, match=r"Scale 'huge' is unknown\. Allowed: small, paper"):
        write_demo(tmp_path / "demo", scale="huge")
    assert not (tmp_path / "demo").exists()
