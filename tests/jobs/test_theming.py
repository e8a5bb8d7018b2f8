"""Themes built in the background, for somebody who has only the dashboard."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.cli.main import main
from audit.errors import AuditError
from audit.jobs.processes import create_job
from audit.jobs.rejudging import request_of
from audit.jobs.table import JobState
from audit.jobs.theming import start_themes, themes_job
from audit.queries.themes import taxonomy_of
from audit.settings import Settings
from tests.support.loading import BASE, load
from tests.support.tiny import release_from


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    return Settings()


def carried_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Carry out jobs in this process: that they get one of their own is tested in test_processes.py."""

    class Here:
        def __init__(self, command: list[str], **_: object) -> None:
            self.pid = 0
            self.code = main(command[3:])

        def poll(self) -> int:
            return self.code

    monkeypatch.setattr("audit.jobs.processes.subprocess.Popen", Here)


def test_a_job_builds_the_themes_of_its_run_and_counts_what_it_does(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = load(release_from(tmp_path / "releases", BASE), settings.data_dir).run
    assert themes_job(settings, run) is None
    carried_out(monkeypatch)
    start_themes(settings, run)
    job = themes_job(settings, run)
    assert job is not None
    assert (job.state, job.message) == (JobState.FINISHED, "")
    assert job.progress["phase"] in ("cluster", "map")
    assert taxonomy_of(run, settings.themes_dir) is not None
    start_themes(settings, run)
    again = themes_job(settings, run)
    assert again is not None
    assert again.name != job.name
    assert not job.folder.exists(), "the log of the earlier job goes with it"


def test_a_job_of_themes_is_not_taken_for_one_that_judges(settings: Settings) -> None:
    with pytest.raises(AuditError, match="does not judge pairs"):
        request_of(create_job(settings, "themes", "themes", {"run": "x"}))
