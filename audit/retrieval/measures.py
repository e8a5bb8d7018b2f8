"""How well one ranked list of sections finds the gold sections, which contain the answer.

Relevance is binary: a section is gold or not. Without gold sections nothing can be measured and every measure is None,
because an unknown is not a miss.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import log2


def first_gold_rank(ranked: Sequence[str], gold: Collection[str]) -> int | None:
    """The rank, from 1, of the first gold section; None where the list has none."""
    return next((rank for rank, section in enumerate(ranked, 1) if section in gold), None)


def hit_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """1 where a gold section is among the first k, else 0."""
    return None if not gold else float(any(section in gold for section in ranked[:k]))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float | None:
    """1 over the rank of the first gold section, 0 where the list has none; its mean over questions is MRR."""
    if not gold:
        return None
    first = first_gold_rank(ranked, gold)
    return 1 / first if first else 0.0


def ndcg_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """Normalised discounted cumulative gain of the first k: a gold section at rank r gains 1 / log2(r + 1).

    A section listed twice gains once. Source: Jaervelin and Kekaelaeinen (2002), ACM TOIS 20(4), with binary gain.
    """
    if not gold:
        return None
    listed = list(dict.fromkeys(ranked))[:k]
    gain = sum(1 / log2(rank + 1) for rank, section in enumerate(listed, 1) if section in gold)
    return gain / sum(1 / log2(rank + 1) for rank in range(1, min(k, len(set(gold))) + 1))
