"""The strategies that HERO-QA is held against: BM25 alone, vectors alone, and the two fused."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from audit.retrieval.expansion import plain
from audit.retrieval.fusion import fused
from audit.retrieval.index import Index
from audit.retrieval.model import PASSAGES, Query, Retrieval
from audit.retrieval.passages import hits, titles
from audit.retrieval.ranking import Ranking, layer, one_a_section, ranks, section_ids
from audit.retrieval.retrievers import by_chunk_words, by_meaning


@dataclass(frozen=True)
class Baseline:
    """A strategy that ranks chunks and gives the best chunk of each of the best sections, as it is."""

    name: str
    index: Index

    def retrieve(self, question: Query) -> Retrieval:
        """The question is looked for as it stands."""
        began = time.process_time()
        rankings = BASELINES[self.name](self.index, question.text)
        *_, last = rankings.values()
        rows = one_a_section(self.index, last)
        passages = hits(self.index, {row: last[row] for row in rows[: self.index.options.passages]}, rankings)
        layers = tuple(layer(self.index, name, ranking) for name, ranking in rankings.items())
        ranked = section_ids(self.index, rows)
        seconds = time.process_time() - began
        return Retrieval(
            self.name, PASSAGES, passages, ranked, (question.text,), None, seconds, layers, titles(self.index, passages)
        )


def bm25(index: Index, text: str) -> dict[str, Ranking]:
    """BM25 over chunks, nothing else."""
    return {"bm25": by_chunk_words(index, plain(text).weights)}


def dense(index: Index, text: str) -> dict[str, Ranking]:
    """Cosine of vectors, nothing else."""
    return {"dense": by_meaning(index, [text])}


def fusion(index: Index, text: str) -> dict[str, Ranking]:
    """Reciprocal rank fusion of the two, each counting as much as the other."""
    both = dense(index, text) | bm25(index, text)
    return both | {"fused": fused([(ranks(ranking), 1.0) for ranking in both.values()], index.options.rrf_k)}


BASELINES: Mapping[str, Callable[[Index, str], dict[str, Ranking]]] = {"bm25": bm25, "dense": dense, "fusion": fusion}
"""Name of a strategy -> the layers that it ranks by; the last one decides."""
