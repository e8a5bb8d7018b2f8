"""Reciprocal rank fusion: places count, scores of different kinds are never added."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
Vote = tuple[Mapping[int, int], float]
"""A ranked list: item -> rank from 1, and what the list counts."""


def best(scores: NDArray[np.float32], depth: int) -> Rows:
    """The rows with a score above 0, highest first, at most `depth`; equals stay in reading order."""
    order = np.argsort(-scores, kind="stable")[:depth]
    return order[scores[order] > 0].astype(np.int64)


def fused(votes: Iterable[Vote], k: int, weight: Mapping[int, float] | None = None) -> dict[int, float]:
    """Item -> sum over the lists of the list's weight / (k + rank); highest first, equals by item.

    weight  item -> factor, where it is not 1
    Source: Cormack, Clarke and Buettcher (2009), where every list counts 1.
    """
    total: dict[int, float] = {}
    for ranks, counts in votes:
        for item, rank in ranks.items():
            total[item] = total.get(item, 0.0) + counts / (k + rank)
    weighed = {item: score * (weight or {}).get(item, 1.0) for item, score in total.items()}
    return dict(sorted(weighed.items(), key=lambda each: (-each[1], each[0])))
