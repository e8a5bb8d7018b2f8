"""Strengths of answering systems from comparisons of two at a time.

P(system i is preferred to j) = 1 / (1 + exp(s_j - s_i)); a tie, and a comparison in which both answers are bad, is half a win
for each. Strengths are on the log scale with mean 0: a difference of 1 means odds of e = 2.7 to 1. Source: Bradley and Terry
(1952), Biometrika 39; ties as half wins: David (1988), The Method of Paired Comparisons, section 7.4. Intervals: questions are
resampled, each with all its comparisons.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.sparse.csgraph import connected_components

from audit.evaluation.preferences import chosen
from audit.stats.bootstrap import MIN_QUESTIONS, draws
from audit.stats.intervals import Floats, percentiles
from audit.vocabulary import Preference

# In a draw where one system wins everything its strength has no finite estimate. A normal prior of standard deviation 30, which
# changes no other estimate visibly, lets it grow very large instead.
PRIOR_PRECISION = 1e-3
STEPS, TOLERANCE = 100, 1e-10
# A step of Newton's method from far away may overshoot.
MAX_STEP = 2.0
POINTS = {Preference.A: 1.0, Preference.TIE: 0.5, Preference.B: 0.0}


def bradley_terry(comparisons: pd.DataFrame, systems: Sequence[str]) -> pd.DataFrame:
    """The strength of each of `systems`, in that order, from comparisons as in `audit.evaluation.preferences`.

        system_id                    str
        comparisons                  int, that it took part in
        wins                         float, ties counting half
        strength                     float, log scale, mean 0; NaN for all where no finite strengths fit: where some systems won
                                     every comparison with the others, or were never compared with them
        strength_low, strength_high  95 %; NaN with fewer than MIN_QUESTIONS questions
        rank                         int from 1, by strength; missing where that is NaN

    Systems that were never compared have no strength and do not hinder the others.
    """
    by_question = wins_by_question(comparisons, systems)
    total = by_question.sum(axis=0)
    games = total + total.T
    result = pd.DataFrame({"system_id": list(systems), "comparisons": games.sum(axis=1).astype(int), "wins": total.sum(axis=1)})
    result = result.assign(strength=np.nan, strength_low=np.nan, strength_high=np.nan)
    (compared,) = np.nonzero(games.sum(axis=1))
    if len(compared) > 1 and connected_components(total[np.ix_(compared, compared)], connection="strong")[0] == 1:
        ends = _interval(by_question[:, compared[:, None], compared])
        result.loc[compared, "strength"] = strengths(total[None, compared[:, None], compared])[0]
        result.loc[compared, "strength_low"], result.loc[compared, "strength_high"] = ends
    return result.assign(rank=result["strength"].rank(ascending=False, method="min").astype("Int64"))


def wins_by_question(comparisons: pd.DataFrame, systems: Sequence[str]) -> Floats:
    """Wins of the row's system over the column's, by question: float (questions, systems, systems), ties counting half."""
    number, questions = pd.factorize(comparisons["question"])
    a, b = (pd.Index(systems).get_indexer(pd.Index(comparisons[side])) for side in ("system_a", "system_b"))
    points = chosen(comparisons).map(POINTS).to_numpy(dtype=float)
    wins = np.zeros((len(questions), len(systems), len(systems)))
    np.add.at(wins, (number, a, b), points)
    np.add.at(wins, (number, b, a), 1 - points)
    return wins


def strengths(wins: Floats) -> Floats:
    """Strengths (replicates, systems) that fit tables of wins (replicates, systems, systems), by Newton's method."""
    replicates, size, _ = wins.shape
    games = wins + wins.swapaxes(1, 2)
    strength = np.zeros((replicates, size))
    for _ in range(STEPS):
        expected = 1 / (1 + np.exp(strength[:, None, :] - strength[:, :, None]))
        gradient = (wins - games * expected).sum(axis=2) - PRIOR_PRECISION * strength
        weight = games * expected * (1 - expected)
        information = np.eye(size) * (weight.sum(axis=2) + PRIOR_PRECISION)[:, :, None] - weight
        step = np.clip(np.linalg.solve(information, gradient[:, :, None])[:, :, 0], -MAX_STEP, MAX_STEP)
        strength += step
        if np.abs(step).max(initial=0) < TOLERANCE:
            break
    centred: Floats = strength - strength.mean(axis=1, keepdims=True)
    return centred


def _interval(by_question: Floats) -> tuple[Floats, Floats]:
    questions, size, _ = by_question.shape
    if questions < MIN_QUESTIONS:
        return np.full(size, np.nan), np.full(size, np.nan)
    replicates = np.einsum("qij,qr->rij", by_question, draws(questions, stream=0))
    return percentiles(strengths(replicates).T, np.full(size, questions))
