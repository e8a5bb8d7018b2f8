"""Whether 95 % intervals cover the truth as often as they claim: simulated samples from populations with known rates."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from audit.stats.intervals import wilson
from audit.stats.pair_table import PRESCREENED, RATES, UNSCORED, Pairs, rate_intervals
from benchmarks.coverage import WORLDS, coverage
from tests.simulator.judge import simulate_labels
from tests.simulator.world import draw_world
from tests.simulator.worlds import config_of_size

QUESTIONS, HANDBOOKS = 60, 20

Interval = tuple[float, float]


@pytest.fixture(autouse=True)
def one_thread():
    """Matrices this small cost four times as much on two threads that wait for each other."""
    with threadpool_limits(1):
        yield


@pytest.mark.parametrize("world", [name for name in WORLDS if "any event" not in name])
@pytest.mark.parametrize(("handbooks", "questions"), [(9, 10), (9, 60), (20, 60)])
def test_the_interval_covers_the_truth_in_about_95_of_100_samples(world, handbooks, questions):
    # With 200 samples a figure is off by 1.5 points: the table in benchmarks/coverage.md has more.
    found = coverage(WORLDS[world], questions, handbooks, 200)
    assert 0.91 <= found.covered <= 0.995, found
    if found.unseen == 0:
        assert found.half_width <= 1.35 * found.oracle, found


def test_an_event_that_samples_do_not_show_is_not_ruled_out():
    found = coverage(WORLDS["hardly any event"], 60, 9, 200)
    assert found.unseen > 0.9
    assert found.covered >= 0.95


def test_pairs_taken_as_independent_cover_it_far_less_often_so_the_check_can_fail():
    population, rng = WORLDS["both effects"], np.random.default_rng(7)
    samples = [population.sample(QUESTIONS, HANDBOOKS, rng) for _ in range(200)]
    for rate, true in population.rates().items():
        ends = [wilson(*(np.isin(pairs.outcome, list(kind)).sum() for kind in RATES[rate])) for pairs in samples]
        assert np.mean([low <= true <= high for low, high in ends]) < 0.75, rate


def two_way(pairs: Pairs) -> dict[str, Interval]:
    found = rate_intervals(pairs, np.ones((1, QUESTIONS), dtype=np.float32), {rate: RATES[rate] for rate in ("r_abs", "r_div")})
    return {rate: (low[0], high[0]) for rate, (low, high) in found.items()}


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
    found = [two_way(world) for world in worlds[:100]]
    for rate in ("r_abs", "r_div"):
        event, total = (np.isin(outcomes, list(kind)).sum() for kind in RATES[rate])
        assert np.mean([low <= event / total <= high for low, high in (intervals[rate] for intervals in found)]) >= 0.92
