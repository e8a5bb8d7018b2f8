"""Every interval of every exported table of the tenancy example."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.store.runs import list_runs
from tests.exports.test_every_interval import assert_sound, tables_of
from tests.pipeline.stages.project import project_in


@pytest.mark.slow
def test_of_the_tenancy_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = project_in(tmp_path)
    monkeypatch.setenv("AUDIT_DATA_DIR", str(project.data))
    assert project.run() == 0
    (run,) = list_runs(project.data / "store")
    assert_sound(list(tables_of(run)))
