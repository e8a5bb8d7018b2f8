"""Measures of answers by their evidence, by hand."""

from __future__ import annotations

import pytest

from audit.evaluation.retrieval_measures import answer_relevance, context_precision, is_verbatim, share_accepted


def test_a_share_is_of_all_and_none_of_nothing() -> None:
    assert share_accepted([True, True, False, True]) == 0.75
    assert share_accepted([False]) == 0
    assert share_accepted([]) is None


@pytest.mark.parametrize(
    ("useful", "expected"),
    [
        # Precision at the ranks of the useful passages: 1/1 and 2/3
        ("yny", (1 + 2 / 3) / 2),
        ("nny", 1 / 3),
        ("yyn", 1),
        ("nn", 0),
    ],
)
def test_context_precision_rewards_useful_passages_that_come_first(useful: str, expected: float) -> None:
    assert context_precision([letter == "y" for letter in useful]) == pytest.approx(expected)


def test_no_passage_is_no_precision() -> None:
    assert context_precision([]) is None


def test_a_grade_is_a_share_of_the_best() -> None:
    assert [answer_relevance(grade) for grade in (0, 1, 2)] == [0, 0.5, 1]


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("Call us before you travel.", True),
        ("Call us\n before  you travel.", True),
        ("call us before you travel.", False),
        ("Call us before you fly.", False),
        ("", False),
        ("  ", False),
    ],
)
def test_a_quote_is_verbatim_but_for_white_space(quote: str, expected: bool) -> None:
    assert is_verbatim(quote, "In short: Call us before\nyou travel. Rest.") is expected
