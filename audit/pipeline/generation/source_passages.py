"""The evidence from several sources as numbered passages, and an answer that only quotes the closest of them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import NamedTuple

from audit.pipeline.answers.evidence import NumberedPassage, retrieved_passage
from audit.pipeline.embedding.encoders import Encoder
from audit.pipeline.retrieval.across.library import Library
from audit.pipeline.retrieval.across.sources import Source
from audit.pipeline.retrieval.closest import ClosePassage, ClosestPassages
from audit.pipeline.retrieval.found import MINILM, WAYS, WORDS, thresholds
from audit.release.sourced_answers import ChunkId, Citations, PackedEvidence, SourceCitation, SourcedAnswer, SourcedStatement
from audit.text.documents import Document
from audit.vocabulary import PASSAGES_GENERATOR, Found

LOOKED_AT = 20
"""Closest passages of a handbook among which one that overlaps the evidence is looked for."""


class SourcePassage(NamedTuple):
    """A passage of the evidence, with the source and the handbook that it is from, and its final score."""

    source_id: str
    handbook_id: str
    passage: NumberedPassage
    score: float


@dataclass
class SourceReader:
    """The handbooks that can be quoted: handbook id -> its text, and the sources that they form."""

    documents: Mapping[str, Document]
    sources: Sequence[Source]

    def passages(self, evidence: PackedEvidence) -> list[SourcePassage]:
        """The passages of the evidence, numbered from 1 in its order."""
        return [
            SourcePassage(
                entry["source_id"],
                entry["handbook_id"],
                retrieved_passage(entry["rank"], entry, self.documents[entry["handbook_id"]]),
                entry["final"],
            )
            for entry in evidence.record()["evidence"]
        ]

    def same_elsewhere(self, own: Citations, duplicates: Mapping[int, Sequence[ChunkId]]) -> Iterator[SourceCitation]:
        """The same quotes in other handbooks, in chunks that were left out of the evidence as duplicates."""
        source_of = {handbook_id: source.source_id for source in self.sources for handbook_id in source.handbook_ids}
        for citation in own:
            for chunk in duplicates.get(citation.passage, ()):
                text = self.documents[chunk.handbook_id].by_id[chunk.section_id].text
                quote = citation.quote
                if chunk.handbook_id != citation.handbook_id and quote and (start := text.find(quote)) >= 0:
                    yield replace(
                        citation, source_id=source_of[chunk.handbook_id], handbook_id=chunk.handbook_id,
                        section_id=chunk.section_id, start=start, end=start + len(quote),
                    )  # fmt: skip


class SourceQuoter(SourceReader):
    """The handbooks of a library, whose closest passages answer without a model; each is read at first use."""

    def __init__(self, library: Library, encoder: Encoder | None = None) -> None:
        super().__init__({handbook_id: index.document for handbook_id, index in library.indexes.items()}, library.sources)
        # Of another model nobody measured what its scores mean
        self._encoder = encoder if encoder and WAYS.get(encoder.name) == MINILM else None
        self._handbook = cache(lambda handbook_id: ClosestPassages(self.documents[handbook_id], self._encoder))
        # Methods that are compared are asked the same questions, and evidence may have several passages of a handbook
        self._closest = lru_cache(5_000)(lambda handbook_id, question: self._handbook(handbook_id).closest(question, LOOKED_AT))

    def answer(self, evidence: PackedEvidence) -> SourcedAnswer:
        """Of each source the passage of the evidence that is closest to the question, whole, the closest source first.

        A refusal where no source has one that at least perhaps answers.
        """
        started, best = time.perf_counter(), dict[str, tuple[ClosePassage, SourcePassage]]()
        limits = thresholds(MINILM if self._encoder else WORDS)
        for passage in self.passages(evidence):
            close = self._closest_in(passage, evidence.question)
            if close is None or limits.of(self.documents[passage.handbook_id]).found(close.score) is Found.NOT_FOUND:
                continue
            if passage.source_id not in best or close.score > best[passage.source_id][0].score:
                best[passage.source_id] = close, passage
        ordered = sorted(best.values(), key=lambda quoted: -quoted[0].score)
        duplicates = evidence.duplicates()
        statements = tuple(self._statement(*quoted, duplicates) for quoted in ordered)
        usage = {"generator": PASSAGES_GENERATOR, "latency_s": round(time.perf_counter() - started, 3)}
        return SourcedAnswer(evidence.question, statements, evidence, evidence.notes, PASSAGES_GENERATOR, usage=usage)

    def _closest_in(self, passage: SourcePassage, question: str) -> ClosePassage | None:
        """The closest passage of the handbook that overlaps a passage of the evidence."""
        own = passage.passage
        for close in self._closest(passage.handbook_id, question):
            if close.section.section_id == own.section_id and close.place.start < own.end and own.start < close.place.end:
                return close
        return None

    def _statement(
        self, close: ClosePassage, passage: SourcePassage, duplicates: Mapping[int, Sequence[ChunkId]]
    ) -> SourcedStatement:
        words = " ".join((*close.place.leads, *close.text.split()))
        citation = SourceCitation(
            passage.passage.number, passage.source_id, passage.handbook_id, close.section.section_id, close.place.start,
            close.place.end, close.text, words,
        )  # fmt: skip
        return SourcedStatement(words, (citation, *self.same_elsewhere((citation,), duplicates)), confidence=close.score)
