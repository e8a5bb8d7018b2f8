"""The annotators' work: time per item, drift of labels over time, and intra-rater (test-retest) reliability."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from annotation.agreement.comparisons import StratifiedTable
from annotation.agreement.estimates import estimate_measure, too_small
from annotation.agreement.measures import two_rater_measures
from annotation.ratings.design import MISSING, Codes, Floats
from annotation.ratings.table import JUDGE, Ratings
from annotation.schemes import PAIRS, Scheme
from audit.stats.intervals import wilson

QUARTERS = 4
TIME_COLUMNS = ("annotator", "n", "median_s", "fastest_tenth_s", "slowest_tenth_s", "first_quarter_s", "last_quarter_s")
DRIFT_COLUMNS = ("annotator", "against", "quarter", "n", "value", "low", "high", "note")
RETEST_COLUMNS = ("annotator", "name", "value", "low", "high", "n", "word", "note")


def time_per_item(ratings: Ratings) -> pd.DataFrame:
    """Time taken by the annotators, if the table has times (columns seconds_a, ...).

    One row per annotator:
        annotator  str
        n          int, labelled items with a time
        median_s, fastest_tenth_s, slowest_tenth_s   float, seconds: the median, the 10 % and the 90 % point
        first_quarter_s, last_quarter_s   float, median seconds of the first and the last quarter of the work, NaN without
                                          the order of work (columns order_a, ...)
    """
    return pd.DataFrame([_time_row(ratings, annotator) for annotator in ratings.seconds], columns=list(TIME_COLUMNS))


def _time_row(ratings: Ratings, annotator: str) -> tuple[object, ...]:
    timed = (ratings.labels[annotator] != MISSING) & np.isfinite(ratings.seconds[annotator])
    seconds = ratings.seconds[annotator][timed]
    if not len(seconds):
        return annotator, 0, *np.full(5, np.nan)
    ends = [np.nan, np.nan]
    if annotator in ratings.order:
        quarters = _quarters(ratings.order[annotator][timed])
        ends = [float(pd.Series(seconds[quarters == quarter]).median()) for quarter in (0, QUARTERS - 1)]
    # Median and tenths, because one interrupted item would move a mean by minutes.
    return annotator, len(seconds), *np.percentile(seconds, [50, 10, 90]).tolist(), *ends


def drift(ratings: Ratings) -> pd.DataFrame:
    """Whether an annotator comes to agree more, or less, with the others and the judge (columns order_a, ...).

    An annotator's items are cut into four quarters in that annotator's own order of work. Since everyone works in a different
    order, a quarter of one is a mixture of all quarters of another, so a drift belongs to the annotator named.

    One row per annotator, other rater and quarter:
        annotator, against   str, two raters
        quarter              int, 1 to 4
        n                    int, items in that quarter that both labelled
        value, low, high     float in [0, 1], share with the same label, 95 % Wilson; NaN where n is 0
        note                 str, empty or `too small: ...`
    """
    rows = [row for annotator in ratings.order for row in _drift_rows(ratings, annotator)]
    return pd.DataFrame(rows, columns=list(DRIFT_COLUMNS))


def _drift_rows(ratings: Ratings, annotator: str) -> Iterator[tuple[object, ...]]:
    own = ratings.labels[annotator]
    quarters = _quarters(np.where(own == MISSING, np.nan, ratings.order[annotator]))
    for other in (rater for rater in (*ratings.annotators, JUDGE) if rater != annotator):
        for quarter in range(QUARTERS):
            both = (quarters == quarter) & (ratings.labels[other] != MISSING)
            same, n = int((both & (own == ratings.labels[other])).sum()), int(both.sum())
            low, high = (float(end) for end in wilson(same, n))
            yield annotator, other, quarter + 1, n, same / n if n else np.nan, low, high, too_small(n, n)


def retest_agreement(repeats: pd.DataFrame, scheme: Scheme = PAIRS) -> pd.DataFrame:
    """Intra-rater reliability: how often an annotator gives the same label to the same item twice, from hidden repeats.

    `repeats` has columns annotator, first and second: one row per item that an annotator labelled both times.

    One row per annotator and figure:
        annotator         str
        name              the headline coefficient of the scheme, agreement (the share with the same label)
        value, low, high  float, with its 95 % interval; NaN where undefined
        n                 int, items labelled both times
        word, note        as in the figures of the report
    """
    by_annotator = repeats.groupby("annotator", sort=True)
    rows = [row for annotator, pairs in by_annotator for row in _retest_rows(str(annotator), pairs, scheme)]
    return pd.DataFrame(rows, columns=list(RETEST_COLUMNS))


def _retest_rows(annotator: str, pairs: pd.DataFrame, scheme: Scheme) -> Iterator[tuple[object, ...]]:
    order = list(scheme.words)
    # Unused labels keep their rows: the weights of kappa depend on the distances between all labels.
    table = pd.crosstab(pairs["first"], pairs["second"]).reindex(index=order, columns=order, fill_value=0)
    measures = {measure.name: measure for measure in two_rater_measures(len(order), scheme.ordered)}
    for name in (scheme.headline, "agreement"):
        estimate = estimate_measure(
            measures[name], StratifiedTable.unweighted(table.to_numpy()), raters=("the first labels", "the second")
        )
        yield annotator, name, estimate.value, estimate.low, estimate.high, estimate.n, estimate.word, estimate.note


def _quarters(order: Floats) -> Codes:
    """The quarter, 0 to 3, of each position in an order of work; -1 where the position is not known."""
    known = np.isfinite(order)
    # Ranks, because the positions of an unfinished order of work have gaps.
    ranks = np.argsort(np.argsort(order[known], kind="stable"), kind="stable")
    quarters = np.full(len(order), -1, dtype=np.intp)
    quarters[known] = ranks * QUARTERS // max(int(known.sum()), 1)
    return quarters
