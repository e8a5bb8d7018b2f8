"""Answers as a release has them, and a count of what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from audit.generation.asked import Asked
from audit.generation.citations import citations
from audit.generation.evidence import Evidence
from audit.vocabulary import NOT_ADDRESSED

Record = dict[str, Any]
MARKUP = " \t\r\n*_#>`\"'"
PREFIX, THRESHOLD = "prefix", "threshold"
"""How an absence was found: the model said so by the canonical prefix; the evidence speaks of too little of the question."""


def answer_record(
    asked: Asked,
    evidence: Evidence,
    text: str | None,
    *,
    method: str | None = None,
    unread: str | None = None,
    usage: Mapping[str, Any] | None = None,
) -> Record:
    """One record of answers.jsonl. `method`: how its absence was found, if it is absent; `unread`: why there is no text."""
    return {
        "question_id": asked.query.question_id, "handbook_id": asked.document.handbook_id,
        "answer": text, "absent": None if text is None else method is not None, "absence_method": method,
        "unread_reason": unread, "retrieval": _retrieval(asked, evidence, text), "usage": dict(usage or {}),
    }  # fmt: skip


def prefixed(text: str) -> str | None:
    """The text with the canonical prefix at its very beginning, if it begins with it apart from markup; else None."""
    bare = text.lstrip(MARKUP)
    if bare[: len(NOT_ADDRESSED)].upper() != NOT_ADDRESSED:
        return None
    return NOT_ADDRESSED + bare[len(NOT_ADDRESSED) :].rstrip()


def _retrieval(asked: Asked, evidence: Evidence, text: str | None) -> Record:
    """The retrieval's record without the passages' texts, which stand in the sections, and with what the answer cites."""
    told = dict(asked.retrieval)
    told["citations"] = citations(text or "", evidence)
    if evidence.cut:
        told["cut"] = evidence.cut
    if _numbered_anew(asked, evidence):  # of a whole handbook only what is cited is worth a place in every answer
        given = [passage for each in told["citations"] if (passage := evidence.passage(each["passage"]))]
        told["passages"] = [
            {"passage": p.number, "section_id": p.section_id, "start": p.start, "end": p.end, "origin": "document"} for p in given
        ]
        told["sections"] = [passage.title for passage in given]
    else:
        told["passages"] = [{k: v for k, v in each.items() if k != "text"} for each in told.get("passages") or ()]
        told.setdefault("sections", list(dict.fromkeys(passage.title for passage in evidence.passages)))
    return told


def _numbered_anew(asked: Asked, evidence: Evidence) -> bool:
    return [p.section_id for p in evidence.passages] != [
        str(each.get("section_id")) for each in (asked.retrieval.get("passages") or ())[: len(evidence.passages)]
    ]


@dataclass
class Summary:
    """What became of the questions put to handbooks.

    answered, absent   with a text; NOT ADDRESSED
    unread             replies that could not be read, by reason: neither an answer nor an absence
    not_asked          of a question and a handbook that should meet, no reply is there
    unknown_citations  answers that cite a passage which was not given; uncited: answers that cite none
    cut                answers from less than retrieval found, since the model takes no more
    """

    answered: int = 0
    absent: int = 0
    unread: Counter[str] = field(default_factory=Counter)
    not_asked: int = 0
    unknown_citations: int = 0
    uncited: int = 0
    cut: int = 0

    def count(self, record: Mapping[str, Any]) -> None:
        """One record."""
        if record["answer"] is None:
            self.unread[record["unread_reason"] or "unknown"] += 1
            return
        told = record["retrieval"]
        self.absent += record["absent"]
        self.answered += not record["absent"]
        self.unknown_citations += any(not each["known"] for each in told["citations"])
        self.uncited += not record["absent"] and not told["citations"]
        self.cut += bool(told.get("cut"))

    @property
    def clean(self) -> bool:
        """Whether every question has an answer or an absence, and every citation a passage."""
        return not (self.unread or self.not_asked or self.unknown_citations)

    def as_record(self) -> Record:
        """For summary.json."""
        return {**vars(self), "unread": dict(self.unread)}

    def text(self, not_retrieved: int = 0) -> str:
        """In one line, and one more for each thing to look at; retrieval left nothing for `not_retrieved` of the questions."""
        lines = [
            f"{self.answered:,} answered, {self.absent:,} NOT ADDRESSED, {self.unread.total():,} could not be read, "
            f"{self.not_asked:,} not asked."
        ]
        lines += [f"  could not be read, {reason}: {count:,}" for reason, count in self.unread.most_common()]
        told = {
            "cite a passage that was not given": self.unknown_citations, "cite nothing": self.uncited,
            "rest on less than was found, for want of room": self.cut,
        }  # fmt: skip
        lines += [f"  answers that {words}: {count:,}" for words, count in told.items() if count]
        if not_retrieved:
            lines.append(f"  without retrieval, so not asked: {not_retrieved:,}. Run `audit retrieve` on all questions.")
        return "\n".join(lines)
