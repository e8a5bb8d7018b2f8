"""The questions of a run that are nearest to some words, by the stems that they share."""

from __future__ import annotations

from typing import NamedTuple

from audit.store.connection import Connection, rows
from audit.text.tokens import content_words

QUESTIONS = "select question_id, text from questions order by question"


class NearQuestion(NamedTuple):
    """A question of the run; `score` in [0, 1], 1 for the same words."""

    question_id: str
    text: str
    score: float


def _stems(text: str) -> frozenset[str]:
    return frozenset(word.stem for word in content_words(text))


def nearest_questions(con: Connection, text: str, count: int = 5) -> list[NearQuestion]:
    """The `count` questions nearest to a text, best first; those that share no stem with it are left out."""
    asked = _stems(text)
    scored = []
    for question_id, question in rows(con, QUESTIONS):
        own = _stems(question)
        if shared := len(asked & own):
            scored.append(NearQuestion(question_id, question, 2 * shared / (len(asked) + len(own))))
    return sorted(scored, key=lambda one: -one.score)[:count]
