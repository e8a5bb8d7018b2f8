"""How often the 95 % interval of quadratic kappa holds the truth, in samples that are drawn without strata.

    python -m benchmarks.kappa_coverage [--samples N]

Two annotators give five ordered labels; labels are skewed as in a run (87, 8, 3, 1, 1 %), balanced, or one is never used. They
are right in 95 or 99 % and otherwise choose any other label, or a neighbour. The truth is kappa of the expected table.
"""

from __future__ import annotations

import argparse

import numpy as np

from annotation.agreement.comparisons import StratifiedTable
from annotation.agreement.estimates import estimate_measure
from annotation.agreement.measures import two_rater_measures
from audit.stats.intervals import Floats

LABELS = {"skewed": (0.87, 0.08, 0.03, 0.01, 0.01), "balanced": (0.2,) * 5, "one unused": (0.6, 0.25, 0.1, 0.05, 0.0)}
SIZES = (20, 50, 148, 200)
KAPPA = two_rater_measures(5)[0]


def rater(right: float, neighbours: bool) -> Floats:
    """True label -> chance of each label, (5, 5)."""
    distance = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    wrong = (distance == 1 if neighbours else distance > 0).astype(float)
    return np.asarray(right * np.eye(5) + (1 - right) * wrong / wrong.sum(axis=1, keepdims=True))


def expected(shares: tuple[float, ...], right: float, neighbours: bool) -> Floats:
    """The expected table of two such annotators, adding up to 1."""
    chances = rater(right, neighbours)
    return np.asarray(np.einsum("t,ti,tj->ij", np.array(shares), chances, chances))


def coverage(table: Floats, items: int, samples: int, seed: int = 2) -> tuple[float, float]:
    """Share of samples whose interval holds the truth, and the mean width; samples without a kappa are left out."""
    rng, truth = np.random.default_rng(seed), float(KAPPA.formula(1e9 * table))
    drawn = (StratifiedTable.unweighted(cells.reshape(5, 5)) for cells in rng.multinomial(items, table.ravel(), size=samples))
    found = [estimate for one in drawn if not np.isnan((estimate := estimate_measure(KAPPA, one)).value)]
    # An end of exactly 1 is 1 minus a rounding error
    held = [one.low - 1e-9 <= truth <= one.high + 1e-9 for one in found]
    return float(np.mean(held)), float(np.mean([one.high - one.low for one in found]))


def main() -> None:
    """Print a row for every labels, rater and kind of error, with coverage and width at each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1000)
    samples = parser.parse_args().samples
    print(f"{'labels':<12}{'right':>6}  {'errors':<10}{'kappa':>6}" + "".join(f"{f'n = {size}':>16}" for size in SIZES))
    for name, shares in LABELS.items():
        for right in (0.95, 0.99):
            for neighbours in (False, True):
                table = expected(shares, right, neighbours)
                cells = (coverage(table, size, samples) for size in SIZES)
                row = "".join(f"{f'{covered:.3f} ({width:.2f})':>16}" for covered, width in cells)
                kappa = float(KAPPA.formula(1e9 * table))
                print(f"{name:<12}{right:>6}  {'neighbours' if neighbours else 'any':<10}{kappa:>6.3f}{row}", flush=True)


if __name__ == "__main__":
    main()
