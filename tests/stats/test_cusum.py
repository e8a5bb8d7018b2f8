"""Sums of errors along a sequence: by hand, and their alarms in simulated sequences with and without a change."""

from __future__ import annotations

import numpy as np
import pytest

from audit.stats.cusum import FALSE_ALARMS, cusum


def test_the_sums_by_hand() -> None:
    # Expected .5: an error adds ln 2 - ln 1.5, another item takes ln 1.5; never below 0
    up, down = np.log(2 / 1.5), np.log(1.5)
    found = cusum(np.array([0.0, 1.0, 1.0, 0.0, 1.0]), np.full(5, 0.5))
    assert found.path == pytest.approx([0, up, 2 * up, 2 * up - down, 3 * up - down])


def test_an_alarm_names_where_the_rise_began() -> None:
    errors = np.array([0.0, 1.0] + [0.0] * 28 + [1.0] * 12)
    found = cusum(errors, np.full(42, errors.mean()))
    assert found.since == 30
    assert found.first_above is not None
    assert 30 < found.first_above < 42
    assert found.p < 0.01
    assert cusum(np.zeros(0), np.zeros(0)).first_above is None


def test_false_alarms_are_as_rare_as_stated_and_a_judge_that_gets_worse_is_found() -> None:
    rng = np.random.default_rng(8)
    alarms = {}
    for worse in (1.0, 5.0):
        count = 0
        for _ in range(100):
            expected = rng.choice([0.05, 0.3], 120)
            odds = expected / (1 - expected) * np.where(np.arange(120) < 70, 1, worse)
            errors = (rng.random(120) < odds / (1 + odds)).astype(float)
            known = np.array([errors[expected == one].mean().clip(0.01, 0.99) for one in expected])
            count += cusum(errors, known).first_above is not None
        alarms[worse] = count / 100
    assert alarms[1.0] <= FALSE_ALARMS + 0.04
    assert alarms[5.0] >= 0.7
