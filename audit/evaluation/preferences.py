"""Head-to-head preferences: which side each comparison is oriented to, and how far a judge agrees with people about them.

A comparison is one rater's choice between the answers of two systems to one question: a frame with the columns

    question      any id; resampled
    system_a, system_b   ids of the two systems
    preference    A, B, tie, both_bad
    shown_first   A or B: the answer that was shown first; None where unknown

Source of the tie rules: Fensore, Carrillo-Larco, Shah and Ho, "Does Domain-Specific Retrieval Augmented Generation Help LLMs
Answer Consumer Health Questions?", which reports all three.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.sparse.csgraph import connected_components

from audit.stats.bootstrap import MIN_QUESTIONS, draws
from audit.stats.clustered import share_by_question
from audit.stats.intervals import Floats, Ints, hypergeometric, percentiles
from audit.stats.paired import clustered_kappa_interval, cohen_kappa, ratio
from audit.vocabulary import PREFERENCES, SIDES, Preference

OTHER_SIDE = {Preference.A: Preference.B, Preference.B: Preference.A}
EXACT, TIES_TO_A, TIES_TO_B = "exact", "ties_to_a", "ties_to_b"
TIE_RULES: dict[str, str] = {EXACT: Preference.TIE, TIES_TO_A: Preference.A, TIES_TO_B: Preference.B}
"""How a tie of the judge counts: as a tie, or as a choice of the first or of the second system."""
CHOICES = (Preference.A, Preference.B, Preference.TIE)


def oriented(comparisons: pd.DataFrame, order: Sequence[str]) -> pd.DataFrame:
    """The same comparisons with the system that comes first in `order` as system_a.

    `preference` and `shown_first`, and `longer` where there is such a column, are swapped accordingly. Other columns are
    unchanged.
    """
    rank = {system: number for number, system in enumerate(order)}
    swapped = comparisons["system_a"].map(rank) > comparisons["system_b"].map(rank)
    result = comparisons.copy()
    result["system_a"] = comparisons["system_b"].where(swapped, comparisons["system_a"])
    result["system_b"] = comparisons["system_a"].where(swapped, comparisons["system_b"])
    for column in comparisons.columns.intersection(["preference", "shown_first", "longer"]):
        result[column] = comparisons[column].replace(OTHER_SIDE).where(swapped, comparisons[column])
    return result


def chosen(comparisons: pd.DataFrame) -> pd.Series:
    """A, B or tie: where both answers are bad, neither is better."""
    return comparisons["preference"].replace({Preference.BOTH_BAD: Preference.TIE})


@dataclass(frozen=True)
class ComparisonShare:
    """A share of comparisons, count / of, with its 95 % interval, questions resampled; NaN where it is not known."""

    count: int
    of: int
    value: float
    low: float
    high: float


def share_of(question: pd.Series, event: pd.Series, eligible: pd.Series) -> ComparisonShare:
    """The share of the eligible comparisons in which `event` is true; all three have a value for each comparison."""
    counted, of = (flags.to_numpy(dtype=float) for flags in (event & eligible, eligible))
    return ComparisonShare(int(counted.sum()), int(of.sum()), *share_by_question(question, counted, of))


def alignment(question: pd.Series, people: pd.Series, judge: pd.Series, couples: int = 1) -> pd.DataFrame:
    """How often a judge chooses as people do, under each rule for the judge's ties.

    `people` and `judge` have A, B or tie for each comparison, of as many `couples` of systems. A tie of people stays a tie under
    every rule.

    One row per rule of `TIE_RULES`:
        rule                            str
        agreed, of                      int, comparisons
        share, share_low, share_high    float in [0, 1], 95 %, questions resampled
        kappa, kappa_low, kappa_high    Cohen's, 95 %, questions resampled; NaN where undefined
    """
    rows = []
    for rule, tie_counts_as in TIE_RULES.items():
        ruled = judge.replace({Preference.TIE: tie_counts_as})
        share = share_of(question, people == ruled, people.notna() & ruled.notna())
        kappa, low, high = kappa_of(question, people, ruled, CHOICES, couples)
        rows.append(
            {
                "rule": rule, "agreed": share.count, "of": share.of,
                "share": share.value, "share_low": share.low, "share_high": share.high,
                "kappa": kappa, "kappa_low": low, "kappa_high": high,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def kappa_of(
    question: pd.Series, first: pd.Series, second: pd.Series, choices: Sequence[str] = PREFERENCES, couples: int = 1
) -> tuple[float, float, float]:
    """Cohen's kappa of two raters of the same comparisons with its 95 % interval, questions resampled; NaN where undefined.

    Of several couples of systems, which one is called A is arbitrary, and so would be what chance expects: each comparison
    then counts half as it is, half with A and B exchanged.
    """
    number, questions = pd.factorize(question)
    codes = [_codes(rater, choices) for rater in (first, second)]
    both = (codes[0] >= 0) & (codes[1] >= 0)
    tables = np.zeros((len(questions), len(choices), len(choices)))
    np.add.at(tables, (number[both], codes[0][both], codes[1][both]), 1)
    if couples > 1:
        exchanged = {Preference.A: Preference.B, Preference.B: Preference.A}
        mirror = [choices.index(exchanged.get(Preference(each), each)) for each in choices]
        tables = (tables + tables[:, mirror][:, :, mirror]) / 2
    low, high = clustered_kappa_interval(tables)
    return float(cohen_kappa(tables.sum(axis=0))), low, high


def _codes(rater: pd.Series, choices: Sequence[str]) -> Ints:
    return np.asarray(pd.Index(choices).get_indexer(pd.Index(rater)))


# -- Effects of position and length on preferences, apart from whose answer it is ----------------------------
# The raw share of decided comparisons that the favoured side wins mixes two things: a better system may also write longer
# answers, and a system that is always shown first cannot be told from a first side that always wins. So each couple of
# systems is compared with itself: how often the favoured side wins when it is the one system's, and when it is the other's.
# The mean of the two is 0.5 where only the systems matter. Couples in which one system was always on the favoured side, or
# always won, carry no information and are left out.

# Equal probabilities differ by rounding.
TOLERANCE = 1 + 1e-7


@dataclass(frozen=True)
class SideEffect:
    """How often the favoured side wins.

    comparisons     decided ones (A or B preferred) in which one side is favoured; of these the favoured side won `won`
    share           won / comparisons, with its 95 % interval
    informative     comparisons of couples of which either system was favoured, and either won, at least once
    adjusted        the mean described above, with its 95 % interval; NaN without informative comparisons. No ends where, over
                    all couples, the systems that win less often do so, or those that are favoured less often are, in fewer
                    than MIN_QUESTIONS comparisons, or where on one side every comparison has the same winner
    p_value         exact, two-sided, stratified by couple; NaN without informative comparisons
    """

    comparisons: int
    won: int
    share: float
    share_low: float
    share_high: float
    informative: int
    adjusted: float
    adjusted_low: float
    adjusted_high: float
    p_value: float


def side_effect(comparisons: pd.DataFrame, favoured: str) -> SideEffect:
    """The effect of the column `favoured` (A, B, or None: no side), such as shown_first or longer, on who wins.

    `comparisons` as in `audit.evaluation.preferences`. Ties, and comparisons in which both answers are bad, are left out.

    Interval: questions resampled. p value: given how often each system won and was favoured, every assignment of the favoured
    side to the comparisons of a couple is equally likely (Fisher's exact test, stratified: Gart 1970, Biometrika 57).
    """
    usable = comparisons[comparisons["preference"].isin(SIDES) & comparisons[favoured].isin(SIDES)]
    usable = oriented(usable, sorted({*usable["system_a"], *usable["system_b"]}))
    everything = pd.Series(True, index=usable.index)
    raw = share_of(usable["question"], usable["preference"] == usable[favoured], everything)
    cells = _comparison_counts(usable, favoured)
    cells = cells[:, (cells.sum(axis=(0, 3)) > 0).all(axis=1) & (cells.sum(axis=(0, 2)) > 0).all(axis=1)]
    adjusted, low, high = _adjusted(cells)
    return SideEffect(
        raw.of, raw.count, raw.value, raw.low, raw.high, int(cells.sum()),
        adjusted, low, high, _p_value(cells.sum(axis=0)),
    )  # fmt: skip


def _comparison_counts(comparisons: pd.DataFrame, favoured: str) -> Floats:
    """Comparisons by question, couple, favoured system and winner (0: the first of the couple, 1: the second)."""
    question, questions = pd.factorize(comparisons["question"])
    couple, couples = pd.factorize(comparisons["system_a"] + "\x1f" + comparisons["system_b"])
    side, winner = ((comparisons[column] == Preference.B).to_numpy(dtype=int) for column in (favoured, "preference"))
    cells = np.zeros((len(questions), len(couples), 2, 2))
    np.add.at(cells, (question, couple, side, winner), 1)
    return cells


def _adjusted(cells: Floats) -> tuple[float, float, float]:
    value = float(_balanced(cells.sum(axis=0)[:, :, :, None])[0])
    questions = np.count_nonzero(cells.sum(axis=(1, 2, 3)))
    if _draws_are_alike(cells.sum(axis=0)):
        return value, np.nan, np.nan
    low, high = percentiles(_balanced(np.einsum("qcsw,qr->cswr", cells, draws(len(cells), stream=0)))[None, :], [questions])
    return value, float(low[0]), float(high[0])


def _draws_are_alike(table: Floats) -> bool:
    """Whether most draws of a table (couples, favoured, winner) show less spread than there is.

    That is so if one system hardly ever wins or is hardly ever favoured, or if a side always wins: four of four stay four of
    four.
    """
    scarce = min(table.sum(axis=axis).min(axis=1).sum() for axis in (1, 2))
    return bool(scarce < MIN_QUESTIONS or not table.min(axis=2).sum(axis=0).all())


def _balanced(cells: Floats) -> Floats:
    """The mean over couples, by their comparisons, of how often the favoured side wins on either side; (replicates,)."""
    won, total = np.stack([cells[:, 0, 0], cells[:, 1, 1]]), cells.sum(axis=2).swapaxes(0, 1)
    of_couple = ratio(won, total).mean(axis=0)
    # A draw may leave a couple with one system on the favoured side only.
    weight = np.where(np.isnan(of_couple), 0, cells.sum(axis=(1, 2)))
    return ratio((weight * np.nan_to_num(of_couple)).sum(axis=0), weight.sum(axis=0))


def _p_value(cells: Floats) -> float:
    """Of the couples' tables of favoured system by winner: the probability of a sum of wins at most as likely as the observed."""
    if not cells.size:
        return float("nan")
    probability, observed = np.ones(1), 0
    for table in cells.astype(int):
        favoured, winners = table.sum(axis=1), table.sum(axis=0)
        lowest = max(0, favoured[0] - winners[1])
        possible = np.arange(lowest, min(favoured[0], winners[0]) + 1)
        probability = np.convolve(probability, hypergeometric(possible, favoured[0], winners[0], table.sum()))
        observed += table[0, 0] - lowest
    return float(min(1.0, probability[probability <= probability[observed] * TOLERANCE].sum()))


# -- Strengths of answering systems from comparisons of two at a time ----------------------------------------
# P(system i is preferred to j) = 1 / (1 + exp(s_j - s_i)); a tie, and a comparison in which both answers are bad, is half a
# win for each. Strengths are on the log scale with mean 0: a difference of 1 means odds of e = 2.7 to 1. Source: Bradley and
# Terry (1952), Biometrika 39; ties as half wins: David (1988), The Method of Paired Comparisons, section 7.4. Intervals:
# questions are resampled, each with all its comparisons.

# In a draw where one system wins everything its strength has no finite estimate. A normal prior of standard deviation 30, which
# changes no other estimate visibly, lets it grow very large instead.
PRIOR_PRECISION = 1e-3
STEPS, BRADLEY_TERRY_TOLERANCE = 100, 1e-10
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
        if np.abs(step).max(initial=0) < BRADLEY_TERRY_TOLERANCE:
            break
    centred: Floats = strength - strength.mean(axis=1, keepdims=True)
    return centred


def _interval(by_question: Floats) -> tuple[Floats, Floats]:
    questions, size, _ = by_question.shape
    if questions < MIN_QUESTIONS:
        return np.full(size, np.nan), np.full(size, np.nan)
    replicates = np.einsum("qij,qr->rij", by_question, draws(questions, stream=0))
    return percentiles(strengths(replicates).T, np.full(size, questions))
