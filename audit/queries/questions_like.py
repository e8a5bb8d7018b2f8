"""The questions of a run that are like one that somebody asks, with who answers them and how disputed they are."""

from __future__ import annotations

from dataclasses import dataclass

from audit.queries.nearest_questions import nearest_questions
from audit.store.connection import Connection, rows

MIN_SCORE = 0.5
COUNT = 3
ANSWERS = """
select handbook_id from answers join handbooks using (handbook) join questions using (question)
where question_id = $question and absent = false
order by handbook
"""
PAIRS = """
select count(*) filter (present), count(*) filter (disagrees)
from judged_pairs join questions using (question) where question_id = $question
"""


@dataclass(frozen=True)
class QuestionLike:
    """A question of the run.

    answered_by           ids of the handbooks that answer it
    present, disagreeing  pairs in which both handbooks answer, and those of them that disagree
    """

    question_id: str
    text: str
    answered_by: tuple[str, ...]
    present: int
    disagreeing: int


def questions_like(con: Connection, text: str) -> tuple[QuestionLike, ...]:
    """At most COUNT questions that are like a text, the nearest first; () where none is."""
    near = [one for one in nearest_questions(con, text, COUNT) if one.score >= MIN_SCORE]
    return tuple(_question_like(con, one.question_id, one.text) for one in near)


def _question_like(con: Connection, question_id: str, text: str) -> QuestionLike:
    asked = {"question": question_id}
    answered_by = tuple(handbook_id for (handbook_id,) in rows(con, ANSWERS, asked))
    ((present, disagreeing),) = rows(con, PAIRS, asked)
    return QuestionLike(question_id, text, answered_by, int(present), int(disagreeing))
