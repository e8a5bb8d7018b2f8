"""The processes of jobs: one at a time, killed in any moment, and whoever starts them."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from audit.errors import AuditError
from audit.jobs import processes
from audit.jobs.processes import (
    EXITED,
    STOPPED,
    cancel_job,
    create_job,
    discard_job,
    find_job,
    job_table,
    list_jobs,
    start_process,
)
from audit.jobs.table import Job, JobState
from audit.settings import Settings

WORKER = """
import os, sys, time
from audit.jobs.processes import run_job
from audit.settings import Settings

def work(job, store):
    store({{"phase": "working", "estimate": {{"calls": 1}}}})
    {body}
    return ""

{before}
run_job(Settings(), sys.argv[-1], work)
"""
PYTHON, PATIENCE_S = sys.executable, 30


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    yield Settings()
    for job in list_jobs(Settings()):
        cancel_job(Settings(), job, force=True)


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let a process do `body`, and `before` it takes its job, instead of a command of `audit`."""

    def use(body: str = "pass", before: str = "") -> None:
        script = tmp_path / "worker.py"
        script.write_text(WORKER.format(body=body, before=before))
        program = tmp_path / "python"
        program.write_text(f'#!/bin/sh\nexec "{PYTHON}" "{script}" "$@"\n')
        program.chmod(0o755)
        monkeypatch.setattr(processes.sys, "executable", str(program))

    yield use
    monkeypatch.undo()


def begin(settings: Settings, job: Job, state: JobState = JobState.RUNNING) -> None:
    start_process(settings, job, state, ["anything"])


def new_job(settings: Settings, slot: str = "set") -> Job:
    return create_job(settings, "kind", slot, {})


def at_rest(settings: Settings, job: Job) -> Job:
    ends = time.monotonic() + PATIENCE_S
    while (seen := find_job(settings, job.name)).active:
        assert time.monotonic() < ends, (seen, (job.folder / "log").read_text())
        time.sleep(0.02)
    return seen


def test_a_job_that_ends_well_is_finished(settings, worker):
    worker()
    job = new_job(settings)
    begin(settings, job)
    ended = at_rest(settings, job)
    assert (ended.state, ended.message, ended.progress["phase"], ended.started) == (JobState.FINISHED, "", "working", True)


def test_an_estimate_that_ends_well_is_kept_and_touches_no_progress(settings, worker):
    worker()
    job = new_job(settings)
    begin(settings, job, JobState.ESTIMATING)
    ended = at_rest(settings, job)
    assert (ended.state, ended.estimate, ended.progress, ended.started) == (JobState.ESTIMATED, {"calls": 1}, {}, False)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return 'no endpoint is left'", "no endpoint is left"),
        ("raise ValueError('a surprise')", "a surprise"),
        ("raise KeyboardInterrupt", STOPPED),
        ("os._exit(3)", EXITED),
        ("os.kill(os.getpid(), 9)", EXITED),
    ],
)
def test_a_job_that_ends_badly_is_stopped_with_the_reason_and_can_be_continued(settings, worker, body, message):
    worker(body)
    job = new_job(settings)
    begin(settings, job)
    ended = at_rest(settings, job)
    assert (ended.state, ended.message) == (JobState.STOPPED, message)
    worker()
    begin(settings, ended)
    assert at_rest(settings, job).state is JobState.FINISHED


def test_an_estimate_that_fails_goes_back_to_where_the_job_was(settings, worker):
    worker("return 'it failed'")
    job = new_job(settings)
    begin(settings, job, JobState.ESTIMATING)
    ended = at_rest(settings, job)
    assert (ended.state, ended.message, ended.estimate) == (JobState.CREATED, "it failed", {})
    begin(settings, ended)
    stopped = at_rest(settings, job)
    begin(settings, stopped, JobState.ESTIMATING)
    assert at_rest(settings, job).state is JobState.STOPPED


def test_a_process_that_ends_before_it_takes_its_job_leaves_the_last_line_of_its_log(settings, worker):
    worker(before="print('cannot start: no room'); os._exit(1)")
    job = new_job(settings)
    begin(settings, job)
    ended = at_rest(settings, job)
    assert ended.state is JobState.STOPPED
    assert ended.message in ("cannot start: no room", EXITED)  # os._exit may drop what was printed


def test_cancelling_stops_a_job_and_forcing_kills_it(settings, worker):
    worker("time.sleep(60)")
    for force, message in ((False, STOPPED), (True, EXITED)):
        job = new_job(settings)
        begin(settings, job)
        assert find_job(settings, job.name).state is JobState.RUNNING
        cancel_job(settings, job, force=force)
        ended = at_rest(settings, job)
        assert (ended.state, ended.message) == (JobState.STOPPED, message)


def test_cancelling_a_job_that_has_ended_kills_nobody(settings, worker):
    worker()
    job = new_job(settings)
    begin(settings, job)
    at_rest(settings, job)
    job_table(settings).update(job, pid=os.getpid())
    cancel_job(settings, job, force=True)


def test_of_many_starters_one_starts_and_the_others_are_refused(settings, worker):
    worker("time.sleep(60)")
    jobs, refused = [new_job(settings) for _ in range(4)], []

    def starter(job: Job) -> None:
        try:
            begin(settings, job)
        except AuditError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=starter, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [job.state for job in list_jobs(settings)].count(JobState.RUNNING) == 1
    assert len(refused) == 3
    assert all("only one of its kind runs at a time" in sentence for sentence in refused)


def test_the_same_job_is_not_started_twice(settings, worker):
    worker("time.sleep(60)")
    job = new_job(settings)
    begin(settings, job)
    with pytest.raises(AuditError, match="only one of its kind"):
        begin(settings, job)
    worker()
    other = new_job(settings, slot="pair")
    begin(settings, other)
    assert at_rest(settings, other).state is JobState.FINISHED  # another slot
    with pytest.raises(AuditError, match="has changed in the meantime"):
        begin(settings, other)


def test_a_job_whose_process_is_killed_frees_its_slot(settings, worker):
    worker("time.sleep(60)")
    first, second = new_job(settings), new_job(settings)
    begin(settings, first)
    os.kill(find_job(settings, first.name).pid, signal.SIGKILL)
    at_rest(settings, first)
    worker()
    begin(settings, second)
    assert at_rest(settings, second).state is JobState.FINISHED


def test_a_process_that_comes_too_late_does_nothing(settings, worker):
    worker("raise SystemExit('it worked on it')", before="time.sleep(1.5)")
    job = new_job(settings)
    thread = threading.Thread(target=begin, args=(settings, job))
    thread.start()
    ends = time.monotonic() + PATIENCE_S
    while not job_table(settings).find(job.name).active:
        assert time.monotonic() < ends
    active = job_table(settings).find(job.name)
    job_table(settings).move(active, JobState.STOPPED, message="given up")  # as a reader does after its starter was killed
    thread.join()
    time.sleep(2)
    assert find_job(settings, job.name).message == "given up"
    assert find_job(settings, job.name).pid is None


def test_discarding_deletes_the_row_and_the_files_but_not_while_it_is_running(settings, worker):
    worker("time.sleep(60)")
    job = new_job(settings)
    begin(settings, job)
    with pytest.raises(AuditError, match="Cancel it first"):
        discard_job(settings, job)
    cancel_job(settings, job)
    discard_job(settings, at_rest(settings, job))
    assert list_jobs(settings) == []
    assert not job.folder.exists()
