"""The Annotate page without a browser: what the server does with key presses, and what it sends."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from annotation.label_store.engine import LabelStore
from annotation.label_store.results import assignment_rows
from annotation.label_store.studies import ItemKind, StudyState
from annotation.label_store.study_creation import NewStudy, create_study
from annotation.schemes import HEAD_TO_HEAD
from audit.vocabulary import LABELS
from pages._blinded.labelling import rubric_html
from pages._blinded.labelling.open_study import opaque_id
from pages.studies.annotate.session import TASKS_AHEAD, LabellingSession
from tests.pages.conftest import words_on
from tests.pages.studies.conftest import SignIn
from tests.support.studies import NOW, compared, history, item, people, prefer, rate, rate_all, step, study_of


def key(kind: str, task: dict[str, Any], name: str, **said: Any) -> dict[str, Any]:
    blank = {"label": None, "significance": None, "flagged": False, "comment": ""}
    return {**blank, "kind": kind, "assignment": task["assignment"], "key": name, "revises": task["revision"], **said}


@pytest.fixture
def session(store: LabelStore) -> LabellingSession:
    """Ana's labelling session in a study of 30 items."""
    made = LabellingSession(study_of(store, 30), "ana")
    made.refresh(store)
    return made


def current(session: LabellingSession, store: LabelStore) -> dict[str, Any]:
    view = session.view([])
    return next(task for task in view["tasks"] if task["assignment"] == view["current"])


def test_the_browser_gets_the_next_items_and_only_what_is_on_screen(session, store):
    tasks = session.view([])["tasks"]
    assert [task["position"] for task in tasks] == list(range(1, TASKS_AHEAD + 1))
    assert set(tasks[0]) == {
        "assignment", "position", "calibration", "question", "first", "second", "first_name", "second_name", "revision",
        "label", "significance", "flagged", "comment", "difference", "has_reference", "reference",
        "sentences", "marks",
    }  # fmt: skip
    assert (tasks[0]["first_name"], tasks[0]["second_name"]) == (None, None)


def test_an_event_sent_three_times_takes_effect_once_and_is_confirmed(session, store):
    event = key("submit", current(session, store), "a/1", label="ABSENT")
    for _ in range(3):
        session.handle(store, [event])
    assert len(history(store, event["assignment"], "ana")) == 1
    view = session.view([event])
    assert (view["handled"], view["failed"], view["rated"], view["total"]) == (["a/1"], {}, 1, 30)


def test_another_session_that_gets_the_same_event_stores_it_once(session, store):
    event = key("submit", current(session, store), "a/1", label="ABSENT")
    session.handle(store, [event])
    after_restart = LabellingSession("s", "ana")
    after_restart.refresh(store)
    after_restart.handle(store, [event])
    assert len(history(store, event["assignment"], "ana")) == 1
    assert after_restart.handled == {"a/1": ""}


def test_events_typed_ahead_land_on_their_own_items(session, store):
    first, second, third, *_ = session.view([])["tasks"]
    session.handle(store, [key("submit", task, task["assignment"], label="CONSISTENT") for task in (third, first)])
    assert current(session, store)["assignment"] == second["assignment"]
    assert [len(history(store, task["assignment"], "ana")) for task in (first, second, third)] == [1, 0, 1]


def test_with_unassigned_slots_20_of_20_events_typed_ahead_land_on_their_own_items(store):
    """Three annotators share 40 items; the browser answers every reply of the server with as many events as it can."""
    study_of(store, 40, ("ana", "ben", "cem"))
    session = LabellingSession("s", "ana")
    session.refresh(store)
    meant: dict[str, str] = {}
    while len(meant) < 20:
        waiting = [task for task in session.view([])["tasks"] if task["assignment"] not in meant]
        assert len(waiting) > TASKS_AHEAD // 2  # never out of work while others look on
        typed = [
            key("submit", task, f"a/{task['assignment']}", label=LABELS[index % 3]) for index, task in enumerate(waiting[:5])
        ]
        meant |= {event["assignment"]: event["label"] for event in typed}
        session.handle(store, typed)
    stored = {row["seat_id"]: row["label"] for row in assignment_rows(store, "s") if row["label"]}
    assert stored == meant
    assert len({row["item_id"] for row in assignment_rows(store, "s") if row["annotator"] == "ana" and row["label"]}) == 20


