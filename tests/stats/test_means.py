"""Means over questions: arithmetic by hand, known coverage, and intervals that cannot be known."""

from __future__ import annotations

import numpy as np
import pytest

from audit.stats.means import mean_change, mean_interval
from audit.stats.paired import correlation_interval, pearson, spearman


def test_the_interval_of_a_mean_is_that_of_students_t_on_many_values():
    values = np.random.default_rng(1).normal(5, 2, 400)
    mean, low, high = mean_interval(values)
    half = 1.966 * values.std(ddof=1) / 20  # Student's t with 399 degrees of freedom
    assert mean == values.mean()
    assert [low, high] == pytest.approx([mean - half, mean + half], abs=0.03)


def test_no_interval_without_spread_or_with_few_questions():
    for values in ([2.0] * 50, [1.0, 2, 3, 4], [0.1] * 3):
        mean, low, high = mean_interval(np.array(values))
        assert mean == pytest.approx(np.mean(values))
        assert np.isnan([low, high]).all()
    assert np.isnan(mean_interval(np.array([]))).all()


def test_values_of_one_question_are_drawn_together():
    once = np.random.default_rng(2).normal(0, 1, 60)
    plain, clustered = mean_interval(once), mean_interval(np.repeat(once, 4), np.repeat(np.arange(60), 4))
    assert clustered == pytest.approx(plain, abs=1e-6)  # four copies of a value are not four times as much


def test_a_change_is_the_mean_difference_and_says_where_it_goes():
    better = mean_change(np.array([1.0, 2, 1, 0, 2, 1, 1, 0]))
    assert (better["change"], better["questions"], better["moves"]) == (1.0, 6, "rises")
    assert better["change_low"] > 0
    assert mean_change(np.zeros(9))["moves"] == "the same"
    assert mean_change(np.array([0.0, 0, 1]))["moves"] == "too few questions"
    assert mean_change(np.array([]))["moves"] == "too few questions"
    assert mean_change(np.array([1.0, -1, 2, -2, 1, -1]))["moves"] == "not clear"


def test_the_interval_of_a_mean_contains_the_truth_in_about_95_of_100_samples():
    rng = np.random.default_rng(3)
    ends = [mean_interval(rng.gamma(2, 1, 40))[1:] for _ in range(400)]
    assert 0.91 <= np.mean([low <= 2 <= high for low, high in ends]) <= 0.98


@pytest.mark.parametrize("questions", [15, 40])
def test_the_interval_of_a_mean_of_scores_that_are_mostly_the_highest_contains_the_truth_where_one_is_shown(questions):
    rng, truth = np.random.default_rng(7), 0.7 * 10 + 0.17 * 9 + 0.1 * 8 + 0.03 * 3
    means = [mean_interval(rng.choice([10.0, 9, 8, 3], questions, p=[0.7, 0.17, 0.1, 0.03])) for _ in range(300)]
    shown = [low <= truth <= high for _, low, high in means if not np.isnan(low)]
    assert np.mean(shown) >= 0.88
    assert len(shown) > 150


def test_one_rare_value_among_few_questions_leaves_the_interval_unknown():
    assert np.isnan(mean_interval(np.array([10.0] * 14 + [3]))[1:]).all()
    _, low, high = mean_interval(np.array([10.0] * 57 + [3] * 3))
    assert 3 <= low < 9.65 < high <= 10


def test_the_interval_of_a_change_contains_the_truth_in_about_95_of_100_samples_also_where_many_do_not_differ():
    rng = np.random.default_rng(5)
    samples = (np.where(rng.random(60) < 0.4, 0, rng.choice([-2.0, 1, 3], 60)) for _ in range(400))
    ends = [(change["change_low"], change["change_high"]) for change in map(mean_change, samples)]
    assert 0.91 <= np.mean([low <= 0.6 * 2 / 3 <= high for low, high in ends]) <= 0.98


def test_pearson_is_numpys_and_counts_repeated_units():
    x, y, times = np.array([0.3, 0.1, 0.9, 0.1]), np.array([0.2, 0.4, 0.8, 0.1]), np.array([2, 1, 1, 3])
    expected = np.corrcoef(np.repeat(x, times), np.repeat(y, times))[0, 1]
    assert pearson(x, y, times[:, None]) == pytest.approx([expected])
    assert np.isnan(pearson(np.full(4, 0.1), y, np.ones((4, 1))))


def test_the_interval_of_a_correlation_contains_it_and_needs_units_and_variance():
    rng = np.random.default_rng(4)
    x = rng.normal(size=200)
    y = 0.5 * x + rng.normal(size=200)
    for correlation in (pearson, spearman):
        value, low, high = correlation_interval(correlation, x, y)
        assert 0.25 < low < value < high < 0.65
        assert np.isnan(correlation_interval(correlation, x, np.ones(200))).all()
        assert np.isnan(correlation_interval(correlation, x[:3], y[:3])[1:]).all()
        assert np.isnan(correlation_interval(correlation, x[:0], y[:0])).all()
