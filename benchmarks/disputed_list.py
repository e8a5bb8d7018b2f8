"""The list of disputed questions against the truth of simulated runs: `python -m benchmarks.disputed_list 8801 8802 8803`.

Beside it, the best that the labels allow: positions by the judge's true error rates, for each label and kind of question, and the
true share of disputed questions. Its list is the longest that is right in PRECISION: who makes it knows even where to stop.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
from scipy.special import expit, logit

from audit.metrics.likely_disputed import likely_disputed
from audit.stats.intervals import Floats
from audit.stats.latent_positions import partitions
from audit.vocabulary import Label
from benchmarks.positions_at_scale import fill
from tests.simulator.build import CONFIGS
from tests.simulator.judge import Labels, simulate_labels
from tests.simulator.world import World, draw_world

PRECISION = 0.93


class Run(NamedTuple):
    """A simulated run, and whether each question is truly disputed."""

    world: World
    labels: Labels
    disputed: Floats

    def listed(self) -> Floats:
        """Whether each question is in the list that the store of the run gives."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run.duckdb"
            with duckdb.connect(str(path)) as con:
                fill(con, self.world, self.labels)
            with duckdb.connect(str(path), read_only=True) as con:
                table = likely_disputed(con).set_index("question")["listed"]
        return table.reindex(range(len(self.disputed))).eq("yes").astype(float).to_numpy()

    def tables(self) -> Iterator[tuple[int, Floats, Floats]]:
        """Of each question: its kind, and between every two handbooks the judge's and the true label; NaN without either."""
        size, (a, b) = len(self.world.handbooks), self.world.pairs
        for number, question in enumerate(self.world.questions):
            square = np.full((2, size, size), np.nan)
            present = (self.labels.judge[number] > 0) & (self.labels.truth[number] > 0)
            for place, codes in enumerate((self.labels.judge[number], self.labels.truth[number])):
                square[place, a, b] = square[place, b, a] = np.where(present, codes, np.nan)
            own = np.flatnonzero(~np.isnan(square[0]).all(axis=0))
            yield int(question.contested), *square[:, own[:, None], own]


def simulated(seed: int) -> Run:
    """The demo of this seed."""
    world = draw_world(CONFIGS["small"](seed))
    labels = simulate_labels(world)
    return Run(world, labels, (labels.truth >= Label.DIVERGENT.code).any(axis=1).astype(float))


def oracle_rates(runs: list[Run]) -> Floats:
    """(kinds, same or another position, labels): how often the judge gives each label, by the truth of the runs."""
    counts = np.full((2, 2, 5), 0.01)
    for run in runs:
        for kind, judge, truth in run.tables():
            known = ~np.isnan(judge)
            np.add.at(counts[kind], ((truth[known] >= Label.DIVERGENT.code).astype(int), judge[known].astype(int)), 1)
    return np.asarray(counts / counts.sum(axis=2, keepdims=True))


def oracle_recall(run: Run, rates: Floats) -> float:
    """The recall of the longest list that is right in PRECISION, by probabilities with true rates and shares."""
    kinds = np.array([int(question.contested) for question in run.world.questions])
    share = np.array([run.disputed[kinds == kind].mean() for kind in (0, 1)]).clip(0.01, 0.99)
    probability = np.zeros(len(kinds))
    for number, (kind, judge, _) in enumerate(run.tables()):
        if len(judge) > 1:
            told = np.log(rates[kind, 0] / rates[kind, 1])
            evidence = np.where(np.isnan(judge), 0.0, told[np.nan_to_num(judge).astype(int)])
            probability[number] = expit(partitions(evidence).log_odds + logit(share[kind]))
    found = np.cumsum(run.disputed[np.argsort(-probability, kind="stable")])
    longest = np.flatnonzero(found / np.arange(1, len(found) + 1) >= PRECISION).max()
    return float(found[longest] / run.disputed.sum())


def main(seeds: list[int]) -> int:
    runs = [simulated(seed) for seed in seeds]
    rates = oracle_rates(runs)
    together = np.zeros(3)
    for seed, run in zip(seeds, runs, strict=True):
        listed = run.listed()
        right, disputed = float(listed @ run.disputed), run.disputed.sum()
        together += right, listed.sum(), disputed
        print(
            f"{seed}: {disputed:.0f} disputed; listed {listed.sum():.0f}, precision {right / listed.sum():.3f}, "
            f"recall {right / disputed:.3f}; best recall by labels {oracle_recall(run, rates):.3f}"
        )
    print(f"together: precision {together[0] / together[1]:.3f}, recall {together[0] / together[2]:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main([int(seed) for seed in sys.argv[1:] or ("8801", "8802", "8803")]))
