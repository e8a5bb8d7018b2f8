"""One answer from the evidence of several sources: in their own words, or by a model, and marked statement by statement."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import NamedTuple

from audit.corpus.documents import Document
from audit.embedding.encoders import Encoder
from audit.generation.candidates import Candidate
from audit.generation.evidence import NumberedPassage, Relevance, retrieved_passage
from audit.generation.extractive_generator import (
    DEFAULTS,
    EXTRACTIVE,
    ExtractiveSettings,
    chosen_statements,
    grouped,
    printed_group,
)
from audit.generation.questions import AskedQuestion, read_question
from audit.generation.scoring import Scored
from audit.generation.sourced_answers import Citations, PackedEvidence, SourceCitation, SourcedAnswer, SourcedStatement
from audit.generation.statement_marks import Compare, marked
from audit.generation.unreadable import asked_in, other_language
from audit.retrieval.across.library import ChunkId, Library
from audit.retrieval.across.sources import Source

BRIEF = replace(DEFAULTS, sentences=2, words=60)
"""Of each handbook its best statements only: the answer is to be read at a glance."""


NEAR = 0.9
"""Statements of other handbooks below this share of the best one's confidence are left out."""


class SourcePassage(NamedTuple):
    """A passage of the evidence, with the source and the handbook that it is from, and its final score."""

    source_id: str
    handbook_id: str
    passage: NumberedPassage
    score: float


@dataclass
class SourceReader:
    """What can be quoted from handbooks. Create it once: it reads a handbook at its first use.

    documents  handbook id -> its text
    """

    documents: Mapping[str, Document]
    sources: Sequence[Source]
    _relevance: dict[str, Relevance] = field(default_factory=dict)

    def relevance(self, handbook_id: str) -> Relevance:
        """The words of a handbook, and how rare each is there."""
        if handbook_id not in self._relevance:
            self._relevance[handbook_id] = Relevance(self.documents[handbook_id])
        return self._relevance[handbook_id]

    def passages(self, evidence: PackedEvidence) -> list[SourcePassage]:
        """The passages of the evidence, numbered from 1 in its order."""
        return [
            SourcePassage(
                entry["source_id"], entry["handbook_id"],
                retrieved_passage(entry["rank"], entry, self.documents[entry["handbook_id"]]), entry["final"],
            )
            for entry in evidence.record()["evidence"]
        ]  # fmt: skip

    def same_elsewhere(self, own: Citations, duplicates: Mapping[int, Sequence[ChunkId]]) -> Iterator[SourceCitation]:
        """The quotes as other handbooks have them word for word, in chunks that were left out of the evidence as duplicates."""
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
    """The answer in the sources' own words, from evidence that `gather` packed; refused where they say nothing."""
    started = time.perf_counter()
    drafts, notes = _quoted(evidence, reader, settings, encoder)
    statements = marked(evidence.question, _best(drafts), compare)
    usage = {"generator": EXTRACTIVE, "latency_s": round(time.perf_counter() - started, 3)}
    return SourcedAnswer(evidence.question, statements, evidence, (*evidence.notes, *notes), EXTRACTIVE, usage=usage)


def _best(drafts: Sequence[SourcedStatement]) -> list[SourcedStatement]:
    """The statements by how much of the question they cover, without those that cover clearly less than the first."""
    ordered = sorted(drafts, key=lambda statement: -statement.confidence)
    return [statement for statement in ordered if statement.confidence >= NEAR * ordered[0].confidence]


def _quoted(
    evidence: PackedEvidence, reader: SourceReader, settings: ExtractiveSettings, encoder: Encoder | None
) -> tuple[list[SourcedStatement], list[str]]:
    """The statements of each handbook that answer the question, and the handbooks that cannot be read with it."""
    question, language = read_question(evidence.question), asked_in([evidence.question])
    statements, notes = list[SourcedStatement](), list[str]()
    duplicates = evidence.duplicates()
    passages = sorted(reader.passages(evidence), key=lambda one: one[:2])
    for (_, handbook_id), of_handbook in groupby(passages, key=lambda one: one[:2]):
        if reason := other_language(reader.documents[handbook_id], language):
            notes.append(f"{handbook_id} was not read: {reason}.")
            continue
        for statement in _of_handbook(question, list(of_handbook), reader.relevance(handbook_id), settings, encoder):
            elsewhere = reader.same_elsewhere(statement.citations, duplicates)
            statements.append(replace(statement, citations=(*statement.citations, *elsewhere)))
    return statements, notes


def _of_handbook(
    question: AskedQuestion,
    given: Sequence[SourcePassage],
    relevance: Relevance,
    settings: ExtractiveSettings,
    encoder: Encoder | None,
) -> list[SourcedStatement]:
    confidence, chosen = chosen_statements(question, [one.passage for one in given], relevance, settings, encoder)
    return [
        SourcedStatement(printed_group(group), tuple(_citation(part, given[0]) for part in group), confidence=confidence)
        for group in _alone(chosen)
    ]


def _alone(chosen: Sequence[Scored]) -> Iterator[list[Scored]]:
    """What can stand alone and have a mark of its own: a sentence with those it cannot do without, a list with its lead."""
    for group in grouped(chosen):
        part: list[Scored] = []
        for scored in group:
            if part and _begins_anew(part[-1].candidate, scored.candidate):
                yield part
                part = []
            part.append(scored)
        yield part


def _begins_anew(before: Candidate, candidate: Candidate) -> bool:
    # Rows and items stay together: a cell without its row's head, or an item without its lead, would say something else
    sentences = {before.statement.kind, candidate.statement.kind} == {"sentence"}
    return sentences and not (candidate.leads or candidate.leans or candidate.qualifies or before.announces_what_follows)


def _citation(scored: Scored, given: SourcePassage) -> SourceCitation:
    candidate, section = scored.candidate, scored.candidate.section
    start, end = candidate.statement.start, candidate.statement.end
    quote = section.heading if candidate.is_heading else section.text[start:end]
    stated = " ".join((*candidate.leads, candidate.text))
    return SourceCitation(
        scored.passage, given.source_id, given.handbook_id, section.section_id, start, end, quote, stated
    )  # fmt: skip
