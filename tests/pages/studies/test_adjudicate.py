"""The Adjudicate page: disputes without names and without the judge; a decision with its reason."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from annotation.label_store.results import decisions_by_item
from annotation.label_store.schema import decisions
from annotation.label_store.studies import StudyState, find_study
from annotation.studies.adjudication import list_disputes
from annotation.studies.verification import verify_study
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


def html_on(at) -> str:
    return "\n".join(str(element.proto.body) for element in at.get("html"))


@pytest.mark.parametrize("name", ["ada", "petra"])
def test_a_dispute_is_shown_without_who_chose_what(name, disputed, as_user: SignIn):
    at = as_user(name, "adjudicate")
    assert not at.exception
    shown = html_on(at)
    assert "Absent" in shown
    assert "Consistent" in shown
    assert "ana &lt;b&gt;thinks" in shown
    assert "<b>thinks" not in shown
    assert "ben" not in shown
    assert "Alder Handbook" not in shown


def decide(at, label: str, reason: str):
    (box,) = [group for group in at.get("button_group") if group.proto.label == "Final label"]
    at = box.set_value(label).run()
    at.text_area[0].set_value(reason)
    return next(button for button in at.button if button.label == "Decide").click().run()


def test_a_decision_with_a_reason_leaves_the_queue(disputed, as_user: SignIn):
    at = decide(as_user("ada", "adjudicate"), "ABSENT", "Only one answers.")
    assert not at.exception
    (decision,) = decisions_by_item(disputed, "s").values()
    assert (decision.adjudicator, decision.label, decision.reason) == ("ada", "ABSENT", "Only one answers.")
    assert len(list_disputes(disputed, "s")) == 1


def test_a_decision_without_a_reason_is_not_stored(disputed, as_user: SignIn):
    at = decide(as_user("ada", "adjudicate"), "ABSENT", " ")
    assert "needs a reason" in words_on(at)
    assert decisions_by_item(disputed, "s") == {}


def test_without_a_study_in_adjudication_there_is_nothing_to_decide(folk, as_user: SignIn):
    assert "nothing to decide now" in words_on(as_user("ada", "adjudicate"))


def test_a_decision_is_revised_by_another_one_and_the_first_is_kept(disputed, as_user: SignIn):
    at = decide(as_user("ada", "adjudicate"), "ABSENT", "Only one answers.")
    at = at.toggle(key="revising").set_value(True).run()
    assert not at.exception
    assert at.text_area[0].value == "Only one answers."
    (box,) = [group for group in at.get("button_group") if group.proto.label == "Final label"]
    at = box.set_value("DIVERGENT").run()
    (grave,) = [group for group in at.get("button_group") if group.proto.label == "Clinical significance"]
    at = grave.set_value("high").run()
    at.text_area[0].set_value("Both answer, with other figures.")
    at = next(button for button in at.button if button.label == "Decide").click().run()
    assert not at.exception
    (decision,) = decisions_by_item(disputed, "s").values()
    assert (decision.revision, decision.label, decision.significance) == (2, "DIVERGENT", "high")
    with disputed.read() as con:
        labels = con.execute(select(decisions.c.label).order_by(decisions.c.seq)).scalars().all()
    assert labels == ["ABSENT", "DIVERGENT"]
    assert verify_study(disputed, "s") == []
    assert len(list_disputes(disputed, "s")) == 1


def test_the_last_decision_empties_the_queue_and_the_study_can_be_closed(disputed, as_user: SignIn):
    for _ in range(2):
        at = decide(as_user("ada", "adjudicate"), "ABSENT", "Only one answers.")
    assert "All disputes are decided" in "\n".join(str(message.value) for message in at.success)
    as_user("petra", "study").button(key="advance").click().run()
    assert find_study(disputed, "s").state is StudyState.CLOSED
    assert "nothing to decide now" in words_on(as_user("ada", "adjudicate"))
