"""Comparisons of two answers, from a table that a person can read or from a world with known strengths."""

from __future__ import annotations

import numpy as np
import pandas as pd

COLUMNS = ["question", "system_a", "system_b", "preference", "shown_first", "longer"]


def comparisons_from(table: str) -> pd.DataFrame:
    """`question system_a system_b preference [shown_first [longer]]` a line, `-` where unknown."""
    rows = [[*line.split(), "-", "-"][: len(COLUMNS)] for line in table.strip().splitlines()]
    return pd.DataFrame(rows, columns=COLUMNS).replace("-", None)


def comparisons_of(
    strengths: dict[str, float], questions: int, seed: int, first: float = 0.0, longer: float = 0.0
) -> pd.DataFrame:
    """Every couple of systems compared on every question by the Bradley-Terry model, without ties.

    The side that is shown first, and the side with the longer answer, is stronger by `first` and `longer`; stronger systems write
    longer answers in 80 % of comparisons.
    """
    rng, names, rows = np.random.default_rng(seed), list(strengths), []
    for question in range(questions):
        for number, a in enumerate(names):
            for b in names[number + 1 :]:
                a_is_first, stronger_is_longer = rng.random(2) < (0.5, 0.8)
                a_is_longer = stronger_is_longer == (strengths[a] > strengths[b])
                advantage = strengths[a] - strengths[b] + (first if a_is_first else -first) + (longer if a_is_longer else -longer)
                a_wins = rng.random() < 1 / (1 + np.exp(-advantage))
                rows.append([question, a, b, *("A" if flag else "B" for flag in (a_wins, a_is_first, a_is_longer))])
    return pd.DataFrame(rows, columns=COLUMNS)
