"""A question's matrix against its pairs."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from audit.vocabulary import LABELS

NO_LABEL = -1
HEAD = 2**16
LIST = rb"\[[^\[\]{}\\]*\]"
MATRIX = rb"\[\s*\[[^\]{}\"]*\](?:\s*,\s*\[[^\]{}\"]*\])*\s*\]"
ROW = re.compile(rb"\[([^\[\]]*)\]")
Codes = npt.NDArray[np.int8]


@dataclass
class Block:
    """What one comparison file says of its question beside the pairs: its handbooks and its matrix."""

    handbooks: list[str] | None
    matrix: Codes | None
    problem: str | None = None
    question: int = -1
    pairs: int = 0
    fast: bool = False

    @classmethod
    def read(cls, path: Path, names: Mapping[str, str]) -> Block:
        """From a comparison file whose pairs have been read already: by habit both stand in its head."""
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            head = file.read(HEAD)
            found = _cut(head, names["handbooks"], LIST), _cut(head, names["matrix"], MATRIX)
            if None in found:
                whole = head + file.read()
                found = _value(whole, names["handbooks"], LIST), _value(whole, names["matrix"], MATRIX)
        handbooks, matrix = found
        return cls.parse(json.loads(handbooks) if handbooks else None, matrix)

    @classmethod
    def parse(cls, listed: Any, text: str | None) -> Block:
        """From the file's list of handbooks (what is no list counts as none) and its matrix as JSON text (None: it has none)."""
        handbooks = [str(name) for name in listed] if isinstance(listed, list) else None
        if text is None or text == "null":
            return cls(handbooks, None)
        matrix, problem = _parse(text, len(handbooks or []))
        return cls(handbooks, matrix, problem)


def _cut(raw: bytes, name: str, shape: bytes) -> str | None:
    """The JSON text under the key `name`, where it has the usual shape.

    A quoted name before a colon can only be a key: inside a text its quotes would be escaped.
    """
    found = re.search(rb'"%s"\s*:\s*(%s)' % (re.escape(name.encode()), shape), raw)
    return found[1].decode() if found else None


def _value(raw: bytes, name: str, shape: bytes) -> str | None:
    """The same, found by parsing the whole file where it has another shape."""
    cut = _cut(raw, name, shape)
    if cut is not None or f'"{name}"'.encode() not in raw:
        return cut
    return json.dumps(json.loads(raw).get(name))


def _parse(text: str, size: int) -> tuple[Codes | None, str | None]:
    """The N x N codes, or a sentence that says why they cannot be read."""
    # A code has one digit, so a sound row without its spaces is digit, comma, digit, ...: nothing needs to be parsed.
    rows = [row.translate(None, b" \n\r\t") for row in ROW.findall(text.encode().replace(b"null", b"9"))]
    if len(rows) != size or any(len(row) != 2 * size - 1 for row in rows):
        return None, _why_not(text, size)
    cells = np.frombuffer(b",".join(rows) + b",", np.uint8).reshape(-1, 2)
    codes = cells[:, 0].astype(np.int8) - ord("0")
    if (cells[:, 1] != ord(",")).any() or not np.isin(codes, (*range(len(LABELS)), 9)).all():
        return None, _why_not(text, size)
    return np.where(codes == 9, NO_LABEL, codes).astype(np.int8).reshape(size, size), None


def _why_not(text: str, size: int) -> str:
    rows = json.loads(text)
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        return "its matrix is no list of lists of label codes; the pairs were loaded without it."
    widths = sorted({len(row) for row in rows})
    if len(rows) != size or widths != [size]:
        wide = " or ".join(map(str, widths))
        return f"its matrix is not square: {len(rows)} rows of {wide} cells for {size} handbooks; the pairs were loaded."
    return "its matrix has cells other than 0, 1, 2, 3, 4 and null; the pairs were loaded without it."


def contradictions(block: Block, numbers: dict[str, int], pairs: dict[str, Any]) -> list[str]:
    """Sentences on where the matrix says something else than the pairs (label codes, -1 unscored)."""
    if block.problem:
        return [block.problem]
    if block.matrix is None or block.handbooks is None:
        return []
    place = np.full(len(numbers) + 1, -1)
    for position, name in enumerate(block.handbooks):
        place[numbers.get(name, -1)] = position
    row, column = place[pairs["a"]], place[pairs["b"]]
    listed = (row >= 0) & (column >= 0)
    said = [block.matrix[row, column], block.matrix[column, row]]
    wrong = sum(int(((cells != pairs["label"]) & listed).sum()) for cells in said)
    found = [f"{wrong:,} of its matrix's cells contradict the pairs; the pairs were loaded as they stand."] if wrong else []
    if not listed.all():
        found.append(f"{int((~listed).sum()):,} pairs name a handbook that its list of handbooks has not.")
    return found
