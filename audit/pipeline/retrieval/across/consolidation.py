"""From a pool of chunks to evidence: base scores, near-duplicates, caps per section and handbook, and neighbouring chunks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from audit.pipeline.retrieval.across.library import ChunkHit, Library
from audit.pipeline.retrieval.across.settings import SEMANTIC, ConsolidationSettings
from audit.pipeline.retrieval.bm25 import tokens
from audit.release.sourced_answers import ChunkId


@dataclass(frozen=True)
class EvidenceChunk:
    """A passage of the evidence: the chunk it was found by, its scores, and its text widened by neighbours.

    base        of retrieval and rank, in [0, 1]
    start, end  the widened text's characters in its section
    duplicates  near-duplicates that were left out
    support     of the graph, from 0; None where no graph was asked
    final       what the evidence is ordered by, in [0, 1]: the base score where no graph was asked
    bridged     found by the graph alone, in no source's budget
    """

    candidate: ChunkHit
    base: float
    start: int
    end: int
    text: str
    duplicates: tuple[ChunkId, ...] = ()
    support: float | None = None
    final: float = 0.0
    bridged: bool = False

    @property
    def source_id(self) -> str:
        """The source that it is from."""
        return self.candidate.source_id


@dataclass(frozen=True)
class Routed:
    """Data from routing a question: its stems with their rarities, the share of each source, and its text."""

    rarities: Mapping[str, float] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)
    question: str = ""


def base_scores(
    library: Library, pool: Sequence[ChunkHit], settings: ConsolidationSettings, routed: Routed | None = None
) -> list[float]:
    """The base scores of a pool, in [0, 1]: those of S1, with the shares of opening and route that the settings give."""
    routed = routed or Routed()
    openings = [library.opening_match(routed.rarities, hit, settings.opening_characters) for hit in pool]
    shares = [routed.shares.get(hit.source_id, 0.0) for hit in pool]
    ranked = library.meanings(routed.question, pool) if settings.ranker == SEMANTIC else None
    of_paper = paper_scores(pool, settings.retrieval_share, ranked)
    rest = 1 - settings.opening_share - settings.route_share
    return [
        rest * score + settings.opening_share * opening + settings.route_share * share
        for score, opening, share in zip(of_paper, openings, shares, strict=True)
    ]


def paper_scores(pool: Sequence[ChunkHit], retrieval_share: float, ranked: Sequence[float] | None = None) -> list[float]:
    """Mu x retrieval + (1 - mu) x ranker, each from 0 to 1 within the pool. Source: S1, eq. 8.

    ranked  the score of a semantic ranker of each chunk; None: one over its place in its source stands for it
    """
    retrieval = from_0_to_1([candidate.score for candidate in pool])
    ranks = from_0_to_1([1 / candidate.rank for candidate in pool] if ranked is None else ranked)
    return [retrieval_share * score + (1 - retrieval_share) * rank for score, rank in zip(retrieval, ranks, strict=True)]


def from_0_to_1(values: Sequence[float]) -> list[float]:
    """Values from 0, the lowest, to 1, the highest; all 1 where they are equal."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [(value - low) / (high - low) if high > low else 1.0 for value in values]


def consolidate(
    library: Library, pool: Iterable[ChunkHit], settings: ConsolidationSettings | None = None, routed: Routed | None = None
) -> list[EvidenceChunk]:
    """The evidence, best first: at most `passages`, none a near-duplicate of a better one."""
    settings = settings or ConsolidationSettings()
    candidates = list(pool)
    scored = zip(base_scores(library, candidates, settings, routed), candidates, strict=True)
    ordered = sorted(scored, key=lambda item: (-item[0], item[1].rank, item[1].chunk_id))
    chosen: list[tuple[float, ChunkHit, frozenset[str]]] = []
    duplicates: dict[ChunkId, list[ChunkId]] = {}
    sections: Counter[tuple[str, str]] = Counter()
    handbooks: Counter[str] = Counter()
    for score, candidate in ordered:
        chunk, words = candidate.chunk_id, frozenset(tokens(library.text(candidate)))
        original = next(
            (other.chunk_id for _, other, theirs in chosen if overlap(words, theirs) >= settings.near_duplicate), None
        )
        if original:
            duplicates.setdefault(original, []).append(chunk)
        elif sections[chunk[:2]] < settings.per_section and _has_room(handbooks[chunk.handbook_id], settings.per_handbook):
            sections[chunk[:2]] += 1
            handbooks[chunk.handbook_id] += 1
            chosen.append((score, candidate, words))
        if len(chosen) == settings.passages:
            break
    return [
        widened(library, candidate, score, settings.neighbours, tuple(duplicates.get(candidate.chunk_id, ())))
        for score, candidate, _ in chosen
    ]


def _has_room(taken: int, most: int | None) -> bool:
    return most is None or taken < most


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Jaccard similarity of two sets of stems; 1 for two empty ones."""
    return len(one & other) / len(one | other) if one | other else 1.0


def widened(
    library: Library, candidate: ChunkHit, score: float, neighbours: int, duplicates: tuple[ChunkId, ...]
) -> EvidenceChunk:
    """The candidate with the text of the chunks before and after it in its section."""
    index = library.indexes[candidate.chunk_id.handbook_id]
    rows = index.rows_by_section[candidate.chunk_id.section_id]
    first, last = max(candidate.row - neighbours, rows.start), min(candidate.row + neighbours, rows.stop - 1)
    start, end = index.chunks[first].start, index.chunks[last].end
    text = index.document.by_id[candidate.chunk_id.section_id].text[start:end]
    return EvidenceChunk(candidate, score, start, end, text, duplicates, final=score)
