"""How well a ranked list finds the sections that hold the answer. Pure; one list at a time.

Relevance is all or nothing: a section is gold or it is not. Without gold nothing can be measured, and every measure is
None: an unknown is no miss.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import log2


def rank(ranked: Sequence[str], gold: Collection[str]) -> int | None:
    """The place, from 1, of the first gold section; None where none is in the list."""
    return next((place for place, section in enumerate(ranked, 1) if section in gold), None)


def hit(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """1 where a gold section stands among the first k, else 0."""
    return None if not gold else float(any(section in gold for section in ranked[:k]))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float | None:
    """1 over the place of the first gold section, 0 where none is in the list; its mean over questions is MRR."""
    first = rank(ranked, gold)
    return None if not gold else 1 / first if first else 0.0


def ndcg(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """Discounted gain of the first k over that of the best possible order: a gold section at place r gains 1 / log2(r + 1).

    A section that stands twice gains once. Source: Jaervelin and Kekaelaeinen (2002), ACM TOIS 20(4), with binary gain.
    """
    if not gold:
        return None
    listed = list(dict.fromkeys(ranked))[:k]
    gained = sum(1 / log2(place + 1) for place, section in enumerate(listed, 1) if section in gold)
    return gained / sum(1 / log2(place + 1) for place in range(1, min(k, len(set(gold))) + 1))
