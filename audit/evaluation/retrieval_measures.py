"""How well a ranked list of passages finds those that contain the answer: P@5, recall@5, nDCG and MRR, by ir_measures."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path

import pandas as pd

from audit.atomic_io import write_atomic
from audit.optional_imports import optional

RETRIEVAL_MEASURES = {"p_at_5": "P@5", "recall_at_5": "R@5", "ndcg": "nDCG", "mrr": "RR"}
"""Name in a release -> name in ir_measures. `mrr` of one question is its reciprocal rank."""


Lists = Mapping[str, Sequence[str]]
Gold = Mapping[str, Collection[str]]


def retrieval_measures(ranked: Lists, gold: Gold, names: Mapping[str, str] = RETRIEVAL_MEASURES) -> dict[str, dict[str, float]]:
    """Question -> measure -> value in [0, 1], for every question that has gold passages and a list, which may be empty.

    ranked  question -> ids of passages, best first; an id that is listed twice counts at its first rank, but for precision: each
            passage counts there, also where several are of one section or document
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
    for ours, cut in ((ours, int(theirs[2:])) for ours, theirs in names.items() if theirs.startswith("P@")):
        for question in questions:
            values[question][ours] = sum(passage in gold[question] for passage in ranked[question][:cut]) / cut
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


# -- How often a search without a model finds what a document says: measured elsewhere, and drawn on the page *Trust*


CURVES = Path(__file__).with_name("search_curves.csv")


@cache
def search_curves() -> pd.DataFrame:
    """What `python -m benchmarks.closest minilm words --curve` wrote: a row for each way to compare and score, highest first.

    way                  'minilm' or 'words'
    threshold            float, the score
    right, wrong         int, questions at or above it whose answer is, or is not, in the passages quoted
    missed, answered     int, questions below it that the document answers, of all that it answers
    questions            int, all questions
    state                'stated' or 'perhaps' where this is the lowest score of that state, else ''
    """
    return pd.read_csv(CURVES, keep_default_na=False)


# -- How an answer relates to its evidence and to the reference: shares of statements, passages and citations that are accepted
# Sources: faithfulness, context precision and context recall after RAGAS (Es et al., arXiv:2309.15217), whose answer relevance
# needs generated questions and a sentence model and is a judge's grade here; citation correctness after the citation precision of
# ALCE (Gao et al., arXiv:2305.14627). Each function returns None, not 0, if there is nothing to measure.

FAITHFULNESS, CONTEXT_PRECISION, CONTEXT_RECALL = "faithfulness", "context_precision", "context_recall"
ANSWER_RELEVANCE, CITATION_CORRECTNESS, QUOTE_CHECK = "answer_relevance", "citation_correctness", "quote_check"
JUDGED_MEASURES = (FAITHFULNESS, CONTEXT_PRECISION, CONTEXT_RECALL, ANSWER_RELEVANCE, CITATION_CORRECTNESS)
EVIDENCE_MEASURES = (*JUDGED_MEASURES, QUOTE_CHECK)
RELEVANCE_GRADES = (0, 1, 2)
"""The answer does not address the question; addresses part of it, or adds much that was not asked; addresses it fully."""
SPACE = re.compile(r"\s+")


def share_accepted(accepted: Sequence[bool]) -> float | None:
    """The share of statements or citations that are accepted.

    Faithfulness: statements of the answer that the evidence supports. Context recall: statements of the reference answer that can
    be attributed to the evidence. Citation correctness: citations whose passage supports the whole statement that cites it.
    """
    return sum(accepted) / len(accepted) if accepted else None


def context_precision(useful: Sequence[bool]) -> float | None:
    """The mean of precision@k over the ranks k of the useful passages; 0 where none is useful.

    useful  whether each passage, best first, helps to arrive at the reference answer
    """
    if not useful:
        return None
    hits = [rank for rank, is_useful in enumerate(useful, 1) if is_useful]
    return sum(count / rank for count, rank in enumerate(hits, 1)) / len(hits) if hits else 0.0


def answer_relevance(grade: int) -> float:
    """A grade of `RELEVANCE_GRADES` as a share of the best one."""
    return grade / max(RELEVANCE_GRADES)


def is_verbatim(quote: str, text: str) -> bool:
    """Whether a quote is in a text word for word; white space does not matter. An empty quote is in none."""
    words = SPACE.sub(" ", quote).strip()
    return bool(words) and words in SPACE.sub(" ", text)
