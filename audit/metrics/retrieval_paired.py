"""Each retrieval strategy compared with the first, on the searches that both made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from audit.metrics import metric
from audit.metrics.retrieval import MEANINGS, MEASURE_TITLES, STRATEGY
from audit.queries.retrieval_trials import MEASURES, SQL, strategies, trials_with_measures
from audit.stats.bootstrap import draws
from audit.stats.intervals import Floats
from audit.stats.paired import change_interval, direction
from audit.store.connection import Connection
from audit.tables import Column, TableSpec

KEY = ["question", "handbook_id"]
CHANGE = ("change", "change_low", "change_high", "questions", "moves")
COLUMNS = ("strategy", "against", "measure", "trials", "value", "first", *CHANGE)
DIRECTION_WORDS = {"rises": "better", "falls": "worse"}
TABLE = TableSpec(
    "Each retrieval strategy compared with the first, search by search",
    (
        STRATEGY, Column.text("measure", "Measure", words=MEASURE_TITLES), Column.decimal("value", "Strategy's value"),
        Column.decimal("first", "First strategy's value"), Column.decimal("change", "Change"),
        Column.text("moves", "Direction", words=DIRECTION_WORDS), Column.count("questions", "{Questions}", "that differ"),
        Column.count("trials", "Searches", "made by both"),
    ),
    (
        "The comparator is the strategy that the release lists first. Change: a strategy's measure minus the comparator's, over "
        "the searches that both made, so what makes one search harder than another drops out.",
        "Better, worse: the interval of the change excludes 0. Too few questions: the two differ on fewer than five.",
        MEANINGS,
        "In brackets: 95 % intervals, {questions} resampled, each with all its {handbooks}. A dash: not known.",
    ),
)  # fmt: skip
GLOSSARY = {"comparator": "What the others are compared with, such as the retrieval strategy that a release lists first."}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def retrieval_paired(con: Connection) -> pd.DataFrame:
    """How much better or worse each strategy finds the section that contains the answer than the first one, search by search.

    Both were asked the same questions of the same handbooks, so what makes one question harder than another drops out, and a
    difference is known better than either figure. The measures are those of `retrieval`.

    One row per further strategy and measure:
        strategy, against         str, the strategy, and the first one of the release
        measure                   str, hit_1, hit_5, mrr, ndcg_5 or given
        trials                    int, searches with gold that both made
        value, first              float in [0, 1], the measure of the strategy and of the first one on these
        change                    float in [-1, 1], value - first
        change_low, change_high   95 % interval: questions resampled with all their handbooks; NaN where fewer than five differ
        questions                 int, questions on which the two differ
        moves                     str, rises, falls, not clear, the same, or too few questions

    No row where fewer than two strategies were tried. Source of the interval: audit.metrics.paired.
    """
    table = trials_with_measures(con)
    table = table[table["gold"] > 0].drop_duplicates([*KEY, "strategy"])
    first, *others = strategies(table) or [""]
    rows = [row for other in others for row in _compared(table, first, other)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _compared(table: pd.DataFrame, first: str, other: str) -> Iterator[dict[str, Any]]:
    sides = (table[table["strategy"] == name].set_index(KEY)[list(MEASURES)] for name in (other, first))
    both = next(sides).merge(next(sides), left_index=True, right_index=True, suffixes=("_value", "_first"))
    if both.empty:
        return
    question = pd.factorize(both.index.get_level_values("question"))[0]
    weights = draws(int(question.max()) + 1, stream=0)
    for measure in MEASURES:
        value, was = both[f"{measure}_value"].to_numpy(), both[f"{measure}_first"].to_numpy()
        row = {"strategy": other, "against": first, "measure": measure, "trials": len(both)}
        yield row | {"value": value.mean(), "first": was.mean(), **_change(value - was, question, weights)}


def _change(differences: Floats, question: np.ndarray[Any, np.dtype[np.intp]], weights: Floats) -> dict[str, Any]:
    sums, trials = np.bincount(question, differences), np.bincount(question)
    bearing = np.count_nonzero(np.bincount(question, np.abs(differences)))
    drawn = (sums @ weights) / (trials @ weights)
    low, high = (float(end[0]) for end in change_interval(drawn[None, :], np.array([bearing])))
    moves = direction(low, high, not bearing)
    return {"change": differences.mean(), "change_low": low, "change_high": high, "questions": bearing, "moves": moves}
