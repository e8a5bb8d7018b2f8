"""The mean score of each answering system on each of the eight criteria."""

from __future__ import annotations

from typing import Any

import pandas as pd

from audit.evaluation.criteria import CRITERIA, Incomplete
from audit.metrics import metric
from audit.metrics._systems import BY_SYSTEM_QUESTION, EVALUATIONS, SYSTEM, evaluations
from audit.metrics.system_criteria import HEADINGS, by_system
from audit.stats.means import mean_interval
from audit.store.connection import Connection
from audit.tables import Column, TableSpec

TABLE = TableSpec(
    "The mean score of each answering system on each of the eight criteria",
    (
        Column.text("criterion", "Criterion", words=HEADINGS), SYSTEM, Column.count("answers", "Answers", "score readable"),
        Column.count("unread", "Unreadable", "evaluations"), Column.decimal("mean", "Mean score"),
        Column.decimal("sd", "Standard deviation"), Column.text("range", "Range", "worst to best"),
    ),
    (
        "In every criterion the highest score is the best. If several judges scored an answer, their mean is used. Scores that "
        "could not be read are in no mean.",
        BY_SYSTEM_QUESTION,
    ),
)  # fmt: skip
GLOSSARY = {"mean score": "The mean of a system's scores on one criterion; each criterion has a range of its own."}
COLUMNS = ("criterion", "system_id", "name", "answers", "unread", "mean", "mean_low", "mean_high", "sd", "range")


@metric(sql=EVALUATIONS, table=TABLE, glossary=GLOSSARY)
def criteria_means(
    con: Connection, judge: str | None = None, question_type: str | None = None, organ: str | None = None
) -> pd.DataFrame:
    """The mean score of each system on each criterion, over the answers on which it could be read.

    judge                 only this judge's evaluations; None: those of all models, as in the metric `composite`
    question_type, organ  count only these questions; None: all

    One row per criterion and judged system, then 'reference' where reference answers were judged:
        criterion, system_id, name         str
        answers                            int, answers with a readable score
        unread                             int, evaluations without one
        mean, mean_low, mean_high          float, in the range of the criterion; 95 % interval with questions resampled
        sd                                 float, standard deviation over these answers (n - 1)
        range                              str, the worst and the best score

    Raises NotInRunError for an unknown judge. Source: audit.evaluation.criteria.
    """
    table = evaluations(con, judge, question_type, organ, Incomplete.EXCLUDE, "")
    systems = list(by_system(con, table))
    rows = [
        {"criterion": name.value, **row, **_summary(own, name.value), "range": f"{scale.worst} to {scale.best}"}
        for name, scale in CRITERIA.items()
        for row, own in systems
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _summary(own: pd.DataFrame, criterion: str) -> dict[str, Any]:
    by_answer = own.dropna(subset=[criterion]).groupby("question")[criterion].mean()
    mean, low, high = mean_interval(by_answer.to_numpy(dtype=float))
    unread = int(own[criterion].isna().sum())
    return {
        "answers": len(by_answer), "unread": unread, "mean": mean, "mean_low": low, "mean_high": high, "sd": by_answer.std(),
    }  # fmt: skip
