"""Pairs that need a judge, expected from the answers so far, by hand."""

from __future__ import annotations

import pytest

from audit.pipeline.stages.plan import ExpectedPairs, answers_so_far


def answers(*patterns: str) -> list[tuple[str, bool, int]]:
    """One question a pattern; `+` is an answer of 100 characters, `-` an absent one."""
    return [(f"q{number}", mark == "-", 100) for number, pattern in enumerate(patterns) for mark in pattern]


def test_answers_and_their_pairs_are_counted_by_question() -> None:
    so_far = answers_so_far(answers("++-", "+-", "+"))
    assert (so_far.answers, so_far.present, so_far.characters) == (6, 4, 400)
    assert (so_far.pairs, so_far.present_pairs) == (3 + 1, 1)


def test_the_share_of_pairs_is_theirs_where_there_are_enough_and_else_that_of_two_answers() -> None:
    few = answers_so_far(answers("++-", "+-", "+"))
    assert few.present_pair_share == pytest.approx((4 / 6) ** 2)
    many = answers_so_far(answers("++++++++", "--------"))  # silence comes by question: half of the answers, half of the pairs
    assert many.present_share == 0.5
    assert many.present_pair_share == 28 / 56


def test_without_answers_the_published_middle_is_expected() -> None:
    pairs = ExpectedPairs(1_000, 400, answers_so_far([]), exact=False)
    assert (pairs.to_judge, pairs.prescreened) == (310, 690)
    assert "60% to 78%; replaced by this run's own share once there are answers" in pairs.text


def test_with_all_answers_the_pairs_are_counted() -> None:
    pairs = ExpectedPairs(4, 6, answers_so_far(answers("++-", "+-", "+")), exact=True)
    assert pairs.text == "4 pairs, 3 of them ABSENT without a judge."


def test_with_some_answers_the_text_names_how_many() -> None:
    pairs = ExpectedPairs(400, 60, answers_so_far(answers("++-", "+-", "+")), exact=False)
    assert pairs.to_judge == round(400 * (4 / 6) ** 2)
    assert "as in the 6 of 60 answers that exist, of which 33% are absent" in pairs.text


def test_without_a_pair_nothing_is_expected() -> None:
    assert ExpectedPairs(0, 0, answers_so_far([]), exact=False).text == "0 pairs."
