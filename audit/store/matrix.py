"""A question's matrix against its pairs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

NO_LABEL = -1
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
    def parse(cls, handbooks: list[str] | None, text: str | None) -> Block:
        """From the file's list of handbooks and its matrix as JSON text (None: the file has none)."""
        if text is None:
            return cls(handbooks, None)
        matrix, problem = _parse(text, len(handbooks or []))
        return cls(handbooks, matrix, problem)


def _parse(text: str, size: int) -> tuple[Codes | None, str | None]:
    """The N x N codes, or a sentence that says why they cannot be read."""
    # Codes have one digit, so a sound matrix without its brackets is digit, comma, digit, ...: no parsing is needed.
    digits = text.encode().replace(b"null", b"9").translate(None, b"[] \n\r\t")
    row = text.find("]") - text.find("[[") - 1
    if len(digits) == 2 * size * size - 1 and text.count("[") == size + 1 and row > 0:
        codes = np.frombuffer(digits[::2], np.uint8).astype(np.int8) - 48
        if set(digits[1::2]) <= {44} and np.isin(codes, (0, 1, 2, 3, 4, 9)).all() and _square(text, size):
            return np.where(codes == 9, NO_LABEL, codes).reshape(size, size).astype(np.int8), None
    return None, _why_not(text, size)


def _square(text: str, size: int) -> bool:
    return all(part.count(",") == size - 1 for part in text.strip()[1:-1].replace("],", "]").split("]")[:-1])


def _why_not(text: str, size: int) -> str:
    try:
        rows = json.loads(text)
        lengths = {len(row) for row in rows}
    except (ValueError, TypeError):
        return "its matrix is no list of lists of label codes; the pairs were loaded without it."
    if len(rows) != size or lengths != {size}:
        widths = " or ".join(map(str, sorted(lengths)))
        return f"its matrix is not square: {len(rows)} rows of {widths} cells for {size} handbooks; the pairs were loaded."
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
