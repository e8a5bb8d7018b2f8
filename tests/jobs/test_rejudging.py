"""Judging in the background: requested, estimated, started, watched, stopped, killed, continued, saved, discarded."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from audit.errors import AuditError
from audit.jobs.processes import EXITED, cancel_job, discard_job, find_job, list_jobs
from audit.jobs.rejudging import (
    JobRequest,
    estimate_judging,
    job_journal,
    job_replies,
    proposed_title,
    request_judging,
    result_run,
    save_result,
    start_judging,
)
from audit.jobs.table import Job, JobState
from audit.release.journal_files import count_answered_calls
from audit.settings import Settings
from audit.store.connection import open_store, rows
from audit.store.runs import find_run, list_runs
from tests.support.forked import FORKING, Python
from tests.support.llm.fault_server import FaultServer, fault_server
from tests.support.loading import load
from tests.support.tiny import release_from

TABLE = "\n".join(f"q{n} kidney  ab=DIVERGENT/high  ac=COMPLEMENTARY  bc=CONSISTENT  d=absent" for n in range(10))
"""Thirty pairs for a judge, and thirty that are ABSENT without asking."""
KEY = "sk-very-secret-0123456789"
PATIENCE_S = 60


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server(key=KEY) as server:
        yield server


@pytest.fixture
def settings(tmp_path: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> Settings:
    said = {"DATA_DIR": str(tmp_path / "data"), "JUDGE_URL": server.url, "JUDGE_KEY": KEY, "JUDGE_CONCURRENCY": "2"}
    for name, value in said.items():
        monkeypatch.setenv(f"AUDIT_{name}", value)
    monkeypatch.delenv("AUDIT_JUDGE_MODEL", raising=False)
    load(release_from(tmp_path, TABLE), tmp_path / "data")
    return Settings()


@pytest.fixture(autouse=True)
def _processes_are_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of tests/jobs/test_processes.py are not."""
    monkeypatch.setattr("audit.jobs.processes.subprocess", FORKING)


@pytest.fixture(autouse=True)
def _nothing_is_left_running(settings: Settings) -> Iterator[None]:
    yield
    for job in list_jobs(settings):
        cancel_job(settings, job, force=True)


def request(settings: Settings, **options) -> JobRequest:
    run = find_run(settings.store_dir, "tiny")
    return JobRequest(run.digest, run.title, options.pop("selection", "all pairs"), 60, options.pop("pairs", "all"), **options)


def until(settings: Settings, job: Job, right: Callable[[Job], bool]) -> Job:
    ends = time.monotonic() + PATIENCE_S
    while not right(seen := find_job(settings, job.name)):
        assert time.monotonic() < ends, (seen, (job.folder / "log").read_text())
        time.sleep(0.05)
    return seen


def rests(job: Job) -> bool:
    return not job.active


def test_a_request_is_estimated_judged_looked_at_and_saved_as_a_run(settings, server):
    job = request_judging(settings, request(settings, swap=True))
    assert job.state is JobState.CREATED
    estimate_judging(settings, job)
    job = until(settings, job, rests)
    assert job.state is JobState.ESTIMATED
    assert (job.estimate["pairs"], job.estimate["without_call"], job.estimate["stages"][0]["calls"]) == (60, 30, 60)
    assert server.asked == 0

    start_judging(settings, job)
    job = until(settings, job, rests)
    assert (job.state, job.message) == (JobState.FINISHED, "")
    assert (job.progress["judged"], job.progress["prescreened"]) == (30, 30)
    with open_store(result_run(job).path) as con:
        assert rows(con, "select count(*), count(label) from pairs") == [(60, 60)]
    assert proposed_title(job) == "A tiny release, judged by judge"
    assert [run.run_id for run in list_runs(settings.store_dir)] == ["tiny"]

    run = save_result(settings, job, "  A second look ")
    assert (run.title, run.run_id) == ("A second look", job.name)
    assert run.manifest["judge_settings"]["chosen"] == "all pairs"
    assert find_run(settings.store_dir, job.name).report["clean"]
    saved = find_job(settings, job.name)
    assert (saved.state, saved.result) == (JobState.SAVED, run.key)
    assert count_answered_calls(settings.releases_dir / f"{job.name}.journal") == 60
    discard_job(settings, saved)
    assert list_jobs(settings) == []
    assert find_run(settings.store_dir, job.name).title == "A second look"


