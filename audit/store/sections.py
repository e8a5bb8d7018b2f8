"""Loading what stands behind answers: the handbooks' sections, and the trials of strategies of retrieval.

Both are optional. Passages stand in an answer's retrieval record as places in a section; those that point nowhere are
said, and the answer is loaded all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audit.release import validate
from audit.release.report import NOTED, FileCount
from audit.store.connection import Connection, append
from audit.store.index import Index
from audit.store.numbering import chunks, number
from audit.store.reader import Reader

SECTION_COLUMNS = ("handbook", "place", "section_id", "heading", "above", "text", "pages", "url")
TRIAL_COLUMNS = ("question", "handbook", "strategy", "mode", "ranked", "gold", "reason", "seconds")

FAULTS = {"unknown_section": "a section that is not in sections", "passage_outside": "a place outside its section"}


def load_sections(con: Connection, reader: Reader, index: Index) -> None:
    """Fill `sections`, numbered in the order in which they stand, and `index.sections`; after the handbooks are loaded."""
    for path in reader.layout.parts["section"]:
        for chunk in chunks(_known_sections(reader, index, path)):
            append(con, "sections", {name: [record[name] for record in chunk] for name in SECTION_COLUMNS})


def _known_sections(reader: Reader, index: Index, path: Path) -> Iterator[dict[str, Any]]:
    for line, position, raw, record in reader.records(path, "section", validate.section):
        problem = number(record, index, ("handbook",)) or _twin(record, index)
        if problem:
            reader.take_back(line, position, *problem, raw)
            continue
        record["place"] = len(index.sections)
        index.sections[record["handbook"], record["section_id"]] = len(record["text"])
        yield record


def _twin(record: dict[str, Any], index: Index) -> tuple[str, str] | None:
    if (record["handbook"], record["section_id"]) not in index.sections:
        return None
    told = f"section_id '{record['section_id']}' of '{record['handbook_id']}' stands already further up; the first was kept."
    return "duplicate_section", told


def load_trials(con: Connection, reader: Reader, index: Index) -> None:
    """Fill `trials`; after questions, handbooks and sections are loaded."""
    seen: set[tuple[int, int, str]] = set()
    for path in reader.layout.parts["trial"]:
        for chunk in chunks(_known_trials(reader, index, path, seen)):
            append(con, "trials", {name: [record[name] for record in chunk] for name in TRIAL_COLUMNS})


def _known_trials(reader: Reader, index: Index, path: Path, seen: set[tuple[int, int, str]]) -> Iterator[dict[str, Any]]:
    for line, position, raw, record in reader.records(path, "trial", validate.trial):
        problem = number(record, index) or _tried(record, seen)
        if problem:
            reader.take_back(line, position, *problem, raw)
            continue
        _remark_trial(reader, line, position, record, index)
        yield record


def _tried(record: dict[str, Any], seen: set[tuple[int, int, str]]) -> tuple[str, str] | None:
    key = record["question"], record["handbook"], record["strategy"]
    if key in seen:
        return "duplicate_trial", f"'{key[2]}' has tried this question and handbook already further up; the first was kept."
    seen.add(key)
    return None


def _remark_trial(reader: Reader, line: FileCount, position: str, record: dict[str, Any], index: Index) -> None:
    """Note sections that the release does not have; without any sections there is nothing to hold them against."""
    lost = [name for name in (*record["gold"], *record["ranked"]) if (record["handbook"], name) not in index.sections]
    if index.sections and lost:
        told = f"{len(lost)} of its sections are not in sections, '{lost[0]}' among them. The trial was loaded as it stands."
        reader.note(line, position, NOTED, "unknown_section", told)


def remark_passages(reader: Reader, line: FileCount, position: str, answer: dict[str, Any], index: Index) -> None:
    """Note an answer whose passages point at a section that the release does not have, or outside its text."""
    if not index.sections:
        return
    listed = answer["passages"] if isinstance(answer["passages"], list) else [answer["passages"]]
    found = {_fault(passage, answer["handbook"], index) for passage in listed}
    for code, what in FAULTS.items():
        if code in found:
            told = f"a passage points at {what}. The answer was loaded; that passage is shown without its text."
            reader.note(line, position, NOTED, code, told)


def _fault(passage: Any, handbook: int, index: Index) -> str | None:
    section_id = passage.get("section_id") if isinstance(passage, dict) else None
    if not isinstance(section_id, str) or (handbook, section_id) not in index.sections:
        return "unknown_section"
    return None if inside(passage, index.sections[handbook, section_id]) else "passage_outside"


def inside(passage: dict[str, Any], length: int) -> bool:
    """Whether start and end of a passage are a place in a text of `length` characters."""
    start, end = passage.get("start"), passage.get("end")
    return isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= length
