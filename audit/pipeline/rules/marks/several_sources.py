"""One answer from the evidence of several sources, in the sources' own words, with each statement marked."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import NamedTuple

from audit.pipeline.answers.evidence import NumberedPassage, retrieved_passage
from audit.pipeline.answers.unreadable import asked_in, other_language
from audit.pipeline.embedding.encoders import Encoder
from audit.pipeline.retrieval.across.library import Library
from audit.pipeline.retrieval.across.sources import Source
from audit.pipeline.rules.answers.candidates import Candidate
from audit.pipeline.rules.answers.extractive_generator import (
    DEFAULTS,
    ExtractiveSettings,
    chosen_statements,
    grouped,
    printed_group,
)
from audit.pipeline.rules.answers.questions import AskedQuestion, read_question
from audit.pipeline.rules.answers.relevance import Relevance
from audit.pipeline.rules.answers.scoring import Scored
from audit.pipeline.rules.marks.statement_marks import Compare, marked
from audit.release.sourced_answers import ChunkId, Citations, PackedEvidence, SourceCitation, SourcedAnswer, SourcedStatement
from audit.text.documents import Document
from audit.vocabulary import PASSAGES_GENERATOR

BRIEF = replace(DEFAULTS, sentences=2, words=60)
"""Only the best statements of each handbook, so that the answer stays short."""


NEAR = 0.9
"""Statements with less than this share of the best statement's confidence are left out."""


class SourcePassage(NamedTuple):
    """A passage of the evidence, with the source and the handbook that it is from, and its final score."""

    source_id: str
    handbook_id: str
    passage: NumberedPassage
    score: float


@dataclass
class SourceReader:
    """The handbooks that can be quoted. Create it once: it reads a handbook at first use.

    documents  handbook id -> its text
    """

    documents: Mapping[str, Document]
    sources: Sequence[Source]
    _relevance: dict[str, Relevance] = field(default_factory=dict)

    def relevance(self, handbook_id: str) -> Relevance:
        """The words of a handbook and their rarity in it."""
        if handbook_id not in self._relevance:
            self._relevance[handbook_id] = Relevance(self.documents[handbook_id])
        return self._relevance[handbook_id]

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


class LibraryReader(SourceReader):
    """The reader of the handbooks of a library."""

    def __init__(self, library: Library) -> None:
        super().__init__({handbook_id: index.document for handbook_id, index in library.indexes.items()}, library.sources)


def answer_from_sources(
    evidence: PackedEvidence,
    reader: SourceReader,
    compare: Compare,
    settings: ExtractiveSettings = BRIEF,
    encoder: Encoder | None = None,
) -> SourcedAnswer:
    """The answer in the sources' own words, from evidence that `gather` packed; a refusal where no source answers."""
    started = time.perf_counter()
    drafts, notes = _quoted_statements(evidence, reader, settings, encoder)
    statements = marked(evidence.question, _most_confident(drafts), compare)
    usage = {"generator": PASSAGES_GENERATOR, "latency_s": round(time.perf_counter() - started, 3)}
    return SourcedAnswer(evidence.question, statements, evidence, (*evidence.notes, *notes), PASSAGES_GENERATOR, usage=usage)


def _most_confident(drafts: Sequence[SourcedStatement]) -> list[SourcedStatement]:
    """The statements, the most confident first, without those of much lower confidence than the first."""
    ordered = sorted(drafts, key=lambda statement: -statement.confidence)
    return [statement for statement in ordered if statement.confidence >= NEAR * ordered[0].confidence]


def _quoted_statements(
    evidence: PackedEvidence, reader: SourceReader, settings: ExtractiveSettings, encoder: Encoder | None
) -> tuple[list[SourcedStatement], list[str]]:
    """The statements of each handbook that answer the question, and notes on handbooks in another language."""
    question, language = read_question(evidence.question), asked_in([evidence.question])
    statements, notes = list[SourcedStatement](), list[str]()
    duplicates = evidence.duplicates()
    passages = sorted(reader.passages(evidence), key=lambda one: one[:2])
    for (_, handbook_id), of_handbook in groupby(passages, key=lambda one: one[:2]):
        if reason := other_language(reader.documents[handbook_id], language):
            notes.append(f"{handbook_id} was not read: {reason}.")
            continue
        for statement in _handbook_statements(question, list(of_handbook), reader.relevance(handbook_id), settings, encoder):
            elsewhere = reader.same_elsewhere(statement.citations, duplicates)
            statements.append(replace(statement, citations=(*statement.citations, *elsewhere)))
    return statements, notes


def _handbook_statements(
    question: AskedQuestion,
    passages: Sequence[SourcePassage],
    relevance: Relevance,
    settings: ExtractiveSettings,
    encoder: Encoder | None,
) -> list[SourcedStatement]:
    confidence, chosen = chosen_statements(question, [one.passage for one in passages], relevance, settings, encoder)
    return [
        SourcedStatement(printed_group(group), tuple(_citation(part, passages[0]) for part in group), confidence=confidence)
        for group in _standalone_groups(chosen)
    ]


def _standalone_groups(chosen: Sequence[Scored]) -> Iterator[list[Scored]]:
    """Groups that get a mark of their own: a sentence with those that it needs, or a list with its lead."""
    for group in grouped(chosen):
        part: list[Scored] = []
        for scored in group:
            if part and _begins_anew(part[-1].candidate, scored.candidate):
                yield part
                part = []
            part.append(scored)
        yield part


def _begins_anew(before: Candidate, candidate: Candidate) -> bool:
    # Rows and items stay together: without its row heading or lead, a cell or item would have another meaning
    sentences = {before.statement.kind, candidate.statement.kind} == {"sentence"}
    return sentences and not (candidate.leads or candidate.leans or candidate.qualifies or before.announces_what_follows)


def _citation(scored: Scored, passage: SourcePassage) -> SourceCitation:
    candidate, section = scored.candidate, scored.candidate.section
    start, end = candidate.statement.start, candidate.statement.end
    quote = section.heading if candidate.is_heading else section.text[start:end]
    stated = " ".join((*candidate.leads, candidate.text))
    return SourceCitation(scored.passage, passage.source_id, passage.handbook_id, section.section_id, start, end, quote, stated)
