"""Three ratings of an item on the pages: creation, progress, adjudication, agreement."""

from __future__ import annotations

import pytest

from annotation.label_store.studies import StudyState, find_study, study_progress
from annotation.studies.verdict_store import SampleOrigin, StoredVerdict, Stratum, store_sample
from pages.studies.adjudicate.adjudication import Adjudication
from tests.pages.conftest import words_on
from tests.pages.studies.conftest import SignIn
from tests.support.studies import people, rate, step, study_of

THREE = ("ana", "ben", "cem")
GIVEN = {1: ("ABSENT",) * 3, 2: ("ABSENT", "ABSENT", "CONSISTENT"), 3: ("ABSENT", "CONSISTENT", "COMPLEMENTARY")}


@pytest.fixture
def rated(folk):
    """Three items with three ratings each, by a judge that calls all ABSENT; the third has no majority."""
    study_of(folk, 3, THREE, ratings_per_item=3)
    stored = [StoredVerdict(f"i{n:03}", "ABSENT", "ABSENT", None, None, None) for n in GIVEN]
    with folk.begin() as tx:
        store_sample(tx, "s", SampleOrigin("run", "0" * 64, 30, 0, {}), [Stratum("ABSENT", "ABSENT", None, 30, 3)], stored)
    for column, name in enumerate(THREE):
        for number, labels in GIVEN.items():
            rate(folk, name, number, labels[column], comment=f"{name} thinks")
    step(folk, StudyState.LABELLING)
    return folk


def test_a_pi_asks_for_three_ratings_of_each_item(run, folk, as_user: SignIn):
    people(folk, *THREE)
    at = as_user("petra", "study")
    at.text_input(key="study_id").set_value("three")
    at.number_input(key="repeats").set_value(0)
    at = at.number_input(key="ratings_per_item").set_value(3).run()
    assert "With 3 ratings per item" in words_on(at)
    at = at.button(key="create_study").click().run()
    assert "it needs at least 3 different annotators" in words_on(at)
    at.multiselect(key="annotators").set_value(list(THREE))
    at = at.button(key="create_study").click().run()
    assert not at.error
    assert "3 ratings per item" in words_on(at)
    assert find_study(folk, "three").ratings_per_item == 3
    assert [part.annotator for part in study_progress(folk, "three")] == list(THREE)


def test_an_adjudicator_sees_three_labels_and_no_name(rated):
    (task,) = Adjudication(find_study(rated, "s"), "ada").view([])["tasks"]
    assert [rating["who"] for rating in task["ratings"]] == ["One annotator", "Another annotator", "Another annotator"]
    assert {rating["label"] for rating in task["ratings"]} == {"Absent", "Consistent", "Complementary"}


def test_agreement_leads_with_all_three(rated, as_user: SignIn):
    at = as_user("petra", "agreement")
    assert not at.exception
    # Equal pairs of the three ratings: 3 of 3, 1 of 3, none
    assert "Of two annotators of an item, the labels are the same with a share of 44 %" in words_on(at)
    assert "A (ana) and B (ben) gave the same label to 2 of 3 items" in words_on(at)


@pytest.mark.parametrize("page", ["study", "adjudicate", "prevalence"])
def test_the_other_pages_of_the_study_open(rated, as_user: SignIn, page: str):
    at = as_user("petra", page)
    assert not at.exception
    assert not at.error
