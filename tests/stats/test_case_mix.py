"""Observed over expected: figures by hand, an independent formula, and simulated handbooks that choose their questions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import false_discovery_control, poisson, spearmanr

from audit.stats.case_mix import FALSE_DISCOVERIES, case_mix, expected_events, funnel_limits

Counts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def test_expected_is_the_rate_of_the_others_on_the_same_question_with_the_run_s_as_one_more_pair() -> None:
    # Question 1: six pairs, three of them of group 0; question 2: group 0 alone with group 1, one pair
    events = np.array([[2.0, 1.0], [1.0, 1.0]])
    trials = np.array([[3.0, 1.0], [3.0, 1.0]])
    all_events, all_trials = np.array([3.0, 1.0]), np.array([6.0, 1.0])
    overall = 4 / 7
    expected = expected_events(events, trials, all_events, all_trials)
    assert expected[0].tolist() == pytest.approx([3 * (1 + overall) / (3 + 1), overall])
    assert expected[1].tolist() == pytest.approx([3 * (2 + overall) / (3 + 1), overall])


def simulated(
    rng: np.random.Generator, *, answered: float, effect: float = 0.35, handbooks: int = 20, questions: int = 200
) -> Counts:
    """Handbooks that answer mostly some topics, of which some are disputed; every two that answer a question are a pair."""
    topic = rng.integers(8, size=questions)
    dispute = rng.normal(0, 1.0, 8)[topic] + rng.normal(0, 0.5, questions)
    liked = rng.dirichlet(np.full(8, 0.5), size=handbooks) * 8 * answered
    answers = rng.random((handbooks, questions)) < np.clip(liked[:, topic], 0.02, 0.95)
    truth = rng.normal(0, effect, handbooks)
    first, second = np.triu_indices(handbooks, 1)
    present = answers[first] & answers[second]
    chance = 1 / (1 + np.exp(-(-2 + dispute + truth[first][:, None] + truth[second][:, None])))
    disagree = present & (rng.random(present.shape) < chance)
    own = [
        np.array([pairs[(first == g) | (second == g)].sum(axis=0) for g in range(handbooks)], float)
        for pairs in (disagree, present)
    ]
    return truth, own, disagree.sum(axis=0).astype(float), present.sum(axis=0).astype(float)


def test_the_truth_is_found_better_than_by_the_raw_rate_and_shrinking_does_not_harm() -> None:
    found = []
    for seed in range(40):
        truth, (events, trials), all_events, all_trials = simulated(np.random.default_rng(seed), answered=0.3)
        mix = case_mix(events, trials, all_events, all_trials)
        raw = events.sum(axis=1) / trials.sum(axis=1)
        found.append([spearmanr(truth, figure)[0] for figure in (raw, mix.ratio, mix.shrunken)])
    raw, ratio, shrunken = np.nanmean(found, axis=0)
    assert ratio > raw + 0.15
    assert shrunken > ratio - 0.01
    assert ratio > 0.75


def test_where_nobody_differs_intervals_cover_1_and_nearly_nobody_stands_out() -> None:
    covered, flagged = [], []
    for seed in range(40):
        _, (events, trials), *totals = simulated(np.random.default_rng(1_000 + seed), answered=0.4, effect=0.0)
        mix = case_mix(events, trials, *totals)
        covered.append((mix.interval[0] <= 1) & (mix.interval[1] >= 1))
        flagged.append(mix.flagged.any())
    assert 0.93 <= np.mean(covered) <= 1.0
    # False discovery control with nothing to discover: a flag anywhere in 5 % of runs
    assert np.mean(flagged) <= 0.15


def test_flags_are_those_of_an_independent_implementation() -> None:
    flags = 0
    for seed in range(20):
        _, (events, trials), *totals = simulated(np.random.default_rng(seed), answered=0.4, effect=0.8)
        mix = case_mix(events, trials, *totals)
        assert mix.flagged.tolist() == (false_discovery_control(mix.p) <= FALSE_DISCOVERIES).tolist()
        flags += mix.flagged.sum()
    assert 0 < flags < 20 * 20


def test_independent_events_have_the_exact_interval_of_a_poisson_count() -> None:
    # Two events on ten questions where one in ten of very many pairs disagrees: .2 are expected on each
    events = np.array([[1.0, 0, 0, 0, 0, 0, 0, 1, 0, 0], [0, 0, 1, 0, 0, 1, 0, 0, 0, 0]])
    mix = case_mix(events, np.full((2, 10), 2.0), np.full(10, 10_000.0), np.full(10, 100_000.0))
    assert (mix.dispersion, mix.expected[0]) == pytest.approx((1.0, 2.0), abs=1e-3)
    low, high = (end[0] * mix.expected[0] for end in mix.interval)
    assert poisson.sf(1, low) == pytest.approx(0.025, abs=1e-3)
    assert poisson.cdf(2, high) == pytest.approx(0.025, abs=1e-3)


def test_a_group_without_pairs_has_no_ratio_and_no_rank_and_a_group_without_events_has_an_upper_end() -> None:
    events = np.array([[3.0, 2, 1], [0, 0, 0], [0, 0, 0]])
    trials = np.array([[6.0, 6, 6], [6, 6, 6], [0, 0, 0]])
    mix = case_mix(events, trials, np.array([3.0, 2, 1]), np.array([10.0, 10, 10]))
    assert (mix.ratio[1], mix.interval[0][1]) == (0, 0)
    assert 0 < mix.interval[1][1] < np.inf
    assert np.isnan([mix.ratio[2], mix.shrunken[2], mix.rank[2], mix.interval[0][2], mix.p[2]]).all()
    assert not mix.flagged[2]


def test_ranks_that_nothing_tells_apart_have_the_widest_interval() -> None:
    events = np.ones((4, 5))
    mix = case_mix(events, events * 4, np.full(5, 2.0), np.full(5, 8.0))
    assert mix.shrunken.tolist() == [1, 1, 1, 1]
    assert (mix.rank_interval[0].tolist(), mix.rank_interval[1].tolist()) == ([1] * 4, [4] * 4)


def test_the_funnel_narrows_with_what_is_expected() -> None:
    low, high = funnel_limits(np.array([4.0, 100.0]), 1.0, 0.95)
    assert low.tolist() == pytest.approx([1 - 1.96 / 2, 1 - 0.196], abs=1e-3)
    assert high.tolist() == pytest.approx([1 + 1.96 / 2, 1 + 0.196], abs=1e-3)
    assert funnel_limits(np.array([1.0]), 4.0, 0.95)[0].tolist() == [0]
