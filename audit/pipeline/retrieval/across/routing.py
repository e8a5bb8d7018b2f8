"""DAKS: how many chunks to take from which source, from a probe of each and its authority. Source: S1, Algorithm 1."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from audit.pipeline.retrieval.across.budgets import budgets, softmax
from audit.pipeline.retrieval.across.features import Features, Floats, feature_matrix, opening_matches, source_features
from audit.pipeline.retrieval.across.library import BM25, ChunkHit, Library, searchable
from audit.pipeline.retrieval.across.settings import FEATURES, DaksSettings


@dataclass(frozen=True)
class SourceRoute:
    """The routing decision about one source: score S, share p of the softmax, and budget b; `probed`: chunks in its probe."""

    source_id: str
    authority: float
    probed: int
    features: Features
    score: float
    share: float
    budget: int


@dataclass(frozen=True)
class Routing:
    """The routes of a question, best source first, and the pool: the best chunks of each source, as many as its budget.

    notes     messages for the user: a source without text, a question without words, a budget below the minimum
    """

    question: str
    routes: tuple[SourceRoute, ...]
    pool: tuple[ChunkHit, ...]
    settings: DaksSettings
    retriever: str
    notes: tuple[str, ...] = ()

    @property
    def ranking(self) -> tuple[str, ...]:
        """The sources, best first."""
        return tuple(route.source_id for route in self.routes)

    def trace(self) -> dict[str, Any]:
        """The routing as a JSON value: every setting, route, chunk and note."""
        pool = [
            {"chunk": str(candidate.chunk_id), "source": candidate.source_id, "rank": candidate.rank, "score": candidate.score}
            for candidate in self.pool
        ]
        return {
            "question": self.question,
            "retriever": self.retriever,
            "settings": self.settings.record(),
            "routes": [asdict(route) for route in self.routes],
            "pool": pool,
            "notes": list(self.notes),
        }


def source_scores(features: Mapping[str, Features], authority: Sequence[float], settings: DaksSettings) -> Floats:
    """S of each source: its features by their weights, lambda times its authority, and its own weight."""
    weights = np.array([settings.weights.get(name, 0.0) for name in FEATURES])
    own = np.array([settings.source_weights.get(source, 0.0) for source in features])
    scores: Floats = feature_matrix(features) @ weights + settings.authority_weight * np.asarray(authority) + own
    return scores


def route(
    library: Library, question: str, settings: DaksSettings | None = None, retriever: str = BM25, required: Collection[str] = ()
) -> Routing:
    """The sources for a question with their budgets, and the pool of their chunks.

    required  sources that the answer has to cover; a note says which of them have nothing

    A source without text gets no budget. A question without words to search for gets an empty pool.
    """
    settings = settings or DaksSettings()
    if not searchable(question):
        note = "The question has no words to search for. No source was searched; ask it in full words."
        return Routing(question, (), (), settings, retriever, (note,))
    hits = library.search(question, retriever, max(settings.probe, settings.budget))
    probes = {source: chunks for source, chunks in hits.items() if source not in library.without_text}
    routes = _routes(library, question, probes, settings)
    pool = tuple(chunk for one in routes for chunk in probes[one.source_id][: one.budget])
    with_hits = {source for source, chunks in hits.items() if chunks}
    notes = (*_notes(library, hits, settings), *required_notes(library, required, with_hits))
    return Routing(question, routes, pool, settings, retriever, notes)


def _routes(
    library: Library, question: str, probes: Mapping[str, Sequence[ChunkHit]], settings: DaksSettings
) -> tuple[SourceRoute, ...]:
    if not probes:
        return ()
    features = source_features(probes, settings, opening_matches(library, question, probes, settings))
    authority = [library.source_by_id[source].authority for source in probes]
    scores = source_scores(features, authority, settings)
    shares = softmax(scores, settings.share_temperature).tolist()
    numbers = budgets(shares, settings.budget, settings.minimum)
    routes = [
        SourceRoute(source, prior, min(len(probes[source]), settings.probe), features[source], score, share, number)
        for source, prior, score, share, number in zip(probes, authority, scores.tolist(), shares, numbers, strict=True)
    ]
    # A stable sort: equal scores stay in the order in which the sources were declared
    return tuple(sorted(routes, key=lambda one: -one.score))


def _notes(library: Library, with_hits: Collection[str], settings: DaksSettings) -> list[str]:
    notes = [
        f"Source '{source}' has no text. It was given no budget; index its handbooks or leave it out."
        for source in sorted(library.without_text)
    ]
    with_text = len(with_hits) - len(library.without_text)
    if with_text * settings.minimum > settings.budget:
        notes.append(
            f"A budget of {settings.budget} is below {settings.minimum} for each of {with_text} sources. "
            "It was divided equally, and what is left over went to the best sources."
        )
    return notes


def required_notes(library: Library, required: Collection[str], with_hits: Collection[str]) -> list[str]:
    """A sentence for each required source of which nothing was found; `with_hits`: the sources of what was."""
    return [
        f"Required source '{source}' {'has nothing on this question' if source in library.source_by_id else 'does not exist'}. "
        "The evidence does not cover it."
        for source in sorted(required)
        if source not in with_hits
    ]
