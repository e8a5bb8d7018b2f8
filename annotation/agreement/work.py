"""How the work went: time per item, whether labels drift in the course of it, and whether an annotator agrees with oneself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd

from annotation.agreement.figures import figure, too_small
from annotation.agreement.measures import two_seats
from annotation.agreement.spread import Counts
from annotation.design import Floats
from annotation.ratings import JUDGE, MISSING, Ratings
from audit.stats.intervals import wilson
from audit.vocabulary import LABELS

QUARTERS = 4
TIME_COLUMNS = ("annotator", "n", "median_s", "fastest_tenth_s", "slowest_tenth_s", "first_quarter_s", "last_quarter_s")
DRIFT_COLUMNS = ("annotator", "against", "quarter", "n", "value", "low", "high", "note")
ONESELF_COLUMNS = ("annotator", "name", "value", "low", "high", "n", "word", "note")
ONESELF = ("kappa_quadratic", "agreement")
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


def with_oneself(repeats: pd.DataFrame) -> pd.DataFrame:
    """How far an annotator gives the same label to the same item twice, from the silent repeats.

    `repeats` has columns annotator, first and second: one row per item that an annotator labelled both times.

    One row per annotator and figure:
        annotator         str
        name              kappa_quadratic, agreement (the share with the same label)
        value, low, high  float, with its 95 % interval; NaN where undefined
        n                 int, items labelled both times
        word, note        as in the figures of the report
    """
    rows = [row for annotator, pairs in repeats.groupby("annotator", sort=True) for row in _oneself(str(annotator), pairs)]
    return pd.DataFrame(rows, columns=list(ONESELF_COLUMNS))


def _oneself(annotator: str, pairs: pd.DataFrame) -> Iterator[tuple[object, ...]]:
    order = [label.value for label in LABELS]
    met = pd.crosstab(pairs["first"], pairs["second"]).reindex(index=order, columns=order, fill_value=0)
    measures = {measure.name: measure for measure in two_seats(len(order))}
    for name in ONESELF:
        found = figure(measures[name], Counts.plain(met.to_numpy()), seats=("the first labels", "the second"))
        yield annotator, name, found.value, found.low, found.high, found.n, found.word, found.note


def _quarters(order: Floats) -> Places:
    """0 to 3 for each place in an order of work, -1 where it is not known."""
    known = np.isfinite(order)
    ranks = np.argsort(np.argsort(order[known], kind="stable"), kind="stable")
    quarters = np.full(len(order), -1, dtype=np.intp)
    quarters[known] = ranks * QUARTERS // max(int(known.sum()), 1)
    return quarters