def test_a_trial_gives_the_time_it_would_take(settings, server):
    job = request_judging(settings, request(settings))
    estimate_judging(settings, job, trial=True)
    job = until(settings, job, rests)
    assert job.estimate["seconds"] > 0
    assert server.asked > 0


def test_progress_is_recorded_and_a_cancelled_job_continues_where_it_was(settings, server):
    server.delay_s = 0.3
    job = request_judging(settings, request(settings))
    start_judging(settings, job)
    seen = until(settings, job, lambda job: job.progress.get("done", 0) >= 4)
    assert seen.state is JobState.RUNNING
    assert (seen.progress["phase"], seen.progress["calls"]) == ("asking", 30)
    assert seen.progress["answered"] == seen.progress["done"] < 30
    assert seen.progress["rate"] > 0
    cancel_job(settings, job)
    job = until(settings, job, rests)
    assert (job.state, job.message) == (JobState.STOPPED, "Stopped.")
    stored = count_answered_calls(job_journal(job))
    assert 4 <= stored < 30

    server.delay_s = 0
    start_judging(settings, job)
    job = until(settings, job, rests)
    assert job.state is JobState.FINISHED
    assert count_answered_calls(job_journal(job)) == 30
    assert job.progress["calls"] == 30 - stored


def test_a_killed_process_is_reported_and_no_stored_call_is_made_twice(settings, server):
    server.delay_s = 0.2
    job = request_judging(settings, request(settings))
    start_judging(settings, job)
    until(settings, job, lambda job: job.progress.get("done", 0) >= 4)
    os.kill(find_job(settings, job.name).pid, signal.SIGKILL)
    job = until(settings, job, rests)
    assert (job.state, job.message) == (JobState.STOPPED, EXITED)
    stored = count_answered_calls(job_journal(job))
    server.delay_s, server.keys = 0, type(server.keys)()
    start_judging(settings, job)
    until(settings, job, lambda job: job.state is JobState.FINISHED)
    assert sum(count for key, count in server.keys.items() if "probe" not in key) <= 30 - stored + 2  # and two on trial


def test_a_job_continues_when_the_process_that_started_it_is_killed(settings, server):
    server.delay_s = 0.2
    job = request_judging(settings, request(settings))
    code = (
        "import sys, time; from audit.settings import Settings; from audit.jobs.processes import find_job; "
        "from audit.jobs.rejudging import start_judging; "
        "start_judging(Settings(), find_job(Settings(), sys.argv[1])); print('started', flush=True); time.sleep(60)"
    )
    starter = Python([sys.executable, "-c", code, job.name], stdout=subprocess.PIPE, text=True)
    assert starter.stdout is not None
    assert starter.stdout.readline() == "started\n"
    starter.kill()
    starter.communicate()
    assert find_job(settings, job.name).state is JobState.RUNNING
    server.delay_s = 0
    assert until(settings, job, rests).state is JobState.FINISHED


def test_a_second_job_is_refused_while_one_is_running_but_a_single_pair_is_not(settings, server):
    server.delay_s = 1
    first, second = request_judging(settings, request(settings)), request_judging(settings, request(settings))
    one = request_judging(settings, request(settings, pairs="file", pair=("q1", "a", "b")), [("q1", "a", "b")])
    start_judging(settings, first)
    for begin in (start_judging, estimate_judging):
        with pytest.raises(AuditError, match="only one of its kind runs at a time"):
            begin(settings, second)
    assert find_job(settings, second.name).state is JobState.CREATED
    server.delay_s = 0
    start_judging(settings, one)
    assert until(settings, one, rests).state is JobState.FINISHED
    cancel_job(settings, first, force=True)
    until(settings, first, rests)
    start_judging(settings, second)
    assert until(settings, second, rests).state is JobState.FINISHED


