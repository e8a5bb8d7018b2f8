"""How much the entities of a passage support it, and the score that it is packed by. Source: S1, Algorithm 2."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import log1p

from audit.pipeline.retrieval.across.consolidation import EvidenceChunk, from_0_to_1
from audit.pipeline.retrieval.across.settings import GraphSettings


@dataclass(frozen=True)
class Alignment:
    """A passage in the graph.

    shared    entities that it has in common with the question (o)
    distance  edges from the nearest seed entity to an entity of the passage (d): 0, 2, 4, ...; None: none within reach
    """

    shared: int
    distance: int | None


def support(alignment: Alignment, other_source: bool, settings: GraphSettings) -> float:
    """eta1 log(1 + o) + eta2 / (1 + d) + eta3 where the passage is from another source than the best one."""
    proximity = 0.0 if alignment.distance is None else 1 / (1 + alignment.distance)
    overlap = log1p(alignment.shared)
    return settings.overlap_weight * overlap + settings.proximity_weight * proximity + settings.other_source_weight * other_source


def fused(
    evidence: Sequence[EvidenceChunk], alignments: Iterable[Alignment], best_source: str, settings: GraphSettings
) -> list[EvidenceChunk]:
    """The passages with their support and final score, best first: alpha x base + (1 - alpha) x support, each from 0 to 1.

    Where all passages have the same support, it changes no order.
    """
    supports = [
        support(alignment, passage.source_id != best_source, settings)
        for passage, alignment in zip(evidence, alignments, strict=True)
    ]
    scaled = zip(from_0_to_1([passage.base for passage in evidence]), from_0_to_1(supports), strict=True)
    share = settings.base_share
    passages = [
        replace(passage, support=raw, final=share * base + (1 - share) * of_graph)
        for passage, raw, (base, of_graph) in zip(evidence, supports, scaled, strict=True)
    ]
    # A stable sort: equal scores stay in the order of the base score
    return sorted(passages, key=lambda passage: -passage.final)
