"""Measures of a ranked list, by hand."""

from __future__ import annotations

import random
from math import log2

import pytest

from audit.evaluation.gold import first_gold_rank, hit_at, ndcg_at, reciprocal_rank

LISTED = ["s1", "s2", "s3", "s4", "s5", "s6"]


def test_hit_at_k_is_1_when_a_gold_section_is_among_the_first_k() -> None:
    assert (hit_at(LISTED, {"s2"}, 1), hit_at(LISTED, {"s2"}, 5)) == (0.0, 1.0)
    assert (hit_at(LISTED, {"s6"}, 5), hit_at([], {"s6"}, 5)) == (0.0, 0.0)


def test_the_reciprocal_rank_uses_the_first_gold_section() -> None:
    assert reciprocal_rank(LISTED, {"s3", "s5"}) == pytest.approx(1 / 3)
    assert reciprocal_rank(LISTED, {"s9"}) == 0.0
    assert (first_gold_rank(LISTED, {"s3", "s5"}), first_gold_rank(LISTED, {"s9"})) == (3, None)


def test_ndcg_of_one_gold_section_is_its_discount() -> None:
    assert ndcg_at(LISTED, {"s1"}, 5) == 1.0
    assert ndcg_at(LISTED, {"s3"}, 5) == pytest.approx(1 / 2)  # log2(4) = 2
    assert ndcg_at(LISTED, {"s6"}, 5) == 0.0


def test_ndcg_of_two_gold_sections_is_relative_to_the_best_order_of_both() -> None:
    best = 1 + 1 / log2(3)
    assert ndcg_at(LISTED, {"s1", "s3"}, 5) == pytest.approx((1 + 1 / 2) / best)
    assert ndcg_at(LISTED, {"s1", "s2"}, 5) == pytest.approx(1.0)


def test_a_section_listed_twice_gains_once() -> None:
    assert ndcg_at(["s1", "s1", "s2"], {"s1"}, 5) == 1.0
    assert ndcg_at(["s1"], {"s1", "s2", "s3"}, 1) == 1.0


def test_without_gold_sections_every_measure_is_unknown() -> None:
    assert [measure(LISTED, set(), 5) for measure in (hit_at, ndcg_at)] == [None, None]
    assert reciprocal_rank(LISTED, set()) is None


def test_ndcg_agrees_with_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    sections = [f"s{number}" for number in range(12)]
    for seed in range(20):
        draw = random.Random(seed)
        ranked, gold = draw.sample(sections, len(sections)), set(draw.sample(sections, 1 + seed % 4))
        truth = [[float(section in gold) for section in sections]]
        scores = [[-float(ranked.index(section)) for section in sections]]
        assert ndcg_at(ranked, gold, 5) == pytest.approx(metrics.ndcg_score(truth, scores, k=5))
