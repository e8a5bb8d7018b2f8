"""From a question to packed evidence of several sources: routing, bridging, consolidation, support and packing, in this order."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

from audit.pipeline.retrieval.across.bridging import QuestionGraph, bridge, question_graph
from audit.pipeline.retrieval.across.consolidation import EvidenceChunk, Routed, consolidate
from audit.pipeline.retrieval.across.entities import EntityRecogniser, medical_recogniser
from audit.pipeline.retrieval.across.graph import graph_of
from audit.pipeline.retrieval.across.library import ChunkHit, Library
from audit.pipeline.retrieval.across.packing import Packing, pack
from audit.pipeline.retrieval.across.routing import Routing, required_notes, route
from audit.pipeline.retrieval.across.settings import PUBLISHED_FEATURES, CrossSourceSettings
from audit.pipeline.retrieval.across.support import fused
from audit.release.sourced_answers import ChunkId
from audit.text.language import language_name, language_of


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
                    "chunk": str(step.passage.candidate.chunk_id), "source_id": step.passage.source_id, "tokens": step.tokens,
                    "final": step.passage.final, "decision": step.decision,
                }
                for step in self.packing.steps
            ],
            "notes": list(self.notes),
        }  # fmt: skip

    def record(self) -> dict[str, Any]:
        """The fields `routes`, `evidence` and `trace` of a record of routes.jsonl; the opening of a source is in the trace."""
        routes = [
            {"source_id": one.source_id, "authority": one.authority, "probed": one.probed}
            | {name: getattr(one.features, name) for name in PUBLISHED_FEATURES}
            | {"score": one.score, "share": one.share, "budget": one.budget}
            for one in self.routing.routes
        ]  # fmt: skip
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
    routing = route(library, question, settings.daks, settings.retriever)
    notes = [*routing.notes, *_language_notes(library, question)]
    consolidation = replace(settings.consolidation, passages=settings.candidates)
    seen, bridged = None, list[ChunkHit]()
    if settings.graph and routing.pool:
        recogniser = recogniser or medical_recogniser()
        seen = question_graph(graph_of(library, recogniser), recogniser, routing, settings.graph)
        notes += _graph_notes(seen)
        bridged = bridge(library, seen, routing, settings.graph)
    routed = Routed(library.rarities(question), {one.source_id: one.share for one in routing.routes})
    evidence = consolidate(library, [*routing.pool, *bridged], consolidation, routed)
    if seen and settings.graph:
        by_graph = {hit.chunk_id for hit in bridged}
        evidence = [replace(one, bridged=one.candidate.chunk_id in by_graph) for one in evidence]
        alignments = [seen.alignment(one.candidate) for one in evidence]
        evidence = fused(evidence, alignments, routing.ranking[0], settings.graph)
    # After bridging, which may find what no probe shows
    notes += required_notes(library, required, {one.source_id for one in evidence}) if routing.pool else []
    least = settings.packing.expected_share
    expected = [one.source_id for one in routing.routes if least is not None and one.share >= least]
    packing = pack(evidence, required, settings.packing, expected)
    name = recogniser.name if seen and recogniser else None
    return GatheredEvidence(question, routing, packing, settings, name, seen, (*notes, *packing.notes))


def _graph_notes(seen: QuestionGraph) -> list[str]:
    if not seen.graph.entities:
        return ["No entity was recognised in any handbook, so the graph adds nothing. Name a vocabulary of the handbooks' terms."]
    if not seen.seeds:
        return ["The question names no entity that links passages, so they are ordered without the graph."]
    return []


def _language_notes(library: Library, question: str) -> Iterator[str]:
    language = language_of(question)
    spoken = sorted(library.languages) if language else []
    if language and spoken and language not in spoken:
        names = ", ".join(map(language_name, spoken))
        yield (
            f"The question seems to be {language_name(language)}, and the handbooks are {names}. Words are compared as they are "
            "written, so few may match; ask it in the handbooks' language."
        )
