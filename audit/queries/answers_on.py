"""What every handbook says on one question, with the state of its answer, whether or not anything has compared the answers."""

from __future__ import annotations

from dataclasses import dataclass

from audit.queries.concerned import concerned
from audit.queries.lookup import question_number
from audit.store.connection import Connection, rows

ANSWERED, ABSENT, UNREAD, NOT_ASKED = "answers", "does not address the question", "could not be read", "was not asked"
SQL = f"""
select h.handbook_id, a.answer, {concerned("q", "h")} as should_answer,
       coalesce(found, case when absent then '{ABSENT}' when not absent then '{ANSWERED}'
                            when unread_reason is not null then '{UNREAD}' else '{NOT_ASKED}' end) as state
from handbooks h join questions q on q.question = $question
left join answers a on a.handbook = h.handbook and a.question = q.question
order by h.handbook
"""


@dataclass(frozen=True)
class HandbookAnswer:
    """A handbook's answer: state is one of `Found` where a search answered, else one of the words above.

    should_answer  the question is of its organ, or general, or the handbook is
    """

    handbook_id: str
    answer: str | None
    should_answer: bool
    state: str


def answers_on(con: Connection, question_id: str) -> tuple[HandbookAnswer, ...]:
    """One entry for each handbook of the run, in release order. Raises NotInRunError when the question is not in the run."""
    return tuple(HandbookAnswer(*row) for row in rows(con, SQL, {"question": question_number(con, question_id)}))
