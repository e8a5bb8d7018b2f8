"""Whether paired differences of two versions of a judge contain the truth: `python -m benchmarks.alignment [WORLDS]`.

A world has questions with several pairs each, strata by the first judge's label, gold labels, and two versions of a judge with
known confusion whose errors on one question are alike: with a chance that differs from question to question a version reads a
pair as it should, else it takes any label as its confusion says. A study is drawn by stratum, its questions are divided, and only
the part to prove on is shown. The truth is the same figure in a population of many questions.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from annotation.agreement.versions import ProofItems, version_figures
from audit.vocabulary import LABELS

Ints = npt.NDArray[np.intp]
SIZE = len(LABELS)
SHARES = np.array([0.1, 0.14, 0.55, 0.17, 0.04])
"""How common each gold label is among pairs that a judge was asked about."""
QUESTIONS, PAIRS, PER_STRATUM, PROOF = 3_000, 6, 60, 2 / 3
VERSIONS = {"shipped": 0.68, "second": 0.8}
"""Version -> how often, on average, it reads a pair as it should; else its label is one of the neighbours."""
SPREAD = 8.0
"""Of a question's chance around that average, as a beta distribution: the smaller, the more alike are errors on one question."""


@dataclass(frozen=True)
class World:
    """Pairs of a run: their question, gold label, the first judge's label (the stratum), and those of two versions."""

    question: Ints
    gold: Ints
    stratum: Ints
    labels: dict[str, Ints]


def draw_world(seed: int, questions: int = QUESTIONS) -> World:
    """A seeded world."""
    rng = np.random.default_rng(seed)
    question = np.repeat(np.arange(questions), PAIRS)
    tilt = rng.gamma(6 * SHARES, size=(questions, SIZE))
    tilt /= tilt.sum(axis=1, keepdims=True)
    gold = (rng.random((len(question), 1)) > np.cumsum(tilt[question], axis=1)).sum(axis=1).clip(0, SIZE - 1)
    labels = {name: _judged(rng, question, gold, mean) for name, mean in VERSIONS.items()}
    return World(question, gold, _judged(rng, question, gold, 0.7), labels)


def _judged(rng: np.random.Generator, question: Ints, gold: Ints, mean: float) -> Ints:
    chance = rng.beta(mean * SPREAD, (1 - mean) * SPREAD, size=question.max() + 1)
    step = rng.choice([-2, -1, 1, 2], p=[0.1, 0.4, 0.4, 0.1], size=len(gold))
    wrong = np.abs(gold + step)
    wrong = np.where(wrong >= SIZE, 2 * (SIZE - 1) - wrong, wrong)
    return np.where(rng.random(len(gold)) < chance[question], gold, wrong)


def proof_of(world: World, seed: int, per_stratum: int = PER_STRATUM) -> tuple[ProofItems, dict[str, Ints]]:
    """The part to prove on of a study that is drawn by stratum."""
    rng = np.random.default_rng([seed, 1])
    drawn = [rng.permutation(np.flatnonzero(world.stratum == code))[:per_stratum] for code in range(SIZE)]
    items = np.concatenate(drawn)
    asked = rng.permutation(np.unique(world.question[items]))
    items = items[np.isin(world.question[items], asked[: round(PROOF * len(asked))])]
    pairs, sampled = (np.bincount(world.stratum[own], minlength=SIZE) for own in (slice(None), items))
    weight = (pairs / np.maximum(sampled, 1))[world.stratum[items]]
    return ProofItems(world.gold[items], world.question[items], weight), {k: v[items] for k, v in world.labels.items()}


def differences(items: ProofItems, labels: dict[str, Ints]) -> dict[tuple[str, str], tuple[float, float, float]]:
    """(figure, label) -> the second version's difference from the first, with the ends of its interval."""
    frame = version_figures(items, labels)
    own = frame[frame["version"] == list(labels)[1]]
    rows = own[["figure", "label", "change", "change_low", "change_high"]].itertuples(index=False)
    return {(figure, label): (change, low, high) for figure, label, change, low, high in rows}


@cache
def true_differences() -> dict[tuple[str, str], float]:
    """(figure, label) -> the difference in a population of many questions."""
    world = draw_world(7, 100_000)
    everything = ProofItems(world.gold, np.arange(len(world.gold)) % 5, np.ones(len(world.gold)))
    return {key: change for key, (change, _, _) in differences(everything, world.labels).items()}


def coverage(worlds: int, per_stratum: int = PER_STRATUM) -> dict[tuple[str, str], tuple[int, int]]:
    """(figure, label) -> worlds whose interval contains the truth, and worlds with an interval."""
    truth = true_differences()
    counts = {key: [0, 0] for key in truth}
    for seed in range(worlds):
        for key, (_, low, high) in differences(*proof_of(draw_world(seed), seed, per_stratum)).items():
            if key in counts and not np.isnan(low):
                counts[key][0] += low <= truth[key] <= high
                counts[key][1] += 1
    return {key: (held, known) for key, (held, known) in counts.items()}


def compared(rng: np.random.Generator) -> Iterator[tuple[float, float, float]]:
    """The true difference of each figure in a world drawn at random, with the ends of its interval."""
    truth, seed = true_differences(), int(rng.integers(1 << 30))
    for key, (_, low, high) in differences(*proof_of(draw_world(seed), seed)).items():
        if key in truth:
            yield truth[key], low, high


def main() -> int:
    """Print the coverage of each figure's difference, and of all together."""
    worlds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    found = coverage(worlds)
    for (figure, label), (held, known) in found.items():
        print(f"{figure:10}{label:15}{held:5} of {known:4}  {100 * held / max(known, 1):5.1f} %")
    held, known = (sum(column) for column in zip(*found.values(), strict=True))
    print(f"all together {100 * held / known:.1f} % of {known:,} intervals, {worlds} worlds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
