"""Bradley-Terry strengths: published ones, hand arithmetic for two systems, and known truth."""

import numpy as np
import pandas as pd
import pytest

from audit.evaluation.preferences import bradley_terry, strengths
from tests.evaluation.comparisons import comparisons_from, comparisons_of

TEAMS = ["Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore"]
WINS = [
    [0, 7, 9, 7, 7, 9, 11], [6, 0, 7, 5, 11, 9, 9], [4, 6, 0, 7, 7, 8, 12], [6, 8, 6, 0, 6, 7, 10], [6, 2, 6, 7, 0, 7, 12],
    [4, 4, 5, 6, 6, 0, 6], [2, 4, 1, 3, 1, 7, 0],
]  # fmt: skip
"""Wins of the American League's eastern teams in 1987: Agresti (2002), Categorical Data Analysis, 2nd ed., table 10.10."""


def test_the_strengths_of_baseball_teams_are_those_that_are_published():
    """Agresti, section 10.6.3: 1.58, 1.44, 1.29, 1.25, 1.11, 0.68 and 0."""
    fitted = strengths(np.array([WINS], dtype=float))[0]
    assert (fitted - fitted[-1]).round(2).tolist() == [1.58, 1.44, 1.29, 1.25, 1.11, 0.68, 0]


def test_two_systems_differ_by_the_log_of_their_odds_and_a_tie_is_half_a_win():
    """5 wins, 2 losses, 1 tie and 1 bad for both: 6 to 3."""
    table = "\n".join(f"q{n} x y {choice}" for n, choice in enumerate(["A"] * 5 + ["B"] * 2 + ["tie", "both_bad"]))
    result = bradley_terry(comparisons_from(table), ["x", "y", "never compared"]).set_index("system_id")
    assert result["wins"].tolist() == [6, 3, 0]
    assert result.loc["x", "strength"] - result.loc["y", "strength"] == pytest.approx(np.log(6 / 3), abs=0.001)
    assert result["rank"].tolist()[:2] == [1, 2]
    assert pd.isna(result.loc["never compared", ["strength", "rank"]]).all()


@pytest.mark.parametrize(
    "table", ["q1 x y A\nq2 x y A", "q1 x y A\nq2 x y B\nq1 v w A\nq2 v w B", "q1 x y A\nq2 y z A\nq3 x z A"]
)
def test_where_no_finite_strengths_fit_there_are_none(table):
    """One side won everything; two groups that never met; one system won against all others."""
    result = bradley_terry(comparisons_from(table), ["v", "w", "x", "y", "z"])
    assert result[["strength", "strength_low", "strength_high"]].isna().all(axis=None)


def test_few_questions_give_strengths_without_interval():
    result = bradley_terry(comparisons_from("q1 x y A\nq2 x y B\nq3 x y A"), ["x", "y"])
    assert result["strength"].notna().all()
    assert result["strength_low"].isna().all()


def test_the_intervals_cover_the_truth():
    """100 worlds of 40 questions: 95 % of 300 intervals, give or take three standard errors of worlds."""
    truth = {"good": 0.6, "middling": 0.0, "poor": -0.6}
    covered = []
    for seed in range(100):
        result = bradley_terry(comparisons_of(truth, 40, seed), list(truth))
        expected = np.array(list(truth.values()))
        covered += ((result["strength_low"] <= expected) & (expected <= result["strength_high"])).tolist()
    assert 0.90 <= np.mean(covered) <= 0.99
