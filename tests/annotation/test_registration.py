"""A study that is registered before it opens: sealed with its sample, and compared with what was found."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from annotation.agreement.report import agreement_report
from annotation.label_store.engine import LabelStore, StudyError
from annotation.studies.registration import PRIMARY_FIGURES, Registration, outcome_sentence, registration_of
from annotation.studies.sampling import draw_sample, draw_study
from annotation.studies.verdict_store import designs, find_origin
from annotation.studies.verification import verify_study
from audit.store.runs import Run
from tests.annotation.tables import ratings
from tests.annotation.test_sampling import TABLE, plan
from tests.support.loading import load
from tests.support.studies import NOW, people
from tests.support.tiny import release_from

REGISTERED = Registration("judge_accuracy", 0.7, "The judge errs on the boundary of two labels")
# Of 40 items, the judge gives the label of both annotators to 32
ROWS = """
    annotator_a annotator_b judge       design_weight times
    CONSISTENT  CONSISTENT  CONSISTENT  2             16
    ABSENT      ABSENT      ABSENT      2             16
    CONSISTENT  CONSISTENT  DIVERGENT   2             8
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("registration")
    return load(release_from(folder / "releases", TABLE), folder / "data").run


def test_it_is_sealed_with_the_sample_and_a_later_change_is_found(store: LabelStore, run: Run) -> None:
    annotators = people(store, "ana", "ben")
    draw_study(store, run, plan(registration=REGISTERED), study_id="s", title="S", annotators=annotators, now=NOW)
    stored = find_origin(store, "s").plan
    assert registration_of(stored) == REGISTERED
    assert verify_study(store, "s") == []
    lower = {**stored, "registration": {**stored["registration"], "at_least": 0.5}}
    with store.begin() as tx:
        tx.execute(update(designs).where(designs.c.study_id == "s").values(plan=lower))
    assert any("designs" in fault for fault in verify_study(store, "s"))


def test_a_study_without_one_has_none(run: Run) -> None:
    assert registration_of(draw_sample(run, plan(), "s").origin.plan) is None
    assert registration_of({}) is None  # the plan of a study that was drawn by an earlier version


def test_its_sentence_names_figure_threshold_day_and_statement() -> None:
    assert REGISTERED.sentence("2026-11-23T09:00:00+00:00") == (
        "Registered on 2026-11-23, before the first rating: the primary figure is the share of items to which the judge gives "
        "the gold label, expected to be at least 0.70. Stated: The judge errs on the boundary of two labels."
    )


@pytest.mark.parametrize(
    ("at_least", "verdict"),
    [
        (0.6, "0.60 is reached, also by the lower end of the interval"),
        (0.7, "0.70 is reached, but the interval includes lower values"),
        (0.9, "0.90 is not reached"),
    ],
)
def test_the_result_is_set_beside_the_threshold(at_least: float, verdict: str) -> None:
    table = ratings(ROWS)
    sentence = outcome_sentence(Registration("judge_accuracy", at_least), agreement_report(table), table)
    assert "is 0.80 (95 % interval 0.65 to 0.90), 40 items" in sentence
    assert sentence.endswith(f"the registered threshold of {verdict}.")


@pytest.mark.parametrize("primary", PRIMARY_FIGURES)
def test_every_primary_figure_is_found_in_a_report(primary: str) -> None:
    table = ratings(ROWS)
    assert "40 items" in outcome_sentence(Registration(primary, 0.5), agreement_report(table), table)


@pytest.mark.parametrize(
    ("registration", "fault"),
    [
        (Registration("p_value", 0.5), "'p_value' is not a primary figure"),
        (Registration("judge_kappa", 60), "the threshold is not between -1 and 1"),
        (Registration("judge_kappa", 0.5, "x" * 2001), "more than 2,000 characters"),
    ],
)
def test_an_unusable_one_is_refused_before_anything_is_drawn(run: Run, registration: Registration, fault: str) -> None:
    with pytest.raises(StudyError, match=fault):
        draw_sample(run, plan(registration=registration), "s")
