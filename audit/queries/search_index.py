"""The search index: the questions, topics and subtopics of a run. The browser searches them, so they are read once."""

from __future__ import annotations

from audit.store.connection import Connection, rows

SearchIndex = dict[str, list[tuple[str, ...]]]

QUESTIONS = "select question_id, text from questions order by question"
TOPICS = "select distinct topic from topics order by 1"
SUBTOPICS = "select distinct subtopic from subtopics order by 1"


def search_index(con: Connection) -> SearchIndex:
    """`questions`: (question_id, text) in release order; `topics` and `subtopics`: (name,) in alphabetical order."""
    return {"questions": rows(con, QUESTIONS), "topics": rows(con, TOPICS), "subtopics": rows(con, SUBTOPICS)}
