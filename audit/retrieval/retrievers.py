"""First-stage retrievers, which rank the chunks of a handbook, and the reranker, which scores the best of them again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.embedding.encoders import first_line
from audit.embedding.vectors import no_progress
from audit.errors import RetrievalError
from audit.optional_imports import optional
from audit.retrieval.fusion import Ranking, top_rows
from audit.retrieval.index import HandbookIndex

TokenWeights = Mapping[str, float]
QuestionAndPassage = tuple[str, str]


def bm25_over_chunks(index: HandbookIndex, weights: TokenWeights) -> Ranking:
    """Chunks by BM25."""
    scores = index.bm25["chunks"].scores(weights)
    return {int(row): float(scores[row]) for row in top_rows(scores, index.settings.depth)}


def bm25_over_bodies(index: HandbookIndex, weights: TokenWeights) -> Ranking:
    """Sections by BM25 over their texts; the chunks of a section share its score."""
    return _bm25_over_sections(index, "bodies", weights)


def bm25_over_headings(index: HandbookIndex, weights: TokenWeights) -> Ranking:
    """Sections by BM25 over their headings and those above them; the chunks of a section share its score."""
    return _bm25_over_sections(index, "headings", weights)


def _bm25_over_sections(index: HandbookIndex, part: str, weights: TokenWeights) -> Ranking:
    scores = index.bm25[part].scores(weights)
    sections = index.document.sections
    return {
        row: float(scores[number])
        for number in top_rows(scores, index.settings.depth)
        for row in index.rows_by_section[sections[number].section_id]
    }


def dense_over_chunks(index: HandbookIndex, texts: Sequence[str]) -> Ranking:
    """Chunks by the cosine of their vector with that of each text; the highest cosine counts.

    Exact (FAISS's flat index). Empty without vectors. Raises MissingLibraryError without faiss-cpu.
    """
    if index.vectors is None or index.encoder is None or not index.chunks:
        return {}
    depth = index.settings.depth
    queries = np.ascontiguousarray(index.encoder.encode(list(texts), no_progress))
    cosines, rows = index.faiss_index.search(queries, min(depth, len(index.chunks)))
    best: dict[int, float] = {}
    for row, cosine in zip(rows.ravel().tolist(), cosines.ravel().tolist(), strict=True):
        if cosine > 0:
            best[row] = max(cosine, best.get(row, cosine))
    return dict(sorted(best.items(), key=lambda item: (-item[1], item[0]))[:depth])


@dataclass(frozen=True)
class Reranker:
    """Scores (question, passage) pairs; higher is better. `name` is its name in records."""

    name: str
    score: Callable[[Sequence[QuestionAndPassage]], Sequence[float]]


def cross_encoder(model: str, threads: int = 1) -> Reranker:
    """A cross-encoder of sentence-transformers by name or folder (such as cross-encoder/ms-marco-MiniLM-L6-v2), on the CPU.

    Raises MissingLibraryError without the library. The model is loaded at the first call of `score`, which raises
    RetrievalError where it cannot be found.
    """
    optional("sentence_transformers", "A reranker", "models")
    loaded: list[Any] = []

    def score(pairs: Sequence[QuestionAndPassage]) -> Sequence[float]:
        loaded.extend([] if loaded else [_load_cross_encoder(model, threads)])
        return [float(value) for value in loaded[0].predict(list(pairs), show_progress_bar=False)]

    return Reranker(model, score)


def _load_cross_encoder(model: str, threads: int) -> Any:
    library = optional("sentence_transformers", "A reranker", "models")
    optional("torch", "A reranker", "models").set_num_threads(threads)
    try:
        return library.CrossEncoder(model, device="cpu")
    except (OSError, ValueError) as error:  # unknown name, no network, or a model of another kind
        raise RetrievalError(
            f"Reranker '{model}' is not a folder and could not be downloaded from Hugging Face ({first_line(error)}). "
            "Nothing was retrieved. Name a folder that contains a cross-encoder, or leave the reranker out; "
            "the trace then reports that it was skipped."
        ) from error