def test_a_running_job_is_not_discarded(settings, server):
    server.delay_s = 1
    job = request_judging(settings, request(settings))
    start_judging(settings, job)
    with pytest.raises(AuditError, match="Cancel it first"):
        discard_job(settings, job)


def test_a_finished_job_is_not_started_again(settings):
    job = request_judging(settings, request(settings))
    start_judging(settings, job)
    job = until(settings, job, rests)
    with pytest.raises(AuditError, match="judged already"):
        start_judging(settings, job)


def test_only_the_chosen_pairs_are_judged_and_a_reply_is_kept_as_it_came(settings):
    job = request_judging(settings, request(settings, pairs="file", pair=("q3", "c", "a")), [("q3", "c", "a")])
    start_judging(settings, job)
    job = until(settings, job, rests)
    with open_store(result_run(job).path) as con:
        assert rows(con, "select question_id from pairs join questions using (question)") == [("q3",)]
    (reply,) = job_replies(job)
    assert json.loads(reply.text)["classification"]
    assert reply.usage["completion_tokens"] > 0


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("URL", "http://127.0.0.1:9/v1", "cannot be reached"),
        ("MODEL", "gpt-nonesuch", "has no model 'gpt-nonesuch'"),
        ("KEY", "sk-wrong", "does not accept the key"),
        ("URL", "", "No model endpoint is set"),
    ],
)
def test_an_endpoint_that_cannot_be_used_ends_in_the_sentence_of_the_command(settings, monkeypatch, name, value, sentence):
    monkeypatch.setenv(f"AUDIT_JUDGE_{name}", value)
    settings = Settings()
    job = request_judging(settings, request(settings))
    start_judging(settings, job)
    job = until(settings, job, rests)
    assert job.state is JobState.STOPPED
    assert sentence in job.message
    estimate_judging(settings, job, trial=True)
    if name != "URL" or value:
        assert sentence in until(settings, job, rests).message


def test_a_run_that_is_stopped_by_a_rule_ends_in_its_sentence(settings, server):
    server.delay_s = 0.2
    job = request_judging(settings, request(settings))
    start_judging(settings, job)
    until(settings, job, lambda job: job.progress.get("done", 0) >= 2)
    server.key = "another key from now on"
    job = until(settings, job, rests)
    assert job.state is JobState.STOPPED
    assert job.message.startswith("Stopped: no endpoint is left.")
    assert "AUDIT_JUDGE_KEY" in job.message
    assert KEY not in job.message


def test_the_key_is_in_no_file_and_on_no_command_line(settings, server):
    server.delay_s = 0.3
    job = request_judging(settings, request(settings))
    start_judging(settings, job)
    until(settings, job, lambda job: job.progress.get("done", 0) >= 1)
    pid = find_job(settings, job.name).pid
    assert KEY.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes()
    cancel_job(settings, job)
    job = until(settings, job, rests)
    files = [path for path in (settings.data_dir / "judge").rglob("*") if path.is_file()]
    assert {"jobs.db", "log", "release.journal"} <= {path.name for path in files}
    assert not [path for path in files if KEY.encode() in path.read_bytes()]


@pytest.mark.parametrize("name", ["../../etc", "rejudged-20261121-000000-abcd", ""])
def test_a_missing_job_is_reported_in_a_sentence(settings, name):
    with pytest.raises(AuditError, match="There is no job"):
        find_job(settings, name)


def test_looking_creates_no_folder(settings):
    assert list_jobs(settings) == []
    assert not (settings.data_dir / "judge").exists()
