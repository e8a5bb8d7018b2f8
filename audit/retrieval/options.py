"""The settings of retrieval, with the defaults of HERO-QA (arXiv:2605.29084, section 4.1 and appendix D)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

LAYERS = ("expansion", "dense", "bm25_chunks", "bm25_bodies", "bm25_headings", "navigation", "rerank", "parents", "sufficiency")
"""What may be left out, to see what it is worth."""


@dataclass(frozen=True)
class Options:
    """How to retrieve.

    whole_characters     a handbook of at most so many characters goes whole; 0: none does
    chunk_words          words of a chunk, and of those how many it shares with the one before
    overlap_words
    heading_prefix       whether a chunk is looked up with its section's heading in front
    depth                how many hits each first-stage retriever hands on
    rrf_k                k of reciprocal rank fusion: a hit at rank r counts 1 / (k + r)
    dense_weight         what a retriever's vote counts in the fusion. The paper counts all alike; these were chosen on half of
    chunks_weight        the questions of the NIH handbooks (benchmarks/retrieval.py), where a good sentence model is worth more
    bodies_weight        than words, and a heading more than a body
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
    rrf_k: int = 60
    dense_weight: float = 12.0
    chunks_weight: float = 1.0
    bodies_weight: float = 0.25
    headings_weight: float = 2.0
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
        """Raises ValueError where the numbers cannot be."""
        if not 0 <= self.overlap_words < self.chunk_words:
            raise ValueError(f"chunks of {self.chunk_words} words cannot share {self.overlap_words} with the one before")
        if unknown := self.leave_out - set(LAYERS):
            raise ValueError(f"there is no layer {', '.join(sorted(unknown))}; allowed: {', '.join(LAYERS)}")

    def uses(self, layer: str) -> bool:
        """Whether the layer is not left out."""
        return layer not in self.leave_out

    def record(self) -> dict[str, Any]:
        """Every setting as JSON can hold it."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return values | {"expansion": str(self.expansion) if self.expansion else None, "leave_out": sorted(self.leave_out)}
