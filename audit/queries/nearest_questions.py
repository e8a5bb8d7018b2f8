"""The questions of a run that are nearest to a question of somebody's own, by their words."""

from __future__ import annotations

from typing import NamedTuple

from audit.queries.search_index import question_entries, weighted_terms
from audit.store.connection import Connection
from audit.text.word_match import WordIndex


class NearQuestion(NamedTuple):
    """A question of the run, and how near it is: above 0, and 1 where it has the same words."""

    question_id: str
    text: str
    score: float


def nearest_questions(con: Connection, text: str, count: int = 5) -> list[NearQuestion]:
    """The `count` questions of the run that are nearest to `text`, the nearest first; none where no word of it is in the run.

    Compared are the words of the question, words that mean the same, its topics, and what its answers have and others do not.
    """
    entries = question_entries(con)
    scores = WordIndex([weighted_terms(entry) for entry in entries]).scores(text)
    near = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:count]
    return [NearQuestion(entries[number].value, entries[number].name, round(score, 4)) for number, score in near]
