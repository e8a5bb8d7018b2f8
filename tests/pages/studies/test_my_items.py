"""My items: what an annotator marked is listed, what is still to come is not, and nobody else's work is there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from annotation.label_store.assignments import Choice, list_tasks
from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.ratings import save_draft
from annotation.schemes import PAIRS
from pages.studies.annotate.session import LabellingSession
from pages.studies.my_items.own_items import OwnItem, own_items
from tests.pages.conftest import words_on
from tests.pages.studies.conftest import SignIn
from tests.support.studies import NOW, item, next_task, people, rate, study_of


def rate_next(store: LabelStore, label: str, **other: Any) -> str:
    """Rate Ana's next item; returns its question."""
    task = next_task(store, "s", "ana", NOW, "v")
    assert task is not None
    rate(store, "ana", int("".join(filter(str.isdigit, task.question))), label, **other)
    return task.question


@pytest.fixture
def items(store: LabelStore) -> list[OwnItem]:
    """Ana's items: consistent, divergent with a comment, unsure absent, a choice that is not saved, and two to come."""
    study_of(store, 6)
    rate_next(store, "CONSISTENT")
    rate_next(store, "DIVERGENT", significance="high", comment="3 or 6 months?")
    rate_next(store, "ABSENT", flagged=True)
    begun = next_task(store, "s", "ana", NOW, "v")
    assert begun is not None
    save_draft(store, "ana", begun.assignment_id, Choice("CONTRADICTORY"), NOW)
    rate(store, "ben", 1, "DIVERGENT", "high", flagged=True, comment="SAIDBYBEN")
    return own_items(list_tasks(store, "s", "ana"), PAIRS)


def test_every_item_has_one_state_and_the_annotator_s_own_words(items):
    assert [(own.position, own.state, own.choice, own.unsure, own.comment) for own in items] == [
        (1, "labelled", "Consistent", False, ""),
        (2, "labelled", "Divergent, high", False, "3 or 6 months?"),
        (3, "labelled", "Absent", True, ""),
        (4, "begun", "Contradictory", False, ""),
        (5, "to come", "", False, ""),
        (6, "to come", "", False, ""),
    ]
    assert "SAIDBYBEN" not in repr(items)


def test_only_the_questions_of_marked_items_are_listed_so_that_repeats_stay_silent(items):
    assert [bool(own.question) for own in items] == [False, True, True, True, False, False]


def test_the_first_item_without_a_label_may_be_opened_and_those_after_it_not(store):
    study_of(store, 3)
    assert [(own.state, own.is_open) for own in own_items(list_tasks(store, "s", "ana"), PAIRS)] == [
        ("next", True), ("to come", False), ("to come", False)
    ]  # fmt: skip


def grid_data(at: Any) -> list[dict[str, Any]]:
    (element,) = (component for component in at.get("bidi_component") if component.proto.component_name.endswith("own_items"))
    data: list[dict[str, Any]] = json.loads(element.proto.json)["items"]
    return data


def test_the_page_sends_the_browser_the_items_of_the_chosen_kind(items, as_user: SignIn):
    at = as_user("ana", "my_items")
    assert not at.exception
    assert [sent["position"] for sent in grid_data(at)] == [1, 2, 3, 4, 5, 6]
    assert "Unsure (1)" in str(at.button_group[0].proto.options)
    assert [sent["position"] for sent in grid_data(at.button_group[0].set_value("To do").run())] == [4, 5, 6]
    assert [sent["position"] for sent in grid_data(at.button_group[0].set_value("With a comment").run())] == [2]


def test_names_and_other_people_s_work_are_neither_sent_nor_kept(store, as_user: SignIn):
    study_of(store, [item(number, name_a="NAMEOFA", handbook_a="CODEOFA") for number in (1, 2, 3)])
    rate(store, "ben", 1, "DIVERGENT", "high", comment="SAIDBYBEN")
    at = as_user("ana", "my_items")
    everything = repr(at.session_state.to_dict()) + json.dumps(grid_data(at)) + words_on(at)
    assert [word for word in ("NAMEOFA", "CODEOFA", "SAIDBYBEN") if word in everything] == []
    assert "says" not in json.dumps(grid_data(at))


def test_an_item_is_opened_on_the_board_and_one_to_come_or_of_somebody_else_is_not(items, store):
    session = LabellingSession("s", "ana")
    session.open_item(store, items[1].assignment)
    assert session.view([])["current"] == items[1].assignment
    of_ben = list_tasks(store, "s", "ben")[0].assignment_id
    for assignment in (items[5].assignment, of_ben, "nonsense"):
        with pytest.raises(StudyError, match="You have not come to an item"):
            session.open_item(store, assignment)
    assert session.view([])["current"] == items[1].assignment


def test_an_old_link_is_explained_and_the_board_goes_on(items, as_user: SignIn):
    at = as_user("ana", "annotate")
    at.query_params["item"] = "nonsense"
    at.run()
    assert "You have not come to an item" in words_on(at)
    assert "item" not in at.query_params
    assert [found for found in at.get("bidi_component") if found.proto.component_name.endswith("labelling_widget")]


def test_somebody_without_a_study_gets_a_message(store, as_user: SignIn):
    people(store, "zoe")
    assert "There is no study for you to label now" in words_on(as_user("zoe", "my_items"))
