"""The exit question: asked after the last item only, stored in the ledger, answered once, and counted by Bang's index."""

from __future__ import annotations

import pytest

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.exit_questions import answer_exit_question, exit_questions, record_institutions
from annotation.label_store.studies import StudyState
from annotation.studies.exit_answers import NOT_ASKED, exit_answers, exit_sentence, guesses_of
from annotation.studies.verification import verify_study
from tests.support.studies import NOW, item, rate_all, step, study_of

CENTERS = {"alder": "Alder Center", "birch": "Birch Center"}


@pytest.fixture
def asked(store: LabelStore) -> LabelStore:
    study_of(store, [item(n) for n in range(1, 5)])
    with store.begin() as tx:
        record_institutions(tx, "s", CENTERS, NOW)
    return store


def test_nothing_is_asked_before_the_last_item_is_rated(asked: LabelStore) -> None:
    assert exit_questions(asked, "s", "ana").open == ()
    rate_all(asked, "ana")
    found = exit_questions(asked, "s", "ana")
    assert (found.institutions, len(found.open), found.answered) == (("Alder Center", "Birch Center"), 4, 0)
    assert exit_questions(asked, "s", "ben").open == ()


def test_a_study_without_institutions_asks_nothing(store: LabelStore) -> None:
    study_of(store, 2)
    rate_all(store, "ana")
    assert exit_questions(store, "s", "ana").institutions == ()
    assert exit_sentence(store, "s") == NOT_ASKED
    assert exit_answers(store, "s").empty


def test_answers_are_sealed_and_counted(asked: LabelStore) -> None:
    rate_all(asked, "ana")
    for number, one in enumerate(exit_questions(asked, "s", "ana").open):
        right = "Alder Center" if one.answer.startswith("Alder") else "Birch Center"
        answer_exit_question(asked, "s", "ana", one.assignment_id, right if number < 3 else None, NOW)
    guesses, choices = guesses_of(asked, "s")
    assert [(one.rater, one.named in (one.institution, None)) for one in guesses] == [("A", True)] * 4
    assert choices == 2
    first = exit_answers(asked, "s").to_dict("records")[0]
    assert (first["of"], first["n"], first["right"], first["wrong"], first["unknown"], first["index"]) == (
        "all",
        4,
        3,
        0,
        1,
        0.75,
    )
    assert "Bang's blinding index is 0.75" in exit_sentence(asked, "s")
    assert verify_study(asked, "s") == []
    assert (exit_questions(asked, "s", "ana").open, exit_questions(asked, "s", "ana").answered) == ((), 4)


def test_an_answer_is_given_once_and_to_what_was_asked(asked: LabelStore) -> None:
    rate_all(asked, "ana")
    one = exit_questions(asked, "s", "ana").open[0].assignment_id
    with pytest.raises(StudyError, match="not one of the institutions"):
        answer_exit_question(asked, "s", "ana", one, "Cedar Center", NOW)
    answer_exit_question(asked, "s", "ana", one, None, NOW)
    with pytest.raises(StudyError, match="answered it already"):
        answer_exit_question(asked, "s", "ana", one, "Alder Center", NOW)
    with pytest.raises(StudyError, match="not asked"):
        answer_exit_question(asked, "s", "ben", one, None, NOW)


def test_after_labelling_nothing_is_asked_any_more(asked: LabelStore) -> None:
    for name in ("ana", "ben"):
        rate_all(asked, name)
    step(asked, StudyState.LABELLING)
    assert exit_questions(asked, "s", "ana").open == ()
