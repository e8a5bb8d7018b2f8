"""Rates of groups drawn towards all of them: by hand, at the limits, and covered in simulated groups."""

from __future__ import annotations

import numpy as np
import pytest

from audit.stats.partial_pooling import pooled_rates


def test_one_trial_with_an_event_by_hand() -> None:
    # Mean m: density 2m, so 2/3. Given u, the rate is (1 - u) m + u, and u is 1/2 on average: 1/3 + 1/2
    value, low, high = (part.item() for part in pooled_rates([1], [1]))
    assert value == pytest.approx(5 / 6, abs=0.005)
    assert 0 < low < value < high <= 1


def test_a_group_without_trials_has_no_rate_and_changes_no_other() -> None:
    both, alone = pooled_rates([2, 0], [10, 0]), pooled_rates([2], [10])
    assert np.isnan([part[1] for part in both]).all()
    assert [part[0] for part in both] == pytest.approx([part[0] for part in alone])
    assert np.isnan(pooled_rates([0], [0]).value).all()


def test_groups_alike_share_one_rate_and_a_large_group_that_differs_keeps_its_own() -> None:
    alike = pooled_rates([10, 10, 10, 0], [100, 100, 100, 2])
    assert alike.value[:3] == pytest.approx(0.1, abs=0.01)
    assert 0.05 < alike.value[3] < 0.12
    differing = pooled_rates([10, 10, 10, 160], [100, 100, 100, 200])
    assert differing.value[3] == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize("spread", [0.02, 0.3])
def test_simulated_groups_are_covered_and_nearer_to_the_truth_than_their_own_shares(spread: float) -> None:
    rng, covered, squares = np.random.default_rng(3), [], []
    for _ in range(40):
        size = (1 - spread) / spread
        truth = rng.beta(0.15 * size, 0.85 * size, 8)
        trials = rng.integers(3, 40, 8)
        events = rng.binomial(trials, truth)
        value, low, high = pooled_rates(events, trials)
        covered.append((low <= truth) & (truth <= high))
        squares.append([(value - truth) ** 2, (events / trials - truth) ** 2])
    assert np.mean(covered) >= 0.93
    pooled, own = np.mean(squares, axis=(0, 2))
    assert pooled < own
