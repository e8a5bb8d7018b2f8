"""The questions of a run that are nearest to a question of somebody's own, by their words."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from audit.queries.answer_words import STORE
from audit.queries.search_index import SearchEntry, question_entries, weighted_terms
from audit.store.connection import Connection, rows
from audit.text.word_match import WordIndex

KEPT_RUNS = 4
Index = tuple[list[SearchEntry], WordIndex]
"""The questions by their own words, those that mean the same, topics, and what their answers alone have."""
_KEPT: dict[tuple[str, int], Index] = {}
"""Store and when it was written -> index, the last used at the end."""


class NearQuestion(NamedTuple):
    """A question of the run, and how near it is: above 0, and 1 where it has the same words."""

    question_id: str
    text: str
    score: float


def question_index(con: Connection) -> Index:
    """The index of a run, kept while its store does not change: of a large run it takes longer than a page may take."""
    ((path, readonly),) = rows(con, STORE)
    key = path, Path(path).stat().st_mtime_ns if readonly else 0
    if not readonly or (index := _KEPT.pop(key, None)) is None:
        entries = question_entries(con)
        index = entries, WordIndex([weighted_terms(entry) for entry in entries])
    _KEPT[key] = index
    for old in list(_KEPT)[:-KEPT_RUNS]:
        _KEPT.pop(old, None)
    return index


def nearest_questions(con: Connection, text: str, count: int = 5) -> list[NearQuestion]:
    """The `count` questions of the run that are nearest to `text`, the nearest first; none where no word of it is in the run."""
    entries, words = question_index(con)
    near = sorted(words.scores(text).items(), key=lambda item: (-item[1], item[0]))[:count]
    return [NearQuestion(entries[number].value, entries[number].name, round(score, 4)) for number, score in near]
