"""Simulated annotators read a demo run whose truth lies beside it, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.label_store.engine import StudyError
from audit.settings import Settings
from tests.simulator.annotators import write_readings
from tests.support.loading import BASE, load
from tests.support.tiny import release_from


def test_a_run_without_truth_gets_no_readings(tmp_path: Path) -> None:
    run = load(release_from(tmp_path, BASE), tmp_path / "data").run
    with pytest.raises(StudyError, match="is not a demo run"):
        write_readings(run, Settings(data_dir=tmp_path / "data"), tmp_path / "readings.jsonl")
    assert not (tmp_path / "readings.jsonl").exists()
