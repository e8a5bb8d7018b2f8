"""Records of a release folder for measuring answering systems: answers, first references, gold sections, earlier measures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audit.errors import ReleaseError
from audit.pipeline.release_tables import records_to_keep, release_layout, valid_records
from audit.release.system_kinds import MEASURE, REFERENCE_RECORD, SYSTEM, SYSTEM_ANSWER

MEASURES_FILE = "measures.jsonl"
Key = tuple[str, str]
"""Question id and system id."""


@dataclass(frozen=True)
class SystemAnswer:
    """A system's answer to one question. `text` is None if it refused or was unreadable.

    refused   None where nothing could be read
    evidence  ids of the sections of its passages, best first; () if the release has none
    """

    text: str | None
    refused: bool | None
    evidence: tuple[Key, ...]


@dataclass
class SystemRecords:
    """The records of a release that measures need.

    answers     (question id, system id) -> answer, in release order
    references  question id -> first reference answer
    gold        question id -> sections that contain the answer
    measures    the records of measures.jsonl as they are in the file
    unreadable  how many records of systems, references and answers could not be read
    """

    folder: Path
    answers: dict[Key, SystemAnswer] = field(default_factory=dict)
    references: dict[str, str] = field(default_factory=dict)
    gold: dict[str, frozenset[str]] = field(default_factory=dict)
    measures: list[dict[str, Any]] = field(default_factory=list)
    unreadable: int = 0

    def reject(self) -> None:
        """Count a record that could not be read."""
        self.unreadable += 1


def read_system_records(folder: Path, max_bytes: int) -> SystemRecords:
    """The records of the release in `folder`. Of two records of one thing the first counts, as in loading.

    Raises ReleaseError where `folder` is not the folder of a release with answers of systems, and where its measures are in
    another file than measures.jsonl or cannot all be read: rewriting them would lose some.
    """
    layout, records = release_layout(folder), SystemRecords(folder)
    known = {record["system_id"] for record in valid_records(layout, SYSTEM, max_bytes, records.reject)}
    for record in valid_records(layout, REFERENCE_RECORD, max_bytes, records.reject):
        if record["answers"]:
            records.references.setdefault(record["question_id"], record["answers"][0])
        records.gold.setdefault(record["question_id"], frozenset(record["gold_sections"]))
    for record in valid_records(layout, SYSTEM_ANSWER, max_bytes, records.reject):
        if record["system_id"] in known:
            records.answers.setdefault((record["question_id"], record["system_id"]), _answer(record))
    if not records.answers:
        raise ReleaseError(f"{folder} has no answers of systems in system_answers. Nothing was written.")
    records.measures = [record for _, record in records_to_keep(layout, MEASURE, MEASURES_FILE, max_bytes)]
    return records


def _answer(record: Mapping[str, Any]) -> SystemAnswer:
    evidence = sorted(json.loads(record["evidence"] or "[]"), key=lambda passage: passage["rank"])
    sections = tuple((passage["handbook_id"] or "", passage["section_id"]) for passage in evidence if passage["section_id"])
    return SystemAnswer(None if record["refused"] else record["answer"], record["refused"], sections)
