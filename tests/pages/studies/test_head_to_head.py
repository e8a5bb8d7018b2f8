"""Head-to-head studies on the pages: made by a PI, decided by an adjudicator without systems, read with them by the PI alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.label_store.results import assignment_rows, decisions_by_item
from annotation.label_store.studies import StudyState, find_study
from annotation.schemes import HEAD_TO_HEAD
from pages.studies.adjudicate.adjudication import Adjudication
from tests.pages.conftest import lists, words_on
from tests.pages.studies.conftest import SignIn
from tests.support.loading import load
from tests.support.studies import head_to_head_of, people, prefer, step
from tests.support.systems import systems_release

SYSTEMS = ("Plain model", "Model with retrieval")


def frames_with(at, column: str) -> list:
    return [frame.value for frame in lists(at) if column in frame.value]


def test_a_pi_makes_a_study_from_two_systems_of_a_run(folk, as_user: SignIn, data_dir: Path, tmp_path: Path):
    load(systems_release(tmp_path / "release"), data_dir)
    people(folk, "ana", "ben")
    at = as_user("petra", "study")
    assert not at.exception
    at.text_input(key="study_id").set_value("which")
    at.number_input(key="questions").set_value(2)
    for key in ("calibration", "repeats"):
        at.number_input(key=key).set_value(0)
    preview, create = (next(b for b in at.button if b.label.startswith(label)) for label in ("Preview", "Draw sample"))
    shown = preview.click().run()
    (strata,) = frames_with(shown, "stratum")
    assert strata["stratum"].tolist() == ["alone and rag/information", "alone and rag/treatment"]
    # q3: refused by one, unreadable from the other.
    assert "1 of 3 comparisons lack an answer that could be read" in words_on(shown)
    at = create.click().run()
    assert not at.exception
    assert find_study(folk, "which").scheme is HEAD_TO_HEAD
    rows = assignment_rows(folk, "which")
    assert {(row["handbook_a"], row["handbook_b"], row["annotator"]) for row in rows} == {
        ("alone", "rag", "ana"), ("alone", "rag", "ben"),
    }  # fmt: skip
    assert {row["reference"] for row in rows} == {"Drink; rest.", "Call us."}


@pytest.mark.usefixtures("every_tab")
def test_agreement_is_live_and_only_the_pi_reads_who_was_preferred(folk, as_user: SignIn):
    head_to_head_of(folk, 5)
    for number, (ana, ben) in enumerate([("A", "A"), ("A", "B"), ("tie", "tie"), ("B", "B"), ("A", "A")], start=1):
        prefer(folk, "ana", number, ana)
        prefer(folk, "ben", number, ben)
    pi = as_user("petra", "agreement")
    assert not pi.exception
    (couples,) = frames_with(pi, "both_bad")
    assert couples[["first", "second", "n", "a", "b", "tie"]].to_numpy().tolist() == [[*SYSTEMS, 10, 5, 3, 2]]
    assert [metric.label.replace("\\", "") for metric in pi.metric][:2] == ["Cohen's kappa, unweighted", "Raw agreement"]
    # Observed 4/5; by chance A 3 and 2, B 1 and 2, tie 1 and 1 of 5: (6 + 2 + 1) / 25.
    assert pi.metric[0].value == f"{(0.8 - 9 / 25) / (1 - 9 / 25):.3f}"
    step(folk, StudyState.LABELLING)
    adjudicator = as_user("ada", "agreement")
    assert not adjudicator.exception
    assert adjudicator.metric[0].value == pi.metric[0].value
    assert [name for name in (*SYSTEMS, "plain", "found") if name in repr(adjudicator.main)] == []
    study_page = as_user("petra", "study")
    assert len(frames_with(study_page, "both_bad")) == len(frames_with(study_page, "strength")) == 1
    assert "There is no study of pairs yet." in words_on(as_user("petra", "prevalence"))


def test_an_adjudicator_decides_between_sides_and_a_system_is_stored(folk, as_user: SignIn):
    head_to_head_of(folk, 1)
    prefer(folk, "ana", 1, "A")
    prefer(folk, "ben", 1, "tie")
    step(folk, StudyState.LABELLING)
    at = as_user("ada", "adjudicate")
    assert [name for name in SYSTEMS if name in repr(at.main) + repr(at.session_state.to_dict())] == []
    work = Adjudication(find_study(folk, "s"), "ada")
    (task,) = work.view([])["tasks"]
    plain_side = "A" if task["first"].startswith("Plain says") else "B"
    assert {rating["label"] for rating in task["ratings"]} == {f"answer {plain_side}", "Tie"}
    chosen = {"label": plain_side, "comment": "safer", "revises": 0}
    work.handle([{"kind": "submit", "key": "a/1", "assignment": "i001", **chosen}])
    assert decisions_by_item(folk, "s")["i001"].label == "A"
