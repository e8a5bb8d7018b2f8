"""What is asked, from the files that retrieval left, and the answers, into files of their own."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audit.atomic_io import atomic_file, write_atomic
from audit.corpus.documents import Document, read_documents
from audit.errors import AuditError, describe_error
from audit.generation.asked import Asked
from audit.generation.pairing import paired
from audit.generation.records import Record, Summary
from audit.release.schema import canonical
from audit.retrieval.model import Query
from audit.vocabulary import GENERAL

ANSWERS, SUMMARY = "answers.jsonl", "summary.json"
NOTHING = "Nothing was asked."


@dataclass(frozen=True)
class Sources:
    """The questions, the handbooks, and the folder with one file of retrieved passages for each handbook."""

    questions: tuple[Query, ...]
    documents: tuple[Document, ...]
    retrieval: Path
    missing: Counter[str] = field(default_factory=Counter)
    """Handbook id -> questions that should meet it and for which retrieval left nothing, as of the last reading."""

    def asked(self) -> Iterator[Asked]:
        """Every question with every handbook that it is put to, handbook by handbook; may be called again and again."""
        self.missing.clear()
        for document in self.documents:
            found = _retrieved(self.retrieval, document.handbook_id)
            for question, _ in paired(self.questions, [document]):
                if question.question_id in found:
                    yield Asked(question, document, found[question.question_id])
                else:
                    self.missing[document.handbook_id] += 1


def read_sources(questions: Path, documents: Path, retrieval: Path) -> Sources:
    """What `audit questions`, `audit extract` and `audit retrieve` left.

    Raises AuditError where a file cannot be read, two questions go by one id, or no handbook has retrieved passages.
    """
    sources = Sources(tuple(read_questions(questions)), tuple(read_documents(documents)), retrieval)
    if not any(_file(retrieval, document.handbook_id) for document in sources.documents):
        inside = sorted(path.name for path in retrieval.glob("*/") if any(path.glob("*.jsonl*"))) if retrieval.is_dir() else []
        hint = f" Name one of the folders in it: {', '.join(inside)}." if inside else " `audit retrieve` writes them."
        raise AuditError(f"{retrieval} holds no passages of these handbooks (HANDBOOK_ID.jsonl). {NOTHING}{hint}")
    return sources


def read_questions(path: Path) -> list[Query]:
    """The questions of a file of JSON lines, in its order. Raises AuditError, with the line, for one that will not do."""
    found = [_question(path, number, record) for number, record in _lines(path)]
    twice = [name for name, count in Counter(query.question_id for query in found).items() if count > 1]
    if twice or not found:
        fault = f"two questions go by the id '{twice[0]}'" if twice else "there are no questions in it"
        raise AuditError(f"{path}: {fault}. {NOTHING} `audit questions` writes such a file.")
    return found


def _question(path: Path, number: int, record: Mapping[str, Any]) -> Query:
    told = canonical(record, "question")
    if not told.get("question_id") or not str(told.get("question") or "").strip():
        raise AuditError(f"{path}, line {number}: a question needs 'question_id' and 'question'. {NOTHING}")
    organ, topics = told.get("organ") or GENERAL, told.get("topics")
    return Query(str(told["question_id"]), str(told["question"]), str(organ), tuple(topics if isinstance(topics, list) else ()))


def _retrieved(folder: Path, handbook_id: str) -> dict[str, Record]:
    """Question id -> the record of its retrieval in one handbook."""
    path = _file(folder, handbook_id)
    if path is None:
        return {}
    found: dict[str, Record] = {}
    for number, record in _lines(path):
        told = record.get("retrieval")
        if not isinstance(told, dict) or record.get("handbook_id", handbook_id) != handbook_id:
            raise AuditError(f"{path}, line {number}: this is no retrieval for handbook '{handbook_id}'. {NOTHING}")
        found[str(record.get("question_id"))] = told
    return found


def _file(folder: Path, handbook_id: str) -> Path | None:
    places = (folder / f"{handbook_id}.jsonl", folder / f"{handbook_id}.jsonl.gz")
    return next((place for place in places if place.is_file()), None)


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(number from 1, record) of a file of JSON lines, plain or gzipped."""
    number = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, dict(json.loads(line))
    except (OSError, EOFError, ValueError, TypeError) as error:
        where = f"{path}, after line {number}" if number else str(path)
        raise AuditError(f"{where}: it cannot be read ({describe_error(error)}). {NOTHING}") from None


def check_room(folder: Path) -> None:
    """Raise AuditError when `folder` holds something else than earlier answers."""
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not (folder / SUMMARY).is_file())):
        raise AuditError(f"{folder} is there and holds no earlier answers. {NOTHING} Name another folder with --out.")


def write_answers(
    folder: Path, records: Iterable[Record], summary: Summary, about: Mapping[str, Any], missing: Counter[str]
) -> None:
    """Write answers.jsonl, and summary.json with `about` and the counts; each appears complete or stays as it was.

    `missing` is looked at when all records are drawn.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_file(folder / ANSWERS) as draft, draft.open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            summary.count(record)
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    told = {**about, **summary.as_record(), "not_retrieved": missing.total()}
    write_atomic(folder / SUMMARY, json.dumps(told, ensure_ascii=False, indent=1) + "\n")
