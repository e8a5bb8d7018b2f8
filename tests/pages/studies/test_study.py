"""The Studies page: draw a sample, watch it, move it on, hand packets out and in."""

from __future__ import annotations

import pytest

from annotation.label_store.studies import State, find_study, list_studies
from annotation.packets import packet_csv
from tests.pages.conftest import words_on
from tests.pages.studies.conftest import SignIn
from tests.support.studies import people, rate_all, study_of


@pytest.fixture
def ready(run, folk):
    """A run, a PI and two annotators."""
    people(folk, "ana", "ben")
    return folk


def filled(at, study_id: str):
    at.text_input(key="study_id").set_value(study_id)
    at.text_input(key="study_title").set_value("Is the judge right?")
    at.number_input(key="repeats").set_value(1)
    return at


def test_a_pi_draws_a_sample_and_its_annotators_see_it(ready, as_user: SignIn):
    at = filled(as_user("petra", "study"), "first-one")
    at = next(button for button in at.button if button.label == "Draw and make the study").click().run()
    assert not at.exception
    assert not at.error
    assert [study.title for study in list_studies(ready, "ana")] == ["Is the judge right?"]
    assert "State: **labelling**" in words_on(at)  # so few pairs that none is left over for calibration


def test_the_strata_are_shown_before_anything_is_made(ready, as_user: SignIn):
    at = filled(as_user("petra", "study"), "first-one")
    at = next(button for button in at.button if button.label == "Show the strata").click().run()
    assert not at.exception
    assert "Nothing was made." in words_on(at)
    assert list_studies(ready) == []


def test_a_bad_id_is_a_sentence(ready, as_user: SignIn):
    at = filled(as_user("petra", "study"), "../x")
    at = next(button for button in at.button if button.label == "Draw and make the study").click().run()
    assert "A study needs an id" in words_on(at)


def test_without_a_run_or_annotators_the_page_says_what_is_needed(folk, as_user: SignIn):
    at = as_user("petra", "study")
    assert not at.exception
    assert "two annotators" in words_on(at)


def test_a_study_moves_on_when_its_ratings_are_in_or_when_told_so(folk, as_user: SignIn):
    study_of(folk, 3)
    at = as_user("petra", "study").button(key="advance").click().run()
    assert "still to come" in words_on(at)
    assert find_study(folk, "s").state is State.LABELLING
    at.checkbox(key="incomplete").check()
    at = at.button(key="advance").click().run()
    assert not at.exception
    assert find_study(folk, "s").state is State.ADJUDICATION
    assert "0 differences are still to be decided" in words_on(at)
    at.button(key="advance").click().run()
    assert find_study(folk, "s").state is State.CLOSED


def test_progress_is_counts_by_annotator(folk, as_user: SignIn):
    study_of(folk, 4)
    rate_all(folk, "ana")
    shown = as_user("petra", "study").dataframe[0].value
    assert [(row.annotator, row.rated, row.seats) for row in shown.itertuples()] == [("ana", 4, 4), ("ben", 0, 4)]


def test_the_page_warns_that_open_browsing_unblinds(folk, as_user: SignIn, monkeypatch):
    assert "which unblinds them" in words_on(as_user("petra", "study"))
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    assert "which unblinds them" not in words_on(as_user("petra", "study"))


def test_a_packet_filled_offline_is_stored_whole(folk, as_user: SignIn):
    study_of(folk, 2)
    lines = packet_csv(folk, "s", "ana").decode("utf-8-sig").splitlines()
    filled_in = "\n".join([lines[0], *(f"{line.removesuffix(',,,,')},absent,,," for line in lines[1:])])
    at = as_user("petra", "study")
    at.selectbox(key="packet_of").set_value("ana")
    at.file_uploader(key="packet_in").set_value(("ana.csv", filled_in.encode(), "text/csv"))
    at = at.run().button(key="import").click().run()
    assert not at.exception
    assert "2 ratings stored" in "\n".join(str(each.value) for each in at.success)
