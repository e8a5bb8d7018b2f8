"""First-stage retrievers: each turns weighted tokens, or the words of a question, into a ranking of chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from audit.embedding.basis import silent
from audit.retrieval.fusion import best
from audit.retrieval.index import Index
from audit.retrieval.ranking import Ranking

Weights = Mapping[str, float]
"""Token -> how much it counts."""


def by_chunk_words(index: Index, weights: Weights) -> Ranking:
    """BM25 over chunks."""
    scores = index.words["chunks"].scores(weights)
    return {int(row): float(scores[row]) for row in best(scores, index.options.depth)}


def by_bodies(index: Index, weights: Weights) -> Ranking:
    """BM25 over the bodies of sections; a section's chunks share its score."""
    return _by_sections(index, "bodies", weights)


def by_headings(index: Index, weights: Weights) -> Ranking:
    """BM25 over headings with those above them; a section's chunks share its score."""
    return _by_sections(index, "headings", weights)


def _by_sections(index: Index, part: str, weights: Weights) -> Ranking:
    scores = index.words[part].scores(weights)
    found = [(index.document.sections[place].section_id, float(scores[place])) for place in best(scores, index.options.depth)]
    return {row: score for section_id, score in found for row in index.rows_of[section_id]}


def by_meaning(index: Index, texts: Sequence[str]) -> Ranking:
    """Cosine of the chunks' vectors with that of each text, the higher one where a chunk is near to several.

    FAISS's flat index: exact. Raises MissingLibraryError without faiss-cpu.
    """
    if index.vectors is None or index.encoder is None or not len(index.chunks):
        return {}
    asked = index.encoder.encode(list(texts), silent)
    similarity, rows = index.faiss.search(np.ascontiguousarray(asked), min(index.options.depth, len(index.chunks)))
    found: dict[int, float] = {}
    for row, cosine in zip(rows.ravel().tolist(), similarity.ravel().tolist(), strict=True):
        if cosine > 0:
            found[row] = max(cosine, found.get(row, cosine))
    return dict(sorted(found.items(), key=lambda each: (-each[1], each[0]))[: index.options.depth])
