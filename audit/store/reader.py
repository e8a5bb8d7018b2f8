"""The careful reader: every record validated on its own, every refusal counted and said."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.release.layout import Layout
from audit.release.records import Bad, RecordFile
from audit.release.report import NOTED, QUARANTINED, RECORD_CUT, REPAIRED, WHOLE_FILE, FileCount, Finding, Report
from audit.release.values import Reject, Repairs

Validate = Callable[[Any, Repairs], dict[str, Any]]


@dataclass
class Reader:
    """Reads the files of one release and keeps its report."""

    layout: Layout
    report: Report
    max_bytes: int

    def count(self, path: Path, kind: str) -> FileCount:
        """A new line of the report for `path`."""
        line = FileCount(self.layout.name(path), kind)
        self.report.files.append(line)
        return line

    def rows(self, path: Path, line: FileCount) -> Iterator[tuple[str, Any]]:
        """(position, raw record) of a file; what cannot be read is quarantined on the way."""
        file = RecordFile(path, self.max_bytes)
        for position, raw in file.rows():
            if isinstance(raw, Bad):
                self.quarantine(line, position, raw.code, raw.message)
            else:
                yield position, raw
        for what, times in file.repairs.items():
            self.note(line, WHOLE_FILE, REPAIRED if "no value" in what else NOTED, "read_leniently", f"{what} ({times:,} times).")

    def records(self, path: Path, kind: str, validate: Validate) -> Iterator[tuple[FileCount, str, Any, dict[str, Any]]]:
        """(line of the report, position, raw record, validated record) of a file; refused records are quarantined."""
        line = self.count(path, kind)
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
        """Count a record that was read and not loaded, and keep it as it stood."""
        line.read += 1
        line.quarantined += 1
        self.report.findings.append(Finding(line.file, position, QUARANTINED, code, message, shown(raw)))

    def take_back(self, line: FileCount, position: str, code: str, message: str, raw: Any = None) -> None:
        """Quarantine a record that had been counted as loaded."""
        line.read -= 1
        line.loaded -= 1
        self.quarantine(line, position, code, message, raw)

    def note(self, line: FileCount, position: str, outcome: str, code: str, message: str) -> None:
        """Say something about a record that is loaded all the same."""
        self.report.findings.append(Finding(line.file, position, outcome, code, message))


def shown(raw: Any) -> str | None:
    """A record as it stood, as text, cut to what a person would read."""
    if raw is None:
        return None
    text = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False, default=str)
    return text[:RECORD_CUT]
