"""The baseline judge's labels (rules, no model) for pairs that people labelled, computed from the same texts.

For PIs only, like the judge's verdicts: nothing that annotators can reach, or adjudicators before they have decided, may
import this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from annotation.agreement.baseline_comparison import Comparator
from annotation.label_store.engine import LabelStore
from annotation.label_store.results import assignment_rows
from annotation.ratings.design import MISSING
from audit.commands import LABEL_BY_RULES, load_object
from audit.errors import AuditError
from audit.release.layout import Layout, find_layout, open_release
from audit.release.records import RecordFile, UnreadableRecord
from audit.release.schema import KINDS
from audit.release.values import Reject
from audit.vocabulary import PAIR_COLUMNS, Label
from audit.vocabulary import RULES_JUDGE as NAME

Texts = tuple[str, str, str]
"""A question and the two answers."""


def baseline_of_study(store: LabelStore, study_id: str, items: Iterable[str]) -> Comparator:
    """The baseline judge's labels for these items of a study, from the study's own copy of the texts."""
    texts = {row["item_id"]: (row["question"], row["answer_a"], row["answer_b"]) for row in assignment_rows(store, study_id)}
    return _judge_all(texts[item_id] for item_id in items)


def baseline_of_release(frame: pd.DataFrame, path: Path, max_archive_bytes: int, max_object_bytes: int) -> Comparator:
    """The baseline judge's labels for the pairs of a labels file, from the texts of the release they were drawn from.

    frame  a labels file with the columns question_id, handbook_a and handbook_b in addition to the labels
    path   a release: a folder or an archive

    Raises AuditError when a column is missing, or when the release does not exist or lacks a text.
    """
    if missing := [column for column in PAIR_COLUMNS if column not in frame]:
        raise AuditError(
            f"The labels file has no column {', '.join(missing)}, so its pairs cannot be found in {path}. "
            f"Needed: {', '.join(PAIR_COLUMNS)}. Nothing was computed."
        )
    with open_release(path, max_archive_bytes) as (root, _):
        layout = find_layout(root, path)
        questions = {row["question_id"]: row["question"] for row in _records(layout, "question", max_object_bytes)}
        answers = {(row["question_id"], row["handbook_id"]): row for row in _records(layout, "answer", max_object_bytes)}
    return _judge_all(_texts_of(questions, answers, pair, path) for pair in frame[list(PAIR_COLUMNS)].itertuples(index=False))


def _texts_of(questions: dict[str, str], answers: dict[tuple[str, str], dict[str, Any]], pair: Any, path: Path) -> Texts:
    question_id, *handbooks = map(str, pair)
    try:
        answer_a, answer_b = (answers[question_id, handbook] for handbook in handbooks)
        return questions[question_id], _answer_text(answer_a), _answer_text(answer_b)
    except KeyError as missing:
        raise AuditError(
            f"{path} lacks {missing} for question '{question_id}' and handbooks {' and '.join(handbooks)}, a pair of the "
            "labels file. Nothing was computed. Give the release from which the labelled pairs were drawn."
        ) from None


def _answer_text(answer: dict[str, Any]) -> str:
    return "" if answer["absent"] else answer["answer"] or ""


def _records(layout: Layout, kind: str, max_bytes: int) -> Iterator[dict[str, Any]]:
    """The valid records of one kind. Invalid ones are skipped here, because the load report lists them."""
    for path in layout.parts[kind]:
        for _, record in RecordFile(path, max_bytes).rows():
            if not isinstance(record, UnreadableRecord):
                try:
                    yield KINDS[kind].read(record, [])
                except Reject:
                    continue


def _judge_all(texts: Iterable[Texts]) -> Comparator:
    judge = load_object(LABEL_BY_RULES)
    labels = [judge(question, a, b).label for question, a, b in texts]
    # Where it abstains it has given no label, which is neither right nor wrong
    codes = [MISSING if label is None else Label(label).code for label in labels]
    return Comparator(NAME, np.array(codes, dtype=np.intp))
