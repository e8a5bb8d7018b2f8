"""How well a ranked list of passages finds those that contain the answer: P@5, recall@5, nDCG and MRR, by ir_measures."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from audit.optional_imports import optional

RETRIEVAL_MEASURES = {"p_at_5": "P@5", "recall_at_5": "R@5", "ndcg": "nDCG", "mrr": "RR"}
"""Name in a release -> name in ir_measures. `mrr` of one question is its reciprocal rank."""


def retrieval_measures(ranked: Mapping[str, Sequence[str]], gold: Mapping[str, Collection[str]]) -> dict[str, dict[str, float]]:
    """Question -> measure -> value in [0, 1], for every question that has gold passages and a list, which may be empty.

    ranked  question -> ids of passages, best first; an id that is listed twice counts at its first rank
    gold    question -> ids of the passages that contain the answer; without any, nobody knows what was missed

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
    measures = {library.parse_measure(theirs): ours for ours, theirs in RETRIEVAL_MEASURES.items()}
    values: dict[str, dict[str, float]] = {question: {} for question in questions}
    for result in library.iter_calc(list(measures), qrels, run) if questions else ():
        values[result.query_id][measures[result.measure]] = float(result.value)
    return values
