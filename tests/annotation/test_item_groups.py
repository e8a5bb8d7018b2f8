"""The groups of a study's items: organ, topic, phase, length of both answers, the judge's label."""

from __future__ import annotations

import itertools
from pathlib import Path

import pandas as pd
import pytest

from annotation.label_store.engine import open_label_store
from annotation.studies.item_groups import item_groups
from annotation.studies.study_tables import labels_table
from annotation.studies.validation import opened_run
from audit.settings import Settings
from audit.store.runs import list_runs

STUDY = "demo-finished"


@pytest.fixture(scope="module")
def groups(demo: Path) -> pd.DataFrame:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUDIT_DATA_DIR", str(demo))
        store, settings = open_label_store(Settings().studies_url), Settings()
        with opened_run(store, STUDY, list_runs(settings.store_dir)) as con:
            found = item_groups(store, STUDY, con)
        return found.merge(labels_table(store, STUDY), on="item_id")


def test_every_study_item_has_one_organ_one_phase_one_length_and_one_label(groups: pd.DataFrame) -> None:
    for by in ("organ", "phase", "length of the answers", "label by the judge"):
        own = groups[groups["by"] == by]
        assert own["item_id"].is_unique
        assert len(own) == 200, by
    assert groups[groups["by"] == "topic"]["item_id"].nunique() == 200


def test_the_groups_are_those_of_the_release(groups: pd.DataFrame) -> None:
    phase = groups[groups["by"] == "phase"]
    sides = [phase[f"handbook_{side}"].str.rpartition("_")[2] for side in "ab"]
    assert (phase["group"] == sides[0].where(sides[0] == sides[1], "two phases")).all()
    label = groups[groups["by"] == "label by the judge"]
    assert (label["group"] == label["judge"]).all()


def test_thirds_of_length_are_about_equal_and_do_not_overlap(groups: pd.DataFrame) -> None:
    sizes = groups[groups["by"] == "length of the answers"]["group"].value_counts(sort=False)
    assert sizes.between(50, 85).all()
    ends = sorted(tuple(map(int, pd.Series(name).str.extract(r"(\d+) to (\d+)").iloc[0])) for name in sizes.index)
    assert len(ends) == 3
    assert all(before[1] < after[0] for before, after in itertools.pairwise(ends))


def test_without_the_run_only_lengths_labels_and_months_are_known(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(demo))
    store = open_label_store(Settings().studies_url)
    with opened_run(store, STUDY, []) as con:
        known = set(item_groups(store, STUDY, con)["by"])
    assert known == {"label by the judge", "length of the answers", "month of the first rating"}
