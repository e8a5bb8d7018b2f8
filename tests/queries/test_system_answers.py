"""One question put to several systems: every state of an answer is told apart, and nothing of another question is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.errors import NotInRunError
from audit.evaluation.criteria import Criterion
from audit.queries.system_answers import (
    ANSWERED,
    NOT_ASKED,
    NOT_IN_RELEASE,
    REFUSED,
    UNREAD,
    system_question,
    system_question_list,
)
from audit.store.connection import Connection
from tests.support.systems import answered, judged, preferred, system_tables, systems_store


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> Connection:
    return systems_store(tmp_path_factory.mktemp("systems"), system_tables())


def test_the_question_with_its_references_and_every_systems_answer(con: Connection) -> None:
    question = system_question(con, "q1")
    assert (question.text, question.question_type, question.gold_sections) == ("What about q1?", "treatment", ("s1",))
    assert question.references == ("Drink; rest.", "Drink more.")
    assert [(answer.name, answer.mode, answer.text) for answer in question.answers] == [
        ("Model alone", "closed_book", "Drink."), ("Model with retrieval", "retrieval", "Drink water."),
    ]  # fmt: skip


def test_evidence_usage_and_measures_belong_to_their_answer(con: Connection) -> None:
    alone, rag = system_question(con, "q1").answers
    assert [(passage.section_id, passage.score, passage.rank) for passage in rag.evidence] == [("s1", 0.9, 1), ("s2", 0.5, 2)]
    assert rag.usage == (90, None, None)
    assert dict(rag.measures) == {"bleu_1": 0.5, "p_at_5": 0.2}
    assert (alone.evidence, dict(alone.measures)) == ((), {})


def test_answered_refused_and_unread_are_three_states(con: Connection) -> None:
    assert [answer.state for answer in system_question(con, "q1").answers] == [ANSWERED, ANSWERED]
    alone, rag = system_question(con, "q3").answers
    assert (alone.state, alone.unread_reason, rag.state) == (UNREAD, "cut_short", REFUSED)


def test_not_asked_is_not_the_same_as_an_answer_that_is_not_public(tmp_path: Path) -> None:
    tables = {**system_tables(), "system_answers": [answered("q1", "alone", "Drink.")], "criteria": [judged("q2", "rag")]}
    con = systems_store(tmp_path, tables)
    assert [answer.state for answer in system_question(con, "q1").answers] == [ANSWERED, NOT_ASKED]
    assert [answer.state for answer in system_question(con, "q2").answers] == [NOT_ASKED, NOT_IN_RELEASE]


def test_scores_are_those_of_the_answer_and_of_the_reference(con: Connection) -> None:
    question = system_question(con, "q2")
    (own,) = question.answers[0].evaluations
    assert (own.judge, own.scores[Criterion.MISSING_CONTENT], own.scores[Criterion.GRAMMATICALITY]) == ("judge-1", -1, 1)
    (reference,) = question.reference_evaluations
    assert reference.scores[Criterion.EMPATHY] == 1


def test_preferences_name_both_systems(con: Connection) -> None:
    named, anonymous = system_question(con, "q2").preferences
    assert (named.first, named.second, named.preference, named.shown_first) == ("Model alone", "Model with retrieval", "B", "A")
    assert (anonymous.rater, anonymous.shown_first) == (None, None)


def test_questions_with_two_answers_come_first_and_among_them_the_most_different(con: Connection) -> None:
    questions = system_question_list(con).set_index("question_id")
    # q2: sums 0 and 3; q1: 3 and 3; q3 has one text only, the refusal
    assert list(questions.index) == ["q2", "q1", "q3"]
    assert questions["spread"].to_dict()["q2"] == 3


def test_a_question_that_only_raters_saw_is_listed(tmp_path: Path) -> None:
    tables = {**system_tables(), "system_answers": [], "criteria": [], "preferences": [preferred("q3", "A")]}
    assert list(system_question_list(systems_store(tmp_path, tables))["question_id"]) == ["q3"]


def test_an_unknown_question_is_an_error_with_the_nearest_name(con: Connection) -> None:
    with pytest.raises(NotInRunError, match="Question 'q9' is not in this run"):
        system_question(con, "q9")


@pytest.mark.parametrize(
    ("gold", "known"), [(["s1"], [True, False]), (["book/s2"], [False, True]), (["other/s2"], [False, False]), ([], [None, None])]
)
def test_a_gold_section_is_named_by_its_id_or_with_its_handbook(
    tmp_path: Path, gold: list[str], known: list[bool | None]
) -> None:
    tables = system_tables()
    tables["references"] = [{"question_id": "q1", "answers": ["Drink."], "gold_sections": gold}]
    evidence = [{"handbook_id": "book", "section_id": name, "text": "Drink."} for name in ("s1", "s2")]
    tables["system_answers"] = [answered("q1", "rag", "Drink.", evidence=evidence)]
    _, rag = system_question(systems_store(tmp_path, tables), "q1").answers
    assert [passage.contains_answer for passage in rag.evidence] == known
