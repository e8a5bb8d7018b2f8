"""How close each system's answers come to the reference answers, and how well its searches found the right sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from audit.metrics import metric
from audit.metrics._systems import (
    BY_SYSTEM_QUESTION,
    MEASURE,
    READ,
    SYSTEM,
    TEXT_MEASURES,
    TYPE,
    VALUES,
    answer_values,
    identity,
    in_order,
    systems_of,
)
from audit.queries.lookup import require_one_of
from audit.stats.means import mean_interval
from audit.store.connection import Connection
from audit.tables import Column, TableSpec
from audit.terms import ALL

BY = ("all", "question_type")
EVIDENCE_MEANINGS = (
    "Faithfulness: the share of an answer's statements that its passages support. Context precision: how early the passages "
    "that help come; context recall: the share of the reference answer that they contain. Answer relevance: how far the "
    "answer addresses the {question}. Citation correctness: the share of citations whose passage supports the statement. All "
    "five are a model's judgement. Verbatim quotes: the share of quotes that are in the cited section word for word."
)
TABLE = TableSpec(
    "Reference measures, measures of retrieval and lengths of each answering system",
    (
        SYSTEM, TYPE, MEASURE, Column.count("answers", "Measured", "answers"), Column.decimal("mean", "Mean"),
        Column.decimal("sd", "Standard deviation"), Column.decimal("least", "Lowest"), Column.decimal("most", "Highest"),
    ),
    (
        TEXT_MEASURES,
        "P@5: the share of the first five passages that contain the answer. Recall@5: the share of the passages that contain it "
        "which are among the first five. nDCG: how close the order is to the best one. MRR: the mean of 1 / rank of the first.",
        EVIDENCE_MEANINGS,
        READ,
        BY_SYSTEM_QUESTION,
    ),
)  # fmt: skip
GLOSSARY = {
    "BLEU": "The share of an answer's words (BLEU-1), or of runs of up to four words (BLEU-4), that the reference answer has.",
    "ROUGE": "How many words (ROUGE-1), or how long a common sequence of words (ROUGE-L), answer and reference answer share.",
    "BERTScore": "How similar the words of answer and reference answer are in meaning, by a language model's vectors.",
    "faithfulness": "The share of an answer's statements that the passages it was written from support, by a judge.",
    "context precision": "How early the passages that help to arrive at the reference answer come, from 0 to 1, by a judge.",
    "context recall": "The share of the reference answer's statements that the passages contain, by a judge.",
    "answer relevance": "How far an answer addresses its {question}: a judge's grade of 0, 1 or 2, as a share of 2.",
    "citation correctness": "The share of an answer's citations whose passage supports the whole statement, by a judge.",
    "P@5": "The share of the first five passages found that contain the answer.",
}
COLUMNS = (
    "system_id", "name", "question_type", "measure", "answers", "mean", "mean_low", "mean_high", "sd", "least", "most",
)  # fmt: skip


@metric(sql=VALUES, table=TABLE, glossary=GLOSSARY)
def system_measures(con: Connection, by: str = "all", question_type: str | None = None, organ: str | None = None) -> pd.DataFrame:
    """The mean of every measure of each system over its answers, with its spread.

    Reference measures (BLEU-1, BLEU-4, sacreBLEU, ROUGE-1, ROUGE-L, BERTScore) compare an answer with the first reference answer;
    `audit systems score` computes them. Measures of retrieval (P@5, recall@5, nDCG, MRR) are those of the search behind
    an answer. Faithfulness, context precision, context recall, answer relevance and citation correctness are a judge's
    (`audit systems judge --protocol evidence`). Length in words is that of answers. Refusals and unread answers have no text to
    measure and are never a 0; the search behind them is measured all the same.

    by                    'all', or 'question_type': one row per type; questions without a stated type are in no type's row
    question_type, organ  count only these questions; None: all
    One row per system, type and measure for which there is a value:
        system_id, name, measure                   str
        question_type                              str, '(all)' by 'all'
        answers                                    int, answers that have the measure
        mean, mean_low, mean_high                  float, 95 % interval with questions resampled (audit.stats.means)
        sd, least, most                            float, standard deviation of a sample (n - 1), NaN of one value; extremes

    Raises AuditError for another `by`. Source: audit.evaluation.reference_metrics, audit.evaluation.retrieval_measures,
    audit.evaluation.evidence_measures (RAGAS, arXiv:2309.15217; ALCE, arXiv:2305.14627).
    """
    require_one_of(by, BY, "Group")
    values = answer_values(con, question_type, organ)
    if by == "all":
        values = values.assign(question_type=ALL)
    systems = systems_of(con).to_dict("records")
    return pd.DataFrame(list(_rows(systems, values)), columns=list(COLUMNS))


def _rows(systems: list[Any], values: pd.DataFrame) -> Iterator[dict[str, Any]]:
    groups = dict(tuple(values.groupby(["system", "question_type", "measure"])["value"]))
    types, measures = sorted(values["question_type"].dropna().unique()), in_order(values["measure"])
    for system in systems:
        for question_type in types:
            for measure in measures:
                if (own := groups.get((system["system"], question_type, measure))) is not None:
                    yield {**identity(system), "question_type": question_type, "measure": measure, **_summary(own)}


def _summary(values: pd.Series) -> dict[str, Any]:
    mean, low, high = mean_interval(values.to_numpy(dtype=float))
    return {
        "answers": len(values), "mean": mean, "mean_low": low, "mean_high": high, "sd": values.std(), "least": values.min(),
        "most": values.max(),
    }  # fmt: skip
