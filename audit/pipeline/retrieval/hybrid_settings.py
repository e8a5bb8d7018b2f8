"""The settings of the strategy `hybrid`, with the values of the study that it is taken from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from math import inf
from typing import Any

# The layers that `leave_out` can switch off.
HYBRID_LAYERS = ("expansion", "dense", "bm25", "rerank", "mmr")
RANGES = {
    **dict.fromkeys(("dense_weight", "mmr_lambda"), (0, 1)),
    **dict.fromkeys(("weight_percentile", "medical_percentile"), (0, 100)),
    **dict.fromkeys(("pmi_window", "max_repeats", "initial_k", "final_k"), (1, inf)),
    "added_terms": (0, inf),
}
"""Setting -> least and greatest value."""


@dataclass(frozen=True)
class HybridSettings:
    """How `hybrid` retrieves. The names of the fields are those of `[retrieval.options.hybrid]` in a config file.

    chunk_tokens       tokens (words and punctuation marks) that a chunk of whole sentences may have
    overlap_tokens     tokens of whole sentences that a chunk repeats from the one before it, at most
    min_chunk_tokens   a shorter chunk takes the next sentence too; a section may be shorter
    max_chunk_tokens   no chunk is longer; a longer sentence is cut
    dense_weight       weight of the cosine in the sum of both scores; BM25 has the rest
    pmi_window         two words occur together where at most this many words apart, stop words not counted
    pmi_threshold      a word is added where its pointwise mutual information with a medical term is above it
    weight_percentile  ... and its weight, the variance of its TF-IDF over the chunks, is above this percentile
    added_terms        words added for one medical term, at most: those of the highest mutual information
    max_repeats        times that the added word of most weight is repeated; the one of least weight stands once
    medical_percentile a word of the question is a medical term from this percentile of the weight on; 0: all but stop words
    initial_k          chunks that are reranked
    final_k            passages in the retrieved context
    mmr_lambda         1: passages by relevance alone; 0: the least alike
    leave_out          layers to leave out (HYBRID_LAYERS)

    Raises ValueError, with a clause that names the fault, for settings that contradict each other.
    """

    chunk_tokens: int = 300
    overlap_tokens: int = 50
    min_chunk_tokens: int = 100
    max_chunk_tokens: int = 500
    dense_weight: float = 0.5
    pmi_window: int = 5
    pmi_threshold: float = 0.5
    weight_percentile: float = 75.0
    added_terms: int = 3
    max_repeats: int = 4
    medical_percentile: float = 0.0
    initial_k: int = 10
    final_k: int = 5
    mmr_lambda: float = 0.5
    leave_out: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if problem := next(self._invalid_settings(), None):
            raise ValueError(problem)

    def _invalid_settings(self) -> Iterator[str]:
        if not 0 <= self.overlap_tokens < self.chunk_tokens:
            yield f"chunks of {self.chunk_tokens} tokens cannot share {self.overlap_tokens} tokens with the chunk before"
        if not 0 < self.min_chunk_tokens <= self.chunk_tokens <= self.max_chunk_tokens:
            sizes = f"{self.min_chunk_tokens}, {self.chunk_tokens} and {self.max_chunk_tokens}"
            yield f"min_chunk_tokens, chunk_tokens and max_chunk_tokens must be at least 1 and rise, not {sizes}"
        for name, (least, most) in RANGES.items():
            if not least <= getattr(self, name) <= most:
                allowed = f"between {least} and {most}" if most < inf else f"at least {least}"
                yield f"{name} must be {allowed}, not {getattr(self, name):g}"
        if unknown := self.leave_out - set(HYBRID_LAYERS):
            yield f"leave_out has the unknown layer {', '.join(sorted(unknown))}; allowed: {', '.join(HYBRID_LAYERS)}"
        if {"dense", "bm25"} <= self.leave_out:
            yield "leave_out has both dense and bm25, so nothing would be searched by"

    def uses(self, layer: str) -> bool:
        """Whether the layer is not left out."""
        return layer not in self.leave_out

    @property
    def chunk_sizes(self) -> tuple[int, int, int, int]:
        """All that the chunks depend on."""
        return self.chunk_tokens, self.overlap_tokens, self.min_chunk_tokens, self.max_chunk_tokens

    def record(self) -> dict[str, Any]:
        """Every setting as a JSON value."""
        return {field.name: getattr(self, field.name) for field in fields(self)} | {"leave_out": sorted(self.leave_out)}


HYBRID_DEFAULTS = HybridSettings()
