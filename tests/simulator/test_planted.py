"""The demo's planted changes: the simulated judge is as often right as it is told to be, and the metric finds that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from audit.evaluation.planted_changes import MUST_BECOME, PlantedOutcome, planted_outcome
from audit.metrics.judge import judge_checks
from audit.metrics.planted import planted_changes
from audit.store.connection import open_store
from audit.vocabulary import PlantedKind
from tests.simulator.config import small_config
from tests.simulator.judge import simulate_labels
from tests.simulator.planted import N_ITEMS, PlantedNoise, planted_records
from tests.simulator.world import draw_world
from tests.support.loading import load, messages

SEEDS = range(4)


@pytest.fixture(scope="module")
def outcomes() -> Counter[tuple[PlantedKind, PlantedOutcome]]:
    """What became of the planted changes of four worlds."""
    counted: Counter[tuple[PlantedKind, PlantedOutcome]] = Counter()
    for seed in SEEDS:
        world = draw_world(small_config(seed))
        for record in planted_records(world, simulate_labels(world), "judge"):
            kind = PlantedKind(record["kind"])
            counted[kind, planted_outcome(kind, record["expected"], record["label_before"], record["label"])] += 1
    return counted


@pytest.mark.parametrize("kind", PlantedKind)
def test_the_judge_is_as_often_right_as_it_is_told_to_be(outcomes, kind):
    of_kind = {outcome: outcomes[kind, outcome] for outcome in PlantedOutcome}
    assert sum(of_kind.values()) == N_ITEMS * len(SEEDS)
    telling = sum(of_kind.values()) - of_kind[PlantedOutcome.NO_LABEL]
    assert of_kind[PlantedOutcome.UNTELLING] == 0
    rate = PlantedNoise().right[kind]
    # 3.5 standard errors: wide enough for ten kinds
    assert of_kind[PlantedOutcome.RIGHT] / telling == pytest.approx(rate, abs=3.5 * (rate * (1 - rate) / telling) ** 0.5)


def test_a_denial_that_is_missed_is_often_seen_as_a_divergence(outcomes):
    assert outcomes[PlantedKind.NEGATION, PlantedOutcome.LENIENT] > 0
    assert all(outcomes[kind, PlantedOutcome.LENIENT] == 0 for kind in MUST_BECOME if kind is not PlantedKind.NEGATION)


def test_the_demo_loads_with_its_planted_changes_and_they_are_among_the_checks(written_demo: Callable[..., Path], tmp_path: Path):
    loaded = load(written_demo(), tmp_path)
    assert f"planted: {10 * N_ITEMS} found, {10 * N_ITEMS} declared in the manifest." in [
        check["message"] for check in loaded.run.report["checks"]
    ]
    assert messages(loaded, "repaired") == messages(loaded, "quarantined") == []
    with open_store(loaded.run.path) as con:
        table = planted_changes(con).set_index("kind")
        checks = judge_checks(con).set_index(["kind", "figure"])
    assert set(table["items"]) == {N_ITEMS}
    assert checks.loc[("instruction", "changed"), "of"] == table.loc["instruction", "of"]
    moved = table.loc["instruction", "of"] - table.loc["instruction", "count"]
    assert checks.loc[("instruction", "changed"), "count"] == moved
