"""Whether the side shown first, or the longer answer, wins for that reason: counts by hand, and known truth."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact

from audit.evaluation.preferences import side_effect
from tests.evaluation.comparisons import comparisons_from, comparisons_of

TRUTH = {"good": 0.7, "middling": 0.0, "poor": -0.7}


def couple(a_first_a_wins: int, a_first_b_wins: int, b_first_a_wins: int, b_first_b_wins: int, first: str = "x") -> pd.DataFrame:
    cells = (("A", "A", a_first_a_wins), ("B", "A", a_first_b_wins), ("A", "B", b_first_a_wins), ("B", "B", b_first_b_wins))
    lines = [f"{first} y {winner} {side}" for winner, side, number in cells for _ in range(number)]
    return comparisons_from("\n".join(f"q{number} {line}" for number, line in enumerate(lines)))


def test_a_better_system_that_is_often_first_is_no_effect_of_being_first():
    """x wins 3 in 4 on either side. First in 16 of 20, so that the first side wins 13, yet the effect is (3/4 + 1/4) / 2."""
    effect = side_effect(couple(12, 4, 3, 1), "shown_first")
    assert (effect.won, effect.comparisons, effect.informative) == (12 + 1, 20, 20)
    assert effect.adjusted == pytest.approx((12 / 16 + 1 / 4) / 2) == 0.5
    assert effect.p_value == 1


def test_the_exact_p_value_of_one_couple_is_fishers():
    effect = side_effect(couple(9, 2, 3, 8), "shown_first")
    assert effect.p_value == pytest.approx(fisher_exact([[9, 2], [3, 8]]).pvalue)
    assert effect.adjusted == pytest.approx((9 / 11 + 8 / 11) / 2)


def test_one_system_always_first_cannot_be_told_from_a_first_side_that_wins():
    """The source paper showed the same system first in all 66 comparisons: 55 wins of 56 say nothing about sides."""
    effect = side_effect(couple(55, 1, 0, 0), "shown_first")
    assert (effect.won, effect.comparisons, effect.informative) == (55, 56, 0)
    assert np.isnan([effect.adjusted, effect.adjusted_low, effect.p_value]).all()


def test_ties_and_unknown_sides_are_left_out_and_which_system_is_named_first_does_not_matter():
    table = comparisons_from("""
        q1 x y A A
        q2 y x A A
        q3 x y tie A
        q4 x y both_bad B
        q5 x y A -
    """)
    effect = side_effect(table, "shown_first")
    assert (effect.won, effect.comparisons, effect.adjusted) == (2, 2, 1.0)


def test_a_system_that_always_wins_hides_any_effect_and_one_that_hardly_loses_leaves_it_without_interval():
    always = side_effect(couple(8, 0, 8, 0), "shown_first")
    assert (always.informative, always.comparisons) == (0, 16)
    assert np.isnan(always.adjusted)
    hardly = side_effect(couple(8, 1, 8, 1), "shown_first")
    assert hardly.adjusted == 0.5
    assert np.isnan([hardly.adjusted_low, hardly.adjusted_high]).all()


def test_a_side_that_wins_every_time_or_is_hardly_ever_favoured_leaves_no_interval():
    """4 of 4 and 8 of 8 are the same in every draw, and of a side with 3 of 4 most draws have nearly as many."""
    for few in (couple(13, 29, 0, 4), couple(13, 29, 0, 8), couple(13, 29, 1, 3)):
        effect = side_effect(few, "shown_first")
        assert not np.isnan([effect.adjusted, effect.p_value]).any()
        assert np.isnan([effect.adjusted_low, effect.adjusted_high]).all()


def test_an_interval_that_is_known_covers_the_truth_although_one_system_is_rarely_first():
    """Of 80 comparisons x is first in nine tenths and wins a fifth on either side. Sparse tables once covered 0.5 in 77 %."""
    random, effects = np.random.default_rng(14), []
    for _ in range(120):
        first, won = random.random(80) < 0.9, random.random(80) < 0.2
        counts = [int(np.count_nonzero(side & winner)) for side in (first, ~first) for winner in (won, ~won)]
        effects.append(side_effect(couple(*counts), "shown_first"))
    known = [effect for effect in effects if not np.isnan(effect.adjusted_low)]
    assert len(known) > 60
    assert np.mean([effect.adjusted_low <= 0.5 <= effect.adjusted_high for effect in known]) >= 0.93


def test_no_comparison_at_all_is_nothing_and_no_error():
    effect = side_effect(couple(0, 0, 0, 0).iloc[:0], "shown_first")
    assert effect.comparisons == 0
    assert np.isnan([effect.share, effect.adjusted, effect.p_value]).all()


def test_two_couples_are_compared_each_with_itself():
    """In each couple being first helps, and the couples differ in who is better: without couples the effect would be hidden."""
    both = pd.concat([couple(9, 1, 5, 5), couple(5, 5, 1, 9, first="z")], ignore_index=True)
    both["question"] = [f"q{number}" for number in range(len(both))]
    effect = side_effect(both, "shown_first")
    assert effect.adjusted == pytest.approx((0.9 + 0.5 + 0.5 + 0.9) / 4)
    assert effect.p_value < 0.05


def test_a_longer_answer_that_wins_only_because_its_system_is_better_is_no_length_effect():
    """100 worlds: the raw share is far from one half, the adjusted interval covers it, and the test rejects in about 5 %."""
    effects = [side_effect(comparisons_of(TRUTH, 30, seed), "longer") for seed in range(100)]
    assert np.mean([effect.share for effect in effects]) > 0.57
    assert np.mean([effect.adjusted_low <= 0.5 <= effect.adjusted_high for effect in effects]) >= 0.87
    assert np.mean([effect.p_value < 0.05 for effect in effects]) <= 0.11


def test_an_effect_of_being_first_is_found():
    """Odds of e to the 0.8 for the first side: 0.69 of comparisons of equals, less where one of the two is better."""
    effects = [side_effect(comparisons_of(TRUTH, 80, seed, first=0.8), "shown_first") for seed in range(20)]
    assert 0.62 < np.mean([effect.adjusted for effect in effects]) < 0.69
    assert all(effect.p_value < 0.05 and effect.adjusted_low > 0.5 for effect in effects)
