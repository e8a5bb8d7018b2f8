"""The Adjudicate page: disputes without names and without the judge; a decision with its reason."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import select

from annotation.label_store.results import decisions_by_item
from annotation.label_store.schema import decisions
from annotation.label_store.studies import StudyState, find_study
from annotation.studies.verification import verify_study
from pages.studies.adjudicate.adjudication import Adjudication
from tests.pages.conftest import words_on
from tests.pages.studies.conftest import SignIn
from tests.support.studies import rate, step, study_of


@pytest.fixture
def disputed(folk):
    """Three items in adjudication; ana and ben differ on two of them."""
    study_of(folk, 3)
    for number in (1, 2, 3):
        rate(folk, "ana", number, "CONSISTENT", comment="ana <b>thinks</b>")
        rate(folk, "ben", number, "CONSISTENT" if number == 3 else "ABSENT")
    step(folk, StudyState.LABELLING)
    return folk


@pytest.fixture
def work(disputed) -> Adjudication:
    """Ada's session in that study."""
    return Adjudication(find_study(disputed, "s"), "ada")


def board_data(at) -> dict[str, Any]:
    """What the page sends to the board."""
    (element,) = (part for part in at.get("bidi_component") if part.proto.component_name.endswith("adjudication_widget"))
    data: dict[str, Any] = json.loads(element.proto.json)
    return data


def decision(task: dict[str, Any], name: str, label: str, reason: str, significance: str | None = None) -> dict[str, Any]:
    chosen = {"label": label, "significance": significance, "comment": reason, "flagged": False}
    return {**chosen, "kind": "submit", "assignment": task["assignment"], "key": name, "revises": task["revision"]}


def shown(work: Adjudication) -> dict[str, Any]:
    view = work.view([])
    return next(task for task in view["tasks"] if task["assignment"] == view["current"])


@pytest.mark.parametrize("name", ["ada", "petra"])
def test_a_dispute_is_shown_without_who_chose_what(name, disputed, as_user: SignIn):
    at = as_user(name, "adjudicate")
    assert not at.exception
    data = board_data(at)
    assert (data["rated"], data["total"], len(data["tasks"])) == (0, 2, 2)
    ratings = data["tasks"][0]["ratings"]
    assert {rating["label"] for rating in ratings} == {"Absent", "Consistent"}
    assert [rating["who"] for rating in ratings] == ["One annotator", "The other annotator"]
    sent = json.dumps(data) + repr(at.session_state.to_dict())
    assert "ana <b>thinks</b>" in sent  # a comment goes to the browser as text, which sets it as text
    assert [word for word in ("ben", "Alder Handbook", "birch") if word in json.dumps(data)] == []


def test_a_decision_with_a_reason_leaves_the_queue_and_is_one_key_away(work, disputed):
    event = decision(shown(work), "a/1", "ABSENT", "Only one answers.")
    for _ in range(3):
        work.handle([event])
    (stored,) = decisions_by_item(disputed, "s").values()
    assert (stored.adjudicator, stored.label, stored.reason, stored.revision) == ("ada", "ABSENT", "Only one answers.", 1)
    view = work.view([event])
    assert (view["rated"], view["handled"], view["recent"]) == (1, ["a/1"], [event["assignment"]])
    assert view["current"] != event["assignment"]
    assert event["assignment"] in {task["assignment"] for task in view["tasks"]}


def test_a_decision_without_a_reason_or_significance_is_not_stored(work, disputed):
    task = shown(work)
    events = [decision(task, "a/1", "ABSENT", " "), decision(task, "a/2", "DIVERGENT", "Other figures.")]
    work.handle(events)
    failed = work.view(events)["failed"]
    assert "needs a reason" in failed["a/1"]
    assert "needs a significance" in failed["a/2"]
    assert decisions_by_item(disputed, "s") == {}


def test_without_a_study_in_adjudication_there_is_nothing_to_decide(folk, as_user: SignIn):
    assert "nothing to decide now" in words_on(as_user("ada", "adjudicate"))


def test_a_decision_is_revised_by_another_one_and_the_first_is_kept(work, disputed):
    task = shown(work)
    work.handle([decision(task, "a/1", "ABSENT", "Only one answers."), {"kind": "open", "key": "a/2", **_named(task)}])
    again = shown(work)
    assert (again["label"], again["comment"], again["revision"]) == ("ABSENT", "Only one answers.", 1)
    work.handle([decision(again, "a/3", "DIVERGENT", "Both answer, with other figures.", "high")])
    (stored,) = decisions_by_item(disputed, "s").values()
    assert (stored.revision, stored.label, stored.significance) == (2, "DIVERGENT", "high")
    with disputed.read() as con:
        labels = con.execute(select(decisions.c.label).order_by(decisions.c.seq)).scalars().all()
    assert labels == ["ABSENT", "DIVERGENT"]
    assert verify_study(disputed, "s") == []
    assert shown(work)["assignment"] != task["assignment"]


def _named(task: dict[str, Any]) -> dict[str, str]:
    return {"assignment": task["assignment"]}


def test_the_last_decision_empties_the_queue_and_the_study_can_be_closed(work, disputed, as_user: SignIn):
    for name in ("a/1", "a/2"):
        work.handle([decision(shown(work), name, "ABSENT", "Only one answers.")])
    data = board_data(as_user("ada", "adjudicate"))
    assert (data["current"], data["rated"], data["total"]) == (None, 2, 2)
    assert "All disputes are decided" in data["done"]
    as_user("petra", "study").button(key="advance").click().run()
    assert find_study(disputed, "s").state is StudyState.CLOSED
    assert "nothing to decide now" in words_on(as_user("ada", "adjudicate"))
