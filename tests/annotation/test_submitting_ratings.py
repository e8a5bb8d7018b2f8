"""An acknowledged rating is stored once, belongs to its item, and is never overwritten."""

from __future__ import annotations

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from annotation.label_store.assignments import Choice, list_tasks, next_task
from annotation.label_store.engine import ConflictError, LabelStore, StudyError
from annotation.label_store.ratings import NewRating, save_draft, submit_and_next, submit_rating
from annotation.label_store.results import assignment_rows
from annotation.label_store.studies import StudyState
from tests.support.studies import NOW, history, later, rate, rate_all, rating_history, seat_at, step, study_of

DIVERGES = Choice("DIVERGENT", "high", True, "three or six months?")


def test_a_rating_is_read_back_unchanged(store: LabelStore) -> None:
    study_of(store, 3)
    task = seat_at(store, "ana", 2).assignment_id
    submit_rating(store, "ana", NewRating(task, DIVERGES, "k1"), NOW)
    assert list_tasks(store, "s", "ana")[0].rated == DIVERGES
    assert [row["label"] for row in assignment_rows(store, "s") if row["item_id"] == "i002"] == ["DIVERGENT", None]


def test_the_same_rating_sent_twice_is_one_row(store: LabelStore) -> None:
    study_of(store, 2)
    press = NewRating(seat_at(store, "ana", 1).assignment_id, DIVERGES, "k1")
    assert submit_rating(store, "ana", press, NOW) == submit_rating(store, "ana", press, later(9))
    assert len(rating_history(store, "s")) == 1


def test_the_same_rating_is_acknowledged_again_even_after_the_study_advanced(store: LabelStore) -> None:
    study_of(store, 1)
    press = NewRating(seat_at(store, "ana", 1).assignment_id, DIVERGES, "k1")
    submit_rating(store, "ana", press, NOW)
    step(store, StudyState.LABELLING, incomplete=True)
    assert submit_rating(store, "ana", press, NOW).label == "DIVERGENT"


def test_a_key_used_for_another_item_stores_nothing(store: LabelStore) -> None:
    study_of(store, 2)
    submit_rating(store, "ana", NewRating(seat_at(store, "ana", 1).assignment_id, DIVERGES, "k1"), NOW)
    with pytest.raises(ConflictError, match="another item"):
        submit_rating(store, "ana", NewRating(seat_at(store, "ana", 2).assignment_id, DIVERGES, "k1"), NOW)


def test_a_revision_becomes_current_and_the_first_rating_stays(store: LabelStore) -> None:
    study_of(store, 2)
    rate(store, "ana", 1, "CONSISTENT")
    rate(store, "ana", 1, "COMPLEMENTARY")
    task = seat_at(store, "ana", 1)
    assert (task.revision, task.choice.label) == (2, "COMPLEMENTARY")
    assert [rating.label for rating in history(store, task.assignment_id, "ana")] == ["CONSISTENT", "COMPLEMENTARY"]


def test_of_two_windows_the_slower_one_gets_a_message_and_changes_nothing(store: LabelStore) -> None:
    study_of(store, 1)
    task = seat_at(store, "ana", 1).assignment_id
    submit_rating(store, "ana", NewRating(task, Choice("CONSISTENT"), "window 1"), NOW)
    with pytest.raises(ConflictError, match="another window"):
        submit_rating(store, "ana", NewRating(task, Choice("COMPLEMENTARY"), "window 2"), NOW)
    assert [row["label"] for row in rating_history(store, "s")] == ["CONSISTENT"]


def test_nobody_can_rate_another_annotators_assignment(store: LabelStore) -> None:
    study_of(store, 1)
    task = seat_at(store, "ana", 1).assignment_id
    for attempt in (
        lambda: submit_rating(store, "ben", NewRating(task, DIVERGES, "k"), NOW),
        lambda: save_draft(store, "ben", task, DIVERGES, NOW),
    ):
        with pytest.raises(StudyError, match="You have no task"):
            attempt()
    assert rating_history(store, "s") == []


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (Choice("DIVERGENT"), "needs a significance: low, medium, high"),
        (Choice("CONSISTENT", "low"), "has no significance"),
        (Choice("SIMILAR"), "'SIMILAR' is not in the vocabulary"),
        (Choice(None), "The label is missing"),
        (Choice("ABSENT", comment="x" * 4_001), "4,001 characters"),
    ],
)
def test_an_incomplete_rating_is_refused_with_what_is_allowed(lite: LabelStore, choice: Choice, message: str) -> None:
    study_of(lite, 1)
    with pytest.raises(StudyError, match=message):
        submit_rating(lite, "ana", NewRating(seat_at(lite, "ana", 1).assignment_id, choice, "k"), NOW)
    assert rating_history(lite, "s") == []


