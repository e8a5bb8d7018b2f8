"""Baselines for DAKS: one source alone, one index of all handbooks, the sources' own lists put together, and equal budgets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from audit.errors import RetrievalError
from audit.pipeline.retrieval.across.library import BM25, DENSE, OWN_BM25, ChunkHit, Library
from audit.pipeline.retrieval.across.routing import Routing, route
from audit.pipeline.retrieval.across.settings import CONCATENATED, MERGED, SINGLE, UNIFORM, CrossSourceSettings, DaksSettings
from audit.pipeline.retrieval.index import HandbookIndex
from audit.pipeline.retrieval.merged import home_of
from audit.pipeline.retrieval.retrievers import bm25_over_chunks, dense_over_chunks, unexpanded_query
from audit.release.sourced_answers import ChunkId


def unscored(settings: DaksSettings) -> DaksSettings:
    """The settings with which every source has the same score, and so the same budget."""
    return replace(settings, weights={}, source_weights={}, authority_weight=0.0)


def baseline_routing(library: Library, question: str, settings: CrossSourceSettings) -> Routing:
    """The pool of a method that scores no source; its sources are ranked by their best chunk in it, as their scores are equal.

    The budget and the share of a source are its chunks in the pool and their part of it. Raises RetrievalError where the single
    source does not exist.
    """
    if settings.pool == SINGLE and settings.only not in library.source_by_id:
        raise RetrievalError(
            f"only is '{settings.only}', which is not a source; sources: {', '.join(library.source_by_id)}. Nothing was searched."
        )
    equal = route(library, question, unscored(settings.daks), settings.retriever)
    if not equal.routes:
        return equal
    pool = equal.pool if settings.pool == UNIFORM else tuple(POOLS[settings.pool](library, question, settings))
    taken = Counter(chunk.source_id for chunk in pool)
    order = sources_by_evidence(sorted(pool, key=lambda chunk: -chunk.score))
    # A stable sort: sources without a chunk come last, as declared
    place = {source: number for number, source in enumerate(order)}
    routes = sorted(equal.routes, key=lambda one: place.get(one.source_id, len(place)))
    shares = {source: number / len(pool) for source, number in taken.items()}
    own = [replace(one, budget=taken[one.source_id], share=shares.get(one.source_id, 0.0)) for one in routes]
    return replace(equal, routes=tuple(own), pool=pool)


def merged_pool(library: Library, question: str, total: int, retriever: str = BM25) -> list[ChunkHit]:
    """The best chunks of one index of all handbooks, whatever source they are from."""
    merged = library.merged
    index: HandbookIndex = replace(merged, settings=replace(merged.settings, depth=max(total, merged.settings.depth)))
    owner = {handbook: source.source_id for source in library.sources for handbook in source.handbook_ids}
    by_meaning = retriever == DENSE
    query = unexpanded_query(question, merged.document.language)
    ranking = dense_over_chunks(index, [question]) if by_meaning else bm25_over_chunks(index, query.weights)
    pool = []
    for rank, (row, score) in enumerate(list(ranking.items())[:total], start=1):
        chunk = merged.chunks[row]
        merged_section = merged.document.sections[chunk.section].section_id
        handbook_id, section_id = home_of(merged_section)
        # The chunks of a section have the same place in both indexes
        inside = row - merged.rows_by_section[merged_section].start
        own = library.indexes[handbook_id].rows_by_section[section_id].start + inside
        pool.append(ChunkHit(owner[handbook_id], ChunkId(handbook_id, section_id, chunk.start), own, score, rank))
    return pool


def concatenated_pool(library: Library, question: str, total: int, retriever: str = OWN_BM25) -> list[ChunkHit]:
    """An equal part of each source's own list, by scores as each handbook's own statistics make them."""
    share = -(-total // len(library.sources))
    hits = library.search(question, retriever, share)
    return [chunk for chunks in hits.values() for chunk in chunks]


def single_source_pool(library: Library, source_id: str, question: str, total: int, retriever: str = BM25) -> list[ChunkHit]:
    """The best chunks of one source alone."""
    return list(library.search(question, retriever, total)[source_id])


def sources_by_evidence(pool: Sequence[ChunkHit]) -> tuple[str, ...]:
    """The sources in the order of their best chunk in a pool that is ordered: the ranking of a method that scores no source."""
    return tuple(dict.fromkeys(candidate.source_id for candidate in pool))


def _merged(library: Library, question: str, settings: CrossSourceSettings) -> Sequence[ChunkHit]:
    return merged_pool(library, question, settings.daks.budget, settings.retriever)


def _concatenated(library: Library, question: str, settings: CrossSourceSettings) -> Sequence[ChunkHit]:
    # Cosines are the same in every index; words weigh as in their own handbook, as lists that know nothing of each other
    retriever = DENSE if settings.retriever == DENSE else OWN_BM25
    return concatenated_pool(library, question, settings.daks.budget, retriever)


def _single(library: Library, question: str, settings: CrossSourceSettings) -> Sequence[ChunkHit]:
    return single_source_pool(library, settings.only, question, settings.daks.budget, settings.retriever)


POOLS: Mapping[str, Callable[[Library, str, CrossSourceSettings], Sequence[ChunkHit]]] = {
    MERGED: _merged,
    CONCATENATED: _concatenated,
    SINGLE: _single,
}
