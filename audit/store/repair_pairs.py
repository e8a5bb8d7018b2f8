"""Reading pairs record by record: whatever DuckDB cannot parse, and the pairs that it marked as suspect."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audit.release import validate
from audit.release.layout import stem
from audit.release.report import FileCount, LoadReport
from audit.release.schema import canonical
from audit.release.values import Reject
from audit.store.connection import Connection, append
from audit.store.matrix import ComparisonHead
from audit.store.record_reader import LoadState, RecordReader
from audit.store.stage_pairs import READING_TYPES
from audit.vocabulary import Label

# Pairs kept in memory before they are appended
CHUNK_PAIRS = 50_000
COLUMNS = (
    "question", "handbook_a", "handbook_b", "label", "prescreened", "significance", "reasoning", "divergence_topic",
    "input_tokens", "output_tokens", "latency_s", *READING_TYPES, "file", "position", "suspect",
)  # fmt: skip
CHECK_COLUMNS = ("kind", "number", "label", "significance", "parse")
CheckRow = tuple[Any, ...]


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
    """Validates raw pairs in Python and appends the sound ones to `pairs`; the report explains the others."""

    con: Connection
    reader: RecordReader
    state: LoadState
    _pairs: list[dict[str, Any]] = field(default_factory=list)

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

    def _validate(self, raw: Any, repairs: list[str], question_id: str) -> dict[str, Any]:
        """A validated pair with row numbers for ids, the lower handbook first."""
        record = validate.pair(raw, repairs)
        question = self._number("question", question_id, self.state.questions)
        a, b = (self._number("handbook", record.pop(side), self.state.handbooks) for side in ("handbook_a", "handbook_b"))
        # An ABSENT without a trace of the judge was pre-screened, unless both answers are there.
        untouched = not record.pop("asked") and record["label"] == Label.ABSENT
        return record | {
            "question": question, "handbook_a": min(a, b), "handbook_b": max(a, b),
            "prescreened": bool(untouched and not self.state.neither_absent(question, a, b)),
        }  # fmt: skip

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


def append_checks(con: Connection, checks: list[tuple[int, int, dict[str, Any]]]) -> None:
    """Append (file, position, validated check) to the temporary table `staged_checks`."""
    if checks:
        columns = {"file": [file for file, _, _ in checks], "position": [position for _, position, _ in checks]}
        append(con, "staged_checks", columns | {name: [check[name] for _, _, check in checks] for name in CHECK_COLUMNS})


def raw_comparisons(reader: RecordReader, path: Path, line: FileCount) -> Iterator[RawComparison]:
    """Every comparison of a file; what cannot be read is quarantined on the way."""
    for where, raw in reader.rows(path, line):
        outer = canonical(raw, "comparison") if isinstance(raw, dict) else {}
        question_id = str(outer.get("question_id") or stem(path))
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
