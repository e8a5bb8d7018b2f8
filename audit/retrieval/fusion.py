"""Several rankings made one: by the places of their hits, or by scores that were put on one scale."""

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
    return _in_order(total, weight)


def combined(scores: Iterable[tuple[Mapping[int, float], float]], weight: Mapping[int, float] | None = None) -> dict[int, float]:
    """Item -> sum over the lists of the list's weight times the item's score, 0 where it is not in the list; highest first.

    scores  per list, item -> score in [0, 1], and what the list counts
    weight  item -> factor, where it is not 1
    Source: Bruch, Gai and Ingber (2023), "An Analysis of Fusion Functions for Hybrid Retrieval", arXiv:2210.11934.
    """
    total: dict[int, float] = {}
    for shares, counts in scores:
        for item, share in shares.items():
            total[item] = total.get(item, 0.0) + counts * share
    return _in_order(total, weight)


def _in_order(total: Mapping[int, float], weight: Mapping[int, float] | None) -> dict[int, float]:
    weighed = {item: score * (weight or {}).get(item, 1.0) for item, score in total.items()}
    return dict(sorted(weighed.items(), key=lambda each: (-each[1], each[0])))
