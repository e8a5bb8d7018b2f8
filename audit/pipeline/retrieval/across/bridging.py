"""The alignment graph for one question: its seeds, the chunks within reach, and their distances."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from audit.pipeline.retrieval.across.entities import Entity, EntityRecogniser
from audit.pipeline.retrieval.across.graph import EntityGraph, Mask, named_in
from audit.pipeline.retrieval.across.library import ChunkHit, Library, chunk_id
from audit.pipeline.retrieval.across.routing import Routing
from audit.pipeline.retrieval.across.settings import GraphSettings
from audit.pipeline.retrieval.across.support import Alignment


@dataclass(frozen=True)
class QuestionGraph:
    """The graph as one question sees it.

    entities  of the question; `unknown`: those that no chunk names, or too many to link
    seeds     columns of the seed entities that link
    hops      chunk number -> hops from the seeds, 0 out of reach
    """

    graph: EntityGraph
    linking: Mask
    entities: tuple[Entity, ...]
    unknown: tuple[Entity, ...]
    seeds: tuple[int, ...]
    hops: NDArray[np.int64]

    @cached_property
    def _linked_columns(self) -> frozenset[int]:
        return frozenset(column for column in named_in(self.graph, self.entities) if self.linking[column])

    def alignment(self, hit: ChunkHit) -> Alignment:
        """Where a chunk is in it."""
        number = self.graph.number_of(hit)
        shared = self._linked_columns.intersection(self.graph.columns(number).tolist())
        hops = int(self.hops[number])
        # Two edges a hop, from an entity over a chunk to an entity; a chunk of the first hop names the seed itself
        return Alignment(len(shared), 2 * (hops - 1) if hops else None)


def question_graph(graph: EntityGraph, recogniser: EntityRecogniser, routing: Routing, settings: GraphSettings) -> QuestionGraph:
    """The entities of the question, the seeds, and how far each chunk is from them."""
    chunks = graph.incidence.shape[0]
    linking = graph.linking(max(settings.degree_minimum, int(settings.degree_share * chunks)))
    (entities,) = recogniser.recognise([routing.question])
    known = named_in(graph, entities)
    of_candidates = {
        column for hit in best_of_pool(routing, settings.seeds) for column in graph.columns(graph.number_of(hit)).tolist()
    }
    seeds = tuple(sorted(column for column in {*known, *of_candidates} if linking[column]))
    linked = {graph.entities[column] for column in known if linking[column]}
    unknown = tuple(entity for entity in entities if entity not in linked)
    return QuestionGraph(graph, linking, entities, unknown, seeds, graph.hops_from(seeds, linking, settings.hops))


def best_of_pool(routing: Routing, number: int) -> list[ChunkHit]:
    """The best candidates of the pool, by retrieval score."""
    return sorted(routing.pool, key=lambda hit: (-hit.score, hit.rank, hit.chunk_id))[:number]


def bridge(library: Library, seen: QuestionGraph, routing: Routing, settings: GraphSettings) -> list[ChunkHit]:
    """Chunks within reach of the seeds that are not in the pool: nearest first, then by retrieval score.

    Their rank is one after the last that their source was searched for.
    """
    if not settings.bridged:
        return []
    graph = seen.graph
    open_chunks = seen.hops > 0
    open_chunks[[graph.number_of(hit) for hit in routing.pool]] = False
    numbers = np.flatnonzero(open_chunks)
    scores = np.concatenate([library.scores(routing.question, name, routing.retriever) for name in graph.handbook_ids])
    # The last key counts first; equal chunks stay in the order of the handbooks
    order = numbers[np.lexsort((-scores[numbers], seen.hops[numbers]))][: settings.bridged]
    source_of = {handbook: source.source_id for source in library.sources for handbook in source.handbook_ids}
    last = max(routing.settings.probe, routing.settings.budget) + 1
    hits = []
    for number in order.tolist():
        handbook_id, row = graph.place_of(number)
        identity = chunk_id(library.indexes[handbook_id], row)
        hits.append(ChunkHit(source_of[handbook_id], identity, row, float(scores[number]), last))
    return hits
