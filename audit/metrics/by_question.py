"""Figures of pairs that were asked about or compared one by one: shares and kappa, with questions resampled.

Such pairs are a sample, or those that two runs share, thinly spread over couples of handbooks; what they have in common is
their question. So questions are resampled, each with all its pairs (a cluster bootstrap, seeded); where the event or its
opposite occurs on fewer than five questions, Wilson's interval with the questions as trials stands in.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from audit.metrics.intervals import Floats
from audit.metrics.kappa import kappa, kappa_interval
from audit.metrics.pigeonhole import FEW, clustered_interval
from audit.vocabulary import LABELS

SAID = tuple(label.value for label in LABELS)
BOOTSTRAP, WILSON, NONE = "questions resampled", "Wilson over questions", ""


def share_of(counts: pd.DataFrame, part: pd.Series, whole: pd.Series) -> dict[str, object]:
    """One share with its interval: count, of, share, low, high, interval (how it was made).

    `counts` has a row per question and whatever else, with columns question and pairs; `part` and `whole` are truth values
    over its rows, part within whole. The share is NaN where nothing is in the whole, its ends where one question is.
    """
    questions, place = np.unique(counts["question"][whole], return_inverse=True)
    pairs = counts["pairs"][whole].to_numpy(dtype=float)
    total = np.bincount(place, pairs, len(questions)) if len(questions) else np.zeros(0)
    held = np.bincount(place, pairs * part[whole].to_numpy(dtype=float), len(questions)) if len(questions) else np.zeros(0)
    low, high = clustered_interval(held[None, :].astype(np.float32), total[None, :].astype(np.float32))
    scarce = min(np.count_nonzero(held), np.count_nonzero(total - held)) < FEW
    share = held.sum() / total.sum() if total.sum() else np.nan
    how = NONE if np.isnan(low[0]) else WILSON if scarce else BOOTSTRAP
    return {
        "count": int(held.sum()), "of": int(total.sum()), "value": share, "value_low": low[0], "value_high": high[0],
        "interval": how,
    }  # fmt: skip


def tables_of(counts: pd.DataFrame, rows: str, columns: str, labels: Sequence[str] = SAID) -> Floats:
    """Pairs by question, first label and second: float (questions, K, K); rows with other values are left out.

    `counts` has columns question, pairs, and those named `rows` and `columns`.
    """
    kept = counts[counts[rows].isin(labels) & counts[columns].isin(labels)]
    questions, place = np.unique(kept["question"], return_inverse=True)
    index = pd.Index(labels)
    found = np.zeros((len(questions), len(labels), len(labels)))
    first, second = (index.get_indexer(pd.Index(kept[side])) for side in (rows, columns))
    np.add.at(found, (place, first, second), kept["pairs"].to_numpy(dtype=float))
    return found


def kappa_of(tables: Floats) -> dict[str, object]:
    """Kappa of the tables of `tables_of` with its interval: count (pairs with the same label twice), of, value, ..."""
    whole = tables.sum(axis=0)
    low, high = kappa_interval(tables)
    return {
        "count": int(whole.trace()), "of": int(whole.sum()), "value": float(kappa(whole)), "value_low": low, "value_high": high,
        "interval": NONE if np.isnan(low) else BOOTSTRAP,
    }  # fmt: skip
