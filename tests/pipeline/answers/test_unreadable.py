"""A handbook that cannot be searched is unread: its questions are neither answered nor NOT ADDRESSED."""

from __future__ import annotations

from dataclasses import replace

import pytest

from audit.pipeline.answers.evidence import GroundedQuestion
from audit.pipeline.answers.files import GenerationSummary
from audit.pipeline.answers.unreadable import asked_in, other_language, unseen_text
from audit.pipeline.generation.passage_generator import quoted_answers
from audit.pipeline.retrieval.found import thresholds
from audit.pipeline.retrieval.model import Query
from audit.text.documents import Document, Section
from tests.pipeline.generation.leaflets import near

ENGLISH = (
    "Wash your hands before you touch the dressing, and keep the wound dry for a full day. Do not lift anything heavy for six "
    "weeks after the operation, and ask your nurse before you drive a car again. "
)
SPANISH = (
    "Lávese las manos antes de tocar el vendaje y mantenga la herida seca durante un día entero. No levante nada pesado durante "
    "seis semanas después de la operación y pregunte a su enfermera antes de volver a conducir. "
)
LIMITS = thresholds("words")
QUESTIONS = (
    "When may I lift heavy things after the operation?",
    "What may I eat in a restaurant when I travel to the mountains?",
)


SCORE = dict(zip(QUESTIONS, (LIMITS.stated, 0.1), strict=True))


def document(text: str, **fields) -> Document:
    return Document("heart_alder_post", "heart", "alder", "post", (Section("s1", "Advice", 3 * text),), **fields)


def records(handbook: Document) -> list[dict]:
    """The records of a question that the handbook answers and of one that it does not."""
    queries = [Query(f"q{number}", text, "heart") for number, text in enumerate(QUESTIONS)]
    return list(quoted_answers([GroundedQuestion(query, handbook, near(handbook, SCORE[query.text])) for query in queries]))


def test_a_handbook_in_another_language_is_neither_quoted_nor_called_silent():
    outcomes = [(record["answer"], record["absent"], record["unread_reason"]) for record in records(document(SPANISH))]
    assert outcomes == 2 * [(None, None, "the handbook is in Spanish, the questions in English: their texts cannot be compared")]


def test_a_handbook_in_the_language_of_the_questions_is_quoted():
    first, second = records(document(ENGLISH))
    assert (first["absent"], second["absent"], second["unread_reason"]) == (False, True, None)
    assert "six weeks" in first["answer"]


def test_where_too_many_pages_are_pictures_an_absence_is_unread_and_an_answer_stays():
    first, second = records(document(ENGLISH, pages=8, silent_pages=(1, 2, 3, 4, 5), unreadable=0.0))
    assert "six weeks" in first["answer"]
    assert (second["answer"], second["absent"], second["absence_method"]) == (None, None, None)
    assert second["unread_reason"] == "5 of 8 pages of the handbook are pictures without text: the answer may be there"
    summary = GenerationSummary()
    for record in (first, second):
        summary.count(record)
    assert (summary.answered, summary.absent, summary.unread.total(), summary.not_asked) == (1, 0, 1, 0)
    assert summary.text().splitlines()[0] == "1 answered, 0 NOT ADDRESSED, 1 unread, 0 not asked."


@pytest.mark.parametrize(("silent", "unreadable", "unknown"), [(1, 0.0, False), (2, 0.0, True), (0, 0.2, False), (0, 0.3, True)])
def test_a_quarter_unseen_is_too_much(silent, unreadable, unknown):
    handbook = document(ENGLISH, pages=8, silent_pages=tuple(range(silent)), unreadable=unreadable)
    assert (unseen_text(handbook) is not None) == unknown


def test_an_unknown_language_withholds_nothing():
    assert asked_in(["Tacrolimus?"]) is None
    assert other_language(document(SPANISH), None) is None
    assert other_language(replace(document(SPANISH), sections=()), "en") is None
    assert other_language(document(ENGLISH, language="es"), "en") is not None  # as the catalog says
