"""The questions of a run that are like one that somebody asks, with who answers them and how disputed they are."""

from __future__ import annotations

from dataclasses import dataclass

from audit.queries.nearest_questions import NearQuestion, nearest_questions, question_index
from audit.store.connection import Connection, rows

COUNT, ALL = 3, 1_000
MIN_SCORE, ALIKE = 0.25, 0.5
"""The score from which a question is worth a look, and from which it may ask the same."""
ANSWERS = """
select handbook_id from answers join handbooks using (handbook) join questions using (question)
where question_id = $question and absent = false and found = 'perhaps' is not true
order by handbook
"""
PAIRS = """
select count(*) filter (present), count(*) filter (disagrees)
from judged_pairs join questions using (question) where question_id = $question
"""


@dataclass(frozen=True)
class QuestionLike:
    """A question of the run.

    score                 nearness of the words, from 0 to 1
    answered_by           ids of the handbooks that answer it
    present, disagreeing  pairs in which both handbooks answer, and those of them that disagree
    """

    question_id: str
    text: str
    score: float
    answered_by: tuple[str, ...]
    present: int
    disagreeing: int

    @property
    def is_alike(self) -> bool:
        """Whether it may ask the same."""
        return self.score >= ALIKE


def questions_like(con: Connection, text: str, meant: tuple[str, ...] = ()) -> tuple[QuestionLike, ...]:
    """At most COUNT questions that are near to a text, the nearest first; () where none is.

    meant  ids of those that something nearer to meaning than words found, the nearest first: they come first
    """
    by_words = {one.question_id: one for one in nearest_questions(con, text, ALL)}
    names = {entry.value: entry.name for entry in question_index(con)[0]}
    first = [by_words.get(number) or NearQuestion(number, names[number], 0.0) for number in meant if number in names]
    near = [one for one in by_words.values() if one.score >= MIN_SCORE and one.question_id not in meant]
    return tuple(_question_like(con, one) for one in [*first, *near][:COUNT])


def _question_like(con: Connection, near: NearQuestion) -> QuestionLike:
    asked = {"question": near.question_id}
    answered_by = tuple(handbook_id for (handbook_id,) in rows(con, ANSWERS, asked))
    ((present, disagreeing),) = rows(con, PAIRS, asked)
    return QuestionLike(near.question_id, near.text, near.score, answered_by, int(present), int(disagreeing))
