"""Results that are kept when a run is loaded are those that the metrics compute, and are shown for no other load or code."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from audit import kept_results
from audit.kept_results import KEPT, keep_results, kept_or_computed
from audit.metrics import METRICS
from audit.store.connection import open_store
from audit.store.runs import Run
from tests.support.loading import load
from tests.support.tiny import release_from

TABLE = """
    q1 kidney  topics=diet       ab=DIVERGENT/high  ac=COMPLEMENTARY bc=CONSISTENT  ad=CONSISTENT bd=CONSISTENT cd=UNSCORED
    q2 general topics=diet,work  ab=CONTRADICTORY   ac=ABSENT        bc=CONSISTENT  d=absent
    q3 lung                      ab=CONSISTENT      cd=DIVERGENT/low
"""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return load(release_from(tmp_path, TABLE), tmp_path / "data").run


def test_what_is_kept_is_what_the_metrics_compute(run: Run):
    files = keep_results(run, min_pairs=0)
    with open_store(run.path) as con:
        for name, choices in KEPT.items():
            for arguments in choices:
                if any(file.name.startswith(f"{name}-") for file in files):
                    kept = kept_or_computed(METRICS[name], con, run.path, {**METRICS[name].options, **arguments})
                    pd.testing.assert_frame_equal(kept, METRICS[name](con, **arguments), obj=name)
    assert {file.name.rpartition("-")[0] for file in files} >= {"labels", "organs", "topics", "centers", "handbooks"}


def test_a_kept_result_is_read_and_not_computed_again(run: Run, monkeypatch: pytest.MonkeyPatch):
    (first, *_) = keep_results(run, min_pairs=0)
    pd.DataFrame({"read": [1]}).to_parquet(first)
    with open_store(run.path) as con:
        assert list(kept_or_computed(METRICS["labels"], con, run.path, {})) == ["read"]
        monkeypatch.setattr(kept_results, "_code", lambda: "another version")
        assert "share" in kept_or_computed(METRICS["labels"], con, run.path, {})
        monkeypatch.undo()
        first.write_bytes(b"damaged")
        assert "share" in kept_or_computed(METRICS["labels"], con, run.path, {})


def test_another_load_of_the_run_leaves_nothing_of_the_first(run: Run, tmp_path: Path):
    before = keep_results(run, min_pairs=0)
    again = load(release_from(tmp_path, TABLE), tmp_path / "data", again=True).run
    with open_store(again.path) as con:
        assert "share" in kept_or_computed(METRICS["labels"], con, again.path, {})
    after = keep_results(again, min_pairs=0)
    assert set(before).isdisjoint(after)
    assert set(again.path.with_suffix(".results").iterdir()) == set(after)


def test_small_runs_are_counted_when_they_are_asked_for(run: Run):
    assert keep_results(run) == []


def test_metrics_that_are_not_kept_are_computed(run: Run):
    with open_store(run.path) as con:
        assert "absence" in kept_or_computed(METRICS["coverage"], con, run.path, {})
