"""One answer from the evidence of several sources: each statement with who makes it, who else does, and who says otherwise.

The generator quotes or writes; how two statements relate is for a comparer that is passed in, because what writes answers shares
no code with what judges them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from audit.embedding.encoders import Encoder
from audit.generation.evidence import NumberedPassage, Relevance, retrieved_passage
from audit.generation.extractive_generator import (
    DEFAULTS,
    EXTRACTIVE,
    ExtractiveSettings,
    chosen_statements,
    grouped,
    printed_group,
)
from audit.generation.questions import read_question
from audit.generation.scoring import Scored
from audit.generation.unreadable import asked_in, other_language
from audit.retrieval.across.evidence import GatheredEvidence
from audit.retrieval.across.library import Library
from audit.vocabulary import DISAGREEING, NOT_ADDRESSED, Label

Compare = Callable[[str, str, str], Label | None]
"""How two statements on a question relate (question, one, other); None where the comparer cannot tell."""
MAX_STATEMENTS = 8
BRIEF = replace(DEFAULTS, sentences=2, words=60)
"""Of each handbook its best statements only: the answer is to be read at a glance."""
NOTHING_SAID = f"{NOT_ADDRESSED}: no passage of the sources speaks of enough of what is asked."


@dataclass(frozen=True)
class SourceCitation:
    """What a statement rests on: characters `start` to `end` of a section (equal: its heading), of a passage of the evidence.

    passage  its number in the evidence, from 1
    """

    passage: int
    source_id: str
    handbook_id: str
    section_id: str
    start: int
    end: int
    quote: str

    def record(self) -> dict[str, Any]:
        """The citation as system_answers.jsonl has it."""
        return {
            "passage": self.passage, "handbook_id": self.handbook_id, "section_id": self.section_id, "known": True,
            "quote": self.quote, "quote_start": self.start, "quote_end": self.end,
        }  # fmt: skip


Citations = tuple[SourceCitation, ...]


@dataclass(frozen=True)
class SourcedStatement:
    """A statement of the answer.

    citations        what it rests on, its own source first
    contradicted_by  what other handbooks say otherwise
    confidence       how much of the question it covers, in [0, 1]
    """

    text: str
    citations: tuple[SourceCitation, ...]
    contradicted_by: tuple[SourceCitation, ...] = ()
    confidence: float = 0.0

    @property
    def supported_by(self) -> tuple[str, ...]:
        """The sources that make it, its own first."""
        return tuple(dict.fromkeys(citation.source_id for citation in self.citations))

    @property
    def handbook_ids(self) -> frozenset[str]:
        """The handbooks that make it."""
        return frozenset(citation.handbook_id for citation in self.citations)

    def record(self) -> dict[str, Any]:
        """The statement as the trace of routes.jsonl has it."""
        return {
            "text": self.text, "passages": sorted({citation.passage for citation in self.citations}),
            "supported_by": list(self.supported_by),
            "contradicted_by": [citation.record() | {"source_id": citation.source_id} for citation in self.contradicted_by],
        }  # fmt: skip


@dataclass(frozen=True)
class SourcedAnswer:
    """The answer of several sources to a question.

    notes   what the reader has to know, from all steps
    writer  who wrote the statements
    """

    question: str
    statements: tuple[SourcedStatement, ...]
    evidence: GatheredEvidence
    notes: tuple[str, ...]
    writer: str
    seconds: float = 0.0

    @property
    def refused(self) -> bool:
        """Whether no source says anything on the question."""
        return not self.statements

    @property
    def text(self) -> str:
        """The answer, each statement with the numbers of its passages."""
        return " ".join(map(_with_numbers, self.statements)) or NOTHING_SAID

    def record(self, question_id: str, system_id: str) -> dict[str, Any]:
        """The record of system_answers.jsonl."""
        citations = [citation for statement in self.statements for citation in statement.citations]
        passages = self.evidence.record()["evidence"]
        return {
            "question_id": question_id, "system_id": system_id, "answer": self.text, "refused": self.refused,
            "unread_reason": None,
            "evidence": [
                {name: passage[name] for name in ("handbook_id", "section_id", "rank", "text")} | {"score": passage["final"]}
                for passage in passages
            ],
            "citations": [citation.record() for citation in dict.fromkeys(citations)],
            "usage": {"latency_s": round(self.seconds, 3)} if self.seconds else None,
        }  # fmt: skip

    def route_record(self, question_id: str, system_id: str) -> dict[str, Any]:
        """The record of routes.jsonl, with the statements and their marks in its trace."""
        record = self.evidence.record()
        trace = record["trace"] | {"statements": [statement.record() for statement in self.statements], "notes": list(self.notes)}
        return {"question_id": question_id, "system_id": system_id, **record, "trace": trace}


def _with_numbers(statement: SourcedStatement) -> str:
    numbers = dict.fromkeys(citation.passage for citation in statement.citations)
    return f"{statement.text} {' '.join(f'[{number}]' for number in numbers)}"


class LibraryReader:
    """What can be quoted from the handbooks of a library. Create it once for a library: it reads a handbook at its first use."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._relevance: dict[str, Relevance] = {}

    def relevance(self, handbook_id: str) -> Relevance:
        """The words of a handbook, and how rare each is there."""
        if handbook_id not in self._relevance:
            self._relevance[handbook_id] = Relevance(self.library.indexes[handbook_id].document)
        return self._relevance[handbook_id]


