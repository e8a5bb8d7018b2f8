"""What a release folder brings for measuring answering systems: answers, first references, gold sections, earlier measures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audit.errors import ReleaseError
from audit.release.layout import Layout, find_layout
from audit.release.records import RecordFile, UnreadableRecord
from audit.release.validate_systems import measure, reference, system, system_answer
from audit.release.values import Reject

MEASURES_FILE = "measures.jsonl"
Key = tuple[str, str]
"""Question id and system id."""


@dataclass(frozen=True)
class SystemAnswer:
    """What a system answered to one question. `text` is None where it refused or where nothing could be read.

    refused   None where nothing could be read
    evidence  ids of the sections of its passages, best first; () where the release brings none
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


def read_system_records(folder: Path, max_bytes: int) -> SystemRecords:
    """The records of the release in `folder`. Of two records of one thing the first counts, as in loading.

    Raises ReleaseError where `folder` is not the folder of a release with answers of systems, and where its measures are in
    another file than measures.jsonl or cannot all be read: rewriting them would lose some.
    """
    if not folder.is_dir():
        raise ReleaseError(f"{folder} is not a folder. Nothing was written. Unpack the release, and name its folder.")
    layout, records = find_layout(folder, folder), SystemRecords(folder)
    known = {record["system_id"] for record in _valid(layout, "system", system, max_bytes, records)}
    for record in _valid(layout, "reference", reference, max_bytes, records):
        if record["answers"]:
            records.references.setdefault(record["question_id"], record["answers"][0])
        records.gold.setdefault(record["question_id"], frozenset(record["gold_sections"]))
    for record in _valid(layout, "system_answer", system_answer, max_bytes, records):
        if record["system_id"] in known:
            records.answers.setdefault((record["question_id"], record["system_id"]), _answer(record))
    if not records.answers:
        raise ReleaseError(f"{folder} has no answers of systems in system_answers. Nothing was written.")
    records.measures = list(_earlier_measures(layout, max_bytes))
    return records


def _answer(record: Mapping[str, Any]) -> SystemAnswer:
    evidence = sorted(json.loads(record["evidence"] or "[]"), key=lambda passage: passage["rank"])
    sections = tuple((passage["handbook_id"] or "", passage["section_id"]) for passage in evidence if passage["section_id"])
    return SystemAnswer(None if record["refused"] else record["answer"], record["refused"], sections)


def _valid(
    layout: Layout, kind: str, validate: Callable[..., dict[str, Any]], max_bytes: int, records: SystemRecords
) -> Iterator[dict[str, Any]]:
    for path in layout.parts[kind]:
        for _, raw in RecordFile(path, max_bytes).rows():
            try:
                if isinstance(raw, UnreadableRecord):
                    raise Reject(raw.code, raw.message)
                yield validate(raw, [])
            except Reject:
                # `audit check` names each of them with its reason
                records.unreadable += 1


def _earlier_measures(layout: Layout, max_bytes: int) -> Iterator[dict[str, Any]]:
    for path in layout.parts["measure"]:
        if path.name != MEASURES_FILE:
            raise ReleaseError(
                f"{path} has measures, but they can only be added to {MEASURES_FILE}. Nothing was written. "
                f"Convert the file to {MEASURES_FILE}, or move it away."
            )
        for position, raw in RecordFile(path, max_bytes).rows():
            try:
                if isinstance(raw, UnreadableRecord):
                    raise Reject(raw.code, raw.message)
                yield measure(raw, [])
            except Reject as reject:
                raise ReleaseError(
                    f"{path}, {position}: {reject} Nothing was written, as the record would be lost. Correct it or remove it."
                ) from reject
