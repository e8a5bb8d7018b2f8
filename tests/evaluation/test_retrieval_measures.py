"""Measures of retrieval: arithmetic by hand, and what is unknown."""

from __future__ import annotations

from math import log2

import pytest

from audit.evaluation.retrieval_measures import retrieval_measures

pytest.importorskip("ir_measures", reason="ir_measures is not installed (extra pipeline)")


def test_measures_of_a_list_with_one_of_two_gold_passages_at_rank_two():
    values = retrieval_measures({"q": ["x", "a", "y"]}, {"q": {"a", "b"}})["q"]
    assert values["p_at_5"] == 1 / 5
    assert values["recall_at_5"] == 1 / 2
    assert values["mrr"] == 1 / 2
    assert values["ndcg"] == pytest.approx((1 / log2(3)) / (1 / log2(2) + 1 / log2(3)))


def test_a_passage_listed_twice_counts_once_and_at_its_first_rank():
    values = retrieval_measures({"q": ["x", "x", "a", "a"]}, {"q": {"a"}})["q"]
    assert (values["mrr"], values["p_at_5"]) == (1 / 2, 1 / 5)


def test_an_empty_list_finds_nothing_and_a_question_without_gold_is_unknown():
    values = retrieval_measures({"empty": [], "unknown": ["a"]}, {"empty": {"a"}, "unknown": set()})
    assert values == {"empty": {"p_at_5": 0, "recall_at_5": 0, "ndcg": 0, "mrr": 0}}
    assert retrieval_measures({}, {}) == {}
