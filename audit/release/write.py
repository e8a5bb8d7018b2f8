"""Writing a release: every producer of releases uses this module."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from audit.release.schema import TABLES
from audit.vocabulary import LABELS

Record = Mapping[str, Any]
SYSTEM_TABLES = tuple(kind.files[0] for kind in TABLES if kind.group)
"""The files of answering systems, of the sources that they searched and of their stress tests, by their names without ending."""
COUNTED = {kind.counted.name for kind in TABLES if kind.counted}
MAX_STEM_CHARS = 200


def write_release(
    root: Path,
    *,
    manifest: Record,
    questions: Iterable[Record],
    handbooks: Iterable[Record] | None = None,
    answers: Iterable[Record] | None = None,
    comparisons: Iterable[Record] | None = None,
    sections: Iterable[Record] | None = None,
    trials: Iterable[Record] | None = None,
    planted: Iterable[Record] | None = None,
    positions: Iterable[Record] | None = None,
    systems: Mapping[str, Iterable[Record]] | None = None,
) -> Path:
    """Write a release folder in the layout of data/README.md and return it.

    `comparisons` yields one record per question: question_id, handbooks (ids, in order) and pairs; the matrix is
    computed from the pairs here, so the two cannot disagree. `answers` may be None: a release of pairs only. So may `sections`
    (the handbooks' texts, for passages to be shown in), `trials` (what each strategy of retrieval found), `planted` (changes
    planted to test the judge) and `positions` (the positions on a question). `systems` has the records of answering systems
    under the names of SYSTEM_TABLES; with them, `handbooks` and `comparisons` may be None.
    All iterables may be generators; one record is in memory at a time. The manifest is written last and with the
    counts of what was written, so a folder with a manifest is complete.
    """
    root.mkdir(parents=True, exist_ok=True)
    if unknown := set(systems or {}) - set(SYSTEM_TABLES):
        raise ValueError(f"no table of answering systems: {', '.join(sorted(unknown))}")
    tables = {"handbooks": handbooks, "questions": questions, "answers": answers, "planted": planted, "positions": positions}
    tables |= {**(systems or {}), "sections": sections, "trials": trials}
    written = {name: write_jsonl(root / f"{name}.jsonl", records) for name, records in tables.items() if records is not None}
    counts = {name: count for name, count in written.items() if name in COUNTED}
    if comparisons is not None:
        (root / "comparisons").mkdir(exist_ok=True)
        counts["pairs"] = sum(write_comparison(root / "comparisons", comparison) for comparison in comparisons)
    # Last: its presence shows that the folder is complete
    write_json(root / "manifest.json", {**manifest, **counts}, indent=1)
    return root


def write_comparison(folder: Path, comparison: Record) -> int:
    """Write one question's comparison file, its matrix computed from its pairs; return the number of pairs."""
    pairs = list(comparison["pairs"])
    record = {
        "question_id": comparison["question_id"],
        "handbooks": list(comparison["handbooks"]),
        "matrix": matrix_of(comparison["handbooks"], pairs),
        "pairs": pairs,
    }
    write_json(folder / f"{file_stem(comparison['question_id'])}.json", record)
    return len(pairs)


def file_stem(question_id: str) -> str:
    """A safe file name for any question id: inside the folder, not hidden, never too long."""
    # A leading dot would hide the file, and the name ".." would leave the folder
    stem = quote(question_id, safe="").replace(".", "%2E", 1 if question_id.startswith(".") else 0)
    # Most file systems reject names of more than 255 bytes
    return stem if len(stem) <= MAX_STEM_CHARS else hashlib.sha256(question_id.encode()).hexdigest()


def matrix_of(handbooks: Iterable[str], pairs: Iterable[Record]) -> list[list[int | None]]:
    """The N x N label codes of `pairs` (0 ABSENT ... 4 CONTRADICTORY), diagonal 1, None where there is no label."""
    codes: dict[str | None, int | None] = {label.value: label.code for label in LABELS}
    index = {handbook: i for i, handbook in enumerate(handbooks)}
    matrix: list[list[int | None]] = [[None] * len(index) for _ in index]
    for i in range(len(index)):
        matrix[i][i] = 1
    for pair in pairs:
        a, b = index[pair["handbook_a"]], index[pair["handbook_b"]]
        matrix[a][b] = matrix[b][a] = codes.get(pair["classification"])
    return matrix


def write_jsonl(path: Path, records: Iterable[Record]) -> int:
    """Write one JSON object per line (UTF-8, LF) and return their number."""
    count = 0
    # LF on every platform: a release is named by the digest of its bytes.
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(_dumps(record) + "\n")
            count += 1
    return count


def write_json(path: Path, record: Record, indent: int | None = None) -> None:
    """Write one JSON object as a file."""
    path.write_text(_dumps(record, indent) + "\n", encoding="utf-8")


def _dumps(record: Record, indent: int | None = None) -> str:
    # JSON has no NaN: a producer that computes one has a bug, and this raises ValueError.
    return json.dumps(record, ensure_ascii=False, allow_nan=False, indent=indent)
