"""Answers as a release has them, with their citations, and counts of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from audit.generation.evidence import Evidence, GroundedQuestion
from audit.text.citations import cited_numbers
from audit.vocabulary import NOT_ADDRESSED

Record = dict[str, Any]
MARKUP = " \t\r\n*_#>`\"'"
PREFIX, THRESHOLD = "prefix", "threshold"
"""How an absence was found: the model wrote the canonical prefix; the evidence covers too little of the question."""


def answer_record(
    question: GroundedQuestion,
    evidence: Evidence,
    text: str | None,
    *,
    method: str | None = None,
    unread_reason: str | None = None,
    usage: Mapping[str, Any] | None = None,
) -> Record:
    """One record of answers.jsonl. `method`: how an absence was found; `unread_reason`: why there is no text."""
    return {
        "question_id": question.query.question_id,
        "handbook_id": question.document.handbook_id,
        "answer": text,
        "absent": None if text is None else method is not None,
        "absence_method": method,
        "unread_reason": unread_reason,
        "retrieval": _retrieval_record(question, evidence, text),
        "usage": dict(usage or {}),
    }


def with_absence_prefix(text: str) -> str | None:
    """The text with the canonical prefix at its very beginning, if it begins with it apart from markup; else None."""
    bare = text.lstrip(MARKUP)
    if bare[: len(NOT_ADDRESSED)].upper() != NOT_ADDRESSED:
        return None
    return NOT_ADDRESSED + bare[len(NOT_ADDRESSED) :].rstrip()


def citation_records(text: str, evidence: Evidence) -> list[Record]:
    """The citations of an answer as records; `known` is False for a passage that was not given."""
    return [
        {"passage": number, "section_id": passage.section_id if passage else None, "known": passage is not None}
        for number in cited_numbers(text)
        for passage in [evidence.passage(number)]
    ]


def _retrieval_record(question: GroundedQuestion, evidence: Evidence, text: str | None) -> Record:
    """The retrieval's record with the answer's citations, without the texts of passages: the sections have them."""
    record = dict(question.retrieval)
    record["citations"] = citation_records(text or "", evidence)
    if evidence.cut:
        record["cut"] = evidence.cut
    if _differs_from_retrieval(question, evidence):  # of a full handbook, each answer records only what it cites
        cited = [passage for citation in record["citations"] if (passage := evidence.passage(citation["passage"]))]
        record["passages"] = [
            {"passage": p.number, "section_id": p.section_id, "start": p.start, "end": p.end, "origin": "document"} for p in cited
        ]
        record["sections"] = [passage.title for passage in cited]
    else:
        passages = record.get("passages") or ()
        record["passages"] = [{name: value for name, value in p.items() if name != "text"} for p in passages]
        record.setdefault("sections", list(dict.fromkeys(passage.title for passage in evidence.passages)))
    return record


def _differs_from_retrieval(question: GroundedQuestion, evidence: Evidence) -> bool:
    retrieved = (question.retrieval.get("passages") or ())[: len(evidence.passages)]
    return [p.section_id for p in evidence.passages] != [str(record.get("section_id")) for record in retrieved]


@dataclass
class GenerationSummary:
    """Counts of the answers to questions asked of handbooks.

    answered, absent   with a text; NOT ADDRESSED
    unread             unparseable replies by reason: neither an answer nor an absence
    not_asked          questions without a reply
    unknown_citations  answers that cite a passage which was not given; uncited: answers that cite none
    cut                answers from less than what retrieval found, because the model takes no more
    """

    answered: int = 0
    absent: int = 0
    unread: Counter[str] = field(default_factory=Counter)
    not_asked: int = 0
    unknown_citations: int = 0
    uncited: int = 0
    cut: int = 0

    def count(self, record: Mapping[str, Any]) -> None:
        """Count one record."""
        if record["answer"] is None:
            self.unread[record["unread_reason"] or "unknown"] += 1
            return
        retrieval = record["retrieval"]
        self.absent += record["absent"]
        self.answered += not record["absent"]
        self.unknown_citations += any(not citation["known"] for citation in retrieval["citations"])
        self.uncited += not record["absent"] and not retrieval["citations"]
        self.cut += bool(retrieval.get("cut"))

    @property
    def clean(self) -> bool:
        """Whether every question has an answer or an absence, and every citation a passage."""
        return not (self.unread or self.not_asked or self.unknown_citations)

    def as_record(self) -> Record:
        """The counts for summary.json."""
        return {**vars(self), "unread": dict(self.unread)}

    def text(self, not_retrieved: int = 0) -> str:
        """One line, and one more for each thing to check; `not_retrieved` questions have no retrieved passages."""
        lines = [
            f"{self.answered:,} answered, {self.absent:,} NOT ADDRESSED, {self.unread.total():,} unparseable replies, "
            f"{self.not_asked:,} not asked."
        ]
        lines += [f"  unparseable, {reason}: {count:,}" for reason, count in self.unread.most_common()]
        warnings = {
            "cite a passage that was not given": self.unknown_citations,
            "cite nothing": self.uncited,
            "are based on less than was retrieved, because the model takes no more": self.cut,
        }
        lines += [f"  answers that {warning}: {count:,}" for warning, count in warnings.items() if count]
        if not_retrieved:
            lines.append(f"  without retrieval, so not asked: {not_retrieved:,}. Run `audit retrieve` on all questions.")
        return "\n".join(lines)
