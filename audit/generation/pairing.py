"""Which questions are put to which handbooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from audit.vocabulary import concerns


class OfOrgan(Protocol):
    """A question or a handbook: whatever concerns one organ, or all of them."""

    @property
    def organ(self) -> str:
        """The organ, or general."""


Question = TypeVar("Question", bound=OfOrgan)
Handbook = TypeVar("Handbook", bound=OfOrgan)


def meets(question: OfOrgan, handbook: OfOrgan) -> bool:
    """Whether the question is put to the handbook: both are of one organ, or one of the two is general."""
    return concerns(question.organ, handbook.organ)


def paired(questions: Iterable[Question], handbooks: Iterable[Handbook]) -> Iterator[tuple[Question, Handbook]]:
    """Every question with every handbook that it is put to, handbook by handbook, questions in their order."""
    asked = list(questions)
    for handbook in handbooks:
        yield from ((question, handbook) for question in asked if meets(question, handbook))
