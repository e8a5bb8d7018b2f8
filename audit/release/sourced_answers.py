"""An answer from several sources: its statements, each with its citations and the citations that contradict it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple, Protocol

from audit.vocabulary import NOT_ADDRESSED

Record = dict[str, Any]
NOTHING_SAID = f"{NOT_ADDRESSED}: no passage of the sources covers enough of the question."
SUPPORTED, CONTRADICTED, UNSUPPORTED = "supported", "contradicted", "unsupported"


class ChunkId(NamedTuple):
    """Names a chunk the same in every run: its handbook, its section, and its first character in the section's text."""

    handbook_id: str
    section_id: str
    start: int

    def __str__(self) -> str:
        return f"{self.handbook_id}/{self.section_id}#{self.start}"


class PackedEvidence(Protocol):
    """The evidence for a question: as `gather` packed it, or as a run stored it."""

    @property
    def question(self) -> str:
        """The question."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user, from all steps."""

    def record(self) -> dict[str, Any]:
        """The fields routes, evidence and trace of routes.jsonl."""

    def duplicates(self) -> dict[int, tuple[ChunkId, ...]]:
        """Number of a passage -> the chunks that were left out as its duplicates."""


@dataclass(frozen=True)
class SourceCitation:
    """The support of a statement: characters `start` to `end` of a section's text; equal where its heading is quoted.

    passage  the number of the passage in the evidence, from 1
    quote    those characters, or the heading
    stated   the quote after the leads of its list, without which it would have another meaning
    """

    passage: int
    source_id: str
    handbook_id: str
    section_id: str
    start: int
    end: int
    quote: str
    stated: str

    def record(self) -> Record:
        """The citation as system_answers.jsonl has it."""
        heading = self.start == self.end
        return {
            "passage": self.passage, "source_id": self.source_id, "handbook_id": self.handbook_id,
            "section_id": self.section_id, "known": True, "quote": self.quote,
            "quote_start": None if heading else self.start, "quote_end": None if heading else self.end,
        }  # fmt: skip


Citations = tuple[SourceCitation, ...]


@dataclass(frozen=True)
class SourcedStatement:
    """A statement of the answer.

    citations        its support, its own source first; () where none of the writer's quotes is in the passages
    contradicted_by  sentences of other handbooks that contradict it
    confidence       share of the question that it covers, in [0, 1]
    """

    text: str
    citations: Citations = ()
    contradicted_by: Citations = ()
    confidence: float = 1.0

    @property
    def supported_by(self) -> tuple[str, ...]:
        """The sources that make it, its own first."""
        return tuple(dict.fromkeys(citation.source_id for citation in self.citations))

    @property
    def handbook_ids(self) -> frozenset[str]:
        """The handbooks that make it."""
        return frozenset(citation.handbook_id for citation in self.citations)

    @property
    def passages(self) -> tuple[int, ...]:
        """The numbers of the passages that it cites."""
        return tuple(dict.fromkeys(citation.passage for citation in self.citations))

    @property
    def mark(self) -> str:
        """`contradicted` by another handbook, `unsupported` (without a quote) or `supported`."""
        if self.contradicted_by:
            return CONTRADICTED
        return SUPPORTED if self.citations else UNSUPPORTED

    @property
    def with_numbers(self) -> str:
        """The statement followed by the numbers of its passages."""
        return " ".join([self.text, *(f"[{number}]" for number in self.passages)])

    def record(self) -> Record:
        """The statement as the trace of routes.jsonl has it."""
        return {
            "text": self.text,
            "mark": self.mark,
            "passages": list(self.passages),
            "supported_by": list(self.supported_by),
            "citations": [citation.record() for citation in self.citations],
            "contradicted_by": [citation.record() for citation in self.contradicted_by],
        }


@dataclass(frozen=True)
class StoredEvidence:
    """Packed evidence as a run stored it: the fields of routes.jsonl, and the duplicates of each passage."""

    question: str
    fields: Mapping[str, Any]
    left_out: Mapping[int, tuple[ChunkId, ...]]

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user, from all steps."""
        return tuple(self.fields["trace"]["notes"])

    def record(self) -> dict[str, Any]:
        """The fields routes, evidence and trace of routes.jsonl."""
        return dict(self.fields)

    def duplicates(self) -> dict[int, tuple[ChunkId, ...]]:
        """Number of a passage -> the chunks that were left out as its duplicates."""
        return dict(self.left_out)


@dataclass(frozen=True)
class SourcedAnswer:
    """The answer of several sources to a question.

    notes          notes for the reader, from all steps
    writer         who wrote the statements
    declined       the text in which a model declined
    unread_reason  why the reply of a model could not be read; None where it could, and without a model
    usage          generator or model, tokens and time
    """

    question: str
    statements: tuple[SourcedStatement, ...]
    evidence: PackedEvidence
    notes: tuple[str, ...]
    writer: str
    declined: str = ""
    unread_reason: str | None = None
    usage: Mapping[str, Any] | None = None

    @property
    def refused(self) -> bool:
        """Whether no source answers the question; False where the reply could not be read."""
        return not self.statements and self.unread_reason is None

    @property
    def text(self) -> str:
        """The answer, each statement with the numbers of its passages; else why the reply could not be read."""
        if self.unread_reason is not None:
            return f"The reply could not be read: {self.unread_reason}."
        return " ".join(statement.with_numbers for statement in self.statements) or self.declined or NOTHING_SAID

    def record(self, question_id: str, system_id: str) -> Record:
        """The record of system_answers.jsonl."""
        return {
            "question_id": question_id,
            "system_id": system_id,
            "answer": None if self.unread_reason else self.text,
            "refused": None if self.unread_reason else self.refused,
            "unread_reason": self.unread_reason,
            "evidence": [
                {name: passage[name] for name in ("handbook_id", "section_id", "rank", "text")} | {"score": passage["final"]}
                for passage in self.evidence.record()["evidence"]
            ],
            "citations": list(self._citations()),
            "usage": dict(self.usage) if self.usage else None,
        }

    def _citations(self) -> Iterator[Record]:
        """Each citation with the part of the answer that it supports."""
        lengths = [len(statement.with_numbers) + 1 for statement in self.statements]
        for statement, start in zip(self.statements, accumulate(lengths, initial=0), strict=False):
            span = {"start": start, "end": start + len(statement.text)}
            yield from (citation.record() | span for citation in statement.citations)

    def route_record(self, question_id: str, system_id: str) -> Record:
        """The record of routes.jsonl, with the statements and their marks in its trace."""
        record = self.evidence.record()
        trace = record["trace"] | {"statements": [statement.record() for statement in self.statements], "notes": list(self.notes)}
        return {"question_id": question_id, "system_id": system_id, **record, "trace": trace}