def answer_from_sources(
    evidence: GatheredEvidence,
    reader: LibraryReader,
    compare: Compare,
    settings: ExtractiveSettings = BRIEF,
    encoder: Encoder | None = None,
) -> SourcedAnswer:
    """The answer in the sources' own words, from evidence that `gather` packed; refused where they say nothing."""
    started = time.perf_counter()
    drafts, notes = _quoted(evidence, reader, settings, encoder)
    statements = marked(evidence.question, drafts, compare)
    seconds = time.perf_counter() - started
    return SourcedAnswer(evidence.question, statements, evidence, (*evidence.notes, *notes), EXTRACTIVE, seconds)


# -- what each handbook says ---------------------------------------------------------------------------------------------


def numbered_passages(evidence: GatheredEvidence, library: Library) -> list[tuple[str, str, NumberedPassage]]:
    """(source, handbook, passage) of the evidence, numbered from 1 in its order."""
    return [
        (entry["source_id"], entry["handbook_id"], _numbered(entry, library))
        for entry in evidence.record()["evidence"]
    ]  # fmt: skip


def _numbered(entry: dict[str, Any], library: Library) -> NumberedPassage:
    return retrieved_passage(entry["rank"], entry, library.indexes[entry["handbook_id"]].document)


def _quoted(
    evidence: GatheredEvidence, reader: LibraryReader, settings: ExtractiveSettings, encoder: Encoder | None
) -> tuple[list[SourcedStatement], list[str]]:
    """The statements of each handbook that answer the question, and the handbooks that cannot be read with it."""
    question, language = read_question(evidence.question), asked_in([evidence.question])
    statements, notes = list[SourcedStatement](), list[str]()
    passages = sorted(numbered_passages(evidence, reader.library), key=lambda item: item[:2])
    for (source_id, handbook_id), of_handbook in groupby(passages, key=lambda item: item[:2]):
        relevance = reader.relevance(handbook_id)
        if reason := other_language(relevance.document, language):
            notes.append(f"{handbook_id} was not read: {reason}.")
            continue
        given = [passage for _, _, passage in of_handbook]
        confidence, chosen = chosen_statements(question, given, relevance, settings, encoder)
        for group in grouped(chosen):
            own = _citations(group, source_id, handbook_id)
            citations = (*own, *_same_elsewhere(evidence, reader.library, own))
            statements.append(SourcedStatement(printed_group(group), citations, confidence=confidence))
    return statements, notes


def _same_elsewhere(evidence: GatheredEvidence, library: Library, own: Citations) -> Iterator[SourceCitation]:
    """The quotes as other handbooks have them word for word, in chunks that were left out of the evidence as duplicates."""
    source_of = {handbook_id: source.source_id for source in library.sources for handbook_id in source.handbook_ids}
    for citation in own:
        for chunk in evidence.passages[citation.passage - 1].duplicates:
            text = library.indexes[chunk.handbook_id].document.by_id[chunk.section_id].text
            quote = citation.quote
            if chunk.handbook_id != citation.handbook_id and quote and (start := text.find(quote)) >= 0:
                yield replace(
                    citation, source_id=source_of[chunk.handbook_id], handbook_id=chunk.handbook_id,
                    section_id=chunk.section_id, start=start, end=start + len(quote),
                )  # fmt: skip


def _citations(group: Sequence[Scored], source_id: str, handbook_id: str) -> tuple[SourceCitation, ...]:
    return tuple(
        SourceCitation(
            scored.passage, source_id, handbook_id, scored.candidate.section.section_id, scored.candidate.statement.start,
            scored.candidate.statement.end, scored.candidate.text,
        )
        for scored in group
    )  # fmt: skip


# -- who else says so, and who says otherwise ----------------------------------------------------------------------------


def marked(question: str, drafts: Iterable[SourcedStatement], compare: Compare) -> tuple[SourcedStatement, ...]:
    """The statements that answer best, at most MAX_STATEMENTS. What several handbooks say is said once, with all of them cited.

    A statement that another handbook contradicts stands beside that handbook's, each with the sentences of the other that clash.
    """
    kept: list[SourcedStatement] = []
    for draft in sorted(drafts, key=lambda statement: -statement.confidence):
        same, own = None, draft
        for number, statement in enumerate(kept):
            # What one handbook says in two places is its own matter, and not what sources say of each other
            if statement.handbook_ids & draft.handbook_ids:
                continue
            label = compare(question, statement.text, draft.text)
            if label is Label.CONSISTENT and same is None:
                same = number
            elif label in DISAGREEING:
                theirs, ours = clashing(question, statement, draft, compare)
                kept[number], own = _contradicted(kept[number], ours), _contradicted(own, theirs)
        if same is None:
            kept.append(own)
        else:
            citations = (*kept[same].citations, *draft.citations)
            kept[same] = _contradicted(replace(kept[same], citations=citations), own.contradicted_by)
    return tuple(kept[:MAX_STATEMENTS])


def clashing(question: str, one: SourcedStatement, other: SourcedStatement, compare: Compare) -> tuple[Citations, Citations]:
    """The sentences by which two statements disagree, of each; all of both where no two sentences alone show it."""
    pairs = [
        (first, second)
        for first in one.citations
        for second in other.citations
        if compare(question, first.quote, second.quote) in DISAGREEING
    ]
    return tuple(first for first, _ in pairs) or one.citations, tuple(second for _, second in pairs) or other.citations


def _contradicted(statement: SourcedStatement, citations: Citations) -> SourcedStatement:
    return replace(statement, contradicted_by=tuple(dict.fromkeys((*statement.contradicted_by, *citations))))
