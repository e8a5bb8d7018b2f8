"""The settings of retrieval: those of HERO-QA (arXiv:2605.29084, section 4.2), with our own defaults where they find more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from audit.pipeline.retrieval.hybrid_settings import HYBRID_DEFAULTS, HybridSettings

# The layers of HERO-QA that `leave_out` can switch off.
LAYERS = ("expansion", "dense", "bm25_chunks", "bm25_bodies", "bm25_headings", "navigation", "rerank", "parents", "sufficiency")
FUSIONS = SCORES, RANKS = "scores", "ranks"
CHUNKINGS = WORDS, SENTENCES = "words", "sentences"
WEIGHTS: Mapping[str, Mapping[str, float]] = {
    SCORES: {"dense": 1.0, "bm25_chunks": 0.3, "bm25_bodies": 0.05, "bm25_headings": 1.0},
    RANKS: {"dense": 1.0, "bm25_chunks": 1.0, "bm25_bodies": 0.5, "bm25_headings": 0.5},
}
"""Fusion -> retriever -> its weight where no other is set.

By scores: chosen on half of the questions of the NIH handbooks and half of those of the simulated handbooks
(benchmarks/retrieval.py); a heading that repeats the question weighs as much as the passage nearest in meaning. By ranks: the
paper gives its two navigation retrievers, over section bodies and over headings, less weight than the others and does not print
how much less; half is ours.
"""


@dataclass(frozen=True)
class RetrievalSettings:
    """How to retrieve. The names of the fields are those of `[retrieval.options]` in a config file.

    whole_characters     full-document mode: a handbook of at most this many characters is used in full; 0: never
    chunking             words: windows of `chunk_words`; sentences: whole sentences, as `hybrid` always cuts
    chunk_words          words per chunk
    overlap_words        words that a chunk shares with the one before it
    heading_prefix       whether a chunk is indexed with its section's heading in front
    depth                hits that each first-stage retriever returns
    fusion               scores: weighted sum of the retrievers' scores, each scaled to [0, 1] (see `fusion.py`);
                         ranks: reciprocal rank fusion with weights, as in the paper
    rrf_k                k of reciprocal rank fusion: a hit at rank r scores 1 / (k + r)
    dense_weight         weight of each retriever in either fusion; None: that of WEIGHTS
    chunks_weight
    bodies_weight
    headings_weight
    navigation_weight    factor for hits in tables of contents, indexes and the like
    expansion            TOML file of synonyms; None: the medical ones of audit.text
    expansion_weight     weight of a word that query expansion added; the question's own words weigh 1
    expand_dense         whether the vector search looks for the expanded question too, as in the paper
    rerank_depth         hits that the reranker scores
    passages             passages in the retrieved context
    parent_words         a section of at most this many words is returned in full; a longer one as the hit and its neighbours
    neighbours           chunks before and after a hit in a longer section
    neighbour_sections   sections before and after that of a hit, in reading order, that are added in full
    sufficient           smallest share of the question's words, weighted by rarity, that the passages must contain
    fallback_characters  below that share, a handbook of at most this many characters is used in full
    leave_out            layers to leave out (LAYERS)
    hybrid               the settings of `hybrid`, which takes no others from here but heading_prefix and depth

    Raises ValueError, with a clause that names the fault, for settings that contradict each other.
    """

    whole_characters: int = 80_000
    chunking: str = WORDS
    chunk_words: int = 160
    overlap_words: int = 32
    heading_prefix: bool = True
    depth: int = 50
    fusion: str = SCORES
    rrf_k: int = 60
    dense_weight: float | None = None
    chunks_weight: float | None = None
    bodies_weight: float | None = None
    headings_weight: float | None = None
    navigation_weight: float = 0.3
    expansion: Path | None = None
    expansion_weight: float = 0.3
    expand_dense: bool = False
    rerank_depth: int = 20
    passages: int = 5
    parent_words: int = 480
    neighbours: int = 1
    neighbour_sections: int = 0
    sufficient: float = 0.5
    fallback_characters: int = 400_000
    leave_out: frozenset[str] = frozenset()
    hybrid: HybridSettings = HYBRID_DEFAULTS

    def __post_init__(self) -> None:
        if problem := next(self._invalid_settings(), None):
            raise ValueError(problem)

    def _invalid_settings(self) -> Iterator[str]:
        if not 0 <= self.overlap_words < self.chunk_words:
            yield f"chunks of {self.chunk_words} words cannot share {self.overlap_words} words with the chunk before"
        if unknown := self.leave_out - set(LAYERS):
            yield f"leave_out has the unknown layer {', '.join(sorted(unknown))}; allowed: {', '.join(LAYERS)}"
        if self.fusion not in FUSIONS:
            yield f"fusion cannot be '{self.fusion}'; allowed: {', '.join(FUSIONS)}"
            return  # the weights depend on it
        if self.chunking not in CHUNKINGS:
            yield f"chunking cannot be '{self.chunking}'; allowed: {', '.join(CHUNKINGS)}"
        if (lowest := min(map(self.weight_of, WEIGHTS[SCORES]))) < 0:
            yield f"a retriever cannot weigh {lowest:g}; allowed: 0 or more"
        if self.neighbour_sections < 0:
            yield f"neighbour_sections cannot be {self.neighbour_sections}; allowed: 0 or more"

    def uses(self, layer: str) -> bool:
        """Whether the layer is not left out."""
        return layer not in self.leave_out

    def weight_of(self, retriever: str) -> float:
        """The weight of `dense`, `bm25_chunks`, `bm25_bodies` or `bm25_headings` in the fusion."""
        own: float | None = getattr(self, weight_field(retriever))
        return WEIGHTS[self.fusion][retriever] if own is None else own

    def record(self) -> dict[str, Any]:
        """Every setting as a JSON value."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        texts = {"expansion": str(self.expansion) if self.expansion else None, "leave_out": sorted(self.leave_out)}
        weights = {weight_field(retriever): self.weight_of(retriever) for retriever in WEIGHTS[self.fusion]}
        return values | weights | texts | {"hybrid": self.hybrid.record()}


def weight_field(retriever: str) -> str:
    """The setting that is the weight of a retriever."""
    return f"{retriever.removeprefix('bm25_')}_weight"


PAPER_ENCODER, PAPER_RERANKER = "BAAI/bge-large-en-v1.5", "cross-encoder/ms-marco-MiniLM-L6-v2"
PAPER: Mapping[str, Any] = {
    "fusion": RANKS,
    "expand_dense": True,
    "neighbour_sections": 1,
    # More words than any section has: the paper expands a hit to its section, however long
    "parent_words": 1_000_000,
    # The factor on tables of contents and indexes is ours.
    "leave_out": frozenset({"navigation"}),
}
"""Settings of HERO-QA that differ from our defaults (arXiv:2605.29084, section 4.2). The paper names a MiniLM cross-encoder, not
which.
"""
PRESETS = {"paper": PAPER}
