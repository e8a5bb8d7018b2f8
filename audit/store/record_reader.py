"""Reading the records of a release one by one: each is validated, and each refusal is counted and explained."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from audit.release.layout import Layout
from audit.release.records import RecordFile, UnreadableRecord
from audit.release.report import NOTED, QUARANTINED, RECORD_CUT, REPAIRED, WHOLE_FILE, FileCount, Finding, LoadReport
from audit.release.values import Reject, Repairs
from audit.store.connection import Connection, append

CHUNK_ROWS = 20_000
"""Rows appended to a table at once: few enough to keep in memory, enough to make a statement worth its cost."""

Validate = Callable[[Any, Repairs], dict[str, Any]]


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

    def rows(self, path: Path, line: FileCount) -> Iterator[tuple[str, Any]]:
        """(position, raw record) of a file; unreadable records are quarantined on the way."""
        file = RecordFile(path, self.max_bytes)
        for position, raw in file.rows():
            if isinstance(raw, UnreadableRecord):
                self.quarantine(line, position, raw.code, raw.message)
            else:
                yield position, raw
        for repair, times in file.repairs.items():
            outcome = REPAIRED if "no value" in repair else NOTED
            self.note(line, WHOLE_FILE, outcome, "read_leniently", f"{repair} ({times:,} times).")

    def records(self, path: Path, kind: str, validate: Validate) -> Iterator[tuple[FileCount, str, Any, dict[str, Any]]]:
        """(line of the report, position, raw record, validated record) of a file; refused records are quarantined."""
        line = self.add_file(path, kind)
        for position, raw in self.rows(path, line):
            record = self.validated(line, position, raw, validate)
            if record is not None:
                yield line, position, raw, record

    def validated(self, line: FileCount, position: str, raw: Any, validate: Validate) -> dict[str, Any] | None:
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
        self.report.findings.append(Finding(line.file, position, QUARANTINED, code, message, excerpt(raw)))

    def requarantine(self, line: FileCount, position: str, code: str, message: str, raw: Any = None) -> None:
        """Quarantine a record that had been counted as loaded."""
        line.read -= 1
        line.loaded -= 1
        self.quarantine(line, position, code, message, raw)

    def note(self, line: FileCount, position: str, outcome: str, code: str, message: str) -> None:
        """Report something about a record that is loaded all the same."""
        self.report.findings.append(Finding(line.file, position, outcome, code, message))


def append_records(con: Connection, table: str, columns: tuple[str, ...], records: Iterator[dict[str, Any]]) -> None:
    """Append `columns` of the records to a table, chunk by chunk."""
    while chunk := list(islice(records, CHUNK_ROWS)):
        append(con, table, {name: [record[name] for record in chunk] for name in columns})


def excerpt(raw: Any) -> str | None:
    """A raw record as text, cut to what a person would read; None for None."""
    if raw is None:
        return None
    text = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False, default=str)
    return text[:RECORD_CUT]