def test_a_draft_is_restored_and_enters_no_figure_until_it_is_submitted(store: LabelStore) -> None:
    study_of(store, 1)
    task = next_task(store, "s", "ana", NOW, "monday").assignment_id
    save_draft(store, "ana", task, Choice("DIVERGENT", None, True, "hm"), NOW)
    save_draft(store, "ana", task, Choice("DIVERGENT", None, True, "hm, which?"), NOW)
    resumed = next_task(store, "s", "ana", later(9), "tuesday")
    assert resumed.assignment_id == task
    assert resumed.draft == Choice("DIVERGENT", None, True, "hm, which?")
    assert (resumed.rated, rating_history(store, "s")) == (None, [])
    submit_rating(store, "ana", NewRating(task, DIVERGES, "k"), later(10))
    assert list_tasks(store, "s", "ana")[0].draft is None


def test_the_servers_clock_runs_from_showing_to_submitting_within_one_session(store: LabelStore) -> None:
    study_of(store, 2)
    first = next_task(store, "s", "ana", NOW, "monday")
    next_task(store, "s", "ana", later(4), "monday")  # a page that is drawn again does not restart the clock
    rating, second = submit_and_next(store, "ana", NewRating(first.assignment_id, Choice("ABSENT"), "1"), later(10), "monday")
    assert rating.seconds == 10.0
    next_task(store, "s", "ana", later(90_000), "tuesday")  # the night in between is not reading time
    assert submit_rating(store, "ana", NewRating(second.assignment_id, Choice("ABSENT"), "2"), later(90_007)).seconds == 7.0


def test_where_the_clock_was_set_back_in_between_the_time_is_unknown_and_not_negative(store: LabelStore) -> None:
    study_of(store, 1)
    task = next_task(store, "s", "ana", later(86_400), "v")
    rating = submit_rating(store, "ana", NewRating(task.assignment_id, Choice("ABSENT"), "1"), NOW)
    assert rating.seconds is None
    assert [row["milliseconds"] for row in rating_history(store, "s")] == [None]


def test_the_database_itself_refuses_to_change_or_delete_a_rating(store: LabelStore) -> None:
    study_of(store, 1)
    rate(store, "ana", 1, "ABSENT")
    for statement in ("update ratings set label = 'CONSISTENT'", "delete from ratings"):
        with pytest.raises(DBAPIError, match="append-only"), store.begin() as tx:
            tx.execute(text(statement))
    assert [row["label"] for row in rating_history(store, "s")] == ["ABSENT"]


def test_a_study_that_advanced_accepts_no_more_ratings(store: LabelStore) -> None:
    study_of(store, 2)
    task = seat_at(store, "ana", 1).assignment_id
    with pytest.raises(StudyError, match="4 ratings of the labelling round are missing"):
        step(store, StudyState.LABELLING)
    step(store, StudyState.LABELLING, incomplete=True)
    with pytest.raises(StudyError, match="in the state adjudication"):
        submit_rating(store, "ana", NewRating(task, DIVERGES, "k"), NOW)
    assert next_task(store, "s", "ana", NOW, "v") is None


def test_advancing_from_a_state_that_somebody_else_left_is_refused(store: LabelStore) -> None:
    study_of(store, 1)
    rate_all(store, "ana"), rate_all(store, "ben")
    assert step(store, StudyState.LABELLING) is StudyState.ADJUDICATION
    with pytest.raises(StudyError, match="no longer in the state labelling"):
        step(store, StudyState.LABELLING)


def test_a_character_that_a_database_cannot_store_is_replaced_visibly(store: LabelStore) -> None:
    study_of(store, 1)
    assert rate(store, "ana", 1, "ABSENT", comment="a\0b\ud800c").comment == "a\ufffdb\ufffdc"
