"""Files of answer generation: reads questions, handbooks and retrieved passages; writes answers with their counts."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audit.atomic_io import atomic_file, write_atomic
from audit.errors import AuditError, describe_error
from audit.people_tables import strict_json
from audit.pipeline.answers.citations import CitationRecord, Quote, citation_records
from audit.pipeline.answers.evidence import Evidence, GroundedQuestion, question_handbook_pairs
from audit.pipeline.answers.unreadable import unseen_text
from audit.pipeline.retrieval.model import Query
from audit.release.handbook_kinds import QUESTION
from audit.text.documents import Document, read_documents
from audit.vocabulary import GENERAL, Found

ANSWERS, SUMMARY = "answers.jsonl", "summary.json"
NOTHING = "Nothing was asked."
Record = dict[str, Any]
PREFIX, THRESHOLD = "prefix", "threshold"
"""How an absence was determined: the model wrote the canonical prefix, or no passage is close enough to the question."""


@dataclass(frozen=True)
class GenerationInputs:
    """The questions, the handbooks, and the folder with one file of retrieved passages for each handbook.

    `missing` counts, by handbook, the questions without retrieved passages in the last reading.
    """

    questions: tuple[Query, ...]
    documents: tuple[Document, ...]
    retrieval: Path
    missing: Counter[str] = field(default_factory=Counter)

    def grounded_questions(self) -> Iterator[GroundedQuestion]:
        """Every question with every handbook that it is put to, handbook by handbook; may be called repeatedly."""
        self.missing.clear()
        for document in self.documents:
            retrievals = _read_retrievals(self.retrieval, document.handbook_id)
            for question, _ in question_handbook_pairs(self.questions, [document]):
                if question.question_id in retrievals:
                    yield GroundedQuestion(question, document, retrievals[question.question_id])
                else:
                    self.missing[document.handbook_id] += 1


def read_inputs(questions: Path, documents: Path, retrieval: Path) -> GenerationInputs:
    """The output of `audit questions`, `audit extract` and `audit retrieve`.

    Raises AuditError if a file cannot be read, two questions have the same id, or no handbook has retrieved passages.
    """
    inputs = GenerationInputs(tuple(read_questions(questions)), tuple(read_documents(documents)), retrieval)
    if not any(_retrieval_file(retrieval, document.handbook_id) for document in inputs.documents):
        folders = sorted(path.name for path in retrieval.glob("*/") if any(path.glob("*.jsonl*"))) if retrieval.is_dir() else []
        hint = f" Name one of the folders in it: {', '.join(folders)}." if folders else " `audit retrieve` writes them."
        raise AuditError(f"{retrieval} does not contain passages of these handbooks (HANDBOOK_ID.jsonl). {NOTHING}{hint}")
    return inputs


def read_questions(path: Path) -> list[Query]:
    """The questions in a file of JSON lines, in its order. Raises AuditError, with the line, for an invalid one."""
    queries = [_parse_question(path, number, record) for number, record in read_json_lines(path)]
    repeated = [name for name, count in Counter(query.question_id for query in queries).items() if count > 1]
    if repeated or not queries:
        problem = f"two questions have the id '{repeated[0]}'" if repeated else "it contains no questions"
        raise AuditError(f"{path}: {problem}. {NOTHING} `audit questions` writes such a file.")
    return queries


def _parse_question(path: Path, number: int, record: Mapping[str, Any]) -> Query:
    fields = QUESTION.canonical(record)
    if not fields.get("question_id") or not str(fields.get("question") or "").strip():
        raise AuditError(f"{path}, line {number}: a question needs 'question_id' and 'question'. {NOTHING}")
    organ, topics = fields.get("organ") or GENERAL, fields.get("topics")
    return Query(
        str(fields["question_id"]), str(fields["question"]), str(organ), tuple(topics if isinstance(topics, list) else ())
    )


def _read_retrievals(folder: Path, handbook_id: str) -> dict[str, Record]:
    """Question id -> the record of its retrieval in one handbook."""
    path = _retrieval_file(folder, handbook_id)
    if path is None:
        return {}
    retrievals: dict[str, Record] = {}
    for number, record in read_json_lines(path):
        retrieval = record.get("retrieval")
        if not isinstance(retrieval, dict) or record.get("handbook_id", handbook_id) != handbook_id:
            raise AuditError(f"{path}, line {number}: this is not a retrieval for handbook '{handbook_id}'. {NOTHING}")
        retrievals[str(record.get("question_id"))] = retrieval
    return retrievals


def _retrieval_file(folder: Path, handbook_id: str) -> Path | None:
    candidates = (folder / f"{handbook_id}.jsonl", folder / f"{handbook_id}.jsonl.gz")
    return next((path for path in candidates if path.is_file()), None)


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    """(number from 1, record) of a file of JSON lines, plain or gzipped."""
    number = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, dict(strict_json(line))
    except (OSError, EOFError, ValueError, TypeError) as error:
        where = f"{path}, after line {number}" if number else str(path)
        raise AuditError(f"{where}: it cannot be read ({describe_error(error)}). {NOTHING}") from None


def check_output_folder(folder: Path) -> None:
    """Raise AuditError if `folder` contains files other than earlier answers."""
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not (folder / SUMMARY).is_file())):
        raise AuditError(f"{folder} exists and does not contain earlier answers. {NOTHING} Choose another folder with --out.")


def write_answers(
    folder: Path, records: Iterable[Record], summary: GenerationSummary, about: Mapping[str, object], missing: Counter[str]
) -> None:
    """Write answers.jsonl, and summary.json with `about` and the counts; each appears complete or stays unchanged.

    `missing` is read after the records, because iterating over them fills it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_file(folder / ANSWERS) as draft, draft.open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            summary.count(record)
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    # Only after the records: iterating over them counts the answers and fills `missing`
    content = {**about, **summary.as_record(), "not_retrieved": missing.total()}
    write_atomic(folder / SUMMARY, json.dumps(content, ensure_ascii=False, indent=1) + "\n")


