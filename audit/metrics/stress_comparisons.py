"""Stress tests: accuracy among what a system answers, and differences between systems on the same instances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from audit.evaluation.stress_measures import StressMeasure
from audit.metrics import metric
from audit.metrics._systems import SYSTEM, identity, system_number
from audit.metrics.stress import CELL, INTERVAL_NOTE, MEASURE_COLUMN, REPLIES, TEST_COLUMNS, replies_of, systems_of, trials
from audit.metrics.systems import DIRECTIONS
from audit.stats.clustered import clustered_ratio_interval
from audit.stats.means import mean_change
from audit.store.connection import Connection
from audit.tables import Column, TableSpec

SELECTIVE_COLUMNS = (
    *CELL, "system_id", "name", "readable", "answered", "right", "coverage", "coverage_low", "coverage_high", "accuracy",
    "accuracy_low", "accuracy_high",
)  # fmt: skip
SELECTIVE = TableSpec(
    "Stress tests: accuracy among the {questions} that a system answers",
    (
        *TEST_COLUMNS, SYSTEM, Column.count("readable", "Replies", "that could be read"), Column.count("answered", "Answered"),
        Column.share("coverage", "Coverage"), Column.share("accuracy", "Accuracy", "of those answered"),
    ),
    (
        "Coverage: replies that choose an option, of the replies that could be read; the others say that the documents do not "
        "suffice. Accuracy: right ones of those that choose. A system that knows when to decline keeps its accuracy while its "
        "coverage falls with the signal.",
        INTERVAL_NOTE,
    ),
)  # fmt: skip


@metric(
    sql=REPLIES,
    table=SELECTIVE,
    glossary={"coverage": "The share of {questions} that a system answers and does not decline."},
)
def stress_selective(con: Connection, test: str | None = None, size: int | None = None) -> pd.DataFrame:
    """Selective answering: coverage and accuracy among what was answered, of each system in each cell of the stress tests.

    test, size  count only this test, and contexts of this size as asked for; None: all
    Questions with options only; replies that could not be read are left out.

    One row per test, size, share of signal and system:
        test, size, signal_share                    str, int, int in percent (-1: not stated)
        system_id, name                             str
        readable, answered, right                   int, replies
        coverage, coverage_low, coverage_high       float in [0, 1], answered / readable; 95 % interval, questions resampled
        accuracy, accuracy_low, accuracy_high       float in [0, 1], right / answered; NaN where nothing was answered

    Source: El-Yaniv and Wiener (2010), J. Mach. Learn. Res. 11 (coverage and selective risk).
    """
    systems = {row["system"]: row for row in systems_of(con).to_dict("records")}
    replies = replies_of(con, test, size)
    counted = replies[replies["readable"] & ~replies["is_open"]]
    rows = [
        {**dict(zip(CELL, key[:3], strict=True)), **identity(systems[key[3]]), **_selective(table)}
        for key, table in counted.groupby([*CELL, "system"])
    ]
    return pd.DataFrame(rows, columns=list(SELECTIVE_COLUMNS))


def _selective(replies: pd.DataFrame) -> dict[str, object]:
    right = (replies["choice"] == replies["gold"]).to_numpy()
    answered = (~replies["says_insufficient"]).to_numpy()
    question = replies["question"].to_numpy()
    return {
        "readable": len(replies),
        "answered": int(answered.sum()),
        "right": int(right.sum()),
        **_share("coverage", question, answered),
        **_share("accuracy", question[answered], right[answered]),
    }


def _share(name: str, question: Any, event: Any) -> dict[str, float]:
    if not len(event):
        return dict.fromkeys((name, f"{name}_low", f"{name}_high"), np.nan)
    _, position = np.unique(question, return_inverse=True)
    events, of = (np.bincount(position, weights).astype(np.float32) for weights in (event, None))
    low, high = clustered_ratio_interval(events[None, :], of[None, :])
    return {name: float(event.mean()), f"{name}_low": low[0], f"{name}_high": high[0]}


PAIRED_COLUMNS = (
    *CELL, "system_id", "name", "against", "measure", "of", "value", "first", "change", "change_low", "change_high", "moves",
    "questions",
)  # fmt: skip
PAIRED = TableSpec(
    "Stress tests: each system compared with a baseline on the same instances",
    (
        *TEST_COLUMNS, SYSTEM, Column.text("against", "Baseline"),
        MEASURE_COLUMN, Column.count("of", "Instances", "that both have"), Column.decimal("value", "System's mean"),
        Column.decimal("first", "Baseline's mean"), Column.decimal("change", "Difference"),
        Column.text("moves", "Direction", words=DIRECTIONS), Column.count("questions", "{Questions}", "that differ"),
    ),
    (
        "Difference: the system's value minus the baseline's on the same instance, on average. Only instances on which both have "
        "something that could be read count. Each instance counts once, however many documents it has.",
        INTERVAL_NOTE,
    ),
)  # fmt: skip


@metric(
    sql=REPLIES,
    table=PAIRED,
    glossary={"instance": "One {question} with one context of a stress test: its documents, and the truth about each."},
)
def stress_paired(con: Connection, baseline: str | None = None, test: str | None = None, size: int | None = None) -> pd.DataFrame:
    """The difference of every measure of the stress tests between each system and a baseline, on the instances that both have.

    baseline    the id of a system; None: the first that replied to stress tests
    test, size  count only this test, and contexts of this size as asked for; None: all

    One row per test, size, share of signal, other system and measure:
        test, size, signal_share            str, int, int in percent (-1: not stated)
        system_id, name, against            str, the system, and the name of the baseline
        measure                             str, audit.evaluation.stress_measures.StressMeasure
        of                                  int, instances on which both have a value
        value, first                        float, the means of the system and of the baseline over these
        change, change_low, change_high     float, value - first; 95 % interval, questions resampled (NaN: fewer than five differ)
        moves                               str, rises, falls, not clear, the same, or too few questions
        questions                           int, questions on which the two differ

    No row with fewer than two systems. Raises NotInRunError for an unknown baseline. Source of the interval: audit.stats.means.
    """
    systems = systems_of(con)
    if len(systems) < 2 and baseline is None:
        return pd.DataFrame(columns=list(PAIRED_COLUMNS))
    first = system_number(systems, systems["system_id"].iloc[0] if baseline is None else baseline)
    values = trials(con, test, size)
    values = values[values["denominator"] > 0]
    values = values.assign(value=values["numerator"] / values["denominator"])
    return pd.DataFrame(list(_differences(values, systems, first)), columns=list(PAIRED_COLUMNS))


def _differences(values: pd.DataFrame, systems: pd.DataFrame, first: int) -> Iterator[dict[str, object]]:
    names = dict(zip(systems["system"], systems["name"], strict=True))
    rank = {str(name): number for number, name in enumerate(StressMeasure)}
    tables: dict[tuple[object, ...], pd.DataFrame] = {tuple(key): table for key, table in values.groupby([*CELL, "measure"])}
    for key in sorted(tables, key=lambda key: (*key[:3], rank[str(key[3])])):
        cell = dict(zip((*CELL, "measure"), (*key[:3], str(key[3])), strict=True))
        wide = tables[key].pivot(index=["question", "instance"], columns="system", values="value")
        for system in systems.to_dict("records"):
            if system["system"] == first or not {system["system"], first} <= set(wide):
                continue
            both = wide[[system["system"], first]].dropna().astype(float)
            if len(both):
                yield {**cell, **identity(system), "against": names[first], **_compared(both)}


def _compared(both: pd.DataFrame) -> dict[str, Any]:
    """The difference of two columns, a system's and the baseline's; the first level of the index is the question."""
    own, first = (both[column].to_numpy() for column in both)
    change = mean_change(own - first, both.index.get_level_values(0).to_numpy())
    return {"of": len(both), "value": own.mean(), "first": first.mean(), **change}
