"""Baselines for DAKS: each source alone, one index of all handbooks, and the sources' own lists put together.

Reached from benchmarks only; kept for the reproduction of the papers.
"""

from __future__ import annotations

from collections.abc import Sequence

from audit.pipeline.retrieval.across.library import OWN_BM25, ChunkHit, Library
from audit.pipeline.retrieval.index import HandbookIndex
from audit.pipeline.retrieval.merged import home_of
from audit.pipeline.retrieval.retrievers import bm25_over_chunks, unexpanded_query
from audit.release.sourced_answers import ChunkId


def merged_pool(library: Library, merged: HandbookIndex, question: str, total: int) -> list[ChunkHit]:
    """The best chunks of one index of all handbooks, whatever source they are from.

    merged  the index of `merged_document` of the library's handbooks
    """
    owner = {handbook: source.source_id for source in library.sources for handbook in source.handbook_ids}
    ranking = bm25_over_chunks(merged, unexpanded_query(question).weights)
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


def concatenated_pool(library: Library, question: str, total: int) -> list[ChunkHit]:
    """An equal part of each source's own list, by scores as each handbook's own statistics make them."""
    share = -(-total // len(library.sources))
    hits = library.search(question, OWN_BM25, share)
    return [chunk for chunks in hits.values() for chunk in chunks]


def single_source_pool(library: Library, source_id: str, question: str, total: int) -> list[ChunkHit]:
    """The best chunks of one source alone."""
    return list(library.search(question, depth=total)[source_id])


def sources_by_evidence(pool: Sequence[ChunkHit]) -> tuple[str, ...]:
    """The sources in the order of their best chunk in a pool that is ordered: the ranking of a method that scores no source."""
    return tuple(dict.fromkeys(candidate.source_id for candidate in pool))
