"""What strategies of retrieval are measured by: words that the page Retrieval and the exported package share."""

from __future__ import annotations

import math

from audit.charts.rates import Rate
from audit.charts.run_changes import points, points_interval
from audit.charts.style import NO_VALUE
from audit.number_format import signed

DECIMALS = 3
"""Of a change of a measure that is no share."""
RATES = tuple(
    Rate(name, title, "trials", "searches", index=index)
    for name, title, index in (
        ("hit_1", "hit@1", False), ("hit_5", "hit@5", False), ("given", "given", False), ("mrr", "MRR", True),
        ("ndcg_5", "nDCG@5", True),
    )
)  # fmt: skip
"""Shares of searches first, then the means that are no shares."""
TITLES = {rate.column: rate.title for rate in RATES}
MEANINGS = (
    "hit@k: a section that holds the answer is among the first k, as a share of searches. given: it is among the first five, or "
    "the whole {handbook} was given. MRR: one over its place, 0 where it is not in the list, on average. nDCG@5: what part of "
    "the best possible order the first five are worth, on average."
)
MODES = {
    "passages": "Passages", "full_document": "Whole, as it is short", "full_document_fallback": "Whole, as a fallback",
    "mode_unknown": "Not said",
}  # fmt: skip
MOVES = {
    "rises": "better", "falls": "worse", "not clear": "not clear", "the same": "the same",
    "too few questions": "too few questions",
}  # fmt: skip
ANSWERS = {
    "from gold": "Cites the gold section", "from elsewhere": "Cites other sections only", "cites nothing": "Cites nothing",
    "absent": "Says that it is not addressed", "unread": "Could not be read",
}  # fmt: skip
NOBODY = "nobody"
"""Who found what no strategy finds."""
INDICES = frozenset(rate.column for rate in RATES if rate.index)


def change_of(measure: str, value: float) -> str:
    """`+1.2 points` of a share, `+0.012` of an index; a dash where it is not known."""
    if math.isnan(value):
        return NO_VALUE
    return signed(value, DECIMALS) if measure in INDICES else f"{points(value)} points"


def change_within(measure: str, low: float, high: float) -> str:
    """`-1.2 to +0.4` in the same unit; empty where there is no interval."""
    if math.isnan(low) or measure not in INDICES:
        return points_interval(low, high)
    return f"{signed(low, DECIMALS)} to {signed(high, DECIMALS)}"
