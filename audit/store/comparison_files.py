"""Comparison files as Python reads them: the pairs that DuckDB cannot parse or marked as suspect, and the matrix of each file."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from audit.release.layout import stem
from audit.release.pair_kinds import CHECK, COMPARISON, OF_PAIR, PAIR
from audit.release.record_kind import Record
from audit.release.records import open_bytes
from audit.release.report import FileCount, LoadReport
from audit.release.values import Reject
from audit.store.connection import Connection, append
from audit.store.record_reader import LoadState, RecordReader
from audit.store.stage_pairs import READING_TYPES
from audit.vocabulary import LABELS, Label, composed

# Pairs kept in memory before they are appended
CHUNK_PAIRS = 50_000
COLUMNS = (*PAIR.table_columns, *READING_TYPES, "file", "position", "suspect")
# The others are those of its pair
CHECK_COLUMNS = tuple(name for name in CHECK.table_columns if name not in OF_PAIR)
NO_LABEL = -1
# Handbooks and matrix usually precede the pairs, so the rest of a file need not be read
HEAD_BYTES = 2**16
LIST_PATTERN = rb"\[[^\[\]{}\\]*\]"
# One set of characters: a search with alternatives takes ten times as long. What this one cuts short has unequal brackets
MATRIX_PATTERN = rb"\[[][0-9,nul \t\r\n]*\]"
Codes = npt.NDArray[np.int8]


@dataclass(frozen=True)
class RawComparison:
    """One comparison as a file has it, or one row of a table of pairs, which is a comparison with a single pair.

    pairs  (position as the report shows it, raw pair)
    """

    question_id: str
    head: ComparisonHead | None
    pairs: list[tuple[str, Any]]


@dataclass
class PairRepair:
    """Validates raw pairs in Python and appends the valid ones to `pairs`; the report explains the others."""

    con: Connection
    reader: RecordReader
    state: LoadState
    _pairs: list[Record] = field(default_factory=list)

    def read_file(
        self, number: int, path: Path, line: FileCount, wanted: Collection[int] | None
    ) -> tuple[ComparisonHead | None, int]:
        """Load the pairs of a file: those at the positions `wanted`, or all.

        Returns the head of its last comparison, if it has any, and the number of pairs met.
        """
        head, position = None, 0
        for comparison in raw_comparisons(self.reader, path, line):
            head = comparison.head
            if head is not None:
                head.question = self.state.questions.get(comparison.question_id, -1)
            for where, raw in comparison.pairs:
                position += 1
                if wanted is None or position in wanted:
                    self._load(number, position, line, where, raw, comparison.question_id)
        return head, position

    def _load(self, number: int, position: int, line: FileCount, where: str, raw: Any, question_id: str) -> None:
        record = self.reader.validated(line, where, raw, lambda raw, repairs: self._validate(raw, repairs, question_id))
        if record is not None:
            self._pairs.append({**record, "file": number, "position": position, "suspect": False})
        if len(self._pairs) >= CHUNK_PAIRS:
            self.flush()

    def _validate(self, raw: Any, repairs: list[str], question_id: str) -> Record:
        """A validated pair with row numbers for ids, the lower handbook first."""
        record = PAIR.read(raw, repairs)
        question = self._number("question", question_id, self.state.questions)
        a, b = (self._number("handbook", record.pop(side), self.state.handbooks) for side in ("handbook_a", "handbook_b"))
        # ABSENT without a trace of the judge means pre-screened, unless both answers are present.
        untouched = not record.pop("asked") and record["label"] == Label.ABSENT
        if a > b:
            record |= {"quote_a": record["quote_b"], "quote_b": record["quote_a"]}
        return record | {
            "question": question,
            "handbook_a": min(a, b),
            "handbook_b": max(a, b),
            "prescreened": bool(untouched and not self.state.statuses(question, a, b).neither_absent),
        }

    def _number(self, kind: str, name: str, numbers: dict[str, int]) -> int:
        if name not in numbers:
            raise Reject(*self.state.unknown_id(kind, name))
        return numbers[name]

    def flush(self) -> None:
        """Append what has been read since the last time."""
        pairs, self._pairs = self._pairs, []
        if pairs:
            append(self.con, "pairs", {name: [pair[name] for pair in pairs] for name in COLUMNS})
            append_checks(self.con, [(pair["file"], pair["position"], check) for pair in pairs for check in pair["checks"]])


def append_checks(con: Connection, checks: list[tuple[int, int, Record]]) -> None:
    """Append (file, position, validated check) to the temporary table `staged_checks`."""
    if checks:
        columns = {"file": [file for file, _, _ in checks], "position": [position for _, position, _ in checks]}
        append(con, "staged_checks", columns | {name: [check[name] for _, _, check in checks] for name in CHECK_COLUMNS})


def raw_comparisons(reader: RecordReader, path: Path, line: FileCount) -> Iterator[RawComparison]:
    """Every comparison of a file; what cannot be read is quarantined on the way."""
    for where, raw in reader.rows(path, line):
        outer = COMPARISON.canonical(raw) if isinstance(raw, dict) else {}
        question_id = composed(str(outer.get("question_id") or stem(path)))
        if "pairs" in outer and (ambiguous := COMPARISON.ambiguity(raw)):
            reader.quarantine(line, where, "doubled_field", f"{ambiguous} None of its pairs was loaded.", raw)
            continue
        if "pairs" not in outer:
            yield RawComparison(question_id, None, [(where, raw)])
        elif not isinstance(outer["pairs"], list):
            reader.quarantine(line, where, "wrong_type", "its 'pairs' are not a list.", raw)
        else:
            matrix = outer.get("matrix")
            head = ComparisonHead.parse(outer.get("handbooks"), None if matrix is None else json.dumps(matrix))
            prefix = "" if where == "record 1" else f"{where}, "
            pairs = [(f"{prefix}pair {number}", pair) for number, pair in enumerate(outer["pairs"], 1)]
            yield RawComparison(question_id, head, pairs)


def raw_pairs_at(reader: RecordReader, path: Path, positions: Collection[int]) -> dict[int, tuple[str, Any]]:
    """The pairs of a file at `positions`: position as the report shows it, and raw pair. Nothing is added to the report."""
    separate = RecordReader(reader.layout, LoadReport(), reader.max_bytes)
    comparisons = raw_comparisons(separate, path, FileCount(path.name, "pair"))
    pairs = (pair for comparison in comparisons for pair in comparison.pairs)
    return {position: pair for position, pair in enumerate(pairs, 1) if position in positions}


# -- the matrix --------------------------------------------------------------------------------------------------------


@dataclass
class ComparisonHead:
    """The parts of a comparison file other than its pairs: the handbooks it lists and its matrix.

    problem   why the matrix cannot be used, as a sentence
    question  row number of the question, -1 where it is unknown
    """

    handbooks: list[str] | None
    matrix: Codes | None
    problem: str | None = None
    question: int = -1
    n_listed: int | None = field(init=False)
    has_matrix: bool = field(init=False)

    def __post_init__(self) -> None:
        self.n_listed = None if self.handbooks is None else len(set(self.handbooks))
        self.has_matrix = self.matrix is not None or self.problem is not None

    @property
    def n_values(self) -> int:
        """How many values the comparison has: its id, its pairs, and the other two if it has them."""
        return 2 + (self.handbooks is not None) + self.has_matrix

    def forget_matrix(self) -> None:
        """Free the lists after the comparison: a release has one matrix per question."""
        self.matrix = self.handbooks = None

    @classmethod
    def read(cls, path: Path, names: Mapping[str, str]) -> ComparisonHead:
        """The head of a comparison file that DuckDB has parsed; `names` maps our field names to those of the file.

        Raises ValueError or RecursionError where Python cannot parse the file, one of UNREADABLE where it cannot be unpacked.
        """
        patterns = {names["handbooks"]: LIST_PATTERN, names["matrix"]: MATRIX_PATTERN}
        with open_bytes(path) as file:
            raw = file.read(HEAD_BYTES)
            listed = _json_of_key(raw, names["handbooks"], LIST_PATTERN)
            head = cls.parse(json.loads(listed), None) if listed else None
            codes = None if head is None else _plain_matrix(raw, names["matrix"], len(head.handbooks or ()))
            if head and codes is not None:
                return replace(head, matrix=codes)
            texts = [_json_of_key(raw, name, pattern) for name, pattern in patterns.items()]
            if None in texts:
                raw += file.read()
                texts = [_json_value_of_key(raw, name, pattern) for name, pattern in patterns.items()]
        handbooks, matrix = texts
        return cls.parse(json.loads(handbooks) if handbooks else None, matrix)

    @classmethod
    def parse(cls, handbooks: Any, matrix: str | None) -> ComparisonHead:
        """From the value of `handbooks` (anything but a list counts as missing) and the matrix as JSON text (None: missing)."""
        names = [composed(str(name)) for name in handbooks] if isinstance(handbooks, list) else None
        if matrix is None or matrix == "null":
            return cls(names, None)
        codes, problem = _parse_matrix(matrix, len(names or []))
        return cls(names, codes, problem)


def _json_of_key(raw: bytes, name: str, pattern: bytes) -> str | None:
    """The JSON text under the key `name`, where it matches `pattern`."""
    # A quoted name before a colon can only be a key: inside a text its quotes would be escaped.
    match = re.search(rb'"%s"\s*:\s*(%s)' % (re.escape(name.encode()), pattern), raw)
    return match[1].decode() if match and match[1].count(b"[") == match[1].count(b"]") else None


def _json_value_of_key(raw: bytes, name: str, pattern: bytes) -> str | None:
    """Like `_json_of_key`, for a value of any form: the entire file is parsed if the pattern does not match."""
    text = _json_of_key(raw, name, pattern)
    if text is not None or f'"{name}"'.encode() not in raw:
        return text
    return json.dumps(json.loads(raw).get(name))


def _plain_matrix(raw: bytes, name: str, size: int) -> Codes | None:
    """The N x N codes under the key `name` where Python's json wrote them; None: to be searched for."""
    key = raw.find(b'"%s": [[' % name.encode())
    start = key + len(name.encode()) + len('"": [')
    # Null is read as 9, as below, so a row has one length
    packed = raw[start : raw.find(b"]]", start) + 1].replace(b"null", b"9") + b", "
    if key < 0 or not size or len(packed) != size * (3 * size + 2):
        return None
    digits = np.frombuffer(packed, np.uint8).reshape(size, -1) - np.frombuffer(b"[%s], " % b", ".join([b"0"] * size), np.uint8)
    codes = digits[:, 1:-1:3].copy()
    digits[:, 1:-1:3] = 0
    if digits.any() or ((codes >= len(LABELS)) & (codes != 9)).any():
        return None
    return np.where(codes == 9, NO_LABEL, codes).astype(np.int8)