def test_an_incomplete_rating_is_reported_and_stops_no_other(session, store):
    first, second, *_ = session.view([])["tasks"]
    events = [key("submit", first, "a/1", label="DIVERGENT"), key("submit", second, "a/2", label="ABSENT")]
    session.handle(store, events)
    view = session.view(events)
    assert "significance" in view["failed"]["a/1"]
    assert (view["rated"], view["current"]) == (1, first["assignment"])


def test_a_choice_that_was_not_submitted_is_restored_in_the_next_session(session, store):
    task = current(session, store)
    session.handle(store, [key("draft", task, "a/1", label="DIVERGENT", flagged=True, comment="hm")])
    later = LabellingSession("s", "ana")
    later.refresh(store)
    restored = current(later, store)
    assert (restored["assignment"], restored["label"], restored["flagged"], restored["comment"]) == (
        task["assignment"],
        "DIVERGENT",
        True,
        "hm",
    )


def test_a_draft_that_arrives_after_its_submit_is_no_draft_of_the_rated_item(session, store):
    task = current(session, store)
    session.handle(store, [key("submit", task, "a/2", label="ABSENT"), key("draft", task, "a/1", label="DIVERGENT")])
    assert session.tasks[task["assignment"]].choice.label == "ABSENT"


def test_going_back_shows_the_rated_item_and_a_new_label_revises_it(session, store):
    task = current(session, store)
    session.handle(store, [key("submit", task, "a/1", label="ABSENT")])
    session.handle(store, [key("open", task, "a/2")])
    again = current(session, store)
    assert (again["assignment"], again["label"], again["revision"]) == (task["assignment"], "ABSENT", 1)
    session.handle(store, [key("submit", again, "a/3", label="CONSISTENT")])
    assert [rating.label for rating in history(store, task["assignment"], "ana")] == ["ABSENT", "CONSISTENT"]


def test_nobody_rates_an_item_assigned_to_another(session, store):
    other = LabellingSession("s", "ben")
    other.refresh(store)
    event = key("submit", current(other, store), "a/1", label="ABSENT")
    session.handle(store, [event])
    assert "no task" in session.handled["a/1"]
    assert history(store, event["assignment"], "ben") == []


def widget_data(at: Any) -> dict[str, Any]:
    (element,) = (
        component for component in at.get("bidi_component") if component.proto.component_name.endswith("labelling_widget")
    )
    data: dict[str, Any] = json.loads(element.proto.json)
    return data


def test_the_page_shows_the_open_study_and_its_progress(store, as_user: SignIn):
    study_of(store, 3)
    at = as_user("ana", "annotate")
    assert not at.exception
    data = widget_data(at)
    assert (data["title"], data["rated"], data["total"], len(data["tasks"])) == ("Study 1 (pairs)", 0, 3, 3)


def test_the_session_on_the_server_contains_no_name_and_nothing_of_the_other_annotator(store, as_user: SignIn):
    study_of(store, [item(number, name_a="NAMEOFA", handbook_a="CODEOFA") for number in (1, 2, 3)])
    rate(store, "ben", 1, "DIVERGENT", "high", comment="SAIDBYBEN")
    rate(store, "ana", 2, "CONSISTENT", comment="SAIDBYANA")
    state = repr(as_user("ana", "annotate").session_state.to_dict())
    assert "SAIDBYANA" in state
    assert [word for word in ("NAMEOFA", "CODEOFA", "SAIDBYBEN", "ben") if word in state] == []


def test_a_head_to_head_study_sends_no_system_and_the_reference_answer_only_when_it_is_opened(store, as_user: SignIn):
    hidden = {"handbook_a": "IDOFA", "handbook_b": "IDOFB", "name_a": "NAMEOFA", "name_b": "NAMEOFB"}
    study_of(store, [compared(number, **hidden) for number in (1, 2, 3)], scheme=HEAD_TO_HEAD)
    prefer(store, "ben", 1, "A", comment="SAIDBYBEN")
    at = as_user("ana", "annotate")
    sent = json.dumps(widget_data(at)) + repr(at.session_state.to_dict())
    assert [word for word in (*hidden.values(), "SAIDBYBEN", "swapped") if word in sent] == []
    session = LabellingSession("s", "ana")
    session.refresh(store)
    task = current(session, store)
    assert (task["has_reference"], task["reference"], "Reference" in json.dumps(widget_data(at))) == (True, None, False)
    session.handle(store, [key("reference", task, "a/1"), key("submit", task, "a/2", label="B")])
    opened = next(sent for sent in session.view([])["tasks"] if sent["assignment"] == task["assignment"])
    assert (opened["reference"].startswith("Reference "), opened["label"]) == (True, "B")
    (row,) = (row for row in assignment_rows(store, "s") if row["seat_id"] == task["assignment"])
    assert (row["label"], row["reference_opened"] is not None) == ("A" if row["swapped"] else "B", True)


