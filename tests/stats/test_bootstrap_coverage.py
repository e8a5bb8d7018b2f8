"""Whether 95 % intervals cover the truth as often as they claim: simulated samples from populations with known rates."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from audit.demo.judge import simulate_labels
from audit.demo.world import draw_world
from audit.stats.intervals import wilson
from audit.stats.pair_table import PRESCREENED, RATES, UNSCORED, Pairs, rate_intervals
from tests.demo.worlds import config_of_size
from tests.stats.population import Population

QUESTIONS, HANDBOOKS = 60, 20
SAMPLES = 250
UNEVEN = Population(answers=np.array([[0.3, 0.6], [0.7, 0.95]]), dissent=np.array([[0.02, 0.1], [0.1, 0.3]]))
POLICIES = Population(answers=np.full((2, 2), 0.5), dissent=np.array([[0.05, 0.1], [0.1, 0.4]]), policies=True)
RARE = Population(answers=np.array([[0.3, 0.6], [0.6, 0.9]]), dissent=np.array([[0.0002, 0.0005], [0.001, 0.005]]), policies=True)


Interval = tuple[float, float]


@pytest.fixture(autouse=True)
def one_thread():
    """Matrices this small cost four times as much on two threads that wait for each other."""
    with threadpool_limits(1):
        yield


def two_way_bootstrap(pairs: Pairs) -> dict[str, Interval]:
    found = rate_intervals(pairs, np.ones((1, QUESTIONS), dtype=np.float32), {rate: RATES[rate] for rate in ("r_abs", "r_div")})
    return {rate: (low[0], high[0]) for rate, (low, high) in found.items()}


def pairs_as_if_independent(pairs: Pairs) -> dict[str, Interval]:
    return {rate: wilson(*(np.isin(pairs.outcome, list(kind)).sum() for kind in RATES[rate])) for rate in ("r_abs", "r_div")}


def coverage(method, population: Population, samples: int = SAMPLES) -> dict[str, float]:
    rng, true = np.random.default_rng(7), population.rates()
    found = [method(population.sample(QUESTIONS, HANDBOOKS, rng)) for _ in range(samples)]
    return {
        rate: float(np.mean([low <= true[rate] <= high for low, high in (intervals[rate] for intervals in found)]))
        for rate in true
    }


def test_the_interval_covers_the_truth_in_about_95_of_100_samples():
    covered = coverage(two_way_bootstrap, UNEVEN)
    assert all(0.92 <= share <= 0.99 for share in covered.values()), covered


def test_taking_pairs_as_independent_covers_it_far_less_often_so_the_check_can_fail():
    covered = coverage(pairs_as_if_independent, UNEVEN)
    assert all(share < 0.75 for share in covered.values()), covered


def test_where_handbooks_follow_policies_the_interval_errs_on_the_wide_side():
    assert coverage(two_way_bootstrap, POLICIES, 100)["r_div"] >= 0.95


def test_a_rate_that_most_samples_hardly_show_is_covered_too():
    assert coverage(two_way_bootstrap, RARE, 100)["r_div"] >= 0.92


def judged_world(seed: int) -> Pairs:
    """The simulated judge's verdicts on a world of the demo whose questions and handbooks are drawn independently."""
    world = draw_world(config_of_size(QUESTIONS, HANDBOOKS, seed, independent=True))
    labels = simulate_labels(world)
    a, b = world.pairs
    outcome = np.where(labels.prescreened, PRESCREENED, np.where(labels.judge < 0, UNSCORED, labels.judge)).astype(np.uint8)
    return Pairs(np.repeat(np.arange(QUESTIONS), len(a)), np.tile(a * 32768 + b, QUESTIONS), outcome.ravel())


def test_the_interval_covers_the_rates_of_the_worlds_that_the_demo_draws():
    worlds = [judged_world(seed) for seed in range(300)]
    outcomes = np.concatenate([world.outcome for world in worlds])
    found = [two_way_bootstrap(world) for world in worlds[:100]]
    for rate in ("r_abs", "r_div"):
        event, total = (np.isin(outcomes, list(kind)).sum() for kind in RATES[rate])
        assert np.mean([low <= event / total <= high for low, high in (intervals[rate] for intervals in found)]) >= 0.92
