"""Questions from a file in any format that a release may have, by the release's own reader and names of fields."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.errors import QuestionsError
from audit.release.layout import FORMATS
from audit.release.layout import format_suffix
from audit.release.records import RecordFile, UnreadableRecord
from audit.release.report import QUARANTINED, RECORD_CUT, REPAIRED, WHOLE_FILE, Finding
from audit.release.schema import QUESTION, canonical
from audit.release.validate import AS_JSON, question
from audit.release.values import Reject
from audit.release.values import required_text
from audit.release.values import is_missing
from audit.vocabulary import GENERAL

FIELDS = ("question_id", "question", "organ", "topics", "subtopics", "source")
TEXT = next(field for field in QUESTION if field.name == "question")
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Question:
    """One question as the format has it, and where it stood."""

    question_id: str
    question: str
    organ: str
    topics: tuple[str, ...]
    subtopics: tuple[str, ...]
    source: str | None
    position: str

    def record(self) -> dict[str, Any]:
        """The question as a release's questions.jsonl has it."""
        return {name: list(value) if isinstance(value := getattr(self, name), tuple) else value for name in FIELDS}


def plain_text(text: str) -> str:
    """`text` without case, punctuation and spacing: two questions with the same one are exact duplicates."""
    return " ".join(WORD.findall(text.casefold())) or text


def made_id(organ: str, text: str) -> str:
    """The id of a question that comes without one: the same organ and text give the same id in every file."""
    return "q-" + hashlib.sha256(f"{organ}\n{text}".encode()).hexdigest()[:10]


class Reading:
    """Reads one file: `questions` are sound, `findings` say what was mended and what was left out, `read` counts records."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        """Raises QuestionsError when the file cannot be read to its end, or holds no question."""
        self.path, self.read = path, 0
        self.questions: list[Question] = []
        self.findings: list[Finding] = []
        self._seen: dict[str, str] = {}
        if not path.is_file() or format_suffix(path) not in FORMATS:
            found = "there is no such file" if not path.is_file() else f"'{path.suffix}' is no format for questions"
            raise QuestionsError(f"{path}: {found}. Nothing was written. Allowed: a file ending in {', '.join(FORMATS)}.")
        file = RecordFile(path, max_bytes)
        for position, record in file.rows():
            self._take(position, record)
        self.findings += [self._finding(WHOLE_FILE, REPAIRED, "mended", f"{what}.") for what in file.repairs]
        if not self.questions:
            first = f" First: {self.findings[0].sentence()}" if self.findings else ""
            raise QuestionsError(f"{path}: {self.read:,} records, and none is a question.{first} Nothing was written.")

    def _take(self, position: str, record: Any) -> None:
        if isinstance(record, UnreadableRecord) and position == WHOLE_FILE:
            raise QuestionsError(f"{self.path}: {record.message} Nothing was written.")
        self.read += 1
        repairs: list[str] = []
        try:
            if isinstance(record, UnreadableRecord):
                raise Reject(record.code, record.message)
            self._keep(position, question(self._completed(record, repairs), repairs))
        except Reject as reject:
            self.findings.append(self._finding(position, QUARANTINED, reject.code, f"{reject} It was left out.", record))
            return
        self.findings += [self._finding(position, REPAIRED, "repaired", repair) for repair in repairs]

    def _completed(self, record: Any, repairs: list[str]) -> Any:
        """The record with an id and an organ, where it has none."""
        if not isinstance(record, Mapping):
            return record
        raw = canonical(record, "question")
        _check_text(raw, record)
        if _empty(raw.get("organ")):
            repairs.append(f"it names no organ; taken as '{GENERAL}'.")
            raw["organ"] = GENERAL
        if _empty(raw.get("question_id")):
            raw["question_id"] = self._free(made_id(str(raw["organ"]).strip(), str(raw["question"]).strip()))
        return raw

    def _free(self, made: str) -> str:
        """A made id that no question has yet: the same text may stand there twice."""
        tried, number = made, 1
        while tried in self._seen:
            number += 1
            tried = f"{made}-{number}"
        return tried

    def _keep(self, position: str, values: dict[str, Any]) -> None:
        if (question_id := values["question_id"]) in self._seen:
            raise Reject("duplicate_id", f"question_id '{question_id}' stands already at {self._seen[question_id]}.")
        self._seen[question_id] = position
        listed = {name: tuple(values[name]) for name in ("topics", "subtopics")}
        self.questions.append(Question(**(values | listed), position=position))

    def _finding(self, position: str, outcome: str, code: str, message: str, record: Any = None) -> Finding:
        shown = None if record is None or isinstance(record, UnreadableRecord) else AS_JSON(record)[:RECORD_CUT]
        return Finding(self.path.name, position, outcome, code, message, shown)


def _check_text(raw: Mapping[str, Any], record: Mapping[str, Any]) -> None:
    """Reject what has no text of a question, the one thing that cannot be made up; told with the names that the record has."""
    if TEXT.name not in raw:
        raise Reject(
            "missing_field",
            f"it has no field '{TEXT.name}', the text of the question ({', '.join(TEXT.aliases)} are understood too); "
            f"it has: {', '.join(map(str, record)) or 'nothing'}.",
        )
    required_text(raw, TEXT.name)


def _empty(value: Any) -> bool:
    return is_missing(value) or (isinstance(value, str) and not value.strip())
