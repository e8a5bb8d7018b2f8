"""The settings of retrieval, with the defaults of HERO-QA (arXiv:2605.29084, section 4.1 and appendix D)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from audit.retrieval.hybrid_settings import HYBRID_DEFAULTS, HybridSettings

# The layers of HERO-QA that `leave_out` can switch off.
LAYERS = ("expansion", "dense", "bm25_chunks", "bm25_bodies", "bm25_headings", "navigation", "rerank", "parents", "sufficiency")
FUSIONS = SCORES, RANKS = "scores", "ranks"
CHUNKINGS = WORDS, SENTENCES = "words", "sentences"
WEIGHTS = ("dense_weight", "chunks_weight", "bodies_weight", "headings_weight")


@dataclass(frozen=True)
class RetrievalSettings:
    """How to retrieve. The names of the fields are those of `[retrieval.options]` in a config file.

    whole_characters     full-document mode: a handbook of at most this many characters is used in full; 0: never
    chunking             words: windows of `chunk_words`; sentences: whole sentences, as `hybrid` always cuts
    chunk_words          words per chunk
    overlap_words        words that a chunk shares with the one before it
    heading_prefix       whether a chunk is indexed with its section's heading in front
    depth                hits that each first-stage retriever returns
    fusion               scores: weighted sum of the retrievers' scores, each scaled to [0, 1] (see `audit.retrieval.fusion`);
                         ranks: reciprocal rank fusion with equal weights, as in the paper
    rrf_k                k of reciprocal rank fusion: a hit at rank r scores 1 / (k + r)
    dense_weight         weight of each retriever in fusion by scores, chosen on half of the questions of the NIH handbooks
    chunks_weight        and half of those of the simulated handbooks (benchmarks/retrieval.py). A heading that repeats the
    bodies_weight        question weighs as much as the passage nearest in meaning
    headings_weight
    navigation_weight    factor for hits in tables of contents, indexes and the like
    expansion            TOML file of synonyms; None: the medical ones in this package
    expansion_weight     weight of a word that query expansion added; the question's own words weigh 1
    rerank_depth         hits that the reranker scores
    passages             passages in the retrieved context
    parent_words         a section of at most this many words is returned in full; a longer one as the hit and its neighbours
    neighbours           chunks before and after a hit in a longer section
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
    hybrid: HybridSettings = HYBRID_DEFAULTS

    def __post_init__(self) -> None:
        if problem := next(self._problems(), None):
            raise ValueError(problem)

    def _problems(self) -> Iterator[str]:
        if not 0 <= self.overlap_words < self.chunk_words:
            yield f"chunks of {self.chunk_words} words cannot share {self.overlap_words} words with the chunk before"
        if unknown := self.leave_out - set(LAYERS):
            yield f"leave_out has the unknown layer {', '.join(sorted(unknown))}; allowed: {', '.join(LAYERS)}"
        if self.fusion not in FUSIONS:
            yield f"fusion cannot be '{self.fusion}'; allowed: {', '.join(FUSIONS)}"
        if self.chunking not in CHUNKINGS:
            yield f"chunking cannot be '{self.chunking}'; allowed: {', '.join(CHUNKINGS)}"
        # Weights that have no effect would look as if they had been applied.
        changed = [name for name in WEIGHTS if getattr(self, name) != getattr(RetrievalSettings, name)]
        if self.fusion == RANKS and changed:
            yield f"fusion by ranks gives all retrievers the same weight, so {', '.join(changed)} cannot be set"

    def uses(self, layer: str) -> bool:
        """Whether the layer is not left out."""
        return layer not in self.leave_out

    def weight_of(self, retriever: str) -> float:
        """The weight of `dense`, `bm25_chunks`, `bm25_bodies` or `bm25_headings` in fusion by scores."""
        weight: float = getattr(self, f"{retriever.removeprefix('bm25_')}_weight")
        return weight

    def record(self) -> dict[str, Any]:
        """Every setting as a JSON value."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        texts = {"expansion": str(self.expansion) if self.expansion else None, "leave_out": sorted(self.leave_out)}
        return values | texts | {"hybrid": self.hybrid.record()}
