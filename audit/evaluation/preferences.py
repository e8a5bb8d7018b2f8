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

from audit.stats.clustered import clustered_ratio_interval
from audit.stats.intervals import Floats, Ints
from audit.stats.paired import clustered_kappa_interval, cohen_kappa
from audit.vocabulary import PREFERENCES, Preference

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


def by_question(question: pd.Series, *counted: pd.Series) -> tuple[Floats, ...]:
    """How often each of `counted` is true, by question: float32 (1, questions) each."""
    number, questions = pd.factorize(question)
    return tuple(
        np.bincount(number, flags.to_numpy(dtype=float), len(questions))[None, :].astype(np.float32) for flags in counted
    )


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
    events, total = by_question(question, event & eligible, eligible)
    low, high = clustered_ratio_interval(events, total)
    count, of = int(events.sum()), int(total.sum())
    return ComparisonShare(count, of, count / of if of else np.nan, float(low[0]), float(high[0]))


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
