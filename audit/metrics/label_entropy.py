"""How mixed the labels of each question are: the Shannon entropy of its present pairs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.metrics import metric
from audit.queries.lookup import question_number_or_all
from audit.queries.pair_counts import LABEL_COUNTS
from audit.stats.intervals import Floats
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec
from audit.vocabulary import PRESENT_LABELS

SQL = f"""
select question, question_id, text, q.organ, count(*) filter (present) as present,
{LABEL_COUNTS}
from questions q left join judged_pairs using (question)
where $question is null or question = $question
group by question, question_id, text, q.organ
order by question
"""
TABLE = TableSpec(
    "How mixed the labels of each {question} are",
    (
        Column.text("text", "{Question}"),
        Column.named("organ", "{Organ}"),
        Column.count("present", "Both answer", "pairs"),
        *(Column.count(label.value.lower(), label.value.capitalize(), "pairs") for label in PRESENT_LABELS),
        Column.decimal("entropy", "Label entropy", "bits"),
        Column.decimal("evenness", "Evenness"),
    ),
    (
        "Label entropy: 0 where all pairs in which both answer have one label, 2 bits where its four labels are equally common. "
        "Evenness: entropy over its maximum, from 0 to 1. Both describe these {handbooks}: no interval "
        "for others is known to hold.",
    ),
    printed_rows=30,
)
GLOSSARY = {"label entropy": "How mixed the labels of {a_question} are, in bits: 0 one label only, 2 four equally common ones."}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def label_entropy(con: Connection, question_id: str | None = None) -> pd.DataFrame:
    """How mixed the labels of each question are, over the pairs in which both handbooks answer.

    entropy: the Shannon entropy of the four labels that a present pair can have, -sum p log2 p. It is 0 where every pair has
    the same label, whichever, and 2 where the four are equally common: a measure of variety, not of disagreement. Absent and
    unscored pairs are in no count.

    One row per question, in release order; of one question only with `question_id`:
        question                     int, number; question_id, text, organ  str
        present                      int, pairs; consistent + complementary + divergent + contradictory
        entropy                      float in [0, 2] bits; NaN where present is 0
        evenness                     float in [0, 1], entropy / 2

    It has no interval for other handbooks: where handbooks take two positions, the pairs' entropy is nearly flat around its
    value, and every interval tried held the true one in fewer than half of the samples, with 4 handbooks as with 24.
    Raises NotInRunError for another question. Source: Shannon (1948), Bell Syst. Tech. J. 27.
    """
    question = question_number_or_all(con, question_id)
    table = frame(con, SQL, {"question": question})
    counts = table[[label.value.lower() for label in PRESENT_LABELS]].to_numpy(dtype=float)
    table["entropy"] = entropy_bits(counts)
    table["evenness"] = table["entropy"] / np.log2(len(PRESENT_LABELS))
    return table


def entropy_bits(counts: Floats) -> Floats:
    """The Shannon entropy of counts along their last axis, in bits; NaN without any."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share = counts / counts.sum(axis=-1, keepdims=True)
        bits: Floats = -np.where(share > 0, share * np.log2(share), np.where(np.isnan(share), np.nan, 0)).sum(axis=-1)
    # The sum may be -0.0, which would be printed as a negative entropy.
    return np.abs(bits)
