"""The pigeonhole bootstrap for pairs in groups of any kind, such as those that disagree about one theme."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from audit.metrics.intervals import Floats, Ints
from audit.metrics.pigeonhole import REPLICATES, Weighed, draws

CHUNK = 8192
"""Pairs weighed at a time: their weights in 1,000 replicates are 32 MB."""


def weigh(pairs: pd.DataFrame, group: Ints, groups: int) -> Weighed:
    """The pairs by group, in every replicate; questions and handbooks are resampled over all of `pairs`.

    pairs  question, handbook_a, handbook_b: one row per pair, of one or of several runs by the numbers of one
    group  int, the group of each pair, from 0
    """
    question, questions = pd.factorize(pairs["question"])
    sides, handbooks = pd.factorize(pd.concat([pairs["handbook_a"], pairs["handbook_b"]]))
    a, b = sides[: len(pairs)], sides[len(pairs) :]
    w_question, w_handbook = draws(len(questions), stream=0), draws(len(handbooks), stream=1)
    found = Weighed.nothing(groups, len(questions), len(handbooks))
    for start in range(0, len(pairs), CHUNK):
        part = slice(start, start + CHUNK)
        found.weight += _member(group[part], groups) @ (w_question[question[part]] * w_handbook[a[part]] * w_handbook[b[part]])
    np.add.at(found.questions, (group, question), 1)
    for side in (a, b):
        np.add.at(found.handbooks, (group, side), 1)
    return found


def _member(group: Ints, groups: int) -> csr_array:
    ones, columns = np.ones(len(group), dtype=np.float32), np.arange(len(group))
    return csr_array((ones, (group, columns)), shape=(groups, len(group)))


def added(parts: Iterable[Weighed]) -> Weighed:
    """Groups of equal number added up, one by one."""
    first, *others = parts
    weight, questions, handbooks = first.weight, first.questions, first.handbooks
    for other in others:
        weight, questions, handbooks = weight + other.weight, questions + other.questions, handbooks + other.handbooks
    return Weighed(weight, questions, handbooks)


def rows_of(weighed: Weighed, rows: slice) -> Weighed:
    """Some of the groups."""
    return Weighed(weighed.weight[rows], weighed.questions[rows], weighed.handbooks[rows])


def whole(weighed: Weighed) -> Weighed:
    """All groups as one, once per group: the denominator of each group's share of everything."""
    shape = (len(weighed.weight), 1)
    return Weighed(*(np.tile(_total(part), shape) for part in (weighed.weight, weighed.questions, weighed.handbooks)))


def _total(part: Floats) -> Floats:
    total: Floats = part.sum(axis=0, keepdims=True)
    return total


def shares(part: Weighed, of: Weighed) -> Floats:
    """The share part / of in every replicate: float, groups x replicates; NaN where a replicate holds nothing of the whole."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = part.weight / np.broadcast_to(of.weight, (len(part.weight), REPLICATES))
    return found
