"""Labels that the other labels of their question contradict: the pairs that people should read first."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.metrics import metric
from audit.metrics.likely_disputed import ERRORS_NOTE, HOW, evidence_of
from audit.queries.judge_errors import judge_errors
from audit.stats.latent_positions import share_disputed
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec
from audit.vocabulary import LABELS

MOST = 500
SQL = """
select p.question, p.handbook_a, p.handbook_b, question_id, text as question_text, q.organ,
       a.handbook_id as first, b.handbook_id as second, label::varchar as label
from judged_pairs p join questions q using (question)
join handbooks a on a.handbook = p.handbook_a join handbooks b on b.handbook = p.handbook_b
where (p.question, p.handbook_a, p.handbook_b) in (select unnest($question), unnest($handbook_a), unnest($handbook_b))
"""
TABLE = TableSpec(
    "Labels that the other labels of their {question} contradict",
    (
        Column.text("question_text", "{Question}"), Column.named("organ", "{Organ}"), Column.named("first", "{Handbook}"),
        Column.named("second", "Other {handbook}"),
        Column.text("label", "Label", words={label.value: label.value.lower() for label in LABELS}),
        Column.share("wrong", "On the wrong side", "probability"),
    ),
    (
        HOW, ERRORS_NOTE,
        "On the wrong side: a disagreement between {handbooks} that share a position, or none between {handbooks} that do not. "
        f"Pairs for which that is more likely than not, the most likely first, at most {MOST}.",
    ),
    printed_rows=40,
)  # fmt: skip
GLOSSARY = {
    "doubted label": "A label that the other labels of its {question} contradict: more likely than not on the wrong side of the "
    "line between agreement and disagreement."
}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def doubted_labels(con: Connection) -> pd.DataFrame:
    """The pairs whose label is probably on the wrong side, given all labels of their question and the judge's errors.

    One row per pair, the most doubtful first, at most MOST:
        question_id, question_text, organ, first, second, label  str; the ids of two handbooks
        wrong                                                    float in (0.5, 1]

    Source: audit.stats.latent_positions.
    """
    evidence = evidence_of(con, judge_errors(con).errors)
    share = share_disputed(evidence.log_odds)
    parts = []
    for question, members, found, disagrees in zip(*evidence, strict=True):
        together = found.together(share) if len(found.drawn) else np.ones_like(disagrees)
        a, b = np.triu_indices(len(members), 1)
        wrong = np.where(disagrees[a, b] > 0.5, together[a, b], 1 - together[a, b])
        doubted = np.flatnonzero(~np.isnan(disagrees[a, b]) & (wrong > 0.5))
        places = {"handbook_a": members[a[doubted]], "handbook_b": members[b[doubted]], "wrong": wrong[doubted]}
        parts.append(pd.DataFrame(places).assign(question=question))
    empty = pd.DataFrame({"question": [], "handbook_a": [], "handbook_b": [], "wrong": []}).astype({"wrong": float})
    every = pd.concat([empty, *parts], ignore_index=True).sort_values("wrong", ascending=False, kind="stable").head(MOST)
    keys = ["question", "handbook_a", "handbook_b"]
    doubtful = every.astype(dict.fromkeys(keys, int))
    named = doubtful.merge(frame(con, SQL, {key: doubtful[key].tolist() for key in keys}), on=keys, how="left")
    return named[["question_id", "question_text", "organ", "first", "second", "label", "wrong"]]
