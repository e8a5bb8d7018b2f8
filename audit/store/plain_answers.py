"""Answers in which nothing is to be explained, many lines at a time: Arrow parses them, and what the rules say of one holds for
all that are alike. Lines of which one is not plain are read by record instead.

Why not record by record: that takes 40 us an answer, so 48,000 take a quarter of the floor's time (benchmarks/load.md).
tests/store/test_plain_answers.py reads the same lines both ways and compares the outcome.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as pj

from audit.release.handbook_kinds import ANSWER, SERVER_NAMES
from audit.release.record_kind import JUDGE_USAGE, field_names
from audit.release.records import BOM
from audit.release.values import MAX_INTEGER, MAX_NUMBER, Reject, Repairs, clean_json
from audit.store.connection import Connection, DuckDBError, append
from audit.store.other_spellings import may_have_control
from audit.store.record_reader import ANSWER_STATUS, LoadState
from audit.vocabulary import cannot_say_absence

# More than a real record has, and fewer than parsers can nest
MAX_BRACKETS = 500
TOLD_APART = ("absent", "absence_method", "found", "unread_reason")
"""The fields by which, with its text, the rules decide on an answer."""
TEXT, LIST = (pa.string(), pa.null()), (pa.list_(pa.string()), pa.list_(pa.null()), pa.null())
TYPES = {"absent": (pa.bool_(), pa.null())}
TOKENS = (pa.int64(), pa.null())
USAGE = dict.fromkeys(field_names(JUDGE_USAGE), TOKENS) | {"latency_s": (*TOKENS, pa.float64())}
PLAIN_WORDS = "words"
STORED = """* exclude line replace (coalesce(sections, [])::varchar[] as sections),
nullif(nullif(json_extract(line, '$."{retrieval}"')::varchar, 'null'), '{{}}') as retrieval
"""
Outcome = tuple[str | None, bool | None, str | None, str | None, str | None]
"""The answer's text, and TOLD_APART, as they are stored."""


def passage_fault(passage: Any, handbook: int, state: LoadState) -> str | None:
    """What is wrong with the place of a passage, a key of `audit.store.load_tables.PASSAGE_FAULTS`; None: nothing."""
    section_id = passage.get("section_id") if isinstance(passage, dict) else None
    if not isinstance(section_id, str) or (handbook, section_id) not in state.sections:
        return "unknown_section"
    return None if is_inside(passage, state.sections[handbook, section_id]) else "passage_outside"


def is_inside(passage: dict[str, Any], length: int) -> bool:
    """Whether start and end of a passage are a non-empty stretch of a text of `length` characters."""
    start, end = passage.get("start"), passage.get("end")
    return isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= length


class NotPlainError(Exception):
    """Some of the lines must be read by record."""


@dataclass(frozen=True)
class PlainAnswers:
    """Loads lines of which each is a plain answer."""

    con: Connection
    state: LoadState

    def take(self, seen: set[Hashable], lines: list[bytes]) -> bool:
        """Load the answers in `lines`, or none where one is not plain. `seen` has (question, handbook) of those before."""
        try:
            table = _parse(lines)
            spelled = ANSWER.only_spelling(table.column_names)
            if spelled is None:
                return False
            columns = self._columns(table.rename_columns([spelled.get(name, f"-{name}") for name in table.column_names]))
            keys = set(zip(columns["question"], columns["handbook"], strict=True))
            if len(keys) < len(lines) or not seen.isdisjoint(keys):
                return False
            retrieval = next((name for name, own in spelled.items() if own == "retrieval"), "retrieval")
            append(self.con, ANSWER.table, columns | {"line": _texts(lines)}, STORED.format(retrieval=retrieval))
        except (NotPlainError, UnicodeDecodeError, pa.ArrowException, DuckDBError):
            return False
        seen |= keys
        statuses = [ANSWER_STATUS[absent] for absent in columns["absent"]]
        self.state.answer_status[columns["question"], columns["handbook"]] = statuses
        return True

    def _columns(self, table: pa.Table) -> dict[str, Any]:
        """What is stored of each answer, except its retrieval."""
        questions = self._numbers(table, "question")
        handbooks = self._numbers(table, "handbook")
        texts, *others = (_column(table, name, TYPES.get(name, TEXT)).to_pylist() for name in ("answer", *TOLD_APART))
        outcomes = [
            (words, *_outcome(PLAIN_WORDS, *rest)[1:]) if words and cannot_say_absence(words) else _outcome(words, *rest)
            for words, *rest in zip(texts, *others, strict=True)
        ]
        decided = zip(*outcomes, strict=True)
        retrieval, usage = _object(table, "retrieval"), _object(table, "usage")
        if any(name in usage.column_names for name in SERVER_NAMES.values()):
            raise NotPlainError
        sections = _column(retrieval, "sections", LIST)
        if sections.type != pa.null() and sections.flatten().null_count:
            raise NotPlainError
        self._require_places(retrieval, handbooks)
        return {
            "question": questions,
            "handbook": handbooks,
            **dict(zip(("answer", *TOLD_APART), decided, strict=True)),
            "mode": _column(retrieval, "mode", TEXT),
            "url": _column(retrieval, "url", TEXT),
            "sections": sections,
            **{name: _within(_column(usage, name, types)) for name, types in USAGE.items()},
        }

    def _numbers(self, table: pa.Table, named: str) -> list[int]:
        numbers = self.state.numbers(named)
        found = [numbers.get(name, -1) for name in _column(table, f"{named}_id", TEXT).to_pylist()]
        if -1 in found:
            raise NotPlainError
        return found

    def _require_places(self, retrieval: pa.Table, handbooks: list[int]) -> None:
        """Only where the release has sections can a passage be outside them."""
        passages = _column(retrieval, "passages")
        if not self.state.sections or passages.type == pa.null():
            return
        if not pa.types.is_list(passages.type):
            raise NotPlainError
        for handbook, of_answer in zip(handbooks, passages.to_pylist(), strict=True):
            if any(passage_fault(passage, handbook, self.state) for passage in of_answer or ()):
                raise NotPlainError


