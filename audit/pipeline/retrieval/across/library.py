"""The library: the indexes of all handbooks, searched source by source with scores on one scale.

Each handbook keeps the index that `audit.pipeline.retrieval.index` builds and caches by content, so a library is built once, a
new handbook is added alone, and another grouping into sources needs no index of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, log
from pathlib import Path

import numpy as np

from audit.errors import RetrievalError
from audit.pipeline.embedding.encoders import Encoder
from audit.pipeline.embedding.vectors import Vectors, no_progress
from audit.pipeline.retrieval.across.sources import Source
from audit.pipeline.retrieval.bm25 import Scores, tokens
from audit.pipeline.retrieval.fusion import top_rows
from audit.pipeline.retrieval.index import HandbookIndex, build_index
from audit.pipeline.retrieval.merged import merged_document
from audit.pipeline.retrieval.retrievers import TokenWeights, unexpanded_query
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.release.sourced_answers import ChunkId
from audit.text.documents import Document
from audit.text.language import language_of

BM25, OWN_BM25, DENSE = "bm25", "bm25, own statistics", "dense"
RETRIEVERS = (BM25, OWN_BM25, DENSE)
"""`bm25` weighs a word by how rare it is in the whole library; with its own statistics, by how rare it is in its handbook."""
# Number of characters of a handbook from which its language is detected
LANGUAGE_SAMPLE = 2000


@dataclass(frozen=True)
class ChunkHit:
    """A chunk that a source offers for a question. `rank` is its place in that source, from 1."""

    source_id: str
    chunk_id: ChunkId
    row: int
    score: float
    rank: int


@dataclass(frozen=True, eq=False)
class Library:
    """Handbooks by id, ready to be searched, and the sources they are grouped into; `folder`: where their indexes are cached."""

    sources: tuple[Source, ...]
    indexes: Mapping[str, HandbookIndex]
    folder: Path | None = None

    @cached_property
    def source_by_id(self) -> dict[str, Source]:
        """Source id -> source."""
        return {source.source_id: source for source in self.sources}

    @cached_property
    def merged(self) -> HandbookIndex:
        """One index of all handbooks, built at first use."""
        indexes = list(self.indexes.values())
        document = merged_document(index.document for index in indexes)
        return build_index(document, indexes[0].settings, indexes[0].encoder, self.folder)

    @cached_property
    def without_text(self) -> frozenset[str]:
        """The sources in whose handbooks no chunk has a word: they cannot answer anything."""
        return frozenset(source.source_id for source in self.sources if not any(map(self._has_text, source.handbook_ids)))

    @cached_property
    def languages(self) -> frozenset[str]:
        """The ISO 639 codes of the handbooks' languages, as far as they are declared or can be told from their text."""
        documents = [index.document for index in self.indexes.values()]
        codes = {document.language or language_of(document.full_text[:LANGUAGE_SAMPLE]) for document in documents}
        return frozenset(code for code in codes if code)

    def _has_text(self, handbook_id: str) -> bool:
        return any(section.text.strip() for section in self.indexes[handbook_id].document.sections)

    def search(self, question: str, retriever: str = BM25, depth: int = 20) -> dict[str, tuple[ChunkHit, ...]]:
        """Source id -> its best `depth` chunks, best first; () where none has a word of the question or is similar to it.

        Raises RetrievalError for an unknown retriever, MissingLibraryError without the retriever's library.
        """
        if retriever not in RETRIEVERS:
            raise RetrievalError(f"There is no retriever '{retriever}'. Allowed: {', '.join(RETRIEVERS)}. Nothing was searched.")
        return {source.source_id: self._search_source(source, question, retriever, depth) for source in self.sources}

    def _search_source(self, source: Source, question: str, retriever: str, depth: int) -> tuple[ChunkHit, ...]:
        scored = [
            (-float(scores[row]), handbook_id, int(row))
            for handbook_id in source.handbook_ids
            for scores in [self.scores(question, handbook_id, retriever)]
            for row in top_rows(scores, self.indexes[handbook_id].settings.depth)
        ]
        # Ties by handbook and reading order, so the same search gives the same chunks
        return tuple(
            ChunkHit(source.source_id, chunk_id(self.indexes[handbook_id], row), row, -negative, rank)
            for rank, (negative, handbook_id, row) in enumerate(sorted(scored)[:depth], start=1)
        )

    def scores(self, question: str, handbook_id: str, retriever: str = BM25) -> Scores:
        """The score of every chunk of a handbook, by row; 0 where a chunk has no word of the question."""
        by_handbook = self._last_scores.get((question, retriever))
        if by_handbook is None:
            by_handbook = {}
            # Only the last question, which is scored twice, for the probe and for bridging; sessions may ask at the same time
            self._last_scores.clear()
            self._last_scores[question, retriever] = by_handbook
        if handbook_id not in by_handbook:
            by_handbook[handbook_id] = self._scores(self.indexes[handbook_id], question, retriever)
        return by_handbook[handbook_id]

    @cached_property
    def _last_scores(self) -> dict[tuple[str, str], dict[str, Scores]]:
        return {}

    def _scores(self, index: HandbookIndex, question: str, retriever: str) -> Scores:
        if retriever == DENSE:
            return self._cosines(index, question)
        weights = unexpanded_query(question, index.document.language).weights
        return index.bm25["chunks"].scores(weights if retriever == OWN_BM25 else self._with_shared_rarity(index, weights))

    def _with_shared_rarity(self, index: HandbookIndex, weights: TokenWeights) -> dict[str, float]:
        # BM25 is a sum over words of rarity times frequency, so a word's rarity is exchanged by a factor on its weight.
        bm25 = index.bm25["chunks"]
        own = {token: bm25.document_frequency(token) for token in weights}
        return {
            token: weight * self.rarity_of(token) / rarity(bm25.text_count, own[token])
            for token, weight in weights.items()
            if own[token]
        }

    def rarity_of(self, token: str) -> float:
        """The weight of a stem in BM25 by how many chunks of the library have it."""
        if token not in self._rarities:
            containing = sum(index.bm25["chunks"].document_frequency(token) for index in self.indexes.values())
            self._rarities[token] = rarity(self._chunk_count, containing)
        return self._rarities[token]

    @cached_property
    def _chunk_count(self) -> int:
        return sum(index.bm25["chunks"].text_count for index in self.indexes.values())

    @cached_property
    def _rarities(self) -> dict[str, float]:
        # Filled by searches: every handbook would count each word of the question again.
        return {}

    def _cosines(self, index: HandbookIndex, question: str) -> Scores:
        """The cosine of every chunk of a handbook with the question; 0 for negative ones, and without vectors."""
        if index.vectors is None or index.encoder is None:
            return np.zeros(len(index.chunks), dtype=np.float32)
        # Once for all handbooks: they have the same encoder
        vector = self._question_vectors.get(question)
        if vector is None:
            vector = index.encoder.encode([question], no_progress)[0]
            # Only the last question; another session may ask at the same time
            self._question_vectors.clear()
            self._question_vectors[question] = vector
        cosines: Scores = np.maximum(index.vectors @ vector, 0)
        return cosines

    @cached_property
    def _question_vectors(self) -> dict[str, Vectors]:
        return {}

    @cached_property
    def has_vectors(self) -> bool:
        """Whether every handbook was read by a sentence model."""
        return all(index.vectors is not None for index in self.indexes.values())

    def meanings(self, question: str, hits: Iterable[ChunkHit]) -> list[float] | None:
        """The cosine of each chunk with the question, 0 for negative ones; None where the indexes have no vectors."""
        if not self.has_vectors:
            return None
        return [float(self.scores(question, hit.chunk_id.handbook_id, DENSE)[hit.row]) for hit in hits]

    def rarities(self, question: str) -> dict[str, float]:
        """Stem -> its rarity, for the stems of a question."""
        stems = {stem: None for index in self.indexes.values() for stem in index.tokens(question)}
        return {stem: self.rarity_of(stem) for stem in stems}

    def opening_match(self, rarities: Mapping[str, float], hit: ChunkHit, characters: int) -> float:
        """The part of a question's words, by rarity, that the first characters of a chunk's section have; 0 without words."""
        present = self._opening_tokens(hit, characters) & rarities.keys()
        # fsum: the order of a set differs between processes, and the same search must give the same bytes
        return fsum(rarities[token] for token in present) / fsum(rarities.values()) if present else 0.0

    def _opening_tokens(self, hit: ChunkHit, characters: int) -> frozenset[str]:
        key = (*hit.chunk_id[:2], characters)
        if key not in self._openings:
            index = self.indexes[hit.chunk_id.handbook_id]
            text = index.document.by_id[hit.chunk_id.section_id].text[:characters]
            self._openings[key] = frozenset(index.tokens(text))
        return self._openings[key]

    @cached_property
    def _openings(self) -> dict[tuple[str, str, int], frozenset[str]]:
        # Filled by searches: the best sections of popular subjects are found repeatedly.
        return {}

    def text(self, candidate: ChunkHit) -> str:
        """The chunk as it stands in its section."""
        index = self.indexes[candidate.chunk_id.handbook_id]
        chunk = index.chunks[candidate.row]
        return index.document.sections[chunk.section].text[chunk.start : chunk.end]


