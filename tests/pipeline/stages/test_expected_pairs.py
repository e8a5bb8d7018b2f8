"""Pairs that need a judge: counted, or expected by the published share."""

from __future__ import annotations

from audit.pipeline.stages.plan import ExpectedPairs


def test_without_all_answers_the_published_share_of_pairs_is_absent() -> None:
    pairs = ExpectedPairs(1_000)
    assert (pairs.to_judge, pairs.exact) == (310, False)
    assert (
        pairs.text
        == "1,000 pairs, about 690 of them ABSENT without a judge (by the published share of 69%, until all answers exist)."
    )


def test_once_all_answers_exist_the_pairs_are_counted() -> None:
    pairs = ExpectedPairs(4, 1)
    assert (pairs.to_judge, pairs.exact) == (1, True)
    assert pairs.text == "4 pairs, 3 of them ABSENT without a judge."


def test_a_run_without_pairs_says_so() -> None:
    assert ExpectedPairs(0).text == "0 pairs, 0 of them ABSENT without a judge."