# -- records of answers ------------------------------------------------------------------------------------------------


def answer_record(
    question: GroundedQuestion,
    evidence: Evidence,
    text: str | None,
    *,
    method: str | None = None,
    unread_reason: str | None = None,
    usage: Mapping[str, object] | None = None,
    quotes: Sequence[Quote] | None = None,
    found: Found | None = None,
) -> Record:
    """One record of answers.jsonl.

    method         how an absence was determined; an absence in a handbook that is largely unreadable is unread
    unread_reason  why there is no text
    quotes         what the text quotes; None where the generator does not know it
    found          how surely passages that no model has read answer; None: a model wrote the text, or there is none
    """
    if method is not None and (unseen := unseen_text(question.document)):
        text, method, unread_reason, found = None, None, unseen, None
    return {
        "question_id": question.query.question_id,
        "handbook_id": question.document.handbook_id,
        "answer": text,
        "absent": None if text is None else method is not None,
        "absence_method": method,
        **({} if found is None else {"found": found.value}),
        "unread_reason": unread_reason,
        "retrieval": _retrieval_record(question, evidence, citation_records(text or "", evidence, question.document, quotes)),
        "usage": dict(usage or {}),
    }


def unread_record(question: GroundedQuestion, reason: str) -> Record:
    """The record of a question that was not put to the generator for this handbook."""
    return answer_record(question, Evidence(()), None, unread_reason=reason)


def _retrieval_record(question: GroundedQuestion, evidence: Evidence, citations: list[CitationRecord]) -> Record:
    """The retrieval's record with the answer's citations, but without the texts of passages, which are in the sections."""
    record = dict(question.retrieval)
    record["citations"] = citations
    if evidence.cut:
        record["cut"] = evidence.cut
    # For a full handbook, the list would be the same in every answer
    if _differs_from_retrieval(question, evidence):  # for a full handbook, each answer records only what it cites
        numbers = dict.fromkeys(citation["passage"] for citation in citations)
        cited = [passage for number in numbers if (passage := evidence.passage(number))]
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
    # Only those in the prompt, which may have had no room for the others
    return evidence.best_last or [p.section_id for p in evidence.passages] != [
        str(record.get("section_id")) for record in retrieved
    ]


@dataclass
class GenerationSummary:
    """Counts of the answers of handbooks.

    answered, absent   with a text; NOT ADDRESSED
    unread             neither an answer nor an absence, by reason: unparseable reply, words that no passage backs, or
                       unreadable handbook
    not_asked          questions without a reply
    cut                answers from only part of the retrieved passages, because the prompt would be too long
    """

    answered: int = 0
    absent: int = 0
    unread: Counter[str] = field(default_factory=Counter)
    not_asked: int = 0
    cut: int = 0

    def count(self, record: Mapping[str, Any]) -> None:
        """Count one record."""
        if record["answer"] is None:
            self.unread[record["unread_reason"] or "unknown"] += 1
            return
        retrieval = record["retrieval"]
        self.absent += record["absent"]
        self.answered += not record["absent"]
        self.cut += bool(retrieval.get("cut"))

    @property
    def clean(self) -> bool:
        """Whether every question has an answer or an absence."""
        return not (self.unread or self.not_asked)

    def as_record(self) -> Record:
        """The counts for summary.json."""
        return {**vars(self), "unread": dict(self.unread)}

    def text(self, not_retrieved: int = 0) -> str:
        """One line, and a line for each reason and warning; `not_retrieved` questions have no retrieved passages."""
        lines = [
            f"{self.answered:,} answered, {self.absent:,} NOT ADDRESSED, {self.unread.total():,} unread, "
            f"{self.not_asked:,} not asked."
        ]
        lines += [f"  unread, {reason}: {count:,}" for reason, count in self.unread.most_common()]
        if self.cut:
            lines.append(f"  answers based on less than was retrieved, because the model takes no more: {self.cut:,}")
        if not_retrieved:
            lines.append(f"  without retrieval, so not asked: {not_retrieved:,}. Run `audit retrieve` on all questions.")
        return "\n".join(lines)
