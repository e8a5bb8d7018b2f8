"""Questions from a file in any format of a release, with the release's reader and field names."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, MutableMapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.errors import QuestionsError
from audit.formatting import UNPRINTABLE
from audit.people_tables import TableSource, csv_table
from audit.release.handbook_kinds import QUESTION
from audit.release.layout import FORMATS, format_suffix
from audit.release.record_kind import field_names
from audit.release.records import UNREADABLE, RecordFile, UnreadableRecord, open_bytes
from audit.release.report import QUARANTINED, RECORD_CUT, REPAIRED, WHOLE_FILE, Finding
from audit.release.values import AS_JSON, CONTROL_CHARACTER, Reject, is_missing, required_text
from audit.vocabulary import GENERAL, plain

FIELDS = field_names(QUESTION.fields)
FIELD_NAMES = {plain(name) for field in QUESTION.fields for name in (field.name, *field.aliases)}
TEXT_FIELD = next(field for field in QUESTION.fields if field.name == "question")
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class ImportedQuestion:
    """One question with the fields of a release, and its position in the file."""

    question_id: str
    question: str
    organ: str
    topics: tuple[str, ...]
    subtopics: tuple[str, ...]
    source: str | None
    position: str

    def record(self) -> dict[str, Any]:
        """The question as a record of questions.jsonl."""
        return {name: list(value) if isinstance(value := getattr(self, name), tuple) else value for name in FIELDS}


def normalised_text(text: str) -> str:
    """`text` without case, punctuation and spacing; two questions with the same form are exact duplicates."""
    # A text without letters and digits is compared unchanged; otherwise all such texts would be equal
    return " ".join(WORD.findall(text.casefold())) or text


def generated_id(organ: str, text: str) -> str:
    """The id of a question that has none in the file: the same organ and text give the same id in every file."""
    return "q-" + hashlib.sha256(f"{organ}\n{text}".encode()).hexdigest()[:10]


class QuestionFile:
    """The questions of one file: `questions` are valid, `findings` list repairs and omissions, `read` counts records."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        """Raises QuestionsError where the file cannot be read to its end or has no question."""
        self.path, self.read = path, 0
        self.questions: list[ImportedQuestion] = []
        self.findings: list[Finding] = []
        self._position_of: dict[str, str] = {}
        if not path.is_file() or format_suffix(path) not in FORMATS:
            problem = "there is no such file" if not path.is_file() else f"questions cannot be read from '{path.suffix}' files"
            raise QuestionsError(f"{path}: {problem}. Allowed: a file ending in {', '.join(FORMATS)}. Nothing was written.")
        rows, repairs = _table_rows(path, max_bytes) if format_suffix(path) == ".csv" else _records(path, max_bytes)
        for position, record in rows:
            self._add_record(position, record)
        self.findings += [self._finding(WHOLE_FILE, REPAIRED, "mended", f"{repair}.") for repair in repairs]
        if not self.questions:
            first = f" First problem: {self.findings[0].sentence()}" if self.findings else ""
            raise QuestionsError(f"{path}: none of its {self.read:,} records is a question.{first} Nothing was written.")

    def _add_record(self, position: str, record: Any) -> None:
        if isinstance(record, UnreadableRecord) and position == WHOLE_FILE:
            raise QuestionsError(f"{self.path}: {record.message} Nothing was written.")
        self.read += 1
        repairs: list[str] = []
        try:
            if isinstance(record, UnreadableRecord):
                raise Reject(record.code, record.message)
            self._keep(position, QUESTION.read(self._with_id_and_organ(record, repairs), repairs))
        except Reject as reject:
            self.findings.append(self._finding(position, QUARANTINED, reject.code, f"{reject} It was left out.", record))
            return
        self.findings += [self._finding(position, REPAIRED, "repaired", repair) for repair in repairs]

    def _with_id_and_organ(self, record: Any, repairs: list[str]) -> object:
        if not isinstance(record, Mapping):
            return record
        _check_one_name(record)
        values = QUESTION.canonical(record)
        _check_has_text(values, record)
        # A copy of the same class: the reader of records marks an object that has a key twice
        filled = copy(record)
        assert isinstance(filled, MutableMapping)
        if _is_empty(values.get("organ")):
            repairs.append(f"it names no organ; '{GENERAL}' was used.")
            filled["organ"] = values["organ"] = GENERAL
        if _is_empty(values.get("question_id")):
            made = generated_id(str(values["organ"]).strip(), str(values["question"]).strip())
            filled["question_id"] = self._unused_id(made)
        return filled

    def _unused_id(self, question_id: str) -> str:
        # The same text may be in the file twice; numbers make the ids distinct.
        candidate, number = question_id, 1
        while candidate in self._position_of:
            number += 1
            candidate = f"{question_id}-{number}"
        return candidate

    def _keep(self, position: str, values: dict[str, Any]) -> None:
        if (question_id := values["question_id"]) in self._position_of:
            raise Reject("duplicate_id", f"question_id '{question_id}' is already used at {self._position_of[question_id]}.")
        self._position_of[question_id] = position
        tags = {name: tuple(values[name]) for name in ("topics", "subtopics")}
        self.questions.append(ImportedQuestion(**(values | tags), position=position))

    def _finding(self, position: str, outcome: str, code: str, message: str, record: Any = None) -> Finding:
        excerpt = None if record is None or isinstance(record, UnreadableRecord) else AS_JSON(record)[:RECORD_CUT]
        return Finding(self.path.name, position, outcome, code, message, excerpt)


def _records(path: Path, max_bytes: int) -> tuple[Iterator[tuple[str, Any]], Mapping[str, int]]:
    file = RecordFile(path, max_bytes)
    return file.rows(), file.repairs


def _table_rows(path: Path, max_bytes: int) -> tuple[list[tuple[str, Any]], Mapping[str, int]]:
    """The rows of a table that people wrote, with what had to be repaired. Raises QuestionsError for an ambiguous table."""
    source = TableSource(str(path), "Nothing was written.", QuestionsError)
    try:
        with open_bytes(path) as file:
            data = file.read(max_bytes + 1)
    except UNREADABLE as error:
        raise source.refusal("", f"the file cannot be read to its end ({error})") from None
    if len(data) > max_bytes:
        raise source.refusal("", f"the file has more than {max_bytes / 2**20:,.0f} MB", "Split it.")
    table = csv_table(data, source, lambda name: plain(name) in FIELD_NAMES)
    rows: list[tuple[str, Any]] = []
    controls = 0
    for row in table.rows:
        printable = {name: UNPRINTABLE.subn(" ", cell) for name, cell in row.cells.items()}
        controls += sum(times for _, times in printable.values())
        rows.append((row.place, {table.columns[name]: cell or None for name, (cell, _) in printable.items()}))
    repairs = {note.rstrip("."): 1 for note in table.notes}
    return rows, repairs | ({CONTROL_CHARACTER: controls} if controls else {})


def _check_one_name(record: Mapping[str, Any]) -> None:
    """Reject a record that has a field under two names with different values: nobody knows which one is right."""
    for one in QUESTION.fields:
        names = {plain(name) for name in (one.name, *one.aliases)}
        keys = [key for key, value in record.items() if plain(str(key)) in names and not _is_empty(value)]
        if any(record[key] != record[keys[0]] for key in keys[1:]):
            raise Reject("doubled_field", f"{' and '.join(repr(key) for key in keys)} are both the field '{one.name}'.")


def _check_has_text(values: Mapping[str, Any], record: Mapping[str, Any]) -> None:
    """Reject a record without the question's text, the one field without a default, and name the fields that it has."""
    if TEXT_FIELD.name not in values:
        raise Reject(
            "missing_field",
            f"it has no field '{TEXT_FIELD.name}', the text of the question "
            f"({', '.join(TEXT_FIELD.aliases)} are understood too); it has: {', '.join(map(str, record)) or 'nothing'}.",
        )
    required_text(values, TEXT_FIELD.name)


def _is_empty(value: Any) -> bool:
    return is_missing(value) or (isinstance(value, str) and not value.strip())
