"""The rows of `benchmarks.cross_source`: each turns a question into a ranking of sources and five passages of evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from audit.pipeline.retrieval.across.consolidation import EvidenceChunk
from audit.pipeline.retrieval.across.entities import EntityRecogniser
from audit.pipeline.retrieval.across.evidence import gather
from audit.pipeline.retrieval.across.library import Library
from audit.pipeline.retrieval.across.settings import (
    CONCATENATED,
    MERGED,
    SINGLE,
    UNIFORM,
    ConsolidationSettings,
    CrossSourceSettings,
    DaksSettings,
    GraphSettings,
    PackingSettings,
)
from benchmarks.cross_source_choices import Chosen

SCORE_ONLY = ConsolidationSettings(retrieval_share=1.0, opening_share=0.0, route_share=0.0)
PLAIN_PACKING = PackingSettings(expected_share=None)
EQUAL = DaksSettings(weights={}, authority_weight=0.0)
MERGED_ROW, UNIFORM_ROW, SCORE_ONLY_ROW = "merged index", "uniform budget", "learned, score-only rerank"
CONCATENATED_ROW = "naive concatenation"
BOTH_ROW, PAPER_ROW = "learned, graph retrieval + fusion", "S1's method, values as set"


@dataclass(frozen=True)
class Question:
    """A question, the sources that answer it, the one to ask first (None: unknown), and the ids of its gold sections."""

    question_id: str
    text: str
    required: tuple[str, ...]
    primary: str | None
    gold: tuple[str, ...]


@dataclass(frozen=True)
class Result:
    """The sources, best first, and the evidence."""

    ranking: Sequence[str]
    evidence: Sequence[EvidenceChunk]


Method = Callable[[Question], Result]


def baselines(library: Library, budget: int, retriever: str) -> dict[str, Method]:
    """The methods that score no source, ordered by score alone; the pool of each has as many chunks as DAKS takes."""
    plain = CrossSourceSettings(retriever, DaksSettings(budget=budget), SCORE_ONLY, None, PLAIN_PACKING)
    rows = {f"only {source.source_id}": replace(plain, pool=SINGLE, only=source.source_id) for source in library.sources}
    rows |= {MERGED_ROW: replace(plain, pool=MERGED), CONCATENATED_ROW: replace(plain, pool=CONCATENATED)}
    return {name: gathered(library, settings) for name, settings in (rows | {UNIFORM_ROW: replace(plain, pool=UNIFORM)}).items()}


def gathered(
    library: Library, settings: CrossSourceSettings, recogniser: EntityRecogniser | None = None, required: bool = False
) -> Method:
    """A configuration of the whole method; `required`: the sources that the gold needs are given, as S1 gives them."""

    def answer(question: Question) -> Result:
        needed = question.required if required else ()
        evidence = gather(library, question.text, settings, needed, recogniser)
        return Result(evidence.routing.ranking, evidence.passages)

    return answer


def routing_rows(library: Library, chosen: Chosen, recogniser: EntityRecogniser) -> dict[str, Method]:
    """DAKS alone, by score: S1's weights as set, the defaults of the program, and what was learned."""
    plain = replace(chosen.settings, consolidation=SCORE_ONLY, graph=None, packing=PLAIN_PACKING)
    budget = {"budget": chosen.settings.daks.budget, "minimum": chosen.settings.daks.minimum}
    rows = {
        "S1's DAKS, weights as set": DaksSettings.paper(),
        "S1's DAKS, lambda 0": replace(DaksSettings.paper(), authority_weight=0.0),
        "DAKS, the program's defaults": DaksSettings(),
        **chosen.routing,
    }
    return {
        name: gathered(library, replace(plain, daks=replace(daks, **budget)), recogniser) for name, daks in rows.items()
    }  # fmt: skip


def evidence_rows(library: Library, chosen: Chosen, recogniser: EntityRecogniser) -> dict[str, Method]:
    """From the pool to the evidence: what S1 has, what was chosen, and each component left out."""
    best, paper = chosen.settings, replace(CrossSourceSettings.paper(), retriever=chosen.settings.retriever)
    assert best.graph
    no_graph = replace(best, graph=None)
    configurations: Mapping[str, CrossSourceSettings] = {
        "uniform budget, graph only (S1's)": replace(paper, daks=EQUAL),
        "S1's DAKS only": replace(paper, graph=None),
        "S1's graph support fusion": replace(paper, graph=replace(paper.graph or GraphSettings(), bridged=0)),
        PAPER_ROW: paper,
        SCORE_ONLY_ROW: replace(no_graph, consolidation=SCORE_ONLY, packing=PLAIN_PACKING),
        "learned, chosen evidence, no graph": no_graph,
        "learned, graph support fusion": replace(best, graph=replace(best.graph, bridged=0)),
        BOTH_ROW: best,
        "without the opening": replace(best, consolidation=replace(best.consolidation, opening_share=0.0)),
        "without the share of the route": replace(best, consolidation=replace(best.consolidation, route_share=0.0)),
        "without the rank (mu 1)": replace(best, consolidation=replace(best.consolidation, retrieval_share=1.0)),
        "without coverage": replace(best, packing=PLAIN_PACKING),
        "with the program's defaults": replace(CrossSourceSettings(), retriever=best.retriever),
    }
    rows = {name: gathered(library, settings, recogniser) for name, settings in configurations.items()}
    return rows | {"required sources given": gathered(library, best, recogniser, required=True)}
