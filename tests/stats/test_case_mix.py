"""Observed over expected: figures by hand, an independent formula, and simulated handbooks that choose their questions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import false_discovery_control, poisson, spearmanr

from audit.stats.case_mix import FALSE_DISCOVERIES, case_mix, expected_events, funnel_limits, permutation_p

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
    for seed in range(15):
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
    for seed in range(15):
        _, (events, trials), *totals = simulated(np.random.default_rng(1_000 + seed), answered=0.4, effect=0.0, questions=100)
        mix = case_mix(events, trials, *totals)
        covered.append((mix.interval[0] <= 1) & (mix.interval[1] >= 1))
        flagged.append(mix.flagged.any())
    assert 0.93 <= np.mean(covered) <= 1.0
    # False discovery control with nothing to discover: a flag anywhere in 5 % of runs
    assert sum(flagged) <= 4


def policies(rng: np.random.Generator, *, handbooks: int, questions: int, dissent: float) -> Counts:
    """Handbooks that take one of two positions on each question; `dissent` is how much they differ in taking the rarer one."""
    tendency, dispute = rng.normal(0, dissent, handbooks), rng.normal(-2.2, 1.2, (questions, 1))
    answers = rng.random((questions, handbooks)) < 1 / (1 + np.exp(0.3 - rng.normal(0, 1, (questions, 1))))
    rarer = rng.random((questions, handbooks)) < 1 / (1 + np.exp(-dispute - tendency))
    first, second = np.triu_indices(handbooks, 1)
    present = answers[:, first] & answers[:, second]
    disagree = present & (rarer[:, first] != rarer[:, second])
    sides = np.zeros((len(first), handbooks))
    sides[np.arange(len(first)), first] = sides[np.arange(len(first)), second] = 1
    own = [np.asarray((pairs @ sides).T, dtype=float) for pairs in (disagree, present)]
    return tendency, own, disagree.sum(axis=1).astype(float), present.sum(axis=1).astype(float)


def test_positions_on_questions_do_not_make_a_handbook_stand_out_where_none_differs() -> None:
    marked = []
    for seed in range(60):
        _, (events, trials), *totals = policies(np.random.default_rng(seed), handbooks=9, questions=60, dissent=0.0)
        marked.append(case_mix(events, trials, *totals).flagged.any())
    # 5 % is promised; more than 8 of 60 by chance has a probability of .002
    assert sum(marked) <= 8


def test_a_handbook_that_dissents_stands_out() -> None:
    found = []
    for seed in range(10):
        _, (events, trials), *totals = policies(np.random.default_rng(seed), handbooks=24, questions=118, dissent=1.2)
        found.append(case_mix(events, trials, *totals).flagged.any())
    assert sum(found) >= 7


def test_the_p_value_is_that_of_all_orders_of_a_small_table() -> None:
    """Two questions, three groups: 36 equally likely tables; group 0 has the largest excess on both, as 4 of 36 do."""
    excess = np.array([[2.0, 1.0], [0.0, 0.0], [-2.0, -1.0]])
    p = permutation_p(excess, np.ones((3, 2), dtype=bool))
    assert p[0] == pytest.approx(2 * 1 / 9, abs=0.03)
    assert p[1] == pytest.approx(1, abs=0.03)
    alone = permutation_p(excess[:1], np.ones((1, 2), dtype=bool))
    assert np.isnan(alone).all()


def test_flags_are_those_of_an_independent_implementation() -> None:
    flags = 0
    for seed in range(8):
        _, (events, trials), *totals = simulated(np.random.default_rng(seed), answered=0.4, effect=0.8)
        mix = case_mix(events, trials, *totals)
        assert mix.flagged.tolist() == (false_discovery_control(mix.p) <= FALSE_DISCOVERIES).tolist()
        flags += mix.flagged.sum()
    assert 0 < flags < 8 * 20


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
    assert mix.shrunken.tolist() == pytest.approx([1] * 4, abs=0.05)
    assert (mix.rank_interval[0].tolist(), mix.rank_interval[1].tolist()) == ([1] * 4, [4] * 4)
    assert (mix.shrunken_interval[1] - mix.shrunken_interval[0] > 0.1).all(), "nobody's ratio is known exactly"


def test_the_funnel_narrows_with_what_is_expected() -> None:
    low, high = funnel_limits(np.array([4.0, 100.0]), 1.0, 0.95)
    assert low.tolist() == pytest.approx([1 - 1.96 / 2, 1 - 0.196], abs=1e-3)
    assert high.tolist() == pytest.approx([1 + 1.96 / 2, 1 + 0.196], abs=1e-3)
    assert funnel_limits(np.array([1.0]), 4.0, 0.95)[0].tolist() == [0]
