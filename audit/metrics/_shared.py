"""Shared by several metrics: table columns and footnotes; shares and kappa with questions as clusters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from audit.stats.clustered import share_by_question
from audit.stats.intervals import Floats
from audit.stats.paired import clustered_kappa_interval, cohen_kappa
from audit.tables import Column, IntervalNote, Population
from audit.terms import RATE_MEANINGS, RATE_SYMBOLS, RATE_TITLES
from audit.vocabulary import LABELS

UNSEEN = (
    "Wilson's with {questions} as trials where no pair, or every pair, has the outcome; with fewer than five {questions}, the "
    "wider of both."
)
TWO_WAY = IntervalNote(
    Population.QUESTIONS_AND_HANDBOOKS.as_judged,
    "pairs that share either count as related (cluster-robust variance, logit scale)",
    UNSEEN,
)
BY_QUESTION = IntervalNote(
    Population.QUESTIONS_TO_THESE.as_judged,
    "pairs on one {question} count as related (cluster-robust variance, logit scale)",
    f"{UNSEEN} For figures other than shares, {{questions}} are resampled.",
)
OWN_FIXED = IntervalNote(
    Population.OTHERS_TO_COMPARE.as_judged,
    "pairs that share {a_question} or another's {handbook} count as related (cluster-robust variance, logit scale)",
    f"{UNSEEN} Absence depends only on the group's own answers, so {{questions}} are the units.",
)
OTHER_HANDBOOKS = IntervalNote(
    Population.HANDBOOKS.as_judged, "pairs that share {a_handbook} count as related (cluster-robust variance)"
)
ANY_DISPUTE = (
    "pct_any_div grows with the number of {handbooks}, because one disagreeing pair makes {a_question} disputed: compare it only "
    "between groups with as many."
)
MANY_INTERVALS = "Each interval is for its row alone: of 20 rows without any difference, about one is marked by chance."
"""Said wherever many intervals are read at once."""
WILSON = IntervalNote(Population.QUESTIONS, "{questions} are the units (Wilson 1927)")
UNSCORED = "Unscored pairs (no readable verdict) enter no rate: a missing verdict is not agreement."
ABSENCE = (
    "Absence: of the {questions} that {a_handbook} was asked, the share it does not address. A {question} that was not asked "
    "counts in neither."
)
TWO_RUNS = "Only pairs that both runs have and to which both gave a verdict are compared."
THEME = (
    "A theme groups divergence topics: the judge's few words on what two answers differ about. Disagreements whose topic "
    "belongs to no theme, or was not stated, have rows of their own."
)

PAIRS = Column.count("pairs", "Pairs")
PRESENT = Column.count("present", "Both answer", "pairs")
DISAGREEING = Column.count("disagreeing", "Disagreeing", "pairs")
QUESTIONS = Column.count("questions", "{Questions}")
HANDBOOKS = Column.count("handbooks", "{Handbooks}")
ORGAN = Column.named("organ", "{Organ}", "all {organs}")
DIRECTION = Column.text("moves", "Direction")
INTERVAL_METHOD = Column.text("interval", "Interval made by")
SIGNIFICANCES = (
    Column.count("high", "High", "pairs"),
    Column.count("medium", "Medium", "pairs"),
    Column.count("low", "Low", "pairs"),
    Column.count("unstated", "Not stated", "pairs"),
)
"""Disagreeing pairs by the clinical significance that the judge gave them."""


def rate_columns(*names: str) -> tuple[Column, ...]:
    """Columns for the named rates of the four; all if none is named."""
    return tuple(Column.share(name, RATE_TITLES[name], RATE_SYMBOLS[name]) for name in names or RATE_TITLES)


def rate_notes(*names: str, intervals: IntervalNote = TWO_WAY) -> tuple[str, ...]:
    """What those rates mean, and how their intervals were made."""
    shown = names or tuple(RATE_TITLES)
    growing = (f"{ANY_DISPUTE} Its interval is in the table of disputed {{questions}}.",) if "pct_any_div" in shown else ()
    return (*(f"{RATE_TITLES[name]}: {RATE_MEANINGS[name]}" for name in shown), UNSCORED, intervals, *growing)


LABEL_NAMES = tuple(label.value for label in LABELS)
BOOTSTRAP, CLUSTERED, OVER_QUESTIONS, NO_INTERVAL = "questions resampled", "questions as clusters", "Wilson over questions", ""


def share_columns(counts: pd.DataFrame, numerator: pd.Series, denominator: pd.Series) -> dict[str, object]:
    """One share with its interval: count, of, value, value_low, value_high, interval (how it was made).

    `counts` has a row per question and whatever else, with columns question and pairs; `numerator` and `denominator` are
    truth values over its rows. The share is NaN where the denominator is empty, its ends where it has one question only.
    """
    pairs = counts["pairs"][denominator].to_numpy(dtype=float)
    events = pairs * numerator[denominator].to_numpy(dtype=float)
    value, low, high = share_by_question(counts["question"][denominator], events, pairs)
    # The rule of audit.stats.clustered, so the table names the method that made the interval.
    method = NO_INTERVAL if np.isnan(low) else OVER_QUESTIONS if value in (0, 1) else CLUSTERED
    shares = {"value": value, "value_low": low, "value_high": high}
    return {"count": int(events.sum()), "of": int(pairs.sum()), **shares, "interval": method}


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


def kappa_columns(tables: Floats, *, ordered: bool = False, read: Floats | None = None) -> dict[str, object]:
    """Kappa of `label_tables` with its interval: count (pairs with the same label twice), of, value, ...; `ordered`: weighted."""
    total = tables.sum(axis=0)
    low, high = clustered_kappa_interval(tables, ordered=ordered, read=read)
    return {
        "count": int(total.trace()), "of": int(total.sum()), "value": float(cohen_kappa(total, ordered=ordered)),
        "value_low": low, "value_high": high, "interval": NO_INTERVAL if np.isnan(low) else BOOTSTRAP,
    }  # fmt: skip


def by_question(counts: pd.DataFrame, groups: pd.Series, *columns: str, group: str = "name") -> Floats:
    """These columns as an array (columns, groups, questions), 0 where a group has no row of a question.

    counts  one row per group and question: `group`, question and the columns
    """
    row = pd.Index(groups).get_indexer(pd.Index(counts[group]))
    column, questions = pd.factorize(counts["question"])
    table = np.zeros((len(columns), len(groups), len(questions)))
    table[:, row, column] = counts[list(columns)].to_numpy().T
    return table
