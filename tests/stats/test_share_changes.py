"""Changes of shares between two runs: by hand, and in simulated runs with and without a change."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from audit.stats.clustered import share_changes

COLUMNS = ["run", "question", "handbook_a", "handbook_b", "theme"]
THEMES = 15


def two_runs(rng: np.random.Generator, grown: float, noise: float = 0.15) -> pd.DataFrame:
    """Disagreeing pairs of two judges on 60 questions to 8 of 14 handbooks; pairs of theme 0 grow in the second."""
    mix, by_question, by_handbook = rng.dirichlet(np.full(THEMES, 0.5), 60), rng.normal(-1.2, 1, 60), rng.normal(0, 0.5, 14)
    rows: list[tuple[int, ...]] = []
    for question in range(60):
        for a, b in combinations(sorted(rng.choice(14, 8, replace=False).tolist()), 2):
            chance = expit(by_question[question] + by_handbook[a] + by_handbook[b])
            disagrees, theme = rng.random() < chance, int(rng.choice(THEMES, p=mix[question]))
            for run in (1, 2):
                own = disagrees if rng.random() > noise else rng.random() < chance
                if own or (run == 2 and theme == 0 and rng.random() < grown):
                    rows.append((run, question, a, b, theme))
    return pd.DataFrame(rows, columns=COLUMNS)


def flagged(grown: float, runs: int = 25) -> np.ndarray:
    """Share of runs in which each theme's interval excludes 0."""
    rng, marks = np.random.default_rng(4), []
    for _ in range(runs):
        pairs = two_runs(rng, grown)
        (low, high), _ = share_changes(pairs, pairs["theme"].to_numpy(), THEMES)
        marks.append((low > 0) | (high < 0))
    return np.mean(marks, axis=0)


@pytest.mark.slow
def test_themes_without_a_change_are_seldom_flagged_and_one_that_grew_is_found() -> None:
    assert flagged(0.0).mean() < 0.05
    grown = flagged(0.25)
    assert grown[0] > 0.6
    assert grown[1:].mean() < 0.06


def test_the_same_pairs_twice_change_nothing() -> None:
    pairs = two_runs(np.random.default_rng(1), 0.0, noise=0.0)
    (low, high), same = share_changes(pairs, pairs["theme"].to_numpy(), THEMES)
    assert same.all()
    assert np.abs([low, high]).max() < 1e-12


def test_pairs_that_share_nothing_have_the_variance_of_independent_shares() -> None:
    """20 of 40 pairs in the first run and 30 of 40 in the second, none with a question or handbook of another."""
    number = np.arange(80)
    theme = np.where(number < 40, number >= 20, number >= 70).astype(int)
    pairs = pd.DataFrame({"run": 1 + (number >= 40), "question": number, "handbook_a": 2 * number, "handbook_b": 2 * number + 1})
    (low, high), same = share_changes(pairs, theme, 2)
    variance = (0.5 * 0.5 / 40 + 0.75 * 0.25 / 40) * 80**2 / (80**2 - 80)
    # Student's t with 49 degrees of freedom: the theme has 50 pairs, each with its own question
    assert (low[0] + high[0]) / 2 == pytest.approx(0.25)
    assert (high[0] - low[0]) / 2 == pytest.approx(2.009575 * np.sqrt(variance), rel=1e-5)
    assert not same.any()
