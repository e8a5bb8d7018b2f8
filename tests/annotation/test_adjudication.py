"""A third person decides disputes, without names and without the judge; gold labels record their source."""

from __future__ import annotations

import dataclasses

import pytest

from annotation.label_store.engine import ConflictError, LabelStore, StudyError
from annotation.label_store.results import NewDecision, submit_decision
from annotation.label_store.studies import ItemKind, StudyState, find_study
from annotation.studies.adjudication import (
    ADJUDICATED,
    AGREED,
    BlindRating,
    DisputedItem,
    close_study,
    gold_labels,
    list_disputes,
)
from annotation.studies.verification import verify_study
from tests.support.studies import NOW, item, people, rate, step, study_of

WHY = "One says three months, the other six."


@pytest.fixture
def disputed(store: LabelStore) -> LabelStore:
    """Items 1 and 2 agreed, 3 and 4 disputed, 5 rated once, 6 a repeat on which both differ."""
    study_of(store, [*(item(n) for n in range(1, 6)), item(6, ItemKind.REPEAT, "i001")])
    people(store, "jo", role="adjudicator")
    for number, a, b in (
        (1, "ABSENT", "ABSENT"),
        (3, "DIVERGENT", "COMPLEMENTARY"),
        (4, "ABSENT", "CONSISTENT"),
        (6, "ABSENT", "CONSISTENT"),
    ):
        rate(store, "ana", number, a, "low" if a == "DIVERGENT" else None)
        rate(store, "ben", number, b)
    rate(store, "ana", 2, "DIVERGENT", "low"), rate(store, "ben", 2, "DIVERGENT", "high")
    rate(store, "ana", 5, "ABSENT")
    step(store, StudyState.LABELLING, incomplete=True)
    return store


def ruling(number: int, label: str = "DIVERGENT", significance: str | None = "medium", **other: object) -> NewDecision:
    return NewDecision(
        **{"item_id": f"i{number:03}", "label": label, "significance": significance, "reason": WHY, "key": f"k{number}", **other}
    )


def test_only_items_whose_two_labels_differ_are_in_the_queue(disputed: LabelStore) -> None:
    assert sorted(dispute.item_id for dispute in list_disputes(disputed, "s")) == ["i003", "i004"]


def test_disputes_are_hidden_during_labelling(lite: LabelStore) -> None:
    study_of(lite, 1)
    rate(lite, "ana", 1, "ABSENT"), rate(lite, "ben", 1, "CONSISTENT")
    assert list_disputes(lite, "s") == []


def test_the_adjudicator_sees_neither_names_nor_the_judge(disputed: LabelStore) -> None:
    fields = {field.name for kind in (DisputedItem, BlindRating) for field in dataclasses.fields(kind)}
    assert fields == {
        "item_id",
        "question",
        "first",
        "second",
        "ratings",
        "decision",
        "label",
        "significance",
        "flagged",
        "comment",
        "rationale",
        "reference",
        "swapped",  # which side is shown first: of answers, not of people
    }
    assert not any(name in repr(list_disputes(disputed, "s")) for name in ("ana", "ben", "handbook"))


def test_the_order_of_ratings_does_not_reveal_the_annotator(lite: LabelStore) -> None:
    study_of(lite, 30)
    for number in range(1, 31):
        rate(lite, "ana", number, "ABSENT"), rate(lite, "ben", number, "CONSISTENT")
    step(lite, StudyState.LABELLING)
    first = [dispute.ratings[0].label for dispute in list_disputes(lite, "s")]
    assert 6 <= first.count("ABSENT") <= 24


def test_gold_is_the_shared_label_or_the_decision(disputed: LabelStore) -> None:
    submit_decision(disputed, "jo", ruling(3), NOW)
    gold = {name: (label.label, label.significance, label.source) for name, label in gold_labels(disputed, "s").items()}
    assert gold == {
        "i001": ("ABSENT", None, AGREED),
        "i002": ("DIVERGENT", None, AGREED),  # low and high: no significance that both gave
        "i003": ("DIVERGENT", "medium", ADJUDICATED),
    }
    assert (gold_labels(disputed, "s")["i003"].decision.adjudicator, gold_labels(disputed, "s")["i003"].decision.reason) == (
        "jo",
        WHY,
    )


def test_a_study_closes_when_the_last_dispute_is_decided(disputed: LabelStore) -> None:
    submit_decision(disputed, "jo", ruling(3), NOW)
    with pytest.raises(StudyError, match="1 disputes are undecided"):
        close_study(disputed, "s", NOW)
    submit_decision(disputed, "jo", ruling(4, "ABSENT", None), NOW)
    assert close_study(disputed, "s", NOW) is StudyState.CLOSED
    assert find_study(disputed, "s").state is StudyState.CLOSED
    assert [dispute.decision.reason for dispute in list_disputes(disputed, "s", open_only=False)] == [WHY, WHY]
    assert verify_study(disputed, "s") == []


def test_a_decision_is_revised_by_another_one_and_sending_it_twice_stores_it_once(disputed: LabelStore) -> None:
    assert submit_decision(disputed, "jo", ruling(3), NOW) == submit_decision(disputed, "jo", ruling(3), NOW)
    submit_decision(disputed, "jo", ruling(3, "COMPLEMENTARY", None, key="again", revises=1), NOW)
    assert (gold_labels(disputed, "s")["i003"].label, gold_labels(disputed, "s")["i003"].decision.revision) == (
        "COMPLEMENTARY",
        2,
    )
    with pytest.raises(ConflictError):
        submit_decision(disputed, "jo", ruling(3, key="late", revises=1), NOW)


@pytest.mark.parametrize(
    ("who", "what", "message"),
    [
        ("jo", ruling(3, reason="  "), "needs a reason"),
        ("jo", ruling(3, significance=None), "needs a significance"),
        ("jo", ruling(99), "no item 'i099'"),
        ("ana", ruling(3), "somebody else has to adjudicate it"),
    ],
)
def test_an_invalid_decision_is_refused(disputed: LabelStore, who: str, what: NewDecision, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        submit_decision(disputed, who, what, NOW)
    assert len(list_disputes(disputed, "s")) == 2
