import numpy as np
import pandas as pd
import pytest
from scipy.stats import hypergeom

from audit.stats.intervals import (
    chance_scale,
    finite_share_interval,
    hypergeometric,
    percentiles,
    scaled_wilson,
    wilson,
    wilson_paired,
    with_interval,
)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_newcombes_published_values(successes, trials, low, high):
    """Newcombe (1998), Statistics in Medicine 17, Table I, method 3."""
    assert np.round(wilson(successes, trials), 4).tolist() == [low, high]


def test_wilson_without_trials_is_unknown_and_its_ends_stay_in_0_to_1():
    low, high = wilson([0, 0, 7], [0, 7, 7])
    assert np.isnan([low[0], high[0]]).all()
    assert low[1] == 0 < high[1] < 0.5 < low[2] < 1 == high[2]


def test_percentiles_of_many_units_are_the_2_5_and_97_5_percentiles():
    values = np.random.default_rng(1).random((3, 1000))
    low, high = percentiles(values, [10**9] * 3)
    assert low == pytest.approx(np.percentile(values, 2.5, axis=1), abs=1e-6)
    assert high == pytest.approx(np.percentile(values, 97.5, axis=1), abs=1e-6)


def test_with_few_units_less_of_the_tail_is_cut_off():
    """Nine units: t with 8 degrees is 2.306, times the root of 9/8 is 2.446, beyond which lies 0.72 % of the normal."""
    values = np.linspace(0, 1, 1001)[None, :]
    low, high = percentiles(values, [9])
    assert (low[0], high[0]) == (pytest.approx(0.0072, abs=5e-5), pytest.approx(0.9928, abs=5e-5))


def test_a_replicate_without_a_denominator_is_left_out():
    values = np.array([[0.5, np.nan, 0.5, np.nan], [np.nan] * 4])
    low, high = percentiles(values, [50, 50])
    assert (low[0], high[0]) == (0.5, 0.5)
    assert np.isnan([low[1], high[1]]).all()


def test_the_interval_for_paired_trials_is_the_published_one():
    # Fagerland, Lydersen and Laake (2014), Stat. Med. 33: airway hyper-responsiveness before and after, 1, 1, 7, 12
    assert wilson_paired(1, 7, 1, 12) == pytest.approx((-0.507, -0.026), abs=5e-4)


def test_trials_that_never_change_still_have_a_width_and_no_trials_are_unknown():
    low, high = wilson_paired(4, 0, 0, 6)
    assert low == -high < 0
    assert np.isnan(wilson_paired(0, 0, 0, 0)).all()


def test_an_interval_is_right_after_its_share():
    table = with_interval(pd.DataFrame({"r_div": [0.5], "pairs": [2]}), "r_div", [0.1], [0.9])
    assert list(table.columns) == ["r_div", "r_div_low", "r_div_high", "pairs"]


def test_a_share_of_few_units_has_ends_that_it_can_have():
    # 18 of 19 drawn, all with the label: the one left has it or not, and if not, it was left out with a chance of 1 in 19
    assert finite_share_interval(18, 18, 19) == (18 / 19, 1)
    assert finite_share_interval(6, 6, 6) == (1, 1)
    assert finite_share_interval(2, 2, 3) == (2 / 3, 1)
    assert all(np.isnan(finite_share_interval(0, 0, 5)))


@pytest.mark.parametrize(("trials", "population"), [(3, 5), (8, 19), (35, 61), (40, 41)])
def test_the_interval_of_a_finite_share_covers_and_is_the_same_from_the_other_side(trials, population):
    ends = {k: finite_share_interval(k, trials, population) for k in range(trials + 1)}
    for k, (low, high) in ends.items():
        assert ends[trials - k] == pytest.approx((1 - high, 1 - low))
    covered = []
    for total in range(population + 1):
        chances = hypergeom(population, total, trials).pmf(range(trials + 1))
        inside = [ends[k][0] <= total / population <= ends[k][1] for k in range(trials + 1)]
        covered.append(float(chances @ inside))
    assert min(covered) > 0.92
    assert np.mean(covered) > 0.95


def test_draws_without_replacement_have_the_probabilities_of_an_independent_implementation():
    counts = np.arange(2, 8)
    assert hypergeometric(counts, 12, 7, 17) == pytest.approx(hypergeom(17, 7, 12).pmf(counts))


def test_a_share_of_very_many_units_has_the_binomial_interval():
    low, high = finite_share_interval(20, 40, 4_000_000)
    assert (low, high) == pytest.approx((0.3492, 0.6508), abs=0.002)  # mid-p of a binomial share, 20 of 40


def test_a_coefficient_far_below_chance_has_an_interval_within_its_range():
    low, high = scaled_wilson(-1.5, 0.8, 2, chance_scale(0.5), width=2.0)  # two items, rated at opposite ends of the scale
    assert (low, high) == (-1.5, 1)
