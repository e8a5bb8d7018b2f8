"""Marked sentences: stored with the rating about answers a and b, in the hash chain, and exported as text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import text

from annotation.label_store.assignments import Choice, list_tasks
from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.ratings import NewRating, save_draft, submit_rating
from annotation.label_store.rationales import MarkedSentence
from annotation.label_store.studies import StudyState
from annotation.studies.adjudication import list_disputes
from annotation.studies.marked_items import MarkedItem, overlap_of_study, rationale_overlap
from annotation.studies.study_tables import ratings_table
from annotation.studies.verification import verify_study
from tests.support.studies import NOW, history, item, rate, seat_at, step, study_of

TEXTS = {"answer_a": "Rest first. Wait three months.", "answer_b": "Wait a year. Ask us."}


def marking(task, *sentences: str, label: str = "DIVERGENT") -> Choice:
    """A choice whose rationale are these sentences of the task, on the side where the annotator sees them."""
    answers = (task.first, task.second)
    marked = [
        MarkedSentence(side, answer.index(words), answer.index(words) + len(words))
        for side, answer in enumerate(answers)
        for words in sentences
        if words in answer
    ]
    return Choice(label, "high" if label == "DIVERGENT" else None, rationale=tuple(marked))


def submit(store: LabelStore, annotator: str, number: int, *sentences: str, key: str = "k") -> None:
    task = seat_at(store, annotator, number)
    new = NewRating(task.assignment_id, marking(task, *sentences), f"{key}/{annotator}/{number}", task.revision)
    submit_rating(store, annotator, new, NOW)


@pytest.fixture
def marked(store: LabelStore) -> LabelStore:
    """Eight items, so that both sides come first somewhere; ana marked a sentence of each answer of every one."""
    study_of(store, [item(number, **TEXTS) for number in range(1, 9)])
    for number in range(1, 9):
        submit(store, "ana", number, "Wait three months.", "Wait a year.")
    return store


def test_marked_sentences_are_about_answers_a_and_b_whatever_side_they_were_seen_on(marked: LabelStore) -> None:
    table = ratings_table(marked, "s").query("annotator == 'ana'")
    assert set(table["shown_first"]) == {"a", "b"}
    assert set(table["rationale_a"]) == {"Wait three months."}
    assert set(table["rationale_b"]) == {"Wait a year."}
    unrated = ratings_table(marked, "s").query("annotator == 'ben'")
    assert set(unrated["rationale_a"]) == {""}


def test_the_annotator_gets_the_same_sentences_back_and_a_revision_has_its_own(marked: LabelStore) -> None:
    for task in list_tasks(marked, "s", "ana"):
        assert task.rated is not None
        assert task.rated.rationale == marking(task, "Wait three months.", "Wait a year.").rationale
    submit(marked, "ana", 1, "Ask us.", key="again")
    task = seat_at(marked, "ana", 1)
    assert task.rated is not None
    assert task.rated.rationale == marking(task, "Ask us.").rationale
    assert len(history(marked, task.assignment_id, "ana")) == 2
    draft = marking(task, "Rest first.")
    save_draft(marked, "ana", task.assignment_id, draft, NOW)
    assert seat_at(marked, "ana", 1).choice.rationale == draft.rationale


def test_a_changed_or_added_rationale_is_found_and_ratings_without_one_keep_the_hash_they_had(marked: LabelStore) -> None:
    rate(marked, "ben", 1, "ABSENT")
    assert verify_study(marked, "s") == []
    with marked.begin() as tx:
        tx.execute(text("drop trigger ratings_no_update" if marked.sqlite else "drop trigger ratings_sealed on ratings"))
        tx.execute(text("update ratings set rationale = null where seq = 2"))
        tx.execute(text("update ratings set rationale = '[[0,0,4]]' where seq = 9"))
    assert verify_study(marked, "s") == [f"ratings: entry {seq} was changed after it was written" for seq in (2, 9)]


@pytest.mark.parametrize("wrong", [(0, 0, 99), (0, 5, 5), (2, 0, 4), (0, -1, 4)])
def test_a_sentence_that_is_not_in_the_answers_is_refused(lite: LabelStore, wrong: tuple[int, int, int]) -> None:
    study_of(lite, [item(1, **TEXTS)])
    task = seat_at(lite, "ana", 1)
    choice = replace(marking(task), rationale=(MarkedSentence(*wrong),))
    with pytest.raises(StudyError, match="Nothing was saved"):
        submit_rating(lite, "ana", NewRating(task.assignment_id, choice, "k"), NOW)
    assert history(lite, task.assignment_id, "ana") == []


def test_an_adjudicator_sees_what_both_marked_on_the_sides_of_the_dispute(marked: LabelStore) -> None:
    for number in range(1, 9):
        rate(marked, "ben", number, "ABSENT")
    step(marked, StudyState.LABELLING)
    disputes = list_disputes(marked, "s")
    assert {dispute.swapped for dispute in disputes} == {True, False}
    for dispute in disputes:
        ana = next(rating for rating in dispute.ratings if rating.label == "DIVERGENT")
        shown = {(dispute.first, dispute.second)[side][start:end] for side, start, end in ana.rationale}
        assert shown == {"Wait three months.", "Wait a year."}


def overlap(store: LabelStore) -> dict[str, tuple[float, ...]]:
    columns = ["rated", "one", "n", "value"]
    return {row["items"]: tuple(row[name] for name in columns) for row in overlap_of_study(store, "s").to_dict("records")}


def test_overlap_is_the_f1_of_the_sentences_that_both_marked_and_an_unmarked_item_is_not_a_zero(marked: LabelStore) -> None:
    submit(marked, "ben", 1, "Wait three months.", "Wait a year.")  # 2 x 2 of 2 + 2: 1
    submit(marked, "ben", 2, "Wait a year.")  # 2 x 1 of 2 + 1
    submit(marked, "ben", 3, "Ask us.")  # nothing in common: 0
    rate(marked, "ben", 4, "ABSENT")  # another label, and nothing marked
    found = overlap(marked)
    assert found["all"] == pytest.approx((4, 1, 3, (1 + 2 / 3 + 0) / 3))
    assert found["same"] == pytest.approx((3, 0, 3, (1 + 2 / 3 + 0) / 3))
    assert found["different"][:3] == (1, 1, 0)
    assert found["different"][3] != found["different"][3]  # not known, and not zero


def test_the_overlap_of_many_items_has_an_interval_around_its_mean() -> None:
    one, other = frozenset({(0, 0, 9)}), frozenset({(0, 0, 9), (1, 0, 5)})
    table = rationale_overlap([MarkedItem(True, one, other), MarkedItem(True, one, one)] * 30)
    assert table["value"][0] == pytest.approx((2 / 3 + 1) / 2)
    assert 2 / 3 < table["low"][0] < table["value"][0] < table["high"][0] < 1
    assert table["n"].tolist() == [60, 60, 0]
