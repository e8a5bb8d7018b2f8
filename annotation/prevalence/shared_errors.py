"""Sensitivity: what the corrected shares would be if annotators are wrong together on some of the items.

Labels on which annotators agree count as true. Where all of them misread the same item, no figure computed from their labels can
show it: with 5 % of such errors the interval of CONSISTENT contained the true share in 44 % of simulated studies. Assumed here:
a share of all items, whatever their true label, has the label next to it on the scale (either of the two, equally often). The
observed shares are then those of a known matrix, whose inverse gives the true ones (Rogan and Gladen 1978, Am. J. Epidemiol.
107). Corrected like this, the intervals contained the true share in 93 to 98 % of such studies, for errors of 2, 5 and 10 %
(tests/annotation/prevalence/test_shared_errors.py).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from annotation.prevalence.estimates import DISAGREES, ROWS, append_disagreement, corrected_shares, require_design
from annotation.ratings.design import Floats
from annotation.ratings.gold import human_labels
from annotation.ratings.table import GOLD, Ratings
from audit.stats.intervals import ShareEstimate
from audit.tables import Column, IntervalNote, Population, TableSpec
from audit.vocabulary import LABELS

SHARED_ERROR_RATES = (0.0, 0.02, 0.05, 0.10)
SHARED_ERRORS_TABLE = TableSpec(
    "If annotators are wrong together",
    (
        Column.share("wrong", "Wrong together", "share of items"),
        Column.share("value", "Share of the run"),
        Column.share("least", "At least", "share"),
        Column.share("most", "At most", "share"),
    ),
    (
        "Wrong together: the share of items on which the reference label is wrong, and nobody noticed.",
        "Share of the run: corrected for such errors, if the wrong label is next to the true one on the scale, either side "
        "equally often.",
        IntervalNote(Population.ITEMS),
        "At least, at most: the ends of the interval without such errors, moved by as many pairs, whatever their labels.",
    ),
)


def shared_errors(ratings: Ratings, label: str = DISAGREES, human: str = GOLD) -> pd.DataFrame:
    """The corrected share of `label` (one of the five, or `disagrees`) by the share of items that annotators have wrong together.

    One row per assumed share of errors (none, 2, 5 and 10 %):
        wrong                        float in [0, 1]
        value, value_low, value_high float in [0, 1], corrected for the errors, with its 95 % interval
        least, most                  float in [0, 1], bounds for errors of any kind

    Raises AuditError as `annotation.prevalence.estimates.prevalence`.
    """
    corrected = corrected_shares(require_design(ratings), human_labels(ratings, human))
    low, high = (float(ends[ROWS.index(label)]) for ends in (corrected.low, corrected.high))
    rows = [
        (wrong, *_without_errors(corrected, label, wrong), max(low - wrong, 0.0), min(high + wrong, 1.0))
        for wrong in SHARED_ERROR_RATES
    ]
    return pd.DataFrame(rows, columns=["wrong", "value", "value_low", "value_high", "least", "most"])


def _without_errors(corrected: ShareEstimate, label: str, wrong: float) -> tuple[float, float, float]:
    """The share and its interval where `wrong` of the labels behind the corrected shares (labels and `disagrees`) are errors."""
    row = ROWS.index(label)
    # How much each observed share counts towards the true one; above all the label itself, and with it its uncertainty
    counts = append_disagreement(np.asarray(np.linalg.inv(neighbour_errors(wrong)), dtype=np.float64))[:, row]
    value, stretch = float(counts @ corrected.value[: len(LABELS)]), float(np.abs(counts).max())
    low = value - stretch * float(corrected.value[row] - corrected.low[row])
    high = value + stretch * float(corrected.high[row] - corrected.value[row])
    # A label with fewer items than such errors alone would give has none
    return max(value, 0.0), max(low, 0.0), min(max(high, 0.0), 1.0)


def neighbour_errors(wrong: float) -> Floats:
    """P(reference label | true label), (labels, labels): a share `wrong` has a label next to the true one on the scale."""
    n = len(LABELS)
    next_to = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) == 1
    return np.asarray(np.where(next_to, wrong / next_to.sum(axis=1, keepdims=True), 0.0) + (1 - wrong) * np.eye(n), dtype=float)
