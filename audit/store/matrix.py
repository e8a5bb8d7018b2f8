"""The matrix of a comparison file against its pairs.

A comparison file may give every label twice: pair by pair, and as a matrix in its head. The pairs are loaded; the
matrix is only compared with them.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from audit.vocabulary import LABELS

NO_LABEL = -1
# Handbooks and matrix usually come before the pairs, so the rest of a file need not be read
HEAD_BYTES = 2**16
LIST_PATTERN = rb"\[[^\[\]{}\\]*\]"
MATRIX_PATTERN = rb"\[\s*\[[^\]{}\"]*\](?:\s*,\s*\[[^\]{}\"]*\])*\s*\]"
ROW = re.compile(rb"\[([^\[\]]*)\]")
Codes = npt.NDArray[np.int8]


@dataclass
class ComparisonHead:
    """What one comparison file contains besides its pairs: the handbooks it lists and its matrix.

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

    def forget_matrix(self) -> None:
        """Free the lists once they were compared: a release has a matrix a question."""
        self.matrix = self.handbooks = None

    @classmethod
    def read(cls, path: Path, names: Mapping[str, str]) -> ComparisonHead:
        """The head of a comparison file that DuckDB has parsed; `names` maps our field names to those of the file.

        Raises ValueError or RecursionError where Python cannot parse the file.
        """
        patterns = {names["handbooks"]: LIST_PATTERN, names["matrix"]: MATRIX_PATTERN}
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            raw = file.read(HEAD_BYTES)
            texts = [_cut(raw, name, pattern) for name, pattern in patterns.items()]
            if None in texts:
                raw += file.read()
                texts = [_value(raw, name, pattern) for name, pattern in patterns.items()]
        handbooks, matrix = texts
        return cls.parse(json.loads(handbooks) if handbooks else None, matrix)

    @classmethod
    def parse(cls, handbooks: Any, matrix: str | None) -> ComparisonHead:
        """From the value of `handbooks` (anything but a list counts as missing) and the matrix as JSON text (None: missing)."""
        names = [str(name) for name in handbooks] if isinstance(handbooks, list) else None
        if matrix is None or matrix == "null":
            return cls(names, None)
        codes, problem = _parse_matrix(matrix, len(names or []))
        return cls(names, codes, problem)


def _cut(raw: bytes, name: str, pattern: bytes) -> str | None:
    """The JSON text under the key `name`, where it matches `pattern`."""
    # A quoted name before a colon can only be a key: inside a text its quotes would be escaped.
    match = re.search(rb'"%s"\s*:\s*(%s)' % (re.escape(name.encode()), pattern), raw)
    return match[1].decode() if match else None


def _value(raw: bytes, name: str, pattern: bytes) -> str | None:
    """The same for a value of any form: the whole file is parsed where the pattern does not match."""
    text = _cut(raw, name, pattern)
    if text is not None or f'"{name}"'.encode() not in raw:
        return text
    return json.dumps(json.loads(raw).get(name))


def _parse_matrix(text: str, size: int) -> tuple[Codes | None, str | None]:
    """The N x N codes, or a sentence on why they cannot be read."""
    # A code has one digit, so a sound row without its spaces is digit, comma, digit, ...: numpy can read it without a parser.
    # Null is read as 9, which is no label code and has one digit too.
    rows = [row.translate(None, b" \n\r\t") for row in ROW.findall(text.encode().replace(b"null", b"9"))]
    if len(rows) != size or any(len(row) != 2 * size - 1 for row in rows):
        return None, _matrix_problem(text, size)
    cells = np.frombuffer(b",".join(rows) + b",", np.uint8).reshape(-1, 2)
    codes = cells[:, 0].astype(np.int8) - ord("0")
    if (cells[:, 1] != ord(",")).any() or not np.isin(codes, (*range(len(LABELS)), 9)).all():
        return None, _matrix_problem(text, size)
    return np.where(codes == 9, NO_LABEL, codes).astype(np.int8).reshape(size, size), None


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
    if head.problem:
        return [head.problem]
    if head.matrix is None or head.handbooks is None:
        return []
    index = np.full(len(numbers) + 1, -1)
    for position, name in enumerate(head.handbooks):
        index[numbers.get(name, -1)] = position
    row, column = index[pairs["a"]], index[pairs["b"]]
    listed = (row >= 0) & (column >= 0)
    halves = head.matrix[row, column], head.matrix[column, row]
    wrong = sum(int(((codes != pairs["label"]) & listed).sum()) for codes in halves)
    messages = [f"{wrong:,} of its matrix's cells contradict the pairs; the pairs were loaded unchanged."] if wrong else []
    if not listed.all():
        messages.append(f"{int((~listed).sum()):,} pairs name a handbook that is missing from its list of handbooks.")
    return messages
