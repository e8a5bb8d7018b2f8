"""How well a ranked list of passages finds those that contain the answer: P@5, recall@5, nDCG and MRR, by ir_measures."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from audit.atomic_io import write_atomic
from audit.optional_imports import optional

RETRIEVAL_MEASURES = {"p_at_5": "P@5", "recall_at_5": "R@5", "ndcg": "nDCG", "mrr": "RR"}
"""Name in a release -> name in ir_measures. `mrr` of one question is its reciprocal rank."""


Lists = Mapping[str, Sequence[str]]
Gold = Mapping[str, Collection[str]]


def retrieval_measures(ranked: Lists, gold: Gold, names: Mapping[str, str] = RETRIEVAL_MEASURES) -> dict[str, dict[str, float]]:
    """Question -> measure -> value in [0, 1], for every question that has gold passages and a list, which may be empty.

    ranked  question -> ids of passages, best first; an id that is listed twice counts at its first rank
    gold    question -> ids of the passages that contain the answer; without any, misses are unknown
    names   name of a measure -> its name in ir_measures

    nDCG is over the whole list. Raises MissingLibraryError without ir_measures.
    """
    library = optional("ir_measures", "Measures of retrieval", "pipeline")
    questions = [question for question in ranked if gold.get(question)]
    qrels = [library.Qrel(question, passage, 1) for question in questions for passage in gold[question]]
    run = [
        library.ScoredDoc(question, passage, -float(rank))
        for question in questions
        for rank, passage in enumerate(dict.fromkeys(ranked[question]))
    ]
    measures = {library.parse_measure(theirs): ours for ours, theirs in names.items()}
    values: dict[str, dict[str, float]] = {question: {} for question in questions}
    for result in library.iter_calc(list(measures), qrels, run) if questions else ():
        values[result.query_id][measures[result.measure]] = float(result.value)
    return values


def write_trec_run(path: Path, ranked: Lists, name: str) -> None:
    """Write ranked lists as a TREC run: `question Q0 passage rank score name` a line; the score falls with the rank."""
    lines = [
        f"{_trec_id(question)} Q0 {_trec_id(passage)} {rank} {1 / rank:.6f} {_trec_id(name)}\n"
        for question, passages in ranked.items()
        for rank, passage in enumerate(dict.fromkeys(passages), 1)
    ]
    write_atomic(path, "".join(lines))


def write_trec_qrels(path: Path, gold: Gold) -> None:
    """Write the gold passages as TREC relevance judgements: `question 0 passage 1` a line; what is not listed is unjudged."""
    lines = [f"{_trec_id(question)} 0 {_trec_id(passage)} 1\n" for question in gold for passage in sorted(gold[question])]
    write_atomic(path, "".join(lines))


def _trec_id(name: str) -> str:
    # Fields are separated by white space
    return re.sub(r"\s+", "_", name)
