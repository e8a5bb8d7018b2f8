"""Simulated studies: a run whose every pair has a judge's label and a human one, and samples drawn from it by stratum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from audit.vocabulary import LABELS
from tests.simulator.config import WorldConfig
from tests.simulator.judge import UNSCORED, simulate_labels
from tests.simulator.world import draw_world

Counts = npt.NDArray[np.int64]

READER = np.array(
    [
        [0.980, 0.005, 0.015, 0.000, 0.000],
        [0.005, 0.760, 0.220, 0.015, 0.000],
        [0.005, 0.110, 0.780, 0.100, 0.005],
        [0.000, 0.020, 0.250, 0.700, 0.030],
        [0.000, 0.005, 0.015, 0.040, 0.940],
    ]
)
"""P(a clinician's label | true label). Two such readers disagree about as often as those of arXiv:2605.29084: most between
neighbouring labels, on the complementary boundary above all."""


@dataclass(frozen=True)
class Run:
    """Pairs of a run by the judge's label (rows, the strata) and the label a clinician gives them (columns)."""

    pairs: Counts

    @property
    def sizes(self) -> Counts:
        """Pairs per stratum."""
        return self.pairs.sum(axis=1)

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """The true share of each label."""
        return self.pairs.sum(axis=0) / self.pairs.sum()

    def studies(self, per_stratum: int, number: int, seed: int) -> Counts:
        """Labels given in this many studies: (number, strata, labels). A stratum smaller than its sample is labelled in full."""
        rng = np.random.default_rng(seed)
        drawn = np.minimum(per_stratum, self.sizes)
        labels = [rng.multivariate_hypergeometric(row, n, size=number) for row, n in zip(self.pairs, drawn, strict=True)]
        return np.stack(labels, axis=1)


def simulated_run(config: WorldConfig, seed: int) -> Run:
    """The demo's world and judge, read by a clinician. Pairs without a readable verdict are left out."""
    labels = simulate_labels(draw_world(config))
    scored = labels.judge != UNSCORED
    size = len(LABELS)
    truth = np.zeros((size, size), dtype=np.int64)
    np.add.at(truth, (labels.judge[scored], labels.truth[scored]), 1)
    rng = np.random.default_rng(seed)
    return Run(np.array([sum(rng.multinomial(n, READER[true]) for true, n in enumerate(row)) for row in truth]))
