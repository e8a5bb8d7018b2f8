"""Reads and validates the records of a release one by one, explaining each rejection; and the loader's state between tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from audit.release.layout import Layout
from audit.release.record_kind import Record, RecordKind
from audit.release.records import RecordFile, Take, UnreadableRecord
from audit.release.report import NOTED, QUARANTINED, RECORD_CUT, REPAIRED, WHOLE_FILE, FileCount, Finding, LoadReport
from audit.release.values import Reject, Repairs
from audit.store.connection import Connection, append
from audit.vocabulary import nearest

# Rows appended to a table at once: few enough to keep in memory, enough to make a statement worth its cost
CHUNK_ROWS = 20_000
# Quarantined records of one file that are explained one by one: each takes about 1 KB of memory
MAX_LISTED = 100_000

Validate = Callable[[Any, Repairs], Record]
Problem = tuple[str, str]
"""Code and sentence of a record that cannot be loaded."""
NOT_ASKED, PRESENT, ABSENT, UNPARSEABLE = -1, 0, 1, 2
ANSWER_STATUS = {True: ABSENT, False: PRESENT, None: UNPARSEABLE}


@dataclass
class RecordReader:
    """Reads the files of one release and keeps its report."""

    layout: Layout
    report: LoadReport
    max_bytes: int

    def add_file(self, path: Path, kind: str) -> FileCount:
        """A new line of the report for `path`."""
        line = FileCount(self.layout.name(path), kind)
        self.report.files.append(line)
        return line

    def rows(self, path: Path, line: FileCount, take: Take | None = None) -> Iterator[tuple[str, Any]]:
        """(position, raw record) of a file; on the way, unreadable ones are quarantined and lines that `take` loads counted."""

        def taken(lines: list[bytes]) -> bool:
            if take and take(lines):
                line.read, line.loaded = line.read + len(lines), line.loaded + len(lines)
                return True
            return False

        file = RecordFile(path, self.max_bytes, taken)
        for position, raw in file.rows():
            if isinstance(raw, UnreadableRecord):
                self.quarantine(line, position, raw.code, raw.message)
            else:
                yield position, raw
        for repair, times in file.repairs.items():
            # A value that was lost is a repair; a delimiter or a byte order mark changes no value
            outcome = REPAIRED if "no value" in repair else NOTED
            self.note(line, WHOLE_FILE, outcome, "read_leniently", f"{repair} ({times:,} times).")

    def records(self, path: Path, kind: RecordKind, take: Take | None = None) -> Iterator[tuple[FileCount, str, Any, Record]]:
        """(line of the report, position, raw record, validated record) of a file; refused records are quarantined."""
        line = self.add_file(path, kind.name)
        for position, raw in self.rows(path, line, take):
            record = self.validated(line, position, raw, kind.read)
            if record is not None:
                yield line, position, raw, record

    def validated(self, line: FileCount, position: str, raw: Any, validate: Validate) -> Record | None:
        """The validated record, counted as read; None where it was quarantined."""
        repairs: Repairs = []
        try:
            record = validate(raw, repairs)
        except Reject as reject:
            self.quarantine(line, position, reject.code, str(reject), raw)
            return None
        line.read += 1
        line.loaded += 1
        for repair in repairs:
            self.note(line, position, REPAIRED, "field_dropped", repair)
        return record

    def quarantine(self, line: FileCount, position: str, code: str, message: str, raw: Any = None) -> None:
        """Count a record as read but not loaded, and keep it as it is in the file."""
        line.read += 1
        line.quarantined += 1
        if line.quarantined <= MAX_LISTED:
            self.report.findings.append(Finding(line.file, position, QUARANTINED, code, message, excerpt(raw)))
        elif line.quarantined == MAX_LISTED + 1:
            self.note(line, WHOLE_FILE, QUARANTINED, "not_listed", "further records were quarantined; they are only counted.")

    def requarantine(self, line: FileCount, position: str, code: str, message: str, raw: Any = None) -> None:
        """Quarantine a record that was already counted as loaded."""
        line.read -= 1
        line.loaded -= 1
        self.quarantine(line, position, code, message, raw)

    def note(self, line: FileCount, position: str, outcome: str, code: str, message: str) -> None:
        """Report something about a record that is loaded nevertheless."""
        self.report.findings.append(Finding(line.file, position, outcome, code, message))


def append_records(con: Connection, kind: RecordKind, records: Iterable[Record]) -> None:
    """Append the records of a kind to its table, chunk by chunk."""
    left = iter(records)
    while chunk := list(islice(left, CHUNK_ROWS)):
        append(con, kind.table, {name: [record[name] for record in chunk] for name in kind.table_columns})


def excerpt(raw: Any) -> str | None:
    """A raw record as text, truncated to a readable length; None for None."""
    if raw is None:
        return None
    text = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False, default=str)
    return text[:RECORD_CUT]


# -- what the loader remembers -----------------------------------------------------------------------------------------


@dataclass
class LoadState:
    """Row numbers of `handbooks`, `questions`, `systems` and `sources` by id, in release order.

    answer_status  int8 (questions, handbooks): NOT_ASKED, PRESENT, ABSENT or UNPARSEABLE
    sections       length of each section in characters, by (handbook number, section id); empty without sections
    source_of      number of the source that a handbook is in, by the number of the handbook
    has_routes     whether a system routed a question to sources
    instances      row numbers of `stress_instances` by id
    """

    handbooks: dict[str, int] = field(default_factory=dict)
    questions: dict[str, int] = field(default_factory=dict)
    systems: dict[str, int] = field(default_factory=dict)
    sources: dict[str, int] = field(default_factory=dict)
    # An array and not a dict: it is looked up for millions of pairs at once
    answer_status: npt.NDArray[np.int8] = field(default_factory=lambda: np.empty((0, 0), np.int8))
    has_answers: bool = False
    sections: dict[tuple[int, str], int] = field(default_factory=dict)
    source_of: dict[int, int] = field(default_factory=dict)
    has_routes: bool = False
    instances: dict[str, int] = field(default_factory=dict)

    def allocate_answer_status(self) -> None:
        """Size `answer_status` once handbooks and questions are known."""
        self.answer_status = np.full((len(self.questions), len(self.handbooks)), NOT_ASKED, np.int8)

    def resolve_ids(self, record: Record, id_fields: Mapping[str, str]) -> Problem | None:
        """Set `question`, `handbook_a`, ... of a record to the row numbers of its ids; the problem of an unknown id.

        id_fields  what is named by id -> the field with the id, as in `RecordKind`
        """
        for name, field_name in id_fields.items():
            numbered = name.removesuffix("_a").removesuffix("_b")
            number = self.numbers(numbered).get(record[field_name])
            if number is None:
                return self.unknown_id(numbered, record[field_name])
            record[name] = number
        return None

    def unknown_id(self, numbered: str, name: str) -> Problem:
        """The problem of an id that no handbook, question, system, source or stress instance of the release has."""
        known = tuple(self.numbers(numbered))
        return f"unknown_{numbered}", f"{numbered} '{name}' is not in {numbered}s.{nearest(name, known)}"

    def numbers(self, numbered: str) -> dict[str, int]:
        """Row numbers by id of what the store numbers."""
        numbers: dict[str, int] = getattr(self, f"{numbered}s")
        return numbers

    def statuses(self, question: Any, a: Any, b: Any) -> Statuses:
        """The statuses of both answers of each pair.

        `a` and `b` are handbook numbers, or arrays of them; so is `question`, or one for all.
        """
        if np.ndim(question) == 0:  # of one question, much faster
            of_question = self.answer_status[question]
            return Statuses(of_question.take(a), of_question.take(b))
        return Statuses(self.answer_status[question, a], self.answer_status[question, b])


@dataclass(frozen=True)
class Statuses:
    """The entries of `LoadState.answer_status` of both answers of each pair; the properties have their shape."""

    first: Any
    second: Any

    @property
    def neither_absent(self) -> Any:
        """Whether both answers were asked for and neither is absent."""
        first, second = self.first, self.second
        return ((first == PRESENT) | (first == UNPARSEABLE)) & ((second == PRESENT) | (second == UNPARSEABLE))

    @property
    def both_present(self) -> Any:
        """Whether both answers are present."""
        return (self.first == PRESENT) & (self.second == PRESENT)

    @property
    def either_unparseable(self) -> Any:
        """Whether the reply for at least one answer could not be parsed."""
        return (self.first == UNPARSEABLE) | (self.second == UNPARSEABLE)

    @property
    def either_absent(self) -> Any:
        """Whether at least one answer is absent."""
        return (self.first == ABSENT) | (self.second == ABSENT)
