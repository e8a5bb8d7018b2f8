"""Finding what a person names."""

from __future__ import annotations

from audit.errors import NotInRunError
from audit.store.connection import Connection, rows
from audit.vocabulary import nearest


def question_number(con: Connection, question_id: str) -> int:
    """The number of the question called `question_id`. Raises NotInRunError when there is none."""
    found = rows(con, "select question::integer from questions where question_id = $question_id", {"question_id": question_id})
    if not found:
        known = tuple(name for (name,) in rows(con, "select question_id from questions order by question"))
        raise NotInRunError(
            f"Question '{question_id}' is not in this run.{nearest(question_id, known)} "
            f"It has {len(known)} questions. Nothing was computed. Pick one of them."
        )
    number: int = found[0][0]
    return number