def test_a_finished_round_thanks_the_annotator_and_a_closed_study_has_nothing_to_do(store, as_user: SignIn):
    study_of(store, 3)
    rate_all(store, "ana")
    assert widget_data(as_user("ana", "annotate"))["current"] is None
    rate_all(store, "ben")
    step(store, StudyState.LABELLING)
    at = as_user("ana", "annotate")
    assert not at.exception
    assert "There is no study for you to label now" in words_on(at)


def test_a_calibration_round_is_shown_as_such_and_the_study_follows_it(store, as_user: SignIn):
    study_of(store, [item(1, ItemKind.CALIBRATION), item(2), item(3)])
    data = widget_data(as_user("ana", "annotate"))
    assert [(task["calibration"], task["question"]) for task in data["tasks"]] == [(True, "Question 1?")]
    assert data["total"] == 1
    rate_all(store, "ana")
    done = widget_data(as_user("ana", "annotate"))
    assert (done["current"], "The calibration round is done" in done["done"]) == (None, True)
    rate_all(store, "ben")
    step(store, StudyState.CALIBRATION)
    data = widget_data(as_user("ana", "annotate"))
    assert {(task["calibration"], task["question"]) for task in data["tasks"]} == {(False, "Question 2?"), (False, "Question 3?")}
    assert (data["rated"], data["total"]) == (0, 2)


def test_of_several_studies_the_one_half_done_comes_first_and_their_titles_reveal_nothing(store, as_user: SignIn):
    study_of(store, 2)
    others = [[item(number, item_id=f"{name}{number}") for number in (1, 2)] for name in "tu"]
    rate(store, "ana", 1, "ABSENT")
    with store.begin() as tx:
        for days, name in enumerate("tu", start=1):
            new = NewStudy(name, "Is the judge too harsh?", ("ana", "ben"), others[days - 1], seed=5)
            create_study(tx, new, NOW + timedelta(days=days))
    at = as_user("ana", "annotate")
    (chooser,) = at.selectbox
    assert (len(chooser.options), "harsh" in repr(at.main)) == (3, False)
    assert widget_data(at)["study"] == opaque_id("s")
    rate(store, "ana", 2, "ABSENT")
    assert widget_data(as_user("ana", "annotate"))["study"] == opaque_id("t")  # all done: the oldest of those to begin
    at = as_user("ana", "annotate")
    assert widget_data(at.selectbox[0].select_index(0).run())["study"] == opaque_id("u")


def test_somebody_without_a_study_gets_a_message(store, as_user: SignIn):
    people(store, "zoe")
    assert "There is no study for you to label now" in words_on(as_user("zoe", "annotate"))


def test_annotators_read_a_rubric_without_strata_repeats_and_times_and_a_pi_the_whole_protocol(store, as_user: SignIn):
    people(store, "ana")
    people(store, "petra", role="pi")
    rubric, protocol = (words_on(as_user(name, "protocol")) for name in ("ana", "petra"))
    for text in ("What is labelled", "Tie-breakers", "The answer is better than the refusal.", "How annotators work"):
        assert text in rubric
        assert text in protocol
    for text in ("strat", "repeat", "clock", "seconds", "weight", "per label", "40 pairs", "calibration"):
        assert text in protocol or text in ("seconds", "per label")
        assert text not in rubric.casefold()
    assert (rubric_html().count("<table>"), rubric_html(HEAD_TO_HEAD).count("<table>")) == (3, 2)
    assert "The answer is better than the refusal." in rubric_html(HEAD_TO_HEAD)
    assert "Can one patient follow both answers completely at the same time?" in rubric_html()
