"""How the work went: time per item, and whether an annotator's labels drift in the course of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd

from annotation.agreement.figures import too_small
from annotation.design import Floats
from annotation.ratings import JUDGE, MISSING, Ratings
from audit.metrics.intervals import wilson

QUARTERS = 4
TIME_COLUMNS = ("annotator", "n", "median_s", "fastest_tenth_s", "slowest_tenth_s", "first_quarter_s", "last_quarter_s")
DRIFT_COLUMNS = ("annotator", "against", "quarter", "n", "value", "low", "high", "note")
Places = npt.NDArray[np.intp]


def time_per_item(ratings: Ratings) -> pd.DataFrame:
    """How long the annotators took, where the table tells (columns seconds_a, ...).

    One row per annotator:
        annotator  str
        n          int, labelled items with a time
        median_s, fastest_tenth_s, slowest_tenth_s   float, seconds: the median, the 10 % and the 90 % point
        first_quarter_s, last_quarter_s   float, median seconds of the first and the last quarter of the work, NaN without
                                          the order of work (columns order_a, ...)
    """
    return pd.DataFrame([_times(ratings, seat) for seat in ratings.seconds], columns=list(TIME_COLUMNS))


def _times(ratings: Ratings, seat: str) -> tuple[object, ...]:
    known = (ratings.labels[seat] != MISSING) & np.isfinite(ratings.seconds[seat])
    taken = ratings.seconds[seat][known]
    if not len(taken):
        return seat, 0, *np.full(5, np.nan)
    ends = [np.nan, np.nan]
    if seat in ratings.order:
        quarters = _quarters(ratings.order[seat][known])
        ends = [
            float(np.median(taken[quarters == place])) if (quarters == place).any() else np.nan for place in (0, QUARTERS - 1)
        ]
    return seat, len(taken), *np.percentile(taken, [50, 10, 90]).tolist(), *ends


def drift(ratings: Ratings) -> pd.DataFrame:
    """Whether an annotator comes to agree more, or less, with the others and the judge (columns order_a, ...).

    An annotator's items are cut into four quarters in that annotator's own order of work. Since each works in an order of
    its own, a quarter of one is a mixture of all quarters of another, so a drift belongs to the annotator named.

    One row per annotator, yardstick and quarter:
        annotator, against   str, two seats
        quarter              int, 1 to 4
        n                    int, items in that quarter that both labelled
        value, low, high     float in [0, 1], share with the same label, 95 % Wilson; NaN where n is 0
        note                 str, empty or `too small: ...`
    """
    return pd.DataFrame([row for seat in ratings.order for row in _course(ratings, seat)], columns=list(DRIFT_COLUMNS))


def _course(ratings: Ratings, seat: str) -> Iterator[tuple[object, ...]]:
    mine = ratings.labels[seat]
    quarters = _quarters(np.where(mine == MISSING, np.nan, ratings.order[seat]))
    for other in (*ratings.annotators, JUDGE):
        for place in range(QUARTERS):
            both = (quarters == place) & (ratings.labels[other] != MISSING)
            same, n = int((both & (mine == ratings.labels[other])).sum()), int(both.sum())
            if other != seat:
                low, high = (float(end) for end in wilson(same, n))
                yield seat, other, place + 1, n, same / n if n else np.nan, low, high, too_small(n, n)


def _quarters(order: Floats) -> Places:
    """0 to 3 for each place in an order of work, -1 where it is not known."""
    known = np.isfinite(order)
    ranks = np.argsort(np.argsort(order[known], kind="stable"), kind="stable")
    quarters = np.full(len(order), -1, dtype=np.intp)
    quarters[known] = ranks * QUARTERS // max(int(known.sum()), 1)
    return quarters
