"""How much of each answer the other one says too, statement by statement."""

from __future__ import annotations

from audit.judging.baseline.question import Asked
from audit.judging.baseline.statements import Answer, Statement

COVERED = 0.5
"""A statement is said by another that has this part of its words."""
LEFT_OVER = 0.35
"""Two answers whose new statement is a larger part of one of them than this are not the same."""


def new_statements(asked: Asked, answer: Answer, other: Answer) -> list[Statement]:
    """The guidance of `answer` that the other does not give: neither in its words nor by the amount that is asked for.

    The same words with and without a denial are two statements.
    """
    return [statement for statement in answer.guidance if not any(_says(asked, one, statement) for one in other.guidance)]


def _says(asked: Asked, one: Statement, statement: Statement) -> bool:
    if len(statement.stems & one.stems) >= COVERED * len(statement.stems) and bool(one.denials) == bool(statement.denials):
        return True
    return any(asked.measured_by(mine) and mine.agrees(theirs) for mine in statement.amounts for theirs in one.amounts)


def share_new(answer: Answer, new: list[Statement]) -> float:
    """The part of an answer's words that stands in its new statements."""
    return sum(len(one.stems) for one in new) / max(1, sum(len(one.stems) for one in answer.guidance))
