"""The judge's scores of reference answers, which are right by definition: a calibration for its scores of systems."""

from __future__ import annotations

import pandas as pd

from audit.evaluation.criteria import REFERENCE, Incomplete
from audit.metrics import metric
from audit.metrics._systems import (
    BY_SYSTEM_QUESTION,
    COMPOSITE,
    COMPOSITE_NOTE,
    DECIMALS,
    EVALUATIONS,
    SYSTEM,
    evaluations,
    identity,
    systems_of,
)
from audit.stats.intervals import Floats
from audit.stats.means import mean_change
from audit.store.connection import Connection
from audit.tables import Column, TableSpec

TABLE = TableSpec(
    "Each answering system against the reference answers, by the same judge",
    (
        SYSTEM, Column.count("questions", "{Questions}", "that have both"),
        Column.decimal("reference", "Reference answers", "composite"), Column.decimal("mean", "System", "composite"),
        Column.decimal("change", "Difference"), Column.count("above", "System higher", "{questions}"),
        Column.count("equal", "Equal", "{questions}"), Column.count("below", "System lower", "{questions}"),
    ),
    (
        "Reference answers come from a trusted source and are judged like any other answer. What it deducts from them is its "
        "own severity; where it scores a system above them, it rewards something other than being right.",
        COMPOSITE_NOTE, BY_SYSTEM_QUESTION,
    ),
)  # fmt: skip
GLOSSARY = {
    "calibration": "Judging reference answers, which are right by definition, shows how severe the judge is and what it rewards.",
}
COLUMNS = (
    "system_id", "name", "questions", "reference", "mean", "change", "change_low", "change_high", "above", "equal", "below",
)  # fmt: skip


@metric(sql=EVALUATIONS, table=TABLE, glossary=GLOSSARY)
def judge_calibration(
    con: Connection, incomplete: str = Incomplete.EXCLUDE, judge: str | None = None, question_type: str | None = None,
    organ: str | None = None, weights: str = "",
) -> pd.DataFrame:  # fmt: skip
    """The composite of each system's answers next to that of the reference answers to the same questions.

    incomplete, weights, judge, question_type, organ    as in the metric `composite`

    One row per judged system in release order; none where no reference answer was judged:
        system_id, name                    str
        questions                          int, on which both the system's and the reference answer's composite are known
        reference, mean                    float in [0, 10], the means over these; NaN without any
        change, change_low, change_high    float, mean - reference, 95 % interval with questions resampled
        above, equal, below                int, questions on which the system's composite is higher, the same, lower

    Raises AuditError for another `incomplete` or wrong weights, NotInRunError for an unknown judge.
    """
    table = evaluations(con, judge, question_type, organ, incomplete, weights).dropna(subset=[COMPOSITE])
    by_answer = table.assign(system=table["system"].fillna(-1)).groupby(["question", "system"])[COMPOSITE]
    mean = by_answer.mean().round(DECIMALS).unstack()
    if -1 not in mean.columns:
        return pd.DataFrame(columns=list(COLUMNS))
    rows = [
        identity(system) | _against(both.to_numpy())
        for system in systems_of(con).to_dict("records")
        if system["system"] in mean.columns
        for both in [mean[[-1, system["system"]]].dropna()]
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _against(both: Floats) -> dict[str, object]:
    """`both` has the composites of the reference answer and of the system, one row per question."""
    difference = both[:, 1] - both[:, 0]
    change = mean_change(difference)
    reference, mean = both.mean(axis=0) if len(both) else (float("nan"), float("nan"))
    return {
        "questions": len(both), REFERENCE: reference, "mean": mean,
        **{name: change[name] for name in ("change", "change_low", "change_high")},
        "above": int((difference > 0).sum()), "equal": int((difference == 0).sum()), "below": int((difference < 0).sum()),
    }  # fmt: skip
