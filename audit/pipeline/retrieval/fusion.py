"""Rankings of chunks: their scores on one scale, and several rankings fused into one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set

import numpy as np
from numpy.typing import NDArray

from audit.pipeline.retrieval.index import HandbookIndex
from audit.pipeline.retrieval.model import Hit, Layer

Ranking = Mapping[int, float]
"""Row of a chunk -> score, best first."""


def top_rows(scores: NDArray[np.float32], depth: int) -> NDArray[np.int64]:
    """The rows with a score above 0, highest first, at most `depth`; equal scores stay in reading order."""
    # A stable sort, so equal scores give the same passages on every machine.
    order = np.argsort(-scores, kind="stable")[:depth]
    return order[scores[order] > 0].astype(np.int64)


def layer_of(index: HandbookIndex, name: str, ranking: Ranking) -> Layer:
    """The ranking as the trace stores it."""
    return Layer(name, tuple(_hit(index, row, score) for row, score in ranking.items()))


def _hit(index: HandbookIndex, row: int, score: float) -> Hit:
    chunk = index.chunks[row]
    return Hit(index.document.sections[chunk.section].section_id, chunk.start, chunk.end, float(score))


def ranks(ranking: Ranking) -> dict[int, int]:
    """Row -> rank from 1."""
    return {row: rank for rank, row in enumerate(ranking, start=1)}


def section_ranks(index: HandbookIndex, ranking: Ranking) -> dict[int, int]:
    """Row -> rank of its section, from 1: the chunks of a section share one rank."""
    rank_of = {index.chunks[row].section: rank for rank, row in enumerate(first_row_per_section(index, ranking), start=1)}
    return {row: rank_of[index.chunks[row].section] for row in ranking}


def first_row_per_section(index: HandbookIndex, rows: Iterable[int]) -> list[int]:
    """The first row of each section, in the order of the rows."""
    first: dict[int, int] = {}
    for row in rows:
        first.setdefault(index.chunks[row].section, row)
    return list(first.values())


def section_ids(index: HandbookIndex, rows: Iterable[int]) -> tuple[str, ...]:
    """The ids of the rows' sections without repetition, in the order of the rows."""
    return tuple(dict.fromkeys(index.document.sections[index.chunks[row].section].section_id for row in rows))


def reciprocal_rank_fusion(
    rankings: Iterable[tuple[Mapping[int, int], float]], k: int, factors: Mapping[int, float] | None = None
) -> dict[int, float]:
    """Row -> sum over the rankings of weight / (k + rank); highest first, ties by row.

    rankings  row -> rank from 1, and the weight of the ranking
    factors   row -> factor, where it is not 1
    Source: Cormack, Clarke and Buettcher (2009), with weight 1 for every ranking.
    """
    total: dict[int, float] = {}
    for rank_of, weight in rankings:
        for row, rank in rank_of.items():
            # A large k flattens the curve: the first rank of a retriever counts only slightly more than the second.
            total[row] = total.get(row, 0.0) + weight / (k + rank)
    return _best_first(total, factors)


def score_fusion(
    rankings: Iterable[tuple[Mapping[int, float], float]], factors: Mapping[int, float] | None = None
) -> dict[int, float]:
    """Row -> weighted sum of its scores, 0 for a ranking that lacks the row; highest first, ties by row.

    rankings  row -> score in [0, 1], and the weight of the ranking
    factors   row -> factor, where it is not 1
    Source: Bruch, Gai and Ingber (2023), "An Analysis of Fusion Functions for Hybrid Retrieval", arXiv:2210.11934.
    """
    total: dict[int, float] = {}
    for scores, weight in rankings:
        for row, score in scores.items():
            total[row] = total.get(row, 0.0) + weight * score
    return _best_first(total, factors)


def _best_first(total: Mapping[int, float], factors: Mapping[int, float] | None) -> dict[int, float]:
    scores = {row: score * (factors or {}).get(row, 1.0) for row, score in total.items()}
    # Ties in reading order, so the same search gives the same passages.
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))


def min_max_scale(_index: HandbookIndex, ranking: Ranking, _question: str) -> dict[int, float]:
    """From 0 for the lowest score to 1 for the highest: the range of cosines depends on the model."""
    low, high = min(ranking.values(), default=0.0), max(ranking.values(), default=0.0)
    # All scores equal: all are the highest.
    return {row: (score - low) / (high - low) if high > low else 1.0 for row, score in ranking.items()}


def max_scale(_index: HandbookIndex, ranking: Ranking, _question: str) -> dict[int, float]:
    """As a share of the highest score: BM25 has a natural 0, the score of a text with none of the words."""
    high = max(ranking.values(), default=0.0)
    return {row: score / high for row, score in ranking.items()}


def heading_scale(index: HandbookIndex, ranking: Ranking, question: str) -> dict[int, float]:
    """The similarity of heading and question, whatever the other headings are like.

    On the other scales the best of many poor headings would score 1 and outweigh the text that answers the question.
    """
    question_tokens = frozenset(index.tokens(question))
    section_of = {row: index.chunks[row].section for row in ranking}
    similarity = {
        number: heading_similarity(index, question_tokens, index.title_tokens[number]) for number in set(section_of.values())
    }
    return {row: similarity[number] for row, number in section_of.items()}


def heading_similarity(index: HandbookIndex, question: Set[str], heading: Set[str]) -> float:
    """The share of the question's tokens in the heading times the share of the heading's tokens in the question; in [0, 1].

    Tokens are weighted by how rare they are among the headings. This is the squared cosine of the two as vectors of tokens.
    """
    idf = index.bm25["headings"].idf
    # Sorted, because sets have another order in every process and the last bits of a sum depend on the order.
    shared, asked, titled = (sum(idf(token) for token in sorted(words)) for words in (question & heading, question, heading))
    return shared * shared / (asked * titled) if shared else 0.0


# By retriever, row -> its score on a scale from 0 to 1, so scores of different retrievers can be added.
SCALES: Mapping[str, Callable[[HandbookIndex, Ranking, str], dict[int, float]]] = {
    "dense": min_max_scale,
    "bm25_chunks": max_scale,
    "bm25_bodies": max_scale,
    "bm25_headings": heading_scale,
}
