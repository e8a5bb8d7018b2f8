"""From a question to packed evidence of several sources: routing, bridging, consolidation, support and packing, in this order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.pipeline.retrieval.across.baselines import baseline_routing
from audit.pipeline.retrieval.across.consolidation import EvidenceChunk, Routed, consolidate
from audit.pipeline.retrieval.across.entities import Entity, EntityRecogniser, medical_recogniser
from audit.pipeline.retrieval.across.graph import EntityGraph, Mask, graph_of, named_in
from audit.pipeline.retrieval.across.library import ChunkHit, Library, chunk_id
from audit.pipeline.retrieval.across.routing import Routing, required_notes, route
from audit.pipeline.retrieval.across.settings import (
    DAKS,
    PUBLISHED_FEATURES,
    SEMANTIC,
    ConsolidationSettings,
    CrossSourceSettings,
    GraphSettings,
    PackingSettings,
)
from audit.pipeline.retrieval.across.support import Alignment, fused
from audit.release.sourced_answers import ChunkId
from audit.text.language import language_name, language_of
from audit.text.words import estimated_tokens


@dataclass(frozen=True)
class GatheredEvidence:
    """The evidence for a question and how it came about.

    passages  best first
    notes     messages for the user, from all steps
    """

    question: str
    routing: Routing
    packing: Packing
    settings: CrossSourceSettings
    recogniser: str | None
    question_graph: QuestionGraph | None
    notes: tuple[str, ...]

    @property
    def passages(self) -> tuple[EvidenceChunk, ...]:
        """The packed passages, best first."""
        return self.packing.passages

    def duplicates(self) -> dict[int, tuple[ChunkId, ...]]:
        """Number of a passage, from 1 -> its near-duplicates, which were left out."""
        return {number: passage.duplicates for number, passage in enumerate(self.passages, start=1) if passage.duplicates}

    def _edges(self) -> list[dict[str, str]]:
        one = self.question_graph
        if one is None:
            return []
        return [
            {"chunk": str(passage.candidate.chunk_id), "kind": entity.kind, "name": entity.name}
            for passage in self.passages
            for column in one.graph.columns(one.graph.number_of(passage.candidate)).tolist()
            if one.linking[column]
            for entity in [one.graph.entities[column]]
        ]

    def trace(self) -> dict[str, Any]:
        """All steps as a JSON value: settings, routing, entities and seeds, the graph of the passages, packing and notes."""
        one = self.question_graph
        return {
            "question": self.question,
            "settings": self.settings.record(),
            "routing": self.routing.trace(),
            "recogniser": self.recogniser,
            "entities": [entity._asdict() for entity in one.entities] if one else [],
            "unknown_entities": [entity._asdict() for entity in one.unknown] if one else [],
            "seeds": [one.graph.entities[column]._asdict() for column in one.seeds] if one else [],
            "edges": self._edges(),
            "packing": [
                {
                    "chunk": str(step.passage.candidate.chunk_id),
                    "source_id": step.passage.source_id,
                    "tokens": step.tokens,
                    "final": step.passage.final,
                    "decision": step.decision,
                }
                for step in self.packing.steps
            ],
            "notes": list(self.notes),
        }

    def record(self) -> dict[str, Any]:
        """The fields `routes`, `evidence` and `trace` of a record of routes.jsonl; the opening of a source is in the trace."""
        routes = [
            {"source_id": one.source_id, "authority": one.authority, "probed": one.probed}
            | {name: getattr(one.features, name) for name in PUBLISHED_FEATURES}
            | {"score": one.score, "share": one.share, "budget": one.budget}
            for one in self.routing.routes
        ]
        evidence = [
            {
                "handbook_id": passage.candidate.chunk_id.handbook_id, "section_id": passage.candidate.chunk_id.section_id,
                "start": passage.start, "end": passage.end, "source_id": passage.source_id, "rank": rank, "base": passage.base,
                "support": passage.support, "final": passage.final, "bridged": passage.bridged, "text": passage.text,
            }
            for rank, passage in enumerate(self.passages, start=1)
        ]  # fmt: skip
        return {"routes": routes, "evidence": evidence, "trace": self.trace()}


def gather(
    library: Library,
    question: str,
    settings: CrossSourceSettings | None = None,
    required: Collection[str] = (),
    recogniser: EntityRecogniser | None = None,
) -> GatheredEvidence:
    """The packed evidence for a question.

    settings    None: the defaults, with a budget for as many sources as there are
    required    sources that the evidence has to cover
    recogniser  finds the entities of the graph; None: the medical terms of this package

    Unusable input gets a note, and the evidence is gathered without it.
    """
    settings = settings or CrossSourceSettings.for_sources(len(library.sources))
    scored = settings.pool == DAKS
    routing = (
        route(library, question, settings.daks, settings.retriever) if scored else baseline_routing(library, question, settings)
    )
    notes = [*routing.notes, *_language_notes(library, question)]
    notes += _ranker_notes(library, settings.consolidation) if routing.pool else []
    consolidation = replace(settings.consolidation, passages=settings.candidates)
    # Baselines score no source, so neither base scores nor packing can go by its share
    shares = {one.source_id: one.share for one in routing.routes} if scored else {}
    routed = Routed(library.rarities(question), shares, question)
    seen, bridged = None, list[ChunkHit]()
    if settings.graph and routing.pool:
        recogniser = recogniser or medical_recogniser()
        best = consolidate(library, routing.pool, consolidation, routed) if settings.graph.seeds else []
        seeds = [one.candidate for one in best[: settings.graph.seeds]]
        seen = question_graph(graph_of(library, recogniser), recogniser, routing, settings.graph, seeds)
        notes += _graph_notes(seen)
        bridged = bridge(library, seen, routing, settings.graph)
    evidence = consolidate(library, [*routing.pool, *bridged], consolidation, routed)
    if seen and settings.graph:
        by_graph = {hit.chunk_id for hit in bridged}
        evidence = [replace(one, bridged=one.candidate.chunk_id in by_graph) for one in evidence]
        alignments = [seen.alignment(one.candidate) for one in evidence]
        evidence = fused(evidence, alignments, routing.ranking[0], settings.graph)
    # After bridging, which may find what no probe shows
    notes += required_notes(library, required, {one.source_id for one in evidence}) if routing.pool else []
    least = settings.packing.expected_share
    expected = [source for source, share in shares.items() if least is not None and share >= least]
    packing = pack(evidence, required, settings.packing, expected)
    name = recogniser.name if seen and recogniser else None
    return GatheredEvidence(question, routing, packing, settings, name, seen, (*notes, *packing.notes))


def _graph_notes(seen: QuestionGraph) -> list[str]:
    if not seen.graph.entities:
        return ["No entity was recognised in any handbook, so the graph adds nothing. Name a vocabulary of the handbooks' terms."]
    if not seen.seeds:
        return ["The question has no term that links passages, so they are in the order of the search alone."]
    return []


def _ranker_notes(library: Library, settings: ConsolidationSettings) -> Iterator[str]:
    if settings.ranker == SEMANTIC and not library.has_vectors:
        yield (
            "The base score asks for a semantic ranker, and these indexes have no vectors, as no sentence model was used. The "
            "place of a passage in the search stands for it."
        )


def _language_notes(library: Library, question: str) -> Iterator[str]:
    language = language_of(question)
    spoken = sorted(library.languages) if language else []
    if language and spoken and language not in spoken:
        names = ", ".join(map(language_name, spoken))
        yield (
            f"The question seems to be {language_name(language)}, and the handbooks are {names}. Words are compared as they are "
            "written, so few may match; ask it in the handbooks' language."
        )


# -- packing -------------------------------------------------------------------------------------------------
# Which passages are kept under a limit of tokens: every required source first, then the best. Source: S1.

REQUIRED, EXPECTED, RANKED = "required", "expected", "ranked"
TOO_LONG, HANDBOOK_FULL, ENOUGH = "does not fit", "handbook has its share", "enough passages"


@dataclass(frozen=True)
class PackingStep:
    """The packing decision about a passage: kept as `required`, `expected` or `ranked`, or the reason why it was left out."""

    passage: EvidenceChunk
    tokens: int
    decision: str


@dataclass(frozen=True)
class Packing:
    """The passages that were kept, best first, every decision in order, and messages for the user."""

    passages: tuple[EvidenceChunk, ...]
    steps: tuple[PackingStep, ...]
    notes: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """Tokens of the passages, by the rule of thumb."""
        return sum(passage_tokens(passage) for passage in self.passages)


def passage_tokens(passage: EvidenceChunk) -> int:
    """Rough tokens of a passage."""
    return estimated_tokens(passage.text)


def pack(
    ranked: Sequence[EvidenceChunk], required: Iterable[str], settings: PackingSettings, expected: Iterable[str] = ()
) -> Packing:
    """The passages that are kept of those that are ranked, best first.

    First the best passage of each required source that fits, in the order of these passages and whatever else its handbook has;
    then the rest, as long as tokens, the number of passages and the share of a handbook allow. Source: S1, Algorithm 2.

    expected  sources that are covered next, after the required ones
    """
    packer, needed, wanted = _Packer(settings), set(required), set(expected)
    for sources, reason in ((needed, REQUIRED), (wanted - needed, EXPECTED)):
        for passage in ranked:
            if passage.source_id in sources and packer.decide(passage, reason):
                sources.discard(passage.source_id)
    for passage in ranked:
        packer.decide(passage, RANKED)
    packed = tuple(packer.packed if settings.as_picked else (passage for passage in ranked if passage in packer.packed))
    with_passages = {passage.source_id for passage in ranked}
    return Packing(
        packed, tuple(packer.steps.values()), tuple(_coverage_notes(ranked, packed, sorted(needed & with_passages), settings))
    )


class _Packer:
    """Keeps passages while there is room."""

    def __init__(self, settings: PackingSettings) -> None:
        self.settings = settings
        self.packed: list[EvidenceChunk] = []
        # By the passage: a required one that did not fit is considered again at its rank
        self.steps: dict[tuple[str, str, int, int], PackingStep] = {}
        self._tokens = 0
        self._handbooks: Counter[str] = Counter()

    def decide(self, passage: EvidenceChunk, reason: str) -> bool:
        """Keep the passage if there is room for it."""
        chunk = passage.candidate.chunk_id
        key = (*chunk, passage.end)
        if passage in self.packed:
            return True
        tokens = passage_tokens(passage)
        obstacle = self._obstacle(chunk.handbook_id, tokens, covers=reason == REQUIRED)
        self.steps[key] = PackingStep(passage, tokens, obstacle or reason)
        if obstacle is None:
            self.packed.append(passage)
            self._tokens += tokens
            self._handbooks[chunk.handbook_id] += 1
        return obstacle is None

    def _obstacle(self, handbook_id: str, tokens: int, *, covers: bool) -> str | None:
        most, share = self.settings.passages, self.settings.per_handbook
        if most is not None and len(self.packed) >= most:
            return ENOUGH
        if share is not None and not covers and self._handbooks[handbook_id] >= share:
            return HANDBOOK_FULL
        return TOO_LONG if self._tokens + tokens > self.settings.tokens else None


def _coverage_notes(
    ranked: Sequence[EvidenceChunk], packed: Sequence[EvidenceChunk], missing: Sequence[str], settings: PackingSettings
) -> list[str]:
    if ranked and not packed:
        shortest = min(map(passage_tokens, ranked))
        return [
            f"{settings.tokens} tokens are too few for any passage: the shortest of {len(ranked)} has about {shortest}. "
            "No passage was kept; allow more tokens."
        ]
    return [
        f"No passage of the required source '{source}' fits within {settings.tokens} tokens and the other limits. "
        "The evidence does not cover it."
        for source in missing
    ]


# -- bridging ------------------------------------------------------------------------------------------------
# The alignment graph for one question: its seeds, the chunks within reach, and their distances.


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


def question_graph(
    graph: EntityGraph, recogniser: EntityRecogniser, routing: Routing, settings: GraphSettings, seeds: Iterable[ChunkHit] = ()
) -> QuestionGraph:
    """The entities of the question, the seeds, and how far each chunk is from them.

    seeds  the consolidated candidates whose entities are seeds too. Source: S1, eq. 9
    """
    chunks = graph.incidence.shape[0]
    linking = graph.linking(max(settings.degree_minimum, int(settings.degree_share * chunks)))
    (entities,) = recogniser.recognise([routing.question])
    known = named_in(graph, entities)
    of_candidates = {column for hit in seeds for column in graph.columns(graph.number_of(hit)).tolist()}
    columns = tuple(sorted(column for column in {*known, *of_candidates} if linking[column]))
    linked = {graph.entities[column] for column in known if linking[column]}
    unknown = tuple(entity for entity in entities if entity not in linked)
    return QuestionGraph(graph, linking, entities, unknown, columns, graph.hops_from(columns, linking, settings.hops))


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
