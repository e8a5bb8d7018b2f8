"""The judge of the source paper: its real replies, parsed here, against the scores and composites that were published.

Data: the paper's repository (MIT), 828 closed-book and 828 RAG answers of one model, judged by Llama 3.1 70B.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import Any

import numpy as np
import pytest

from audit.evaluation.criteria import Incomplete, composites
from audit.pipeline.judging.criteria.task import Evaluation, parse_evaluation
from tests.published.conftest import shared

CLOSED_BOOK, RAG = "mixtral-8x7b-closed-book", "mixtral-8x7b-rag"


@pytest.fixture(scope="module")
def judged() -> list[tuple[dict[str, Any], Evaluation]]:
    with gzip.open(shared("consumer_health/judge_replies.jsonl.gz"), "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    return [(record, parse_evaluation(record["reply"])) for record in records]


def scores_of(judged: list, system: str) -> np.ndarray:
    rows = [list(evaluation.scores.values()) for record, evaluation in judged if record["system_id"] == system]
    return np.array(rows, dtype=float)


def test_every_published_score_is_read_as_published(judged):
    """11,562 scores; 59 more are read, of criteria that the paper's reader did not find in replies that name them otherwise."""
    outcomes = Counter(
        "additional" if published is None and score is not None else score == published
        for record, evaluation in judged
        for score, published in zip(evaluation.scores.values(), record["published_scores"].values(), strict=True)
        if published is not None or score is not None
    )
    assert outcomes == {True: 11_562, "additional": 59}


def test_how_many_replies_could_not_be_read(judged):
    parses = {
        system: Counter(str(evaluation.parse) for record, evaluation in judged if record["system_id"] == system)
        for system in (CLOSED_BOOK, RAG)
    }
    assert parses[CLOSED_BOOK] == {"strict": 660, "lenient": 60, "label": 2, "none": 106}
    assert parses[RAG] == {"strict": 690, "lenient": 39, "label": 3, "none": 96}


@pytest.mark.parametrize(("system", "published", "incomplete"), [(CLOSED_BOOK, 7.815, 109), (RAG, 7.698, 98)])
def test_the_composites_are_those_of_the_paper_where_unreadable_criteria_count_as_0(judged, system, published, incomplete):
    scores = scores_of(judged, system)
    assert len(scores) == 828
    assert composites(scores, Incomplete.ZERO).mean() == pytest.approx(published, abs=0.0005)
    assert np.isnan(composites(scores)).sum() == incomplete


def test_both_composites_are_higher_without_the_incomplete_evaluations(judged):
    means = [np.nanmean(composites(scores_of(judged, system))) for system in (CLOSED_BOOK, RAG)]
    assert means == pytest.approx([7.924, 7.774], abs=0.0005)
