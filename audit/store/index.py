"""What the loader must remember: the numbers of handbooks and questions, which answers are absent, how long sections are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

NOT_ASKED, PRESENT, ABSENT, UNREAD = -1, 0, 1, 2


@dataclass
class Index:
    """Numbers by id, `absent[question, handbook]`: NOT_ASKED, PRESENT, ABSENT or UNREAD (int8), and the length of sections.

    `sections` goes by number of the handbook and id of the section; it is empty where the release brings none.
    """

    handbooks: dict[str, int] = field(default_factory=dict)
    questions: dict[str, int] = field(default_factory=dict)
    absent: npt.NDArray[np.int8] = field(default_factory=lambda: np.empty((0, 0), np.int8))
    has_answers: bool = False
    sections: dict[tuple[int, str], int] = field(default_factory=dict)

    def make_room(self) -> None:
        """Size `absent` once handbooks and questions are known; nobody has been asked yet."""
        self.absent = np.full((len(self.questions), len(self.handbooks)), NOT_ASKED, np.int8)

    def neither_absent(self, question: int, a: Any, b: Any) -> Any:
        """Whether neither answer of each pair is absent, both having been asked for; `a`, `b` are numbers or arrays of them."""
        asked_and_not_absent = np.isin(self.absent[question], (PRESENT, UNREAD))
        return asked_and_not_absent[a] & asked_and_not_absent[b]

    def either_unread(self, question: int, a: Any, b: Any) -> Any:
        """Whether at least one answer of each pair could not be read."""
        row = self.absent[question]
        return (row[a] == UNREAD) | (row[b] == UNREAD)

    def either_absent(self, question: int, a: Any, b: Any) -> Any:
        """Whether at least one answer of each pair is known to be absent."""
        row = self.absent[question]
        return (row[a] == ABSENT) | (row[b] == ABSENT)
