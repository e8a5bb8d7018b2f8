"""A calibration round below the threshold is repeated: other items, the same plan and people, sealed and verified."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.label_store.assignments import Choice, list_tasks
from annotation.label_store.engine import LabelStore, StudyError, open_label_store
from annotation.label_store.ratings import NewRating, submit_rating
from annotation.label_store.results import assignment_rows
from annotation.label_store.studies import ItemKind, StudyState, find_study, list_annotators
from annotation.studies.repeated_round import REPEATS_ROUND_OF, repeat_round
from annotation.studies.sampling import draw_study
from annotation.studies.verdict_store import find_origin, list_strata
from annotation.studies.verification import verify_study
from audit.store.runs import Run
from tests.annotation.test_sampling import plan, run
from tests.support.studies import NOW, people

__all__ = ["run"]


@pytest.fixture
def failed(run: Run, tmp_path: Path) -> LabelStore:
    """A study whose annotators agree on none of its four calibration items."""
    store = open_label_store(f"sqlite:///{tmp_path / 'studies.db'}")
    people(store, "ana", "ben", role="annotator")
    drawn = plan(per_label={"ABSENT": 2}, calibration=4)
    draw_study(store, run, drawn, study_id="s", title="S", annotators=["ana", "ben"], now=NOW)
    for name, label in (("ana", "ABSENT"), ("ben", "CONSISTENT")):
        for task in list_tasks(store, "s", name):
            choice = NewRating(task.assignment_id, Choice(label, None), f"{name}/{task.assignment_id}", task.revision)
            submit_rating(store, name, choice, NOW)
    return store


def calibration_pairs(store: LabelStore, study_id: str) -> set[tuple[str, str, str]]:
    rows = [row for row in assignment_rows(store, study_id) if row["kind"] == ItemKind.CALIBRATION]
    return {(row["question_id"], row["handbook_a"], row["handbook_b"]) for row in rows}


def test_the_round_begins_again_with_other_pairs_and_the_same_plan(failed: LabelStore, run: Run) -> None:
    again = repeat_round(failed, "s", [run], NOW)
    assert again == "s-2"
    assert find_study(failed, again).state is StudyState.CALIBRATION
    assert not calibration_pairs(failed, "s") & calibration_pairs(failed, again)
    assert list_annotators(failed, again) == ["ana", "ben"]
    assert [stratum.sampled for stratum in list_strata(failed, again)] == [
        stratum.sampled for stratum in list_strata(failed, "s")
    ]
    first, second = (find_origin(failed, name).plan for name in ("s", again))
    assert second == {**first, "seed": 2, REPEATS_ROUND_OF: "s"}
    assert verify_study(failed, again) == []
    with pytest.raises(StudyError, match="not in a calibration round below the threshold"):
        repeat_round(failed, again, [run], NOW)  # nobody has rated yet


def test_without_its_run_nothing_is_drawn(failed: LabelStore) -> None:
    with pytest.raises(StudyError, match="is not loaded"):
        repeat_round(failed, "s", [], NOW)
