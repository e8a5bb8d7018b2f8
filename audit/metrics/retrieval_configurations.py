"""Configurations of retrieval compared on the same questions: each layer left out, numbers of passages, models."""

from __future__ import annotations

import pandas as pd

from audit.evaluation.search_trials import COMPARISONS, configuration_changes, configuration_means, measured_trials
from audit.metrics import metric
from audit.metrics._shared import QUESTIONS
from audit.metrics.retrieval import DIRECTION_WORDS
from audit.queries.lookup import require_one_of
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, TableSpec

SQL = """
select q.question_id, collection, comparison, configuration, passages, ranked, gold, seconds
from search_trials join questions q using (question)
order by search_trials.rowid
"""
EVERY = "all"
MEASURE_TITLES = {"precision": "Precision", "recall": "Recall", "ndcg": "nDCG", "mrr": "MRR"}
MEANINGS = (
    "All four are at the number of passages taken. Precision: the part of the passages that are from where the answer is; every "
    "passage counts. Recall: the part of what is known to answer that is among them. nDCG: how close their order comes to the "
    "best possible one. MRR: the mean of 1 / rank of the first right passage, 0 where there is none."
)
KNOWN = "Searches without a known answer are in no measure: nobody knows whether they missed."
RESAMPLED = IntervalNote(Population.QUESTIONS_TO_THESE, "they are resampled, each with all its searches")
COMPARISON = Column.text("comparison", "Comparison", words=COMPARISONS)
CONFIGURATION = Column.text("configuration", "Configuration")
TABLE = TableSpec(
    "How well each configuration of retrieval finds what contains the answer",
    (
        COMPARISON, CONFIGURATION, Column.count("passages", "Passages", "taken"),
        *(Column.decimal(name, title, "mean") for name, title in MEASURE_TITLES.items()),
        Column.count("searches", "Searches", "answer known"), QUESTIONS, Column.decimal("seconds", "CPU time", "s per search"),
    ),
    (MEANINGS, KNOWN, RESAMPLED),
)  # fmt: skip
CHANGES_TABLE = TableSpec(
    "Each configuration of retrieval compared with the first of its comparison, search by search",
    (
        COMPARISON, CONFIGURATION, Column.text("measure", "Measure", words=MEASURE_TITLES), Column.decimal("change", "Change"),
        Column.text("moves", "Direction", words=DIRECTION_WORDS), Column.count("questions", "{Questions}", "that differ"),
        Column.count("searches", "Searches", "made by both"), Column.text("against", "Compared with"),
    ),
    (
        "Change: a configuration's measure minus that of the first one, over the searches that both made. Better, worse: the "
        "interval of the change excludes 0. Too few questions: the two differ on fewer than five.",
        MEANINGS,
        RESAMPLED,
    ),
)  # fmt: skip
GLOSSARY = {
    "configuration": "A strategy of retrieval with its settings: its layers, numbers of passages, sentence model and reranker."
}
CHANGES_GLOSSARY = {"leave one out": "Each layer of a method is left out in turn, to see what it contributes."}


def _measured(con: Connection, comparison: str) -> pd.DataFrame:
    require_one_of(comparison, (EVERY, *COMPARISONS), "Comparison")
    table = frame(con, SQL)
    own = table if comparison == EVERY else table[table["comparison"] == comparison]
    return measured_trials(own.to_dict("records"))


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def retrieval_configurations(con: Connection, comparison: str = EVERY) -> pd.DataFrame:
    """How well each configuration of retrieval finds what contains the answer, over the questions whose answer is known.

    A configuration is a strategy with its settings; a comparison is a set of them, the first of which is the comparator: each
    layer left out, passages taken, chunks reranked, models, or strategies. `comparison` is one of them, or 'all'.

    One row per comparison and configuration, in the order of the release:
        comparison, configuration      str
        passages                       int, passages that it takes
        precision, recall, ndcg, mrr   float in [0, 1], means over searches; precision counts passages, the others what is
                                       relevant once
        ..._low, ..._high              95 % interval: questions resampled with all their searches; NaN with too few
        searches, questions            int, searches whose answer is known, and their questions
        seconds                        float, mean CPU seconds per search

    No row where the run has no search trials. Raises AuditError for another comparison. Source: audit.evaluation.search_trials.
    """
    return configuration_means(_measured(con, comparison))


@metric(sql=SQL, table=CHANGES_TABLE, glossary=CHANGES_GLOSSARY)
def retrieval_changes(con: Connection, comparison: str = EVERY) -> pd.DataFrame:
    """How much better or worse each configuration finds what contains the answer than the first of its comparison.

    One row per further configuration and measure:
        comparison, configuration, against   str, the configuration and the first one
        measure                              str, precision, recall, ndcg or mrr
        searches                             int, searches that both made
        change                               float in [-1, 1]
        change_low, change_high              95 % interval: questions resampled; NaN where fewer than five differ
        questions                            int, on which the two differ
        moves                                str, rises, falls, not clear, the same, or too few questions

    Raises AuditError for another comparison. Source of the interval: audit.stats.means.
    """
    return configuration_changes(_measured(con, comparison))