def _parse_matrix(text: str, size: int) -> tuple[Codes | None, str | None]:
    """The N x N codes, or a sentence on why they cannot be read."""
    # A code has one digit, so without spaces every row is bracket, digit, comma, digit, ..., bracket, and all are equally long.
    # Null is read as 9, which is not a label code and has one digit too.
    packed = text.encode().translate(None, b" \n\r\t").replace(b"null", b"9")
    if not size or len(packed) != 1 + size * (2 * size + 2):
        return None, _matrix_problem(text, size)
    rows = np.frombuffer(packed[1:-1] + b",", np.uint8).reshape(size, -1)
    codes = rows[:, 1 : 2 * size : 2] - ord("0")
    separators = rows[:, ::2] == np.frombuffer(b"[" + b"," * (size - 1) + b"]", np.uint8)
    if not separators.all() or (rows[:, -1] != ord(",")).any() or ((codes >= len(LABELS)) & (codes != 9)).any():
        return None, _matrix_problem(text, size)
    return np.where(codes == 9, NO_LABEL, codes).astype(np.int8), None


def _matrix_problem(text: str, size: int) -> str:
    rows = json.loads(text)
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        return "its matrix is not a list of lists of label codes; the pairs were loaded without it."
    widths = sorted({len(row) for row in rows})
    if len(rows) != size or widths != [size]:
        width = " or ".join(map(str, widths))
        return f"its matrix is not square: {len(rows)} rows of {width} cells for {size} handbooks; the pairs were loaded."
    return "its matrix has cells other than 0, 1, 2, 3, 4 and null; the pairs were loaded without it."


