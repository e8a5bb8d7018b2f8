"""Means that a judge measures everywhere and people on a sample: hand arithmetic, another implementation, known truth."""

import numpy as np
import pytest

from audit.stats.prediction_powered import corrected_mean

TRUE_MEAN = 7.2


def test_a_judge_that_is_wrong_by_a_constant_is_corrected_to_the_last_digit():
    """The judge is 1 too high everywhere: mean 8.5 on all ten, so 7.5; people alone saw 7.0 on the five that they rated."""
    judge = np.arange(4.0, 14.0)
    people = np.where(np.arange(10) % 2 == 0, judge - 1, np.nan)
    mean = corrected_mean(judge, people)
    assert (mean.units, mean.rated, mean.judge, mean.people) == (10, 5, 8.5, 7.0)
    assert mean.trust == pytest.approx(8 / 8.25)
    assert mean.value == pytest.approx(7.0 + 8 / 8.25 * (8.5 - 8.0))


def test_a_judge_that_says_the_same_of_everything_leaves_peoples_mean():
    people = np.array([1.0, 2, 3, 4, 5, np.nan, np.nan])
    mean = corrected_mean(np.full(7, 9.0), people)
    assert (mean.trust, mean.value) == (0, 3)


def test_with_few_ratings_or_none_nothing_is_corrected():
    judge = np.arange(10.0)
    few = corrected_mean(judge, np.array([1.0, 2, 3, 4, *[np.nan] * 6]))
    assert (few.rated, few.people) == (4, 2.5)
    assert np.isnan([few.value, few.low, few.people_low]).all()
    assert np.isnan(corrected_mean(judge, np.full(10, np.nan)).people)
    assert np.isnan(corrected_mean(judge[:0], judge[:0]).judge)


def test_the_value_is_that_of_ppi_python():
    ppi = pytest.importorskip("ppi_py", reason="ppi-python is not installed")
    judge, people = world(60, 400, 1.0, 0.8, 3)
    rated, mean = ~np.isnan(people), corrected_mean(judge, people)
    theirs = ppi.ppi_mean_pointestimate(people[rated], judge[rated], judge, lam=mean.trust)
    assert mean.value == pytest.approx(float(np.squeeze(theirs)))


def world(rated: int, units: int, noise: float, slope: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Composites in steps of 10/14, a judge who compresses them and adds 2 points and noise, and people on a random sample."""
    rng = np.random.default_rng(seed)
    truth = rng.binomial(14, TRUE_MEAN / 10, units) / 14 * 10
    judge = slope * truth + 2 + rng.normal(0, noise, units)
    people = np.full(units, np.nan)
    sample = rng.choice(units, rated, replace=False)
    people[sample] = truth[sample]
    return judge, people


@pytest.mark.parametrize(("rated", "noise", "slope"), [(10, 0.5, 0.9), (22, 0.5, 0.9), (22, 3.0, 0.2), (80, 1.0, 0.7)])
def test_the_interval_covers_the_true_mean_and_a_good_judge_makes_it_narrower(rated, noise, slope):
    means = [corrected_mean(*world(rated, 300, noise, slope, seed)) for seed in range(1_000)]
    assert 0.93 <= np.mean([mean.low <= TRUE_MEAN <= mean.high for mean in means]) <= 0.975
    widths = np.mean([[mean.high - mean.low, mean.people_high - mean.people_low] for mean in means], axis=0)
    assert widths[0] < widths[1] * (0.87 if noise <= 1 else 1.03)
