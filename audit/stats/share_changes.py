"""Changes of shares of all pairs between two runs, with intervals that use what the runs have in common.

The same share in two runs on the same questions and handbooks is correlated, because the peculiarities of a question or a
handbook are in both. So the change is linearised, each pair contributing to it as it does to the share of its run, and its
variance is the sum of products over related rows, as in `audit.stats.clustered`: rows of either run that share a question or a
handbook. What both runs share cancels before squaring. Resampling questions and handbooks instead counts what is particular to
one pair three times: in simulated runs its intervals were 2.6 times as wide; they flagged 0 % of themes without a change, where
these flag 1 %, and found 15 % of themes that had grown by a quarter, where these find 78 % (tests/stats/test_share_changes.py).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csr_array
from scipy.special import stdtrit

from audit.stats.clustered import effective_number
from audit.stats.intervals import ROUNDING_ERROR, TAIL, Floats, Interval, Ints

Bools = npt.NDArray[np.bool_]


def share_changes(pairs: pd.DataFrame, group: Ints, groups: int) -> tuple[Interval, Bools]:
    """The 95 % interval of the change of each group's share from a first run to a second, and whether no pair changes it.

    pairs  run (1 or 2), question, handbook_a, handbook_b: one row per pair and run, with the same numbering in both
    group  int, the group of each row, from 0

    Bounded by -1 and 1; NaN where no two pairs are unrelated.
    """
    second = pairs["run"].to_numpy() == 2
    sizes = np.array([np.count_nonzero(~second), np.count_nonzero(second)], dtype=float)
    shares = np.stack(
        [np.bincount(group[own], minlength=groups) / max(size, 1) for own, size in zip((~second, second), sizes, strict=True)]
    )
    adds = np.where(second, 1 / max(sizes[1], 1), -1 / max(sizes[0], 1))
    codes = _pair_codes(pairs)
    sums = [_squared_changes(code, adds, second, group, shares) for code in codes]
    by_question, by_handbook, by_couple, by_answer, by_pair = sums
    once = ~pairs.duplicated(["question", "handbook_a", "handbook_b"]).to_numpy()
    one = [_squared_sums(code, np.tile(once, len(code) // len(once))) for code in codes]
    related, size = one[0] + one[1] - one[2] - one[3] + one[4], one[4] ** 2
    inflation = size / (size - related) if related < size else np.nan
    # Lower bound: each pair is related at least to itself
    variance = np.maximum((by_question + by_handbook - by_couple - by_answer + by_pair) * inflation, by_pair)
    units = np.minimum(*(_effective_clusters(code, group, groups) for code in codes[:2]))
    half = -stdtrit(np.maximum(units - 1, 1), TAIL) * np.sqrt(np.maximum(variance, 0))
    change = shares[1] - shares[0]
    # Terms that cancel leave a rounding error
    same = by_pair <= ROUNDING_ERROR / max(len(pairs), 1)
    half = np.where(same, 0, half)
    return (np.maximum(change - half, -1), np.minimum(change + half, 1)), same


def _pair_codes(pairs: pd.DataFrame) -> tuple[Ints, ...]:
    """Clusters of pairs: question, handbook (both sides), couple of handbooks, answer (both sides), the pair itself."""
    question, _ = pd.factorize(pairs["question"])
    sides, handbooks = pd.factorize(pd.concat([pairs["handbook_a"], pairs["handbook_b"]]))
    a, b = sides[: len(pairs)].astype(np.int64), sides[len(pairs) :].astype(np.int64)
    base = max(len(handbooks), 1)
    couple = np.minimum(a, b) * base + np.maximum(a, b)
    answers = np.concatenate([question * base + a, question * base + b])
    return question, np.concatenate([a, b]), couple, answers, question * base**2 + couple


def _squared_changes(code: Ints, adds: Floats, second: Bools, group: Ints, shares: Floats) -> Floats:
    """Per group: the contribution of each cluster to the change, squared and summed over clusters."""
    times = len(code) // max(len(group), 1)
    cluster, clusters = pd.factorize(code)
    adds, second, group = np.tile(adds, times), np.tile(second, times), np.tile(group, times)
    own = csr_array((adds, (cluster, group)), (len(clusters), shares.shape[1]))
    # Pairs of the whole run contribute through the denominator
    totals = np.stack([np.bincount(cluster, np.where(second == of, adds, 0), len(clusters)) for of in (False, True)])
    crossed = np.stack([own.T @ one for one in totals])
    squares = np.asarray(own.multiply(own).sum(axis=0)).ravel()
    return np.asarray(squares - 2 * (shares * crossed).sum(axis=0) + np.einsum("rg,rs,sg->g", shares, totals @ totals.T, shares))


def _squared_sums(code: Ints, marked: Bools) -> float:
    return float((np.bincount(pd.factorize(code)[0], marked) ** 2).sum())


def _effective_clusters(code: Ints, group: Ints, groups: int) -> Floats:
    cluster, clusters = pd.factorize(code)
    counts = csr_array((np.ones(len(code)), (cluster, np.tile(group, len(code) // max(len(group), 1)))), (len(clusters), groups))
    totals = np.asarray(counts.sum(axis=0)).ravel()
    return effective_number(totals, np.asarray(counts.multiply(counts).sum(axis=0)).ravel())
