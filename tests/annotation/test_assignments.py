"""Two assignments per item, with an order and sides of each annotator's own, and nothing that reveals more."""

from __future__ import annotations

import dataclasses

import pytest

from annotation.label_store.assignments import Choice, list_tasks, next_task, prefetch_tasks, release_assignments
from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.ratings import NewRating, save_draft, submit_rating
from annotation.label_store.results import assignment_rows
from annotation.label_store.studies import AnnotatorProgress, ItemKind, StudyState, list_annotators, list_studies, study_progress
from annotation.label_store.study_creation import NewItem
from tests.support.studies import NOW, item, rate, rate_all, seat_at, step, study_of


def test_each_annotator_has_their_own_order_and_sides(store: LabelStore) -> None:
    study_of(store, 200)
    ana, ben = list_tasks(store, "s", "ana"), list_tasks(store, "s", "ben")
    assert {t.question for t in ana} == {t.question for t in ben}
    assert [t.question for t in ana] != [t.question for t in ben]
    sides = {t.question: t.first for t in ana}
    same = sum(sides[t.question] == t.first for t in ben)
    assert 70 <= same <= 130  # of 200 fair coins, 100 agree; 30 away is four standard deviations
    assert 70 <= sum(t.first.startswith("Alder") for t in ana) <= 130


def test_sides_are_stored_so_that_the_analysis_can_undo_them(lite: LabelStore) -> None:
    study_of(lite, 30)
    shown = {t.assignment_id: t.first for t in list_tasks(lite, "s", "ana")}
    for row in assignment_rows(lite, "s"):
        if row["annotator"] == "ana":
            assert shown[row["seat_id"]] == row["answer_b" if row["swapped"] else "answer_a"]


def test_names_are_shown_only_where_the_study_allows_it(lite: LabelStore) -> None:
    study_of(lite, 1)
    assert (seat_at(lite, "ana", 1).first_name, seat_at(lite, "ana", 1).second_name) == (None, None)


def test_shown_names_are_on_the_side_of_their_answers(lite: LabelStore) -> None:
    study_of(lite, 20, names_shown=True)
    for task in list_tasks(lite, "s", "ana"):
        assert task.first.split()[0] == task.first_name.split()[0]
        assert task.second.split()[0] == task.second_name.split()[0]


def test_work_continues_exactly_where_it_stopped(store: LabelStore) -> None:
    study_of(store, 5)
    for position in (1, 2):
        task = next_task(store, "s", "ana", NOW, "monday")
        assert task.position == position
        submit_rating(store, "ana", NewRating(task.assignment_id, Choice("ABSENT"), str(position)), NOW)
    assert next_task(store, "s", "ana", NOW, "tuesday").position == 3
    assert [bool(task.revision) for task in list_tasks(store, "s", "ana")] == [True, True, False, False, False]


def test_calibration_comes_first_and_is_not_part_of_the_study(store: LabelStore) -> None:
    study_of(store, [item(1, ItemKind.CALIBRATION), item(2), item(3)])
    assert [t.question for t in list_tasks(store, "s", "ana")] == ["Question 1?"]
    assert rate_all(store, "ana") == rate_all(store, "ben") == 1
    step(store, StudyState.CALIBRATION)
    assert {t.question for t in list_tasks(store, "s", "ana")} == {"Question 2?", "Question 3?"}
    assert study_progress(store, "s")[2:] == [AnnotatorProgress("ana", False, 0, 2), AnnotatorProgress("ben", False, 0, 2)]


def test_a_silent_repeat_looks_like_any_item_and_comes_a_quarter_of_the_work_later(lite: LabelStore) -> None:
    again = [item(100 + n, ItemKind.REPEAT, f"i{n:03}", question=f"Question {n}?") for n in range(1, 11)]
    study_of(lite, [item(n) for n in range(1, 101)] + again)
    for annotator in ("ana", "ben"):
        places: dict[str, list[int]] = {}
        for task in list_tasks(lite, "s", annotator):
            places.setdefault(task.question, []).append(task.position)
        gaps = [max(p) - min(p) for p in places.values() if len(p) == 2]
        assert len(gaps) == 10
        assert min(gaps) >= 15  # a quarter of about 100, as evenly as chance spreads them
    assert "repeat" not in {field.name for field in dataclasses.fields(task)}


def test_more_than_two_annotators_claim_unassigned_slots_and_never_both_of_an_item(store: LabelStore) -> None:
    study_of(store, 6, ("ana", "ben", "cem"))
    taken = {name: rate_all(store, name) for name in ("ana", "ben", "cem")}
    assert taken == {"ana": 6, "ben": 6, "cem": 0}
    rows = assignment_rows(store, "s")
    assert len(rows) == 12
    assert len({(row["item_id"], row["annotator"]) for row in rows}) == 12


