"""Short answers compared: what counts as the same, and shared words."""

import pytest

from audit.evaluation.stress_measures import exact_match, token_f1


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("The 3 days.", "3 days"), ("5mg", "5 mg"), ("three-day course", "Three day course"), ("2.5 mg", "2.5 mg"), ("20%", "20 %")],
)
def test_case_articles_punctuation_and_glued_units_do_not_matter(answer, expected):
    assert exact_match(answer, expected)
    assert token_f1(answer, expected) == 1


@pytest.mark.parametrize(
    ("answer", "expected"), [("3 days", "9 days"), ("2.5 mg", "25 mg"), ("", "3 days"), ("the", "a"), (".", "")]
)
def test_another_amount_and_an_empty_answer_are_never_right(answer, expected):
    assert not exact_match(answer, expected)


def test_token_f1_is_the_published_formula():
    # 2 of 3 words given, 2 of 2 wanted: 2 * 2 / (3 + 2)
    assert token_f1("about 3 days", "3 days") == pytest.approx(0.8)
    assert token_f1("weeks", "3 days") == 0
    # A word counts as often as both have it
    assert token_f1("no no", "no") == pytest.approx(2 / 3)
