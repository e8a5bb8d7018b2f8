"""Figures of pairs that were asked about or compared one by one: shares and kappa, with questions resampled.

Such pairs are a sample, or those that two runs share, thinly spread over couples of handbooks; what they have in common is
their question. So questions are resampled, each with all its pairs; where the event or its opposite occurs on fewer than
MIN_QUESTIONS questions, the interval is Wilson's with the questions as trials.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from audit.stats.agreement import clustered_kappa_interval, cohen_kappa
from audit.stats.bootstrap import MIN_QUESTIONS, clustered_ratio_interval
from audit.stats.intervals import Floats
from audit.vocabulary import LABELS

LABEL_NAMES = tuple(label.value for label in LABELS)
BOOTSTRAP, WILSON, NO_INTERVAL = "questions resampled", "Wilson over questions", ""


def share_columns(counts: pd.DataFrame, numerator: pd.Series, denominator: pd.Series) -> dict[str, object]:
    """One share with its interval: count, of, value, value_low, value_high, interval (how it was made).

    `counts` has a row per question and whatever else, with columns question and pairs; `numerator` and `denominator` are
    truth values over its rows. The share is NaN where the denominator is empty, its ends where it has one question only.
    """
    questions, position = np.unique(counts["question"][denominator], return_inverse=True)
    pairs = counts["pairs"][denominator].to_numpy(dtype=float)
    events = pairs * numerator[denominator].to_numpy(dtype=float)
    total, event = (np.bincount(position, weights, len(questions)) for weights in (pairs, events))
    low, high = clustered_ratio_interval(event[None, :].astype(np.float32), total[None, :].astype(np.float32))
    rare = min(np.count_nonzero(event), np.count_nonzero(total - event)) < MIN_QUESTIONS
    return {
        "count": int(event.sum()), "of": int(total.sum()),
        "value": event.sum() / total.sum() if total.sum() else np.nan, "value_low": low[0], "value_high": high[0],
        "interval": NO_INTERVAL if np.isnan(low[0]) else WILSON if rare else BOOTSTRAP,
    }  # fmt: skip


def label_tables(counts: pd.DataFrame, rows: str, columns: str, labels: Sequence[str] = LABEL_NAMES) -> Floats:
    """Pairs by question, first label and second: float (questions, K, K); rows with other values are left out.

    `counts` has columns question, pairs, and those named `rows` and `columns`.
    """
    counted = counts[counts[rows].isin(labels) & counts[columns].isin(labels)]
    questions, position = np.unique(counted["question"], return_inverse=True)
    tables = np.zeros((len(questions), len(labels), len(labels)))
    first, second = (pd.Index(labels).get_indexer(pd.Index(counted[side])) for side in (rows, columns))
    np.add.at(tables, (position, first, second), counted["pairs"].to_numpy(dtype=float))
    return tables


def kappa_columns(tables: Floats) -> dict[str, object]:
    """Kappa of `label_tables` with its interval: count (pairs with the same label twice), of, value, ..."""
    total = tables.sum(axis=0)
    low, high = clustered_kappa_interval(tables)
    return {
        "count": int(total.trace()), "of": int(total.sum()), "value": float(cohen_kappa(total)), "value_low": low,
        "value_high": high, "interval": NO_INTERVAL if np.isnan(low) else BOOTSTRAP,
    }  # fmt: skip
