"""How often a judge errs, from pairs that were read twice: known rates come back, in judges that err independently."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logit

from audit.stats.intervals import Z
from audit.stats.measured_errors import ASSUMED, ASSUMED_ERRORS, REPEATS, SECOND, MeasuredErrors, errors_by_two_readings


def estimated(rng: np.random.Generator, false: float, source: str, other: tuple[float, float] = (0.05, 0.15)) -> MeasuredErrors:
    """3,000 pairs, 8 % in truth disagreements, of which the judge misses 20 %; 200 of each of its labels are read once more."""
    apart, errors = rng.random(3000) < 0.08, [(false, 0.2), other if source == SECOND else (false, 0.2)]
    called, again = (np.where(apart, rng.random(3000) > missed, rng.random(3000) < alarms) for alarms, missed in errors)
    drawn = np.concatenate([rng.permutation(np.flatnonzero(called == label))[:200] for label in (False, True)])
    read = np.zeros((2, 2))
    np.add.at(read, (called[drawn].astype(int), again[drawn].astype(int)), 1)
    return errors_by_two_readings(np.array([(~called).sum(), called.sum()], dtype=float), read, 1.0, source)


@pytest.mark.parametrize("false", [0.02, 0.08, 0.15])
def test_a_second_judge_shows_how_often_the_first_sees_what_is_not_there(false):
    rng = np.random.default_rng(3)
    found = [estimated(rng, false, SECOND) for _ in range(20)]
    alarms, spread = np.array([(one.errors.false, one.se_false) for one in found]).T
    assert alarms.mean() == pytest.approx(false, abs=0.006)
    distance = np.abs(logit(alarms) - logit(false)) * alarms * (1 - alarms)
    assert (distance <= Z * spread).mean() >= 0.9
    assert {(one.source, one.errors.missed) for one in found} == {(SECOND, ASSUMED_ERRORS.missed)}


def test_a_judge_asked_again_errs_at_least_as_often_as_it_changes_its_mind():
    rng = np.random.default_rng(4)
    assert estimated(rng, 0.12, REPEATS).errors.false == pytest.approx(0.12, abs=0.03)
    # One that repeats what it said may repeat its errors: the assumed rate stays
    steady = errors_by_two_readings(np.array([900.0, 100.0]), np.array([[200.0, 0.0], [0.0, 100.0]]), 1.0, REPEATS)
    assert (steady.errors, steady.source, steady.rated) == (ASSUMED_ERRORS, ASSUMED, 0)


def test_pairs_of_one_question_count_for_less_and_none_read_twice_for_nothing():
    run, read = np.array([900.0, 100.0]), np.array([[190.0, 10.0], [60.0, 40.0]])
    whole, part = (errors_by_two_readings(run, read, facts, SECOND) for facts in (1.0, 0.1))
    assert whole.se_false < part.se_false
    assert abs(part.errors.false - ASSUMED_ERRORS.false) < abs(whole.errors.false - ASSUMED_ERRORS.false)
    assert errors_by_two_readings(run, np.zeros((2, 2)), 1.0, SECOND).source == ASSUMED