def test_a_claimed_item_that_is_not_rated_can_be_released(store: LabelStore) -> None:
    study_of(store, 1, ("ana", "ben", "cem"))
    next_task(store, "s", "ana", NOW, "v")
    rate_all(store, "ben")
    assert rate_all(store, "cem") == 0
    assert release_assignments(store, "s", "ana") == 1
    assert rate_all(store, "cem") == 1


def repeated(items: int, repeats: int) -> list[NewItem]:
    again = [item(100 + n, ItemKind.REPEAT, f"i{n:03}", question=f"Question {n}?") for n in range(1, repeats + 1)]
    return [item(n) for n in range(1, items + 1)] + again


def test_an_unassigned_repeat_goes_to_the_two_who_have_the_item_a_quarter_of_the_work_later(
    store: LabelStore,
) -> None:
    team = ("ana", "ben", "cem")
    study_of(store, repeated(30, 4), team)
    while sum(rated_one(store, name) for name in team):
        pass
    rows = assignment_rows(store, "s")
    assert all(row["label"] for row in rows)
    for again in [row for row in rows if row["kind"] == ItemKind.REPEAT]:
        (before,) = [r for r in rows if r["item_id"] == again["repeat_of"] and r["annotator"] == again["annotator"]]
        assert again["position"] - before["position"] >= 6  # a quarter of 68 seats over three
    assert len([row for row in rows if row["kind"] == ItemKind.REPEAT]) == 8


def rated_one(store: LabelStore, annotator: str) -> bool:
    task = next_task(store, "s", annotator, NOW, "v")
    if task is not None:
        submit_rating(store, annotator, NewRating(task.assignment_id, Choice("CONSISTENT"), f"one/{task.assignment_id}"), NOW)
    return task is not None


def test_a_repeat_with_nothing_else_left_comes_early_rather_than_never(lite: LabelStore) -> None:
    study_of(lite, repeated(3, 3), ("ana", "ben", "cem"))  # at 12 seats over three, one item in between is asked for
    assert rate_all(lite, "ana") == 6
    assert len({task.question for task in list_tasks(lite, "s", "ana")}) == 3


def test_prefetched_items_are_an_even_share_and_are_rated_by_their_annotator(store: LabelStore) -> None:
    study_of(store, 12, ("ana", "ben", "cem"))
    assert len(prefetch_tasks(store, "s", "ana", 14)) == 8  # a third of 24 seats
    assert prefetch_tasks(store, "s", "ana", 8) == []
    assert len(prefetch_tasks(store, "s", "ben", 3)) == 3
    ahead = list_tasks(store, "s", "ana")
    assert [task.position for task in ahead] == list(range(1, 9))
    assert len({task.question for task in ahead}) == 8
    assert next_task(store, "s", "ana", NOW, "v").assignment_id == ahead[0].assignment_id
    with pytest.raises(StudyError, match="no task"):
        submit_rating(store, "ben", NewRating(ahead[0].assignment_id, Choice("ABSENT"), "k"), NOW)


def test_with_two_annotators_nothing_is_prefetched(lite: LabelStore) -> None:
    study_of(lite, 3)
    assert prefetch_tasks(lite, "s", "ana", 14) == []


def test_whoever_claims_a_released_item_sees_nothing_of_the_earlier_draft(store: LabelStore) -> None:
    study_of(store, 1, ("ana", "ben", "cem"))
    task = next_task(store, "s", "ana", NOW, "v")
    save_draft(store, "ana", task.assignment_id, Choice("DIVERGENT", comment="I think so"), NOW)
    assert release_assignments(store, "s", "ana") == 1
    for name in ("ben", "cem"):
        assert next_task(store, "s", name, NOW, "w").choice == Choice()


def test_somebody_outside_a_study_learns_nothing_about_it(store: LabelStore) -> None:
    study_of(store, 1)
    for ask in (lambda: next_task(store, "s", "eve", NOW, "v"), lambda: list_tasks(store, "s", "eve")):
        with pytest.raises(StudyError, match="do not take part in a study 's'"):
            ask()
    assert list_studies(store, "eve") == []
    assert [study.study_id for study in list_studies(store, "ana")] == ["s"]


@pytest.mark.parametrize(
    ("annotators", "items", "message"),
    [
        (("ana",), 2, "at least 2"),
        (("ana", "ben"), 0, "it has no items"),
    ],
)
def test_an_impossible_study_is_not_created(lite: LabelStore, annotators, items, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        study_of(lite, items, annotators)
    assert list_studies(lite) == []


def test_the_first_named_annotator_has_seat_a(lite: LabelStore) -> None:
    study_of(lite, 2, ("zoe", "ana"))
    assert list_annotators(lite, "s") == ["zoe", "ana"]
    rate(lite, "zoe", 1, "ABSENT")
    assert [(r["seat"], r["annotator"], r["label"]) for r in assignment_rows(lite, "s")][:2] == [
        ("A", "zoe", "ABSENT"),
        ("B", "ana", None),
    ]
