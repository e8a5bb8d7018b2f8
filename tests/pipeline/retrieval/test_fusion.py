"""Fusion of rankings and the scales of scores, by hand."""

from __future__ import annotations

from math import log

import pytest

from audit.pipeline.retrieval.fusion import heading_similarity, max_scale, min_max_scale, reciprocal_rank_fusion, score_fusion
from audit.pipeline.retrieval.index import build_index
from audit.text.documents import Section
from tests.pipeline.retrieval.handbooks import ALDER, PASSAGES, handbook


def test_reciprocal_ranks_add_up_by_hand() -> None:
    first, second = {7: 1, 8: 2}, {8: 1, 9: 2}
    equal = [(first, 1.0), (second, 1.0)]
    assert reciprocal_rank_fusion(equal, 60) == pytest.approx({8: 1 / 62 + 1 / 61, 7: 1 / 61, 9: 1 / 62})
    assert list(reciprocal_rank_fusion([(first, 1.0), (second, 3.0)], 60)) == [8, 9, 7], "3/62 is more than 1/61"
    assert list(reciprocal_rank_fusion(equal, 60, {8: 0.3})) == [7, 9, 8], "0.3 (1/62 + 1/61) is less than 1/62"


def test_equal_sums_stay_in_reading_order() -> None:
    assert list(reciprocal_rank_fusion([({5: 1}, 1.0), ({2: 1}, 1.0)], 60)) == [2, 5]


def test_scores_add_up_by_hand() -> None:
    first, second = {7: 1.0, 8: 0.5}, {8: 1.0, 9: 0.25}
    assert score_fusion([(first, 1.0), (second, 0.3)]) == pytest.approx({7: 1.0, 8: 0.8, 9: 0.075})
    assert list(score_fusion([(first, 1.0), (second, 0.6)])) == [8, 7, 9], "0.5 + 0.6 is more than 1"
    assert list(score_fusion([(first, 1.0), (second, 0.6)], {8: 0.3})) == [7, 8, 9], "0.3 of 1.1 is less than 1"


def test_cosines_are_scaled_from_the_lowest_and_bm25_scores_from_zero() -> None:
    index = build_index(ALDER, PASSAGES)
    assert min_max_scale(index, {3: 0.8, 1: 0.7, 2: 0.6}, "") == pytest.approx({3: 1.0, 1: 0.5, 2: 0.0})
    assert max_scale(index, {3: 8.0, 1: 6.0}, "") == pytest.approx({3: 1.0, 1: 0.75})
    assert min_max_scale(index, {3: 0.6}, "") == {3: 1.0}, "the only hit is the nearest"
    assert (min_max_scale(index, {}, ""), max_scale(index, {}, "")) == ({}, {})


def test_a_heading_is_similar_to_a_question_by_the_words_they_share() -> None:
    # Three headings; "deposit" is in two of them, the other words are in one: idf log(1 + 3/2.5) and log(1 + 3/1.5).
    sections = Section("s1", "Deposit limit", "a"), Section("s2", "Deposit return", "b"), Section("s3", "Pets", "c")
    index = build_index(handbook(*sections), PASSAGES)
    common, rare = log(1 + 3 / 2.5), log(1 + 3 / 1.5)
    limit, deposit_return, pets = index.title_tokens
    assert heading_similarity(index, limit, limit) == pytest.approx(1)
    assert heading_similarity(index, limit & deposit_return, limit) == pytest.approx(common / (common + rare))
    assert heading_similarity(index, deposit_return, limit) == pytest.approx((common / (common + rare)) ** 2)
    assert heading_similarity(index, pets, limit) == 0
