"""Files of questions: the documented JSONL, the benchmark file of MIRAGE, and PubMedQA's file of abstracts."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from audit.errors import QuestionsError, describe_error
from audit.pipeline.stress.building.questions import BuildReport, StressQuestion, checked_questions
from audit.release.records import RecordFile, UnreadableRecord

Place = tuple[str, Any]
"""The position of a record in its file, and the record in the documented layout."""
YES_NO_MAYBE = {"A": "yes", "B": "no", "C": "maybe"}
NOTHING = "Nothing was written."


def read_questions(path: Path, max_bytes: int, report: BuildReport, *, documents: Path | None = None) -> list[StressQuestion]:
    """The questions of a file in one of the three layouts (detected from its content), in the order of their ids.

    documents  a JSONL file with more signal documents (question_id, and documents or document_id and text), such as what a
               retriever found; MIRAGE's file has none

    Raises QuestionsError where the file cannot be read or no question can be used.
    """
    if not path.is_file():
        raise QuestionsError(f"{path}: there is no such file. {NOTHING} Name a file of questions.")
    more = _documents_by_question(documents, max_bytes, report) if documents else {}
    records = ((where, _with_documents(record, more)) for where, record in _records(path, max_bytes, report))
    questions = list(checked_questions(records, path.name.split(".")[0], report))
    if not questions:
        reasons = "; ".join(report.summary_lines()) or "the file has no record"
        raise QuestionsError(f"{path}: no question can be used ({reasons}). {NOTHING} data/README.md describes the layout.")
    return sorted(questions, key=lambda question: question.question_id)


def _records(path: Path, max_bytes: int, report: BuildReport) -> Iterator[Place]:
    content = _whole_object(path) if path.name.removesuffix(".gz").endswith(".json") else None
    if content is None:
        yield from _lines(path, max_bytes, report)
    elif any(isinstance(value, Mapping) and "QUESTION" in value for value in content.values()):
        yield from _pubmedqa(content, path)
    else:
        yield from _mirage(content, path)


def _whole_object(path: Path) -> dict[str, Any] | None:
    """The object of objects in a .json file; None where the file has a list of records."""
    try:
        content = path.read_bytes()
        value = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    except (OSError, EOFError, ValueError) as error:
        reason = describe_error(error) if isinstance(error, OSError) else "it is not JSON"
        raise QuestionsError(f"{path} cannot be read: {reason}. {NOTHING} Correct the file.") from error
    return value if isinstance(value, dict) and all(isinstance(part, dict) for part in value.values()) else None


def _lines(path: Path, max_bytes: int, report: BuildReport) -> Iterator[Place]:
    for position, record in RecordFile(path, max_bytes).rows():
        where = f"{path.name}, {position}"
        if isinstance(record, UnreadableRecord):
            report.add("unreadable line", f"{where}: {record.message} The line was left out.")
        else:
            yield where, record


def _pubmedqa(content: Mapping[str, Any], path: Path) -> Iterator[Place]:
    """PubMedQA: PMID -> QUESTION, CONTEXTS, final_decision. LONG_ANSWER, the abstract's conclusion, is never read."""
    for pmid, record in content.items():
        contexts = record.get("CONTEXTS")
        texts = contexts if isinstance(contexts, list) else []
        yield f"{path.name}, {pmid}", {
            "question_id": f"pubmed-{pmid}", "question": record.get("QUESTION"), "options": YES_NO_MAYBE,
            "gold": record.get("final_decision"),
            "documents": [{"document_id": f"{pmid}-{number}", "text": text} for number, text in enumerate(texts)],
        }  # fmt: skip


def _mirage(benchmark: Mapping[str, Any], path: Path) -> Iterator[Place]:
    """MIRAGE: data set -> id -> question, options, answer."""
    for dataset, questions in benchmark.items():
        for own_id, record in questions.items():
            content = record if isinstance(record, Mapping) else {}
            names = {name: content.get(name) for name in ("question", "options", "answer", "documents")}
            yield f"{path.name}, {dataset} {own_id}", {**names, "question_id": f"{dataset}-{own_id}", "dataset": dataset}


def _documents_by_question(path: Path, max_bytes: int, report: BuildReport) -> dict[str, list[Any]]:
    if not path.is_file():
        raise QuestionsError(f"{path}: there is no such file. {NOTHING} Name a file of documents.")
    by_question: dict[str, list[Any]] = {}
    for where, record in _lines(path, max_bytes, report):
        question_id = record.get("question_id") if isinstance(record, Mapping) else None
        if question_id is None:
            report.add("document without question", f"{where}: 'question_id' is missing. The line was left out.")
            continue
        listed = record.get("documents")
        by_question.setdefault(str(question_id), []).extend(listed if isinstance(listed, list) else [record])
    return by_question


def _with_documents(record: Any, more: Mapping[str, list[Any]]) -> Any:
    if not isinstance(record, Mapping) or not more:
        return record
    own = record.get("documents")
    added = more.get(str(record.get("question_id")), [])
    return {**record, "documents": [*(own if isinstance(own, list) else []), *added]}
