"""Trust in the judge, from a study: for whom it is there, and from when on."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from annotation.label_store.engine import LabelStore
from annotation.label_store.studies import StudyState
from annotation.studies.accounts import Role, change_role
from annotation.studies.sample_plan import SamplePlan
from annotation.studies.sampling import draw_study
from pages._blinded.scripts import script_path
from tests.pages.conftest import words_on
from tests.pages.studies.conftest import SignIn
from tests.support.studies import NOW, people, rate_all, step


@pytest.fixture
def study(folk, run) -> LabelStore:
    """All pairs of the run, all of them called COMPLEMENTARY by both annotators."""
    people(folk, "ana", "ben")
    draw_study(
        folk, run, SamplePlan(calibration=0, repeats=0), study_id="s", title="Is it right?", annotators=("ana", "ben"), now=NOW
    )
    for name in ("ana", "ben"):
        rate_all(folk, name, "COMPLEMENTARY")
    return folk


def as_seen_by(at: AppTest) -> str:
    return words_on(at.switch_page(script_path("trust")).run())


def test_a_pi_sees_it_while_it_goes_on_and_a_viewer_once_nobody_can_be_influenced(study, as_user: SignIn):
    seen = as_seen_by(as_user("petra"))
    who = "2 annotators (who the raters are is not stated), blinded to the judge and to each other."
    assert f"Study “Is it right?”: {who} Not final: the study goes on." in seen
    assert "Nobody has rated pairs of this run" in as_seen_by(as_user("vera"))
    step(study, StudyState.LABELLING)
    assert "Study “Is it right?”" in as_seen_by(as_user("vera"))  # everybody agrees, so nothing is left to decide


def test_somebody_who_rates_in_an_open_study_sees_no_figure(study, as_user: SignIn):
    change_role(study, "ana", Role.VIEWER, NOW)
    seen = as_seen_by(as_user("ana"))
    assert "You are rating pairs of this run in a study that is not closed." in seen
    assert "confirm" not in seen
    assert "asked again" not in seen