def rarity(texts: int, containing: int) -> float:
    """The weight of a word in BM25 as bm25s computes it (method "lucene"): log(1 + (N - n + 0.5) / (n + 0.5))."""
    return log(1 + (texts - containing + 0.5) / (containing + 0.5))


def chunk_id(index: HandbookIndex, row: int) -> ChunkId:
    """The id of the chunk in this row."""
    chunk = index.chunks[row]
    return ChunkId(index.document.handbook_id, index.document.sections[chunk.section].section_id, chunk.start)


def build_library(
    documents: Sequence[Document],
    sources: Iterable[Source],
    settings: RetrievalSettings,
    encoder: Encoder | None = None,
    folder: Path | None = None,
) -> Library:
    """The indexes of all handbooks of the sources, read from `folder` where they were built from the same input.

    Raises RetrievalError where a source names a handbook that is not among the documents or there is no source.
    """
    sources = tuple(sources)
    by_id = {document.handbook_id: document for document in documents}
    named = [handbook_id for source in sources for handbook_id in source.handbook_ids]
    if missing := [handbook_id for handbook_id in named if handbook_id not in by_id] or (["any handbook"] if not named else []):
        raise RetrievalError(f"The sources need {missing[0]}, which is not among the documents. Nothing was indexed.")
    indexes = {handbook_id: build_index(by_id[handbook_id], settings, encoder, folder) for handbook_id in named}
    return Library(sources, indexes, folder)


def searchable(question: str) -> bool:
    """Whether the question has a word to search for; stop words do not count."""
    return bool(tokens(question))
