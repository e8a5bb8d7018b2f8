"""The demo's three studies, created by the same code that people use."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.label_store.engine import LabelStore, open_label_store
from annotation.label_store.studies import StudyState, find_study, study_progress
from annotation.studies.accounts import Role, find_account
from annotation.studies.adjudication import list_disputes
from annotation.studies.demo_studies import DEMO_ACCOUNTS, DISPUTED, FINISHED, RUNNING
from annotation.studies.study_tables import labels_table, repeats_table
from annotation.studies.verification import verify_study
from audit.cli.main import main
from audit.settings import Settings
from audit.vocabulary import LABELS


@pytest.fixture(scope="module")
def shown(demo: Path) -> LabelStore:
    return open_label_store(Settings(data_dir=demo, studies="").studies_url)


def test_two_annotators_an_adjudicator_and_a_pi_can_sign_in(shown: LabelStore) -> None:
    roles = {name: find_account(shown, name).role for name in DEMO_ACCOUNTS}
    assert roles == {"ana": Role.ANNOTATOR, "ben": Role.ANNOTATOR, "ada": Role.ADJUDICATOR, "petra": Role.PI}


def test_a_small_study_waits_for_the_adjudicator(shown: LabelStore) -> None:
    assert find_study(shown, DISPUTED).state is StudyState.ADJUDICATION
    assert 5 <= len(list_disputes(shown, DISPUTED)) <= 20  # of 40 items; two such readers differ on about a quarter
    assert verify_study(shown, DISPUTED) == []


def test_the_finished_study_is_closed_and_its_ledgers_are_valid(shown: LabelStore) -> None:
    assert find_study(shown, FINISHED).state is StudyState.CLOSED
    assert list_disputes(shown, FINISHED) == []
    assert verify_study(shown, FINISHED) == []
    table = labels_table(shown, FINISHED)
    assert table["gold"].notna().all()
    assert table["judge"].value_counts().to_dict() == dict.fromkeys(LABELS, 40)


def test_simulated_annotators_agree_about_as_often_as_the_published_clinicians(shown: LabelStore) -> None:
    table = labels_table(shown, FINISHED)
    assert 0.65 <= (table["annotator_a"] == table["annotator_b"]).mean() <= 0.80  # 0.73 in arXiv:2605.29084, section 5.1
    assert 0.70 <= (table["gold"] == table["judge"]).mean() <= 0.95
    repeats = repeats_table(shown, FINISHED)
    assert len(repeats) == 20
    assert (repeats["first"] == repeats["second"]).mean() >= 0.7
    assert table["seconds_a"].median() > 5


def test_the_running_study_is_half_done_with_calibration_behind_it(shown: LabelStore) -> None:
    assert find_study(shown, RUNNING).state is StudyState.LABELLING
    done = {(p.annotator, p.calibration): (p.rated, p.assignments) for p in study_progress(shown, RUNNING)}
    assert done == {("ana", True): (10, 10), ("ben", True): (10, 10), ("ana", False): (126, 210), ("ben", False): (84, 210)}
    assert list_disputes(shown, RUNNING) == []


def test_a_second_demo_creates_no_further_study(demo: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(demo))
    assert main(["demo", "--studies", "--no-serve"]) == 0
    assert "The demo studies exist already" in capsys.readouterr().out
