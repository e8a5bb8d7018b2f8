"""Measures of a ranked list, by hand."""

from __future__ import annotations

import random
from math import log2

import pytest

from audit.retrieval.measures import hit, ndcg, rank, reciprocal_rank

LISTED = ["s1", "s2", "s3", "s4", "s5", "s6"]


def test_a_hit_is_a_gold_section_among_the_first_k() -> None:
    assert (hit(LISTED, {"s2"}, 1), hit(LISTED, {"s2"}, 5)) == (0.0, 1.0)
    assert (hit(LISTED, {"s6"}, 5), hit([], {"s6"}, 5)) == (0.0, 0.0)


def test_the_reciprocal_rank_is_that_of_the_first_gold_section() -> None:
    assert reciprocal_rank(LISTED, {"s3", "s5"}) == pytest.approx(1 / 3)
    assert reciprocal_rank(LISTED, {"s9"}) == 0.0
    assert (rank(LISTED, {"s3", "s5"}), rank(LISTED, {"s9"})) == (3, None)


def test_ndcg_of_one_gold_section_is_its_discount() -> None:
    assert ndcg(LISTED, {"s1"}, 5) == 1.0
    assert ndcg(LISTED, {"s3"}, 5) == pytest.approx(1 / 2)  # log2(4) = 2
    assert ndcg(LISTED, {"s6"}, 5) == 0.0


def test_ndcg_of_two_gold_sections_is_held_against_the_best_order_of_both() -> None:
    best = 1 + 1 / log2(3)
    assert ndcg(LISTED, {"s1", "s3"}, 5) == pytest.approx((1 + 1 / 2) / best)
    assert ndcg(LISTED, {"s1", "s2"}, 5) == pytest.approx(1.0)


def test_no_list_gains_more_than_the_best_one_although_a_section_stands_twice() -> None:
    assert ndcg(["s1", "s1", "s2"], {"s1"}, 5) == 1.0
    assert ndcg(["s1"], {"s1", "s2", "s3"}, 1) == 1.0


def test_without_gold_nothing_is_measured_and_nothing_is_missed() -> None:
    assert [measure(LISTED, set(), 5) for measure in (hit, ndcg)] == [None, None]
    assert reciprocal_rank(LISTED, set()) is None


def test_ndcg_is_that_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    sections = [f"s{number}" for number in range(12)]
    for seed in range(20):
        draw = random.Random(seed)
        ranked, gold = draw.sample(sections, len(sections)), set(draw.sample(sections, 1 + seed % 4))
        truth = [[float(section in gold) for section in sections]]
        scores = [[-float(ranked.index(section)) for section in sections]]
        assert ndcg(ranked, gold, 5) == pytest.approx(metrics.ndcg_score(truth, scores, k=5))
