"""Whether answers are better where retrieval found more: composites and reference measures against measures of retrieval."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from audit.evaluation.retrieval_measures import RETRIEVAL_MEASURES
from audit.metrics import metric
from audit.metrics._systems import (
    COMPOSITE,
    MEASURE_TITLES,
    READ,
    SYSTEM,
    VALUES,
    WORDS,
    answer_values,
    composite_values,
    identity,
    in_order,
    systems_of,
)
from audit.stats.paired import correlation_interval, pearson, spearman
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, TableSpec

RETRIEVAL = tuple(name for name in MEASURE_TITLES if name in RETRIEVAL_MEASURES)
TABLE = TableSpec(
    "Whether answers are better where retrieval found more of what answers the {question}",
    (
        SYSTEM,
        Column.text("outcome", "Quality of the answer", words=MEASURE_TITLES),
        Column.text("measure", "Measure of retrieval", words=MEASURE_TITLES),
        Column.count("questions", "{Questions}"),
        Column.decimal("spearman", "Spearman's rho"),
        Column.decimal("pearson", "Pearson's r"),
    ),
    (
        "Over the {questions} for which both are known. 0: no relation; 1: the better the retrieval, the better the answer. "
        "An association does not prove a cause: {questions} that are easy to search for may be easy to answer.",
        READ,
        IntervalNote(Population.QUESTIONS, "{questions} are resampled; none where a measure is the same everywhere"),
    ),
)
GLOSSARY = {"downstream effect": "Whether a system's answers are better on {questions} for which its retrieval found more."}
COLUMNS = (
    "system_id", "name", "outcome", "measure", "questions", "spearman", "spearman_low", "spearman_high", "pearson", "pearson_low",
    "pearson_high",
)  # fmt: skip
POINT_COLUMNS = ("system_id", "name", "question_id", "text", "measure", "value", "composite")
TEXTS = "select question, question_id, text from questions"


@metric(sql=VALUES, table=TABLE, glossary=GLOSSARY)
def downstream(con: Connection, question_type: str | None = None, organ: str | None = None) -> pd.DataFrame:
    """Correlation between the quality of a system's answers and how well its retrieval found the gold sections, by question.

    question_type, organ  count only these questions; None: all
    One row per system, outcome (composite, then the reference measures) and measure of retrieval (P@5, recall@5, nDCG, MRR) for
    which at least one question has both:
        system_id, name, outcome, measure              str
        questions                                      int, with both values
        spearman, spearman_low, spearman_high,
        pearson, pearson_low, pearson_high             float in [-1, 1]; 95 % intervals with questions resampled; NaN where one of
                                                       the two is the same everywhere, ends with fewer than four questions

    Evaluations with an unreadable criterion are left out. Source: Fensore, Carrillo-Larco, Shah and Ho, appendix E.
    """
    tables = _by_system(con, question_type, organ)
    rows = [row for system, table in tables for row in _correlations(system, table)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _by_system(con: Connection, question_type: str | None, organ: str | None) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Each system that was measured, with a table of questions x measures."""
    values = pd.concat([answer_values(con, question_type, organ), composite_values(con, question_type, organ)])
    for system in systems_of(con).to_dict("records"):
        own = values[values["system"] == system["system"]]
        if len(own):
            yield identity(system), own.pivot(index="question", columns="measure", values="value")


def _correlations(system: dict[str, Any], table: pd.DataFrame) -> Iterator[dict[str, object]]:
    outcomes = [name for name in in_order(table.columns.to_series()) if name not in (*RETRIEVAL, WORDS, COMPOSITE)]
    for outcome in [COMPOSITE, *outcomes]:
        for measure in RETRIEVAL:
            if outcome in table and measure in table and len(both := table[[measure, outcome]].dropna()):
                retrieved, quality = both[measure].to_numpy(dtype=float), both[outcome].to_numpy(dtype=float)
                coefficients = (
                    *correlation_interval(spearman, retrieved, quality),
                    *correlation_interval(pearson, retrieved, quality),
                )
                numbers = dict(zip(COLUMNS[5:], coefficients, strict=True))
                yield {**system, "outcome": outcome, "measure": measure, "questions": len(both), **numbers}


def downstream_points(con: Connection, question_type: str | None = None, organ: str | None = None) -> pd.DataFrame:
    """The questions behind `downstream`: system_id, name, question_id, text, measure (of retrieval), value, composite."""
    texts = frame(con, TEXTS).set_index("question")
    tables = [
        table[[measure, COMPOSITE]].dropna().rename(columns={measure: "value"}).join(texts).assign(**system, measure=measure)
        for system, table in _by_system(con, question_type, organ)
        for measure in RETRIEVAL
        if measure in table and COMPOSITE in table
    ]
    points = pd.concat(tables) if tables else pd.DataFrame(columns=list(POINT_COLUMNS))
    return points[list(POINT_COLUMNS)].astype({"value": np.float64, "composite": np.float64}).reset_index(drop=True)
