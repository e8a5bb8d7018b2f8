import numpy as np
import pytest

from audit.stats.intervals import wilson
from audit.stats.misclassification import ErrorCounts, effective_trials, true_share

ERRORS = ErrorCounts(missed=10, answered=100, found=10, unanswered=50)


def test_the_share_of_silence_is_what_gives_the_observed_share_with_these_errors():
    # s = .5714: of the silent 80 % are called so (.4571), of the others 10 % (.0429), together one half.
    assert true_share(0.5, 200, ERRORS).value == pytest.approx((0.5 - 0.1) / (1 - 0.2 - 0.1))


def test_its_interval_is_that_of_lang_and_reiczigel():
    # By hand, with z = 1.96: n' = 203.84, t' = .5; m' = 11/102 = .10784; f' = 11/52 = .21154; usable = .68062
    # s' = .39216 / .68062 = .57618; var m = .00094326, var f = .0032075
    # centre = .57618 + 2 z^2 (.57618 x .0032075 - .42382 x .00094326) = .58731
    # half = 1.96 / .68062 x sqrt(.25 / 203.84 + .33198 x .0032075 + .17962 x .00094326) = .14316
    estimate = true_share(0.5, 200, ERRORS)
    assert (estimate.low, estimate.high) == pytest.approx((0.4442, 0.7305), abs=5e-4)


def test_a_test_without_errors_leaves_the_share_as_it_is():
    estimate = true_share([0.0, 0.3, 1.0], [50, 50, 50], ErrorCounts(0, 100_000, 0, 100_000))
    assert estimate.value.tolist() == pytest.approx([0.0, 0.3, 1.0])
    assert estimate.low[1] == pytest.approx(wilson(15, 50)[0], abs=0.01)


def test_the_fewer_questions_of_known_answer_the_wider_the_interval():
    few, many = (true_share(0.5, 1_000, ErrorCounts(n // 10, n, n // 10, n)) for n in (20, 2_000))
    assert few.high - few.low > 2 * (many.high - many.low)


def test_an_observed_share_below_the_miss_rate_is_compatible_with_no_silence():
    estimate = true_share(0.05, 200, ERRORS)
    assert (estimate.value, estimate.low) == (0, 0)
    assert 0 < estimate.high < 0.1


def test_a_share_that_these_error_rates_cannot_give_is_not_explained_by_them():
    # All are called silent, and one in five silences is not called so: then at most 80 % can be.
    assert np.isnan(true_share(0.99, 2_000, ERRORS)).all()


def test_a_search_that_errs_as_often_as_not_tells_nothing():
    assert np.isnan(true_share(0.5, 200, ErrorCounts(5, 10, 5, 10))).all()


def test_an_unknown_share_stays_unknown():
    assert np.isnan(true_share([np.nan], [0], ERRORS)).all()


@pytest.mark.parametrize("silent", [0.05, 0.3, 0.8])
def test_the_interval_covers_the_true_share_in_simulated_runs(silent):
    random = np.random.default_rng(7)
    covered = [_covers(random, silent) for _ in range(1_500)]
    assert 0.94 < np.mean(covered) < 0.995


def _covers(random, silent, missed=0.14, found=0.2, asked=300, known=100):
    observed = random.binomial(asked, silent * (1 - found) + (1 - silent) * missed) / asked
    errors = ErrorCounts(random.binomial(known, missed), known, random.binomial(known, found), known)
    estimate = true_share(observed, asked, errors)
    return estimate.low <= silent <= estimate.high


def test_the_interval_of_independent_trials_gives_their_number_back():
    p, z = 0.3, 1.959964
    spread = z / np.sqrt(200 * p * (1 - p))
    ends = (1 / (1 + np.exp(-(np.log(p / (1 - p)) + sign * spread))) for sign in (-1, 1))
    assert effective_trials(p, tuple(ends), 1) == pytest.approx(200, rel=1e-4)
    assert effective_trials(0.0, (0.0, 0.2), 12) == 12
