"""Checks and look-ups that metrics make before they count: ids to numbers, and what a release brings at all."""

from __future__ import annotations

from typing import Any

from audit.errors import AuditError, NotInRunError
from audit.store.connection import Connection, rows
from audit.vocabulary import nearest

QUESTIONS = "select question_id, question::integer from questions order by question"
HANDBOOKS = "select handbook_id, handbook::integer from handbooks order by handbook"


def question_number(con: Connection, question_id: str) -> int:
    """The number of the question with this id. Raises NotInRunError when the run has no such question."""
    return _number_of(dict(rows(con, QUESTIONS)), question_id, "question")


def handbook_number(con: Connection, handbook_id: str) -> int:
    """The number of the handbook with this id. Raises NotInRunError when the run has no such handbook."""
    return _number_of(dict(rows(con, HANDBOOKS)), handbook_id, "handbook")


def _number_of(numbers: dict[Any, int], record_id: str, kind: str) -> int:
    if record_id not in numbers:
        raise NotInRunError(
            f"{kind.capitalize()} '{record_id}' is not in this run.{nearest(record_id, tuple(numbers))} "
            f"It has {len(numbers)} {kind}s. Nothing was computed. Pick one of them."
        )
    return numbers[record_id]


def require_answers(con: Connection, wanted: str) -> None:
    """Raise NotInRunError when the release came without answers, so that an unknown count is never shown as zero."""
    ((run_id, has_answers),) = rows(con, "select run_id, has_answers from run")
    if not has_answers:
        raise NotInRunError(
            f"Run '{run_id}' was loaded from a release without answers, so {wanted} is unknown (not zero). "
            "Nothing was computed. Load a release with answers.jsonl to see it; every count of pairs works without."
        )


def require_one_of(value: str, allowed: tuple[str, ...], option: str) -> str:
    """`value`. Raises AuditError, naming the option, when it is not one of `allowed`."""
    if value not in allowed:
        raise AuditError(f"{option} '{value}' is not available. Allowed: {', '.join(allowed)}. Nothing was counted.")
    return value