def contradictions(head: ComparisonHead, numbers: dict[str, int], pairs: Mapping[str, Any]) -> list[str]:
    """Sentences on where the matrix disagrees with the pairs.

    numbers  handbook numbers by id
    pairs    arrays `a`, `b` (handbook numbers) and `label` (label codes, -1 where unscored)
    """
    # A file may contain every label twice, in its pairs and as a matrix. The pairs are loaded; the matrix is compared with them.
    if head.problem:
        return [head.problem]
    if head.matrix is None or head.handbooks is None:
        return []
    size = len(head.matrix)
    index = np.full(len(numbers) + 1, -1)
    for position, name in enumerate(head.handbooks):
        index[numbers.get(name, -1)] = position
    row, column = index[pairs["a"]], index[pairs["b"]]
    listed = (row >= 0) & (column >= 0)
    # A place in the flat matrix is found in a third of the time; -1 is of a pair that is not listed
    halves = (head.matrix.take(one * size + other, mode="clip") for one, other in ((row, column), (column, row)))
    wrong = sum(int(np.count_nonzero((codes != pairs["label"]) & listed)) for codes in halves)
    messages = [f"{wrong:,} of its matrix's cells contradict the pairs; the pairs were loaded unchanged."] if wrong else []
    if not listed.all():
        messages.append(f"{int((~listed).sum()):,} pairs name a handbook that is missing from its list of handbooks.")
    return messages
