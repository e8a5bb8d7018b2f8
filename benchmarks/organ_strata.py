"""What a sample that is spread over organs does to corrected shares: interval by interval and put together by label.

python -m benchmarks.organ_strata [--studies 400]

A run of 1,000,000 pairs over seven organs, of which people would call 12.9 % DIVERGENT and .5 % CONTRADICTORY, more on some
organs than on others, is judged with errors. Each study rates 40 pairs per label of the judge: drawn without organs; drawn by
organ, with an interval from each label and organ ("apart"); and the same items put together by the judge's label ("together", as
the dashboard does). Printed per label: the mean half width of the 95 % interval, and the share of studies in which it contains
the truth.
"""

from __future__ import annotations

import argparse

import numpy as np

from annotation.ratings.design import SampleDesign
from annotation.studies.sample_plan import apportion
from audit.stats.intervals import stratified_share
from benchmarks.planning import JUDGE, PAIRS, TRUE

PER_LABEL = 40
ORGANS = np.array([0.33, 0.24, 0.17, 0.11, 0.08, 0.05, 0.02])
# How much more often an organ's answers disagree than all do
DISAGREE = np.array([1.0, 1.3, 0.7, 1.2, 0.8, 1.6, 0.5])
SHOWN = (("COMPLEMENTARY", 2), ("DIVERGENT", 3), ("CONTRADICTORY", 4))
WAYS = ("no organs", "apart", "together")


def main() -> None:
    """Print a row per label and way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=400)
    studies = parser.parse_args().studies
    pairs, shares = run()
    print(f"{'label':16}{'intervals':12}{'half width':>12}{'covered':>9}")
    for label, code in SHOWN:
        truth = float((shares[code] * pairs).sum() / pairs.sum())
        results = np.array([study(np.random.default_rng(seed), shares[code], pairs) for seed in range(studies)])
        for way, (low, high) in zip(WAYS, results.transpose(1, 2, 0), strict=True):
            covered = ((low <= truth) & (truth <= high)).mean()
            print(f"{label:16}{way:12}{100 * (high - low).mean() / 2:11.2f} {covered:9.3f}")


def run() -> tuple[np.ndarray, np.ndarray]:
    """Pairs by organ and label of the judge (7, 5), and of those the share with each true label (5, 7, 5)."""
    true = np.tile(TRUE, (len(ORGANS), 1))
    true[:, 3:] *= (DISAGREE / (ORGANS @ DISAGREE))[:, None]
    true[:, 0] += 1 - true.sum(axis=1)
    joint = ORGANS[:, None, None] * true[:, :, None] * JUDGE
    counts = joint.sum(axis=1)
    return np.rint(counts * PAIRS), np.moveaxis(joint, 1, 0) / counts


def study(rng: np.random.Generator, shares: np.ndarray, pairs: np.ndarray) -> list[tuple[float, float]]:
    """The three intervals of one label; `shares` and `pairs` by organ and label of the judge."""
    of_label = pairs.sum(axis=0)
    plain = rng.binomial(PER_LABEL, (shares * pairs).sum(axis=0) / of_label).astype(float)
    cells = pairs.T.ravel()  # label by label, as strata are listed
    rated = np.concatenate([apportion(PER_LABEL, column.astype(int).tolist()) for column in pairs.T]).astype(float)
    events = rng.binomial(rated.astype(int), shares.T.ravel()).astype(float)
    verdict = np.repeat(np.arange(pairs.shape[1]), len(ORGANS))
    design = SampleDesign(tuple(map(str, range(len(cells)))), cells, np.array([], dtype=np.intp), verdict)
    ways = (plain, np.full(len(of_label), float(PER_LABEL)), of_label), (events, rated, cells), design.by_verdict(events, rated)
    return [(float(found[1]), float(found[2])) for found in (stratified_share(*way) for way in ways)]


if __name__ == "__main__":
    main()
