"""What the loader remembers from one table to the next: row numbers by id, which answers are absent, lengths of sections."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from audit.vocabulary import nearest

NOT_ASKED, PRESENT, ABSENT, UNPARSEABLE = -1, 0, 1, 2


@dataclass
class LoadState:
    """Row numbers of `handbooks` and `questions` by id, in release order.

    answer_status  int8 (questions, handbooks): NOT_ASKED, PRESENT, ABSENT or UNPARSEABLE
    sections       length of each section in characters, by (handbook number, section id); empty without sections
    """

    handbooks: dict[str, int] = field(default_factory=dict)
    questions: dict[str, int] = field(default_factory=dict)
    answer_status: npt.NDArray[np.int8] = field(default_factory=lambda: np.empty((0, 0), np.int8))
    has_answers: bool = False
    sections: dict[tuple[int, str], int] = field(default_factory=dict)

    def allocate_answer_status(self) -> None:
        """Size `answer_status` once handbooks and questions are known."""
        self.answer_status = np.full((len(self.questions), len(self.handbooks)), NOT_ASKED, np.int8)

    def resolve_ids(self, record: dict[str, Any], kinds: tuple[str, ...] = ("question", "handbook")) -> tuple[str, str] | None:
        """Set `question` and `handbook` of a record to the row numbers of its ids; code and sentence for an unknown id."""
        for kind in kinds:
            numbers = self._numbers(kind)
            number = numbers.get(record[f"{kind}_id"])
            if number is None:
                return self.unknown_id(kind, record[f"{kind}_id"])
            record[kind] = number
        return None

    def unknown_id(self, kind: str, name: str) -> tuple[str, str]:
        """Code and sentence for an id that no handbook or question of the release has."""
        return f"unknown_{kind}", f"{kind} '{name}' is not in {kind}s.{nearest(name, tuple(self._numbers(kind)))}"

    def _numbers(self, kind: str) -> dict[str, int]:
        return self.questions if kind == "question" else self.handbooks

    # In the three methods below `a` and `b` are handbook numbers, or arrays of them; the result has the same shape.

    def neither_absent(self, question: int, a: Any, b: Any) -> Any:
        """Whether both answers of each pair were asked for and neither is absent."""
        row = np.isin(self.answer_status[question], (PRESENT, UNPARSEABLE))
        return row[a] & row[b]

    def either_unparseable(self, question: int, a: Any, b: Any) -> Any:
        """Whether the reply for at least one answer of each pair could not be parsed."""
        row = self.answer_status[question]
        return (row[a] == UNPARSEABLE) | (row[b] == UNPARSEABLE)

    def either_absent(self, question: int, a: Any, b: Any) -> Any:
        """Whether at least one answer of each pair is absent."""
        row = self.answer_status[question]
        return (row[a] == ABSENT) | (row[b] == ABSENT)
