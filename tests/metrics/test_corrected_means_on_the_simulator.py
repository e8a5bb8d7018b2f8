"""The judge corrected by a clinician, in simulated worlds whose true composites are arithmetic."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from audit.stats.prediction_powered import CorrectedMean, corrected_mean
from tests.simulator.build import DEFAULT_SEED
from tests.simulator.system_records import true_composites
from tests.simulator.systems import CLINICIAN, JUDGE, SYSTEMS, Reader, expected_composite, simulate_scores

QUESTIONS, RATED, WORLDS = 120, 40, 200


@cache
def corrected(seed: int) -> tuple[CorrectedMean, ...]:
    """Both systems' corrected composites: the judge read all 120 answers of each, the clinician a random 40."""
    scores = simulate_scores(QUESTIONS, seed, independent=True)
    judge, clinician = true_composites(scores.judged), true_composites(scores.clinician)
    sample = np.isin(np.arange(QUESTIONS), np.random.default_rng(seed).choice(QUESTIONS, RATED, replace=False))
    means = []
    for row in range(len(SYSTEMS)):
        read = ~np.isnan(judge[row])
        means.append(corrected_mean(judge[row][read], np.where(sample, clinician[row], np.nan)[read]))
    return tuple(means)


@pytest.fixture(scope="module")
def worlds() -> list[tuple[CorrectedMean, ...]]:
    return [corrected(seed) for seed in range(DEFAULT_SEED, DEFAULT_SEED + WORLDS)]


def expected(reader: Reader) -> list[float]:
    return [expected_composite(system, reader) for system in SYSTEMS]


def test_the_corrected_interval_holds_what_the_clinician_would_say_of_all_in_95_percent_of_worlds(worlds):
    truth = expected(CLINICIAN)
    covered = [mean.low <= value <= mean.high for world in worlds for mean, value in zip(world, truth, strict=True)]
    assert 0.93 <= np.mean(covered) <= 0.97


def test_the_judge_alone_is_further_off_and_the_clinician_alone_is_less_certain(worlds):
    for row, (right, wrong) in enumerate(zip(expected(CLINICIAN), expected(JUDGE), strict=True)):
        own = [world[row] for world in worlds]
        assert np.mean([mean.judge for mean in own]) == pytest.approx(wrong, abs=0.05)
        assert abs(np.mean([mean.value for mean in own]) - right) < abs(wrong - right)
        assert np.mean([mean.high - mean.low for mean in own]) < 0.85 * np.mean([m.people_high - m.people_low for m in own])
