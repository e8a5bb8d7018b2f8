"""How many ratings a planned interval takes, in simulated studies: planned once, and planned again as ratings come in.

python -m benchmarks.planning [--studies 200]

A run of 1,000,000 pairs, of which people would call 12.9 % DIVERGENT and .5 % CONTRADICTORY, is judged with errors. Each study
rates 40 pairs a label, plans, rates what the plan says, at most as much again as it has, and plans again until its interval is as
narrow as wanted. Printed per target: the mean number of ratings, the share of studies whose interval is narrow enough and the
share whose interval contains the truth, beside the ratings of an allocation that knows every share in advance (Neyman's).
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from annotation.prevalence.planning import allocate
from audit.stats.intervals import stratified_share

PAIRS, PILOT = 1_000_000, 40
TRUE = np.array([0.60, 0.076, 0.19, 0.129, 0.005])
# P(judge's label | true label), the labels in their order
JUDGE = np.array(
    [[0.97, 0.02, 0.01, 0, 0], [0.02, 0.85, 0.12, 0.01, 0], [0.01, 0.05, 0.85, 0.09, 0], [0, 0.02, 0.2, 0.775, 0.005],
     [0, 0, 0.05, 0.25, 0.7]]
)  # fmt: skip
JUDGED = TRUE @ JUDGE
TARGETS = (("DIVERGENT", 3, 0.005), ("CONTRADICTORY", 4, 0.002), ("DIVERGENT", 3, 0.02))


@dataclass
class Study:
    """Ratings of one study so far: rated and labelled so, per label of the judge."""

    rated: np.ndarray
    events: np.ndarray

    def share(self, pairs: np.ndarray) -> tuple[float, float, float]:
        """The corrected share and its interval."""
        value, low, high = stratified_share(self.events, self.rated, pairs)
        return float(value), float(low), float(high)


def main() -> None:
    """Print a row per target and way of planning."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=200)
    studies = parser.parse_args().studies
    joint = TRUE[:, None] * JUDGE
    pairs = np.rint(joint.sum(axis=0) * PAIRS)
    print(f"{'target':26}{'planned':12}{'ratings':>9}{'x Neyman':>10}{'narrow':>8}{'covered':>9}")
    for label, code, width in TARGETS:
        shares = joint[code] / joint.sum(axis=0)
        best = allocate(shares, np.full(5, 1.0), pairs, width).sum()
        print(f"{f'{label} +-{100 * width:g}':26}{'known shares':12}{best:9,.0f}{1:10.2f}")
        for name, rounds in (("once", 1), ("again", 50)):
            rows = [_study(np.random.default_rng(seed), shares, JUDGED[code], pairs, width, rounds) for seed in range(studies)]
            ratings, narrow, covered = np.array(rows, dtype=float).mean(axis=0)
            print(f"{'':26}{name:12}{ratings:9,.0f}{ratings / best:10.2f}{narrow:8.2f}{covered:9.2f}")


def _study(
    rng: np.random.Generator, shares: np.ndarray, judged: float, pairs: np.ndarray, width: float, rounds: int
) -> tuple[float, bool, bool]:
    """Ratings, whether the interval is as narrow as wanted, and whether it contains the true share."""
    truth = float(shares @ pairs / pairs.sum())
    study = Study(np.full(5, float(PILOT)), np.zeros(5))
    study.events = rng.binomial(PILOT, shares).astype(float)
    for _ in range(rounds):
        wanted = allocate((study.events + judged) / (study.rated + 1), study.rated, pairs, width)
        more = wanted - study.rated
        if not more.any():
            break
        if rounds > 1:  # at most as much again, because what a plan assumes is hardly known at first
            more = np.ceil(more * min(1.0, study.rated.sum() / more.sum()))
        study.events += rng.binomial(more.astype(int), shares)
        study.rated += more
    _, low, high = study.share(pairs)
    return study.rated.sum(), (high - low) / 2 <= width, low <= truth <= high


if __name__ == "__main__":
    main()
