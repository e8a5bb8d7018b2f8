"""Comparisons of two answers: sides, ties and agreement, on tables that a person can check."""

import numpy as np
import pandas as pd
import pytest

from audit.evaluation.preferences import PREFERENCES, alignment, chosen, kappa_of, oriented, share_of
from tests.evaluation.comparisons import comparisons_from


def test_a_comparison_is_turned_round_with_everything_that_has_a_side():
    turned = oriented(
        comparisons_from("""
            q1 alone rag A A B
            q2 rag alone A A B
            q3 rag alone tie B -
            q4 rag alone both_bad - A
        """),
        ["alone", "rag"],
    )
    assert (turned["system_a"] == "alone").all()
    assert turned[["preference", "shown_first", "longer"]].fillna("-").to_numpy().tolist() == [
        ["A", "A", "B"],
        ["B", "B", "A"],
        ["tie", "A", "-"],
        ["both_bad", "-", "B"],
    ]


def test_where_both_are_bad_neither_is_better():
    assert chosen(comparisons_from("q a b both_bad\nq a b A")).tolist() == ["tie", "A"]


def test_a_share_leaves_out_what_is_not_eligible():
    question, event, eligible = (pd.Series(values) for values in ([1, 1, 2], [True, False, True], [True, True, False]))
    share = share_of(question, event, eligible)
    assert (share.count, share.of, share.value) == (1, 2, 0.5)
    nothing = share_of(question, event, pd.Series([False] * 3))
    assert (nothing.of, np.isnan(nothing.value), np.isnan(nothing.low)) == (0, True, True)


def test_the_judges_ties_count_as_a_tie_or_for_one_system():
    """People: A A B tie. Judge: A tie tie tie. Exact: the first and the last; ties to A: the first two; ties to B: 1 and 3."""
    question = pd.Series(range(4))
    table = alignment(question, pd.Series(["A", "A", "B", "tie"]), pd.Series(["A", "tie", "tie", "tie"])).set_index("rule")
    assert table["agreed"].to_dict() == {"exact": 2, "ties_to_a": 2, "ties_to_b": 2}
    assert set(table["of"]) == {4}


def test_a_comparison_without_a_choice_of_the_judge_is_not_compared():
    table = alignment(pd.Series([1, 2]), pd.Series(["A", "A"]), pd.Series(["A", None]))
    assert table["of"].tolist() == [1, 1, 1]


def test_kappa_of_two_raters_is_cohens():
    """Twenty questions, 8 + 6 agreed; by chance they agree on .5 x 12/20 + .5 x 8/20 of them."""
    first, second = pd.Series(["A"] * 10 + ["B"] * 10), pd.Series(["A"] * 8 + ["B"] * 2 + ["A"] * 4 + ["B"] * 6)
    observed, chance = 14 / 20, 0.5 * 12 / 20 + 0.5 * 8 / 20
    value, low, high = kappa_of(pd.Series(range(20)), first, second, PREFERENCES)
    assert value == pytest.approx((observed - chance) / (1 - chance))
    assert low < value < high


def test_over_several_couples_kappa_does_not_depend_on_which_system_is_called_a():
    first, second = pd.Series(["A"] * 10 + ["B"] * 10), pd.Series(["A"] * 8 + ["B"] * 2 + ["A"] * 4 + ["B"] * 6)
    exchanged = {"A": "B", "B": "A"}
    # The second couple, the last ten comparisons, with its systems named the other way round
    turned = [pd.concat([choice[:10], choice[10:].map(exchanged)]) for choice in (first, second)]
    question = pd.Series(range(20))
    assert kappa_of(question, *turned, PREFERENCES)[0] != pytest.approx(kappa_of(question, first, second, PREFERENCES)[0])
    named, other = (kappa_of(question, *pair, PREFERENCES, couples=2) for pair in ((first, second), turned))
    assert named == pytest.approx(other)