def _parse(lines: list[bytes]) -> pa.Table:
    """One row per line. Arrow refuses what is not JSON, and a key that is given twice, however deep."""
    text = b"".join(lines)
    # So each line has an object of its own: one that an earlier line leaves open cannot go on with a brace
    own = all(line.startswith(b"{") and line.rstrip().endswith(b"}") for line in lines)
    if not own or BOM in text or max(line.count(b"{") + line.count(b"[") for line in lines) > MAX_BRACKETS:
        raise NotPlainError
    if (may_have_control(text) or not text.isascii()) and clean_json(text.decode().replace("\n", " "))[1]:
        raise NotPlainError
    table = pj.read_json(pa.BufferReader(text), pj.ReadOptions(use_threads=False, block_size=len(text) + 1))
    if table.num_rows != len(lines):
        raise NotPlainError
    return table.combine_chunks()


def _texts(lines: list[bytes]) -> pa.Array:
    """The lines, known to be UTF-8, as a column; ten times as fast as one by one."""
    ends = np.cumsum([0, *map(len, lines)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(lines), pa.py_buffer(ends), pa.py_buffer(b"".join(lines)))


@lru_cache(4096)
def _outcome(words: str | None, absent: bool | None, method: str | None, found: str | None, reason: str | None) -> Outcome:
    given = {"question_id": "q", "handbook_id": "h", "answer": words, "absent": absent, "absence_method": method}
    repairs: Repairs = []
    try:
        record = ANSWER.read(given | {"found": found, "unread_reason": reason}, repairs)
    except Reject as reject:
        raise NotPlainError from reject
    if repairs:
        raise NotPlainError
    answer, one, two, three, four = (record[name] for name in ("answer", *TOLD_APART))
    return answer, one, two, three, four


def _column(table: pa.Table, name: str, types: tuple[pa.DataType, ...] = ()) -> pa.Array:
    """A column, which must be of one of `types`; nothing but nulls where there is none."""
    if name not in table.column_names:
        return pa.nulls(table.num_rows)
    column = table[name].combine_chunks()
    if types and column.type not in types:
        raise NotPlainError
    return column


def _object(table: pa.Table, name: str) -> pa.Table:
    """The fields of a column of objects, each null where the object is."""
    column = _column(table, name)
    if column.type == pa.null():
        return pa.table({"": column})
    if not pa.types.is_struct(column.type):
        raise NotPlainError
    names = [one.name for one in column.type]
    return pa.table([pa.nulls(table.num_rows), *column.flatten()], ["", *names])


def _within(column: pa.Array) -> pa.Array:
    """A column of numbers, all of which the store can hold."""
    limit = MAX_NUMBER if column.type == pa.float64() else MAX_INTEGER
    if any(value is not None and abs(value) > limit for value in column.to_pylist()):
        raise NotPlainError
    return column
