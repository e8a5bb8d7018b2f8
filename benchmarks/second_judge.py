"""The figures of a second judge on the demo: simulated judges of known confusion, samples of its questions, the same handbooks.

    python -m benchmarks.second_judge [--samples N]

prints, for each figure, the truth (of two judges with the published confusion on all questions of one large simulated run) and
the share of 95 % intervals that hold it, over so many seeded samples of as many questions as the demo has.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from audit.metrics.second_judge import agreement_rows, both_rows
from benchmarks.interval_worlds_of_judges import IS, WORDS, agreement_truths, rate_truths
from tests.simulator.config import small_config
from tests.simulator.judge import JudgeNoise, kernel, simulate_labels
from tests.simulator.world import draw_world

LARGER, OF_THE_DEMO, OTHERS = 30, 118, 200


def large_run() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(question, label by the first judge, chances of each label by the second and of none) of each pair with a label."""
    demo = small_config(7)
    world = draw_world(replace(demo, questions={organ: LARGER * n for organ, n in demo.questions.items()}))
    labels, chances = simulate_labels(world), kernel(JudgeNoise())
    judged = ~labels.prescreened & (labels.judge >= 0)
    contested = np.array([int(question.contested) for question in world.questions])
    question = np.nonzero(judged)[0]
    return question, labels.judge[judged].astype(int), chances[contested[question], labels.truth[judged].astype(int)]


def sample(rng: np.random.Generator, question: np.ndarray, first: np.ndarray, chances: np.ndarray) -> pd.DataFrame:
    """The pairs of some questions, the disagreeing ones and some others of them read by the second judge."""
    own = np.isin(question, rng.choice(LARGER * OF_THE_DEMO, OF_THE_DEMO, replace=False))
    question, first, chances = question[own], first[own], chances[own]
    second = (rng.random((len(first), 1)) > chances.cumsum(axis=1)[:, :-1]).sum(axis=1)
    disagrees = IS["r_div"][first]
    chosen = rng.permutation(np.flatnonzero(~disagrees))[:OTHERS]
    asked = disagrees | np.isin(np.arange(len(first)), chosen)
    named = pd.Series(np.array([*WORDS, None])[second]).where(asked)
    state = pd.Series(np.where(named.isna(), "unscored", "read")).where(asked)
    return pd.DataFrame({"question": question, "label": WORDS[first], "second_label": named, "second": state, "pairs": 1})


def report(samples: int) -> Iterator[str]:
    """A line for each figure."""
    question, first, chances = large_run()
    joint = np.zeros((5, 5))
    np.add.at(joint, first, chances[:, :5] / chances[:, :5].sum(axis=1, keepdims=True))
    truths = agreement_truths(joint / joint.sum()) | rate_truths(joint / joint.sum())
    del truths["unread"]
    held = defaultdict(list)
    for seed in range(samples):
        counts = sample(np.random.default_rng(seed), question, first, chances)
        for row in (*agreement_rows(counts), *both_rows(counts)):
            if row["figure"] in truths and np.isfinite(row["value_low"]):
                held[row["figure"]].append(row["value_low"] - 1e-9 <= truths[row["figure"]] <= row["value_high"] + 1e-9)
    for figure, covered in held.items():
        yield f"{figure:<24}{truths[figure]:>8.3f}{np.mean(covered):>8.3f}{len(covered):>6}"
    yield f"{'all figures':<32}{np.mean([one for covered in held.values() for one in covered]):>8.3f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=200)
    for line in report(parser.parse_args().samples):
        print(line)
