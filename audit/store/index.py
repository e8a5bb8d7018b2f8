"""What the loader must remember while it reads pairs: the numbers of handbooks and questions, and which answers are absent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

NOT_ASKED, PRESENT, ABSENT = -1, 0, 1


@dataclass
class Index:
    """Numbers by id, and `absent[question, handbook]`: NOT_ASKED, PRESENT or ABSENT (int8)."""

    handbooks: dict[str, int] = field(default_factory=dict)
    questions: dict[str, int] = field(default_factory=dict)
    absent: npt.NDArray[np.int8] = field(default_factory=lambda: np.empty((0, 0), np.int8))
    has_answers: bool = False

    def make_room(self) -> None:
        """Size `absent` once handbooks and questions are known; nobody has been asked yet."""
        self.absent = np.full((len(self.questions), len(self.handbooks)), NOT_ASKED, np.int8)

    def both_present(self, question: int, a: Any, b: Any) -> Any:
        """Whether both answers of each pair are known to be present; `a`, `b` are numbers or arrays of them."""
        row = self.absent[question]
        return (row[a] == PRESENT) & (row[b] == PRESENT)

    def either_absent(self, question: int, a: Any, b: Any) -> Any:
        """Whether at least one answer of each pair is known to be absent."""
        row = self.absent[question]
        return (row[a] == ABSENT) | (row[b] == ABSENT)
