"""Loading handbooks, questions and answers: small enough to read record by record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audit.release import validate
from audit.store.connection import Connection, append
from audit.store.index import ABSENT, NOT_ASKED, PRESENT, UNREAD, Index
from audit.store.numbering import chunks, number
from audit.store.reader import Reader
from audit.store.sections import remark_passages

HANDBOOK_COLUMNS = ("handbook_id", "organ", "center", "phase", "title", "url", "pages")
ANSWER_COLUMNS = (
    "question", "handbook", "answer", "absent", "absence_method", "unread_reason", "mode", "sections", "url", "retrieval",
)  # fmt: skip
STATES = {True: ABSENT, False: PRESENT, None: UNREAD}


def load_handbooks(con: Connection, reader: Reader, index: Index) -> None:
    """Fill `handbooks` and number them in the order in which they stand."""
    kept = list(_first_of_each(reader, "handbook", "handbook_id", index.handbooks, validate.handbook))
    columns: dict[str, list[Any]] = {name: [record[name] for record in kept] for name in HANDBOOK_COLUMNS}
    append(con, "handbooks", {"handbook": list(range(len(kept))), **columns})


def load_questions(con: Connection, reader: Reader, index: Index) -> None:
    """Fill `questions`, `topics` and `subtopics` and number the questions in the order in which they stand."""
    kept = list(_first_of_each(reader, "question", "question_id", index.questions, validate.question))
    columns = {"text": "question", "question_id": "question_id", "organ": "organ", "source": "source"}
    append(
        con, "questions", {"question": list(range(len(kept))), **{to: [r[name] for r in kept] for to, name in columns.items()}}
    )
    for table, one in (("topics", "topic"), ("subtopics", "subtopic")):
        tagged = [(number, tag) for number, record in enumerate(kept) for tag in dict.fromkeys(record[table])]
        append(con, table, {"question": [number for number, _ in tagged], one: [tag for _, tag in tagged]})


def _first_of_each(reader: Reader, kind: str, key: str, numbers: dict[str, int], check: Any) -> Iterator[dict[str, Any]]:
    """The first record of each id, numbered in `numbers`; a later one of the same id is quarantined."""
    for path in reader.layout.parts[kind]:
        for line, position, raw, record in reader.records(path, kind, check):
            if record[key] in numbers:
                reader.take_back(
                    line,
                    position,
                    f"duplicate_{kind}",
                    f"{key} '{record[key]}' stands already further up; the first was kept.",
                    raw,
                )
                continue
            numbers[record[key]] = len(numbers)
            yield record


def load_answers(con: Connection, reader: Reader, index: Index) -> None:
    """Fill `answers` and `index.absent`."""
    index.make_room()
    index.has_answers = bool(reader.layout.parts["answer"])
    for path in reader.layout.parts["answer"]:
        for chunk in chunks(_known_answers(reader, index, path)):
            append(con, "answers", {name: [record[name] for record in chunk] for name in ANSWER_COLUMNS})


def _known_answers(reader: Reader, index: Index, path: Any) -> Iterator[dict[str, Any]]:
    for line, position, raw, record in reader.records(path, "answer", validate.answer):
        problem = _place(record, index)
        if problem:
            reader.take_back(line, position, *problem, raw)
            continue
        if record["passages"]:
            remark_passages(reader, line, position, record, index)
        yield record


def _place(record: dict[str, Any], index: Index) -> tuple[str, str] | None:
    """Number the record and mark it in `index.absent`, or say why it has no place."""
    if problem := number(record, index):
        return problem
    place = record["question"], record["handbook"]
    if index.absent[place] != NOT_ASKED:
        return (
            "duplicate_answer",
            f"'{record['handbook_id']}' has answered '{record['question_id']}' already further up; the first was kept.",
        )
    index.absent[place] = STATES[record["absent"]]
    return None
