"""Scores of different retrievers on one scale, 0 to 1, so that they can be added."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set

from audit.retrieval.index import Index
from audit.retrieval.ranking import Ranking
from audit.retrieval.tokens import tokens


def scaled(index: Index, name: str, ranking: Ranking, question: str) -> dict[int, float]:
    """Row of a chunk -> what the retriever `name` thinks of it, in [0, 1]."""
    return SCALES[name](index, ranking, question)


def from_lowest(_index: Index, ranking: Ranking, _question: str) -> dict[int, float]:
    """From 0 for the lowest score found to 1 for the highest: where cosines begin and end is the model's own affair."""
    low, high = min(ranking.values(), default=0.0), max(ranking.values(), default=0.0)
    return {row: (score - low) / (high - low) if high > low else 1.0 for row, score in ranking.items()}


def from_none(_index: Index, ranking: Ranking, _question: str) -> dict[int, float]:
    """As a share of the highest score found: BM25 has a 0 of its own, where a text holds none of the words."""
    high = max(ranking.values(), default=0.0)
    return {row: score / high for row, score in ranking.items()}


def by_likeness(index: Index, ranking: Ranking, question: str) -> dict[int, float]:
    """How alike heading and question are, whatever the others are like: one that repeats the question weighs, others hardly.

    The best of many poor headings would be 1 by its place or as a share of the highest, and outweigh the text below it.
    """
    asked = frozenset(tokens(question))
    section = {row: index.chunks[row].section for row in ranking}
    alike = {place: likeness(index, asked, index.title_words[place]) for place in set(section.values())}
    return {row: alike[place] for row, place in section.items()}


def likeness(index: Index, asked: Set[str], held: Set[str]) -> float:
    """The share of the question that the heading holds, times the share of the heading that the question holds; in [0, 1].

    Words are weighed by how rare they are among the headings. The square of the cosine of the two, as vectors of words.
    """
    rarity = index.words["headings"].rarity
    shared, question, heading = (sum(rarity(word) for word in sorted(words)) for words in (asked & held, asked, held))
    return shared * shared / (question * heading) if shared else 0.0


SCALES: Mapping[str, Callable[[Index, Ranking, str], dict[int, float]]] = {
    "dense": from_lowest,
    "bm25_chunks": from_none,
    "bm25_bodies": from_none,
    "bm25_headings": by_likeness,
}
