"""Every interval of every exported table of the tenancy example."""

from __future__ import annotations

import pytest

from audit.store.runs import list_runs
from tests.exports.test_every_interval import assert_sound, tables_of
from tests.pipeline.stages.project import finished_project


@pytest.mark.slow
def test_of_the_tenancy_example(tmp_path_factory: pytest.TempPathFactory) -> None:
    (run,) = list_runs(finished_project(tmp_path_factory).data / "store")
    assert_sound(list(tables_of(run)))
