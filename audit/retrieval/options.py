"""The settings of retrieval, with the defaults of HERO-QA (arXiv:2605.29084, section 4.1 and appendix D)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

LAYERS = ("expansion", "dense", "bm25_chunks", "bm25_bodies", "bm25_headings", "navigation", "rerank", "parents", "sufficiency")
"""What may be left out, to see what it is worth."""
FUSIONS = SCORES, RANKS = "scores", "ranks"
WEIGHTS = ("dense_weight", "chunks_weight", "bodies_weight", "headings_weight")


@dataclass(frozen=True)
class Options:
    """How to retrieve.

    whole_characters     a handbook of at most so many characters goes whole; 0: none does
    chunk_words          words of a chunk, and of those how many it shares with the one before
    overlap_words
    heading_prefix       whether a chunk is looked up with its section's heading in front
    depth                how many hits each first-stage retriever hands on
    fusion               scores: the retrievers' scores, each on a scale from 0 to 1 (audit/retrieval/scales.py), are weighed and
                         added; ranks: reciprocal rank fusion in which all count alike, as in the paper
    rrf_k                k of reciprocal rank fusion: a hit at rank r counts 1 / (k + r)
    dense_weight         what a retriever counts where scores are added. Chosen on half of the questions of the NIH handbooks and
    chunks_weight        half of those of the simulated ones (benchmarks/retrieval.py); a heading that repeats the question counts
    bodies_weight        as much as the passage nearest in meaning
    headings_weight
    navigation_weight    what a hit in a table of contents, an index or the like counts, as a share of another's
    expansion            TOML of words that mean the same; None: the medical ones that come with this
    expansion_weight     what a word that expansion added counts, as a share of the question's own
    rerank_depth         how many hits the reranker reads
    passages             how many passages are given to the generator
    parent_words         a section of at most so many words is given whole; of a longer one the hit and its neighbours
    neighbours           how many chunks before and after a hit in a longer section
    sufficient           share of the question's weighty words that the passages must hold; below it the evidence is thin
    fallback_characters  with thin evidence a handbook of at most so many characters goes whole
    leave_out            layers to leave out (LAYERS)
    """

    whole_characters: int = 80_000
    chunk_words: int = 160
    overlap_words: int = 32
    heading_prefix: bool = True
    depth: int = 50
    fusion: str = SCORES
    rrf_k: int = 60
    dense_weight: float = 1.0
    chunks_weight: float = 0.3
    bodies_weight: float = 0.05
    headings_weight: float = 1.0
    navigation_weight: float = 0.3
    expansion: Path | None = None
    expansion_weight: float = 0.3
    rerank_depth: int = 20
    passages: int = 5
    parent_words: int = 480
    neighbours: int = 1
    sufficient: float = 0.5
    fallback_characters: int = 400_000
    leave_out: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Raises ValueError where the settings cannot be."""
        if wrong := next(self._wrong(), None):
            raise ValueError(wrong)

    def _wrong(self) -> Iterator[str]:
        if not 0 <= self.overlap_words < self.chunk_words:
            yield f"chunks of {self.chunk_words} words cannot share {self.overlap_words} with the one before"
        if unknown := self.leave_out - set(LAYERS):
            yield f"there is no layer {', '.join(sorted(unknown))}; allowed: {', '.join(LAYERS)}"
        if self.fusion not in FUSIONS:
            yield f"there is no fusion by {self.fusion}; allowed: {', '.join(FUSIONS)}"
        weighed = [name for name in WEIGHTS if getattr(self, name) != getattr(Options, name)]
        if self.fusion == RANKS and weighed:
            yield f"fusion by ranks counts all retrievers alike, and takes no {', '.join(weighed)}"

    def uses(self, layer: str) -> bool:
        """Whether the layer is not left out."""
        return layer not in self.leave_out

    def counts(self, retriever: str) -> float:
        """What the scores of `dense`, `bm25_chunks`, `bm25_bodies` or `bm25_headings` count."""
        weight: float = getattr(self, f"{retriever.removeprefix('bm25_')}_weight")
        return weight

    def record(self) -> dict[str, Any]:
        """Every setting as JSON can hold it."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return values | {"expansion": str(self.expansion) if self.expansion else None, "leave_out": sorted(self.leave_out)}
